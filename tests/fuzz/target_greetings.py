"""`initialize` of anybody, on both faces: taken, or refused in words; what comes next is answered.

No store is opened; `target_openings` does that.
"""

import asyncio
import json
from functools import partial
from pathlib import Path
from typing import NoReturn

from sidecar.core.errors import innermost
from sidecar.core.parts import JsonObject
from sidecar.daemon.environment_parts import check_options
from sidecar.session.desk.open_sessions import OpenSessions
from sidecar.session.desk.sessions import Sessions
from sidecar.store.format.values import Owner
from sidecar.wire.framing import Arrived, FrameDecoder, Framing
from sidecar.wire.server import serve
from sidecar.workspace.buffers import Buffers
from tests.fuzz import Unanswered
from tests.fuzz.daemons import framed, owed_for
from tests.fuzz.dice import Dice
from tests.fuzz.initializing import GIVEN, Params, hides_key, params
from tests.fuzz.mutations import Value, text_of

SHARE = 20

LIMIT = 10.0
MOST_SAID = 1_000
"""Characters of what is wrong: editors show it in a box."""
OWNER = Owner(1, "here", "", "fuzz")
_loops: list[asyncio.AbstractEventLoop] = []


def run(data: bytes) -> None:
    """Greet a new connection with anything, then ask how it is, then greet it honestly."""
    if not _loops:
        _loops.append(asyncio.new_event_loop())
    dice = Dice(data)
    framing: Framing = dice.pick(("headers", "lines"))
    _loops[0].run_until_complete(_greeted(framing, params(framing, dice)))


def close() -> None:
    """End what the first input began."""
    while _loops:
        _loops.pop().close()


class _Client:
    """A client's end of a connection in memory."""

    def __init__(self, framing: Framing) -> None:
        self.framing: Framing = framing
        self.sent: asyncio.Queue[bytes] = asyncio.Queue()
        self.got: list[Value] = []
        self._decoder = FrameDecoder()
        self._arrived = asyncio.Event()

    async def write(self, data: bytes) -> None:
        for frame in self._decoder.feed(data):
            assert isinstance(frame, Arrived), f"what came is no JSON: {frame}"
            self.got.append(frame.value)
        self._arrived.set()

    async def ask(self, number: int, method: str, given: Params) -> Value:
        """Make a request and wait for its answer, whichever id it may have."""
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": given}
        body = text_of(message).encode("utf-8", "surrogatepass")
        (owed,) = owed_for(body)
        self.sent.put_nowait(framed(body, self.framing))
        while not (found := [m for m in self.got if "method" not in m and m.get("id") == owed]):
            self._arrived.clear()
            await self._arrived.wait()
        (answer,) = found
        self.got.remove(answer)
        _check(answer)
        return answer


async def _greeted(framing: Framing, given: Params) -> None:
    client, prefix = _Client(framing), "" if framing == "headers" else "_sidecar/"
    sessions = Sessions(
        _no_store,
        Buffers(),
        OpenSessions(OWNER),
        lambda _: {"version": "0"},
        partial(check_options, {}),
        Path(),
    )
    try:
        async with asyncio.timeout(LIMIT), asyncio.TaskGroup() as group:
            group.create_task(sessions.open.run())
            read, write = client.sent.get, client.write
            ended = sessions.open.shutdown
            group.create_task(
                serve(sessions, read, write, version="0", on_initialized=_nothing, on_gone=ended)
            )
            told = [await client.ask(1, "initialize", given)]
            if "error" in told[0]:
                assert "result" in await client.ask(2, "initialize", GIVEN[framing])
            status = await client.ask(3, f"{prefix}daemon/status", {})
            assert status["result"]["version"] == "0"
            # An editor face says what is wrong with the options in a message.
            told += client.got
            assert hides_key(given, json.dumps(told, ensure_ascii=False)), "the key is shown"
            for message in client.got:
                assert len(message["params"]["message"]) < MOST_SAID
            client.sent.put_nowait(b"")
    except TimeoutError:
        raise Unanswered(f"what came after `initialize` took too long; so far {told}") from None
    except BaseExceptionGroup as raised:
        raise innermost(raised) from raised


def _check(answer: Value) -> None:
    error = answer.get("error")
    if error is None:
        return
    assert error["code"] in (-32700, -32602), f"a bug, or refused for no reason: {answer}"
    assert 0 < len(error["message"]) < MOST_SAID


async def _no_store(_: JsonObject, __: Path | None) -> NoReturn:
    raise AssertionError("nobody asked for a session")


async def _nothing() -> None: ...
