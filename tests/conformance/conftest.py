"""A session with each vendor, through a real daemon, its real SDK and a strict fake API."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.conformance.vendors import ANTHROPIC, RESPONSES, VENDORS, Vendor
from tests.e2e.conftest import spawn, start, workspace
from tests.e2e.desk import LINES, Start
from tests.e2e.plain import PlainClient

__all__ = ["spawn", "start", "workspace"]

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
LOOK = {"name": "look", "description": "Look.", "inputSchema": {"type": "object"}, "kind": "read"}
IMAGE = {"type": "image", "mimeType": "image/png", "data": PNG}
QUICK = ("anthropic", "openai", "ollama")
"""Vendors whose session is tried in the quick run, too: one of each kind of body."""


class Talk:
    """One session, its client, and its vendor's API; another vendor stands by."""

    def __init__(self, start: Start, folder: Path, vendor: Vendor, apis: dict[Vendor, Any]) -> None:
        self.vendor, self.api, self.apis = vendor, apis[vendor], apis
        self._folder, self._start = folder, start
        self.seen: list[dict[str, Any]] = [{"type": "text", "text": "seen"}]
        self.client = self._daemon()
        about = {
            "cwd": str(folder),
            "tools": [LOOK],
            "builtinTools": False,
            "system": "Work. " * 3_000,
        }
        self.session = self.client.request("session/new", about)["sessionId"]

    def _daemon(self) -> PlainClient:
        env: dict[str, str] = {}
        providers: dict[str, Any] = {}
        for vendor, api in self.apis.items():
            env |= vendor.account(api, self._folder.parent)
            providers |= vendor.provider(api)
        client = self._start(answers={"tool/call": lambda _: {"content": self.seen}}, env=env)
        retry = {"attempts": 9, "capMs": 20}
        client.start(model=self.vendor.id, providers=providers, retry=retry)
        return client

    def __call__(self, method: str, **given: Any) -> Any:
        return self.client.request(method, {"sessionId": self.session, **given})

    def again(self, *, replay: bool = False) -> None:
        """`kill -9`, and the session in another daemon."""
        self.client.kill()
        self.client = self._daemon()
        self("session/load", replay=replay)

    def choose(self, model: str) -> None:
        self("session/set_config_option", configId="model", value=model)

    def say(self, words: str = "go on", *blocks: Any) -> Any:
        """Give a prompt; its turn must end well."""
        result = self("session/prompt", prompt=[{"type": "text", "text": words}, *blocks])
        assert (result["stopReason"], self.api.refused) == ("end_turn", []), result
        return result

    def failing(self) -> Any:
        """Give a prompt whose turn must fail; gives the error."""
        result = self("session/prompt", prompt=[{"type": "text", "text": "hello"}])
        assert result["stopReason"] == "error", result
        return result["error"]

    def ask(self, words: str) -> int:
        prompt = [{"type": "text", "text": words}]
        return self.client.send("session/prompt", {"sessionId": self.session, "prompt": prompt})

    def look(self, name: str = "c1", **given: Any) -> Any:
        """An answer that thinks, speaks and calls twice at once."""
        calls = ((name, "look", {"at": "a"}), (f"{name}b", "look", {"at": "é"}))
        return self.vendor.calls(*calls, thought="I think so.", words="Looking.", **given)

    def work(self) -> None:
        """Two turns with long results."""
        self.seen = [{"type": "text", "text": LINES}]
        for turn in "xy":
            steps = (self.look(f"{turn}{number}") for number in range(3))
            self.api.script(*steps, self.vendor.says("Seen."))
            self.say(f"Look at {turn}.")

    def shown(self) -> Any:
        return self("context/preview")["request"]

    @property
    def last(self) -> Any:
        return self.api.requests[-1]

    def grew(self, before: Any, after: Any = None) -> None:
        """Check that a request begins with all bytes of one before, but for cache marks."""
        after = after or self.last
        begun, whole = map(self.vendor.conversation, (before, after))
        assert whole.startswith(begun)
        assert len(whole) > len(begun)
        assert self.vendor.before_it(before) == self.vendor.before_it(after)


@pytest.fixture(
    params=[
        pytest.param(one, id=one.kind, marks=() if one.kind in QUICK else pytest.mark.long)
        for one in VENDORS
    ]
)
def vendor(request: pytest.FixtureRequest) -> Vendor:
    found: Vendor = request.param
    return found


@pytest.fixture
def talk(start: Callable[..., PlainClient], workspace: Path, vendor: Vendor) -> Iterator[Talk]:
    other = RESPONSES if vendor == ANTHROPIC else ANTHROPIC
    with ExitStack() as stack:
        apis = {one: stack.enter_context(one.api()) for one in (vendor, other)}
        yield Talk(start, workspace, vendor, apis)
        assert [api.refused for api in apis.values()] == [[], []]
