"""Several connections in one process, and answers that come late."""

import asyncio
import contextlib
import json
from typing import Any

import pytest

from sidecar.core.errors import BadRequest, Cancelled
from sidecar.wire.client_requests import ClientFailed, ClientRequests
from sidecar.wire.dispatch import structure
from sidecar.wire.error_codes import RefusedMessage, fault
from sidecar.wire.framing import FrameDecoder
from sidecar.wire.messages import SessionImportParams
from sidecar.wire.outbox import Outbox
from sidecar.wire.server import serve


class Quiet:
    """Sessions that only say who asked."""

    def __init__(self, name: str) -> None:
        self.name = name
        # It shares nothing, has nothing open and follows no documents.
        self.shared = self.open = self.documents = self

    def configure(self, *_: object) -> str:
        return ""

    def status(self) -> dict[str, Any]:
        return {"version": self.name}

    def revision_of(self, _: str) -> int:
        return 1

    def detach(self, _: object) -> None: ...

    def leave(self) -> None: ...

    async def give_up(self) -> None: ...


class Editor:
    """Both ends of a connection, in memory."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.sent: asyncio.Queue[bytes] = asyncio.Queue()
        self.decoder = FrameDecoder()
        self.got: list[Any] = []
        self.arrived = asyncio.Event()

    async def write(self, data: bytes) -> None:
        self.got += [frame.value for frame in self.decoder.feed(data)]  # type: ignore[union-attr]
        self.arrived.set()

    async def serve(self) -> int:
        return await serve(
            Quiet(self.name),  # type: ignore[arg-type]
            self.sent.get,
            self.write,
            version="0",
            on_initialized=_nothing,
            on_gone=_nothing,
        )

    async def ask(self, number: int, method: str, **given: Any) -> Any:
        params = {"capabilities": {}} if method == "initialize" else {}
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params | given}
        body = json.dumps(message).encode()
        self.sent.put_nowait(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        async with asyncio.timeout(10):
            while not any(m.get("id") == number for m in self.got):
                self.arrived.clear()
                await self.arrived.wait()
        return next(m for m in self.got if m.get("id") == number)


async def _nothing() -> None: ...


async def test_two_clients_never_get_each_others_answers() -> None:
    editors = [Editor("one"), Editor("two")]
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        served = [group.create_task(editor.serve()) for editor in editors]
        for editor in editors:
            assert "result" in await editor.ask(1, "initialize")
        for number in range(2, 12):
            for editor in editors:
                answer = await editor.ask(number, "daemon/status")
                assert answer["result"]["version"] == editor.name
        editors[0].sent.put_nowait(b"")
        assert await served[0] == 1
        assert (await editors[1].ask(99, "daemon/status"))["result"]["version"] == "two"
        editors[1].sent.put_nowait(b"")
    assert [m["id"] for m in editors[0].got] == list(range(1, 12))


async def _answers(*given: dict[str, Any]) -> tuple[list[Any], int]:
    """Greet a daemon with these params, one after the other, and ask how it is; then go."""
    editor = Editor("one")
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        served = group.create_task(editor.serve())
        told = [await editor.ask(n, "initialize", **params) for n, params in enumerate(given)]
        told.append(await editor.ask(99, "daemon/status"))
        editor.sent.put_nowait(b"")
    return told, await served


@pytest.mark.parametrize("number", [2**31, 10**30, -(2**40)])
async def test_a_number_that_no_process_can_have_ends_nothing(number: int) -> None:
    told, code = await _answers({"processId": number})
    assert all("result" in answer for answer in told)
    assert code == 1


@pytest.mark.parametrize(
    "folder", [{"rootPath": "/\udcf6"}, {"rootUri": "file://["}, {"rootUri": "file:///a%00b"}]
)
async def test_a_folder_that_is_none_is_refused_in_words_and_another_is_taken(
    folder: dict[str, str],
) -> None:
    (refused, taken, status), _ = await _answers(folder, {"rootUri": "file:///home/ada"})
    assert refused["error"]["code"] == -32602
    assert "file: URI" in refused["error"]["message"]
    assert "result" in taken
    assert "result" in status


def test_a_long_message_keeps_its_beginning_and_its_advice() -> None:
    said = fault(BadRequest(f"{'x' * 9_000!r} is no absolute path", "params.path"))["message"]
    assert str(said).startswith("'xxx")
    assert str(said).endswith("is no absolute path")
    assert len(str(said)) < 1_000


@pytest.mark.parametrize("name", ["x" * 9_000, "x - at `$.cwd`"])
def test_what_does_not_fit_is_said_shortly_and_named_rightly(name: str) -> None:
    with pytest.raises(RefusedMessage) as refused:
        structure({"path": "/a", "format": name}, SessionImportParams)
    assert refused.value.error["data"] == {"kind": "bad_request", "path": "params.format"}
    assert len(str(refused.value.error["message"])) < 1_000


async def test_a_late_answer_to_a_cancelled_request_is_dropped() -> None:
    written: list[bytes] = []

    async def write(data: bytes) -> None:
        written.append(data)

    outbox = Outbox(write, lambda _: None)
    outbox.framing = "lines"
    requests = ClientRequests(outbox)
    asking = asyncio.ensure_future(requests.request("tool/call", {}))
    await asyncio.sleep(0)
    asking.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await asking
    requests.answered("sidecar-1", {"late": True}, None)
    requests.answered("sidecar-77", {"unknown": True}, None)
    requests.answered(None, None, {"code": 1})
    outbox.close()
    await outbox.run()
    told = [json.loads(line) for line in b"".join(written).splitlines()]
    assert [m["method"] for m in told] == ["tool/call", "$/cancelRequest"]
    assert told[1]["params"] == {"id": told[0]["id"]}


async def test_requests_end_when_the_client_refuses_or_goes() -> None:
    async def write(_: bytes) -> None: ...

    requests = ClientRequests(Outbox(write, lambda _: None))
    refused = asyncio.ensure_future(requests.request("tool/call", {}))
    gone = asyncio.ensure_future(requests.request("tool/call", {}))
    await asyncio.sleep(0)
    requests.answered("sidecar-1", None, {"code": -32601, "message": "not here"})
    requests.close()
    results = await asyncio.gather(
        refused, gone, requests.request("tool/call", {}), return_exceptions=True
    )
    assert [type(r) for r in results] == [ClientFailed, Cancelled, Cancelled]
