"""Progress of a compaction, as LSP has it: announced, told, and cancelled by the user."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.desk import Desk
from tests.e2e.plain import LIMIT, PlainClient, Refused
from tests.fakes.messages_api import FakeMessagesApi, Reply, text
from tests.fakes.scripted_model import SUMMARY

pytestmark = pytest.mark.long

Start = Callable[..., PlainClient]


class Watching(Desk):
    """A desk whose client shows progress."""

    def daemon(self) -> PlainClient:
        """Start a daemon that is told so."""
        client = self._start(
            answers={"tool/call": self._looked, "window/workDoneProgress/create": none}
        )
        provider = {"name": "anthropic", "baseUrl": self.api.url, "apiKey": "sk-test"}
        options = {"workspaceTrusted": True, "model": "claude-sonnet-4-6", "provider": provider}
        capabilities = client.capabilities(window={"workDoneProgress": True})
        client.request(
            "initialize",
            {"processId": None, "capabilities": capabilities, "initializationOptions": options},
        )
        client.notify("initialized")
        return client

    def _looked(self, params: Any) -> Any:
        return {"content": [{"type": "text", "text": self.look(params["input"])}]}

    def told(self) -> list[Any]:
        """What was told of work, in order."""
        return [n["params"] for n in self.client.notifications if n["method"] == "$/progress"]


def none(_: Any) -> None:
    return None


def test_a_compaction_is_announced_and_told(start: Start, tmp_path: Path) -> None:
    with FakeMessagesApi() as api:
        desk = Watching(start, api, tmp_path)
        desk.open()
        desk.work(3)
        desk("context/compact", strategy="opencode")
        created = [
            r for r in desk.client.requests if r["method"] == "window/workDoneProgress/create"
        ]
        [token] = {r["params"]["token"] for r in created}
        assert {one["token"] for one in desk.told()} == {token}
        kinds = [one["value"]["kind"] for one in desk.told()]
        assert kinds == ["begin", "report", "end"]
        assert desk.told()[0]["value"]["cancellable"] is True
        assert "tokens" in desk.told()[-1]["value"]["message"]
        assert desk.client.stop() == 0


@pytest.mark.parametrize("how", ["progress", "request"])
def test_a_compaction_can_be_cancelled(start: Start, tmp_path: Path, how: str) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def slowly(*_: Any) -> Reply:
        asked.set()
        go_on.wait(LIMIT)
        return text(SUMMARY)

    with FakeMessagesApi() as api:
        desk = Watching(start, api, tmp_path)
        desk.open()
        desk.work(3)
        before = desk.shown()
        api.summarise = slowly
        request = desk.send("context/compact", strategy="opencode", workDoneToken="mine")
        assert asked.wait(LIMIT)
        if how == "progress":
            desk.client.notify("window/workDoneProgress/cancel", {"token": "mine"})
        else:
            desk.client.notify("$/cancelRequest", {"id": request})
        with pytest.raises(Refused) as refused:
            desk.client.result(request)
        assert refused.value.code == -32800
        go_on.set()
        assert {one["token"] for one in desk.told()} == {"mine"}
        assert desk.told()[-1]["value"]["kind"] == "end"
        assert desk.shown() == before
        assert desk.changes() == []
        desk.work(1)
        assert desk.client.stop() == 0
