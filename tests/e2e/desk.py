"""One session of a real daemon against the fake API, and what a test does and asks there."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.plain import LIMIT, PlainClient, Refused
from tests.fakes.messages_api import FakeMessagesApi, Reply, text, thinking, tools

LINES = "def some_function(argument):\n    return other_function(argument)\n" * 120
LOOK = {"name": "look", "description": "Look.", "inputSchema": {"type": "object"}, "kind": "read"}

Start = Callable[..., PlainClient]


class Desk:
    """A client, the API and one session between them."""

    def __init__(
        self, start: Callable[..., PlainClient], api: FakeMessagesApi, workspace: Path
    ) -> None:
        self._start, self._workspace, self.api = start, workspace, api
        self.steps = 0
        self.system = "Work. " * 600
        self.session = ""
        self.options: dict[str, Any] = {}
        self.look: Callable[[Any], str] = lambda given: f"# {given['path']}\n{LINES}"
        self.client = self.daemon()

    def daemon(self) -> PlainClient:
        """Start a daemon over the store."""

        def look(params: Any) -> Any:
            return {"content": [{"type": "text", "text": self.look(params["input"])}]}

        client = self._start(answers={"tool/call": look})
        provider = {"name": "anthropic", "baseUrl": self.api.url, "apiKey": "sk-test"}
        client.start(model="claude-sonnet-4-6", provider=provider, **self.options)
        return client

    def open(self, policy: str = "manual", **given: Any) -> None:
        """Begin the session."""
        about: dict[str, Any] = {"tools": [LOOK], "builtinTools": False, "policy": policy}
        if self.system:
            about["system"] = self.system
        about |= {"cwd": str(self._workspace), **given}
        self.session = self.client.request("session/new", about)["sessionId"]

    def again(self) -> None:
        """Kill the daemon and load the session in another."""
        self.client.kill()
        self.client = self.daemon()
        loaded = self("session/load", replay=False)
        assert loaded["readOnly"] is False

    def __call__(self, method: str, client: PlainClient | None = None, **given: Any) -> Any:
        """Make a request about the session."""
        return (client or self.client).request(method, {"sessionId": self.session, **given})

    def refused(self, method: str, client: PlainClient | None = None, **given: Any) -> Refused:
        """Make a request that must be refused."""
        with pytest.raises(Refused) as error:
            self(method, client, **given)
        return error.value

    def step(self, **given: Any) -> Reply:
        """An answer that thinks, speaks and calls the tool."""
        self.steps += 1
        made = (f"call{self.steps}", "look", {"path": f"src/file_{self.steps}.py"})
        return thinking(f"thought {self.steps}", f"sig{self.steps}", tools(made, **given))

    def say(self, words: str = "Look at the next files.", blocks: Any = ()) -> Any:
        """Give a prompt and wait for the end of its turn."""
        return self("session/prompt", prompt=[{"type": "text", "text": words}, *blocks])

    def work(self, turns: int = 2, steps: int = 5) -> None:
        """Do some turns."""
        for _ in range(turns):
            self.api.script(*(self.step(piece=2_000) for _ in range(steps)), text("Seen."))
            assert self.say()["stopReason"] == "end_turn"

    def ask(self, words: str = "go on", **given: Any) -> int:
        """Give a prompt and do not wait; gives the request's id."""
        prompt = [{"type": "text", "text": words}]
        params = {"sessionId": self.session, "prompt": prompt, **given}
        return self.client.send("session/prompt", params)

    def send(self, method: str, **given: Any) -> int:
        """Make a request about the session and do not wait."""
        return self.client.send(method, {"sessionId": self.session, **given})

    def answered(self, asked: list[int], code: int) -> list[Any]:
        """Give the results; the others must have been refused with this code."""
        found, codes = [], set()
        for request in asked:
            try:
                found.append(self.client.result(request))
            except Refused as refused:
                codes.add(refused.code)
        assert codes <= {code}
        return found

    def compact(self, strategy: str) -> Any:
        """Compact with a strategy; gives `None` when it has nothing to do."""
        asked = [self.send("context/compact", strategy=strategy)]
        return next(iter(self.answered(asked, -32012)), None)

    def during(self, act: Callable[[], None], *then: Reply) -> Any:
        """Do something while a tool of a turn runs; gives how the turn ends."""
        running, released, look = threading.Event(), threading.Event(), self.look

        def slow(given: Any) -> str:
            running.set()
            assert released.wait(LIMIT)
            return look(given)

        self.look = slow
        self.api.script(self.step(), *then)
        turn = self.ask()
        assert running.wait(LIMIT)
        act()
        self.look = look
        released.set()
        return self.client.result(turn)

    def shown(self) -> str:
        """The next request, without cache markers."""
        return bare(self("context/preview")["request"])

    def check(self) -> None:
        """All that must hold at any time."""
        told, preview = self("context/breakdown"), self("context/preview")
        meter = told["meter"]
        assert sum(s["tokens"] for s in told["segments"]) == meter["used"]
        assert meter["used"] == sum(meter["regions"].values()) == preview["tokens"]

    def changes(self) -> list[tuple[str, str]]:
        """The changes of the context that this client was told of."""
        told = self.client.updates("compaction_update")
        return [(update["compactionId"], update["status"]) for update in told]


class Bench(Desk):
    """A desk whose user allows everything."""

    def daemon(self) -> PlainClient:
        """Start a daemon over the store; snapshots are small."""
        chosen = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}
        client = self._start(answers={"session/request_permission": lambda _: chosen})
        provider = {"name": "anthropic", "baseUrl": self.api.url, "apiKey": "sk-test"}
        client.start(
            model="claude-sonnet-4-6",
            provider=provider,
            snapshots={"fileMib": 1, "trackedFileMib": 1, "workspaceMib": 5},
        )
        return client


def bare(body: Any) -> str:
    """A body without cache markers."""

    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: without(v) for k, v in value.items() if k != "cache_control"}
        return [without(v) for v in value] if isinstance(value, list) else value

    return json.dumps(without(body))
