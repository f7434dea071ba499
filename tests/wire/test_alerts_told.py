"""An alert on each face: who knows us is told of all, a person sees at once what is urgent."""

from dataclasses import replace
from typing import Any

import pytest

from sidecar.core.parts import SessionId
from sidecar.session.log.events import AlertChanged
from sidecar.wire.acp.acp_connection import AgentConnection
from sidecar.wire.connection import Connection
from sidecar.wire.framing import FrameDecoder
from sidecar.wire.outbox import Outbox
from sidecar.wire.plain_editor import PlainEditor


def alert(state: str = "raised", level: str = "warning") -> AlertChanged:
    return AlertChanged(
        state, "hit_rate", level, SessionId("ses_1"), "It is low.", "Look at it.", 0.4, 0.7, 1
    )


class Pipe:
    """An outbox whose messages a test reads."""

    def __init__(self) -> None:
        self.decoder = FrameDecoder()
        self.got: list[Any] = []
        self.outbox = Outbox(self.write, lambda _: 1)

    async def write(self, data: bytes) -> None:
        self.got += [frame.value for frame in self.decoder.feed(data)]  # type: ignore[union-attr]

    async def read(self) -> list[tuple[str, Any]]:
        self.outbox.close()
        await self.outbox.run()
        return [(message["method"], message["params"]) for message in self.got]


@pytest.mark.parametrize(
    ("told", "shown"),
    [
        (alert(), [2]),
        (alert(level="critical"), [1]),
        (alert(level="info"), []),
        (alert("cleared"), []),
    ],
    ids=["warning", "critical", "info", "cleared"],
)
async def test_an_editor_is_told_and_shows_what_is_urgent(
    told: AlertChanged, shown: list[int]
) -> None:
    pipe = Pipe()
    Connection(pipe.outbox).watch(told)
    [(method, params), *rest] = await pipe.read()
    assert method == "daemon/alert"
    assert (params["state"], params["level"]) == (told.state, told.level)
    assert [params["type"] for _, params in rest] == shown
    assert {method for method, _ in rest} <= {"window/showMessage"}


async def test_a_plain_editor_only_shows() -> None:
    pipe = Pipe()
    editor = PlainEditor(Connection(pipe.outbox))
    for told in (alert(), alert(level="info"), alert("cleared")):
        editor.watch(told)
    assert await pipe.read() == [
        ("window/showMessage", {"type": 2, "message": "It is low. Look at it."})
    ]


async def told_by_acp(meta: dict[str, Any], event: AlertChanged) -> list[tuple[str, Any]]:
    pipe = Pipe()
    pipe.outbox.framing = "lines"
    connection = AgentConnection(pipe.outbox)
    connection.announce(meta)
    connection.enter("ses_1", "/")
    connection.watch(event)
    return await pipe.read()


async def test_an_agent_client_is_told_in_words_and_if_it_knows_us_in_ours() -> None:
    for meta, ours in (({}, []), ({"_meta": {"sidecar": {}}}, ["_sidecar/daemon/alert"])):
        said = await told_by_acp(meta, alert())
        assert [method for method, _ in said] == [*ours, "session/update"]
        assert said[-1][1]["sessionId"] == "ses_1"
        assert "It is low. Look at it." in str(said[-1][1]["update"])
        assert [m for m, _ in await told_by_acp(meta, alert("cleared"))] == ours
        assert [m for m, _ in await told_by_acp(meta, alert(level="info"))] == ours


async def test_an_agent_client_is_told_of_what_is_about_all_sessions() -> None:
    everywhere = replace(alert(), session_id=None)
    assert await told_by_acp({}, everywhere) == []
    [(method, params)] = await told_by_acp({"_meta": {"sidecar": {}}}, everywhere)
    assert method == "_sidecar/daemon/alert"
    assert "sessionId" not in params
