"""JSON-RPC over two streams: framing, requests and answers in both directions."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, NoReturn, TypeAlias

import msgspec

from sidecar_client.errors import Disconnected, SidecarError

logger = logging.getLogger("sidecar_client")

METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
CANCELLED = -32800

RequestId: TypeAlias = int | str
Answer: TypeAlias = Callable[[msgspec.Raw], Awaitable[Any]]
"""Answers a request of the daemon: JSON params to a value msgspec can encode."""

_NOTHING = msgspec.Raw(b"null")


class _Error(msgspec.Struct):
    code: int
    message: str
    data: Any = None


class _Message(msgspec.Struct):
    id: RequestId | None = None
    method: str | None = None
    params: msgspec.Raw = _NOTHING
    result: msgspec.Raw = _NOTHING
    error: _Error | None = None


class _Cancel(msgspec.Struct):
    id: RequestId


class Connection:
    """One daemon's streams. `run` reads to their end; `group` runs the answers.

    `on_notification` is called in order, before later messages are handled.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        group: asyncio.TaskGroup,
        answers: Mapping[str, Answer],
        on_notification: Callable[[str, msgspec.Raw], None],
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._group = group
        self._answers = answers
        self._on_notification = on_notification
        self._number = 0
        self._waiting: dict[RequestId, asyncio.Future[msgspec.Raw]] = {}
        self._answering: dict[RequestId, asyncio.Task[None]] = {}
        self._lost: str | None = None

    async def request(self, method: str, params: Any) -> msgspec.Raw:  # noqa: ANN401 - any JSON
        """Send a request; return its result as JSON.

        Cancelling this task cancels the request; its later answer is dropped.

        Raises:
            SidecarError: the daemon refused.
            Disconnected: the daemon is gone.
        """
        if self._lost is not None:
            raise Disconnected(self._lost)
        self._number += 1
        number = self._number
        answer: asyncio.Future[msgspec.Raw] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            await self._send({"id": number, "method": method, "params": params})
            return await answer
        except asyncio.CancelledError:
            self._write({"method": "$/cancelRequest", "params": {"id": number}})
            raise
        finally:
            del self._waiting[number]

    async def notify(self, method: str, params: Any) -> None:  # noqa: ANN401 - any JSON
        """Send a notification; raises Disconnected."""
        if self._lost is not None:
            raise Disconnected(self._lost)
        await self._send({"method": method, "params": params})

    async def run(self) -> None:
        """Read until the daemon ends, then fail all waiting requests."""
        reason = "the daemon ended: its stderr says why"
        try:
            while True:
                self._take(msgspec.json.decode(await self._read(), type=_Message))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        except (ValueError, asyncio.LimitOverrunError) as error:
            reason = f"the daemon sent what cannot be read: {error}"
        finally:
            self.lose(reason)

    def lose(self, reason: str) -> None:
        """Fail all waiting requests, and cancel all work for the daemon."""
        if self._lost is not None:
            return
        self._lost = reason
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(Disconnected(reason))
        for task in self._answering.values():
            task.cancel()

    # --- in ----------------------------------------------------------------------------------

    async def _read(self) -> bytes:
        header = await self._reader.readuntil(b"\r\n\r\n")
        for line in header.split(b"\r\n"):
            name, _, value = line.partition(b":")
            if name.strip().lower() == b"content-length":
                return await self._reader.readexactly(int(value))
        raise ValueError("a frame has no Content-Length")

    def _take(self, message: _Message) -> None:
        match message:
            case _Message(method=str(method), id=None):
                self._notified(method, message.params)
            case _Message(method=str(method), id=int() | str() as number):
                work = self._answer(number, method, message.params)
                self._answering[number] = self._group.create_task(work)
            case _Message(id=int() | str() as number) if number in self._waiting:
                self._answered(self._waiting[number], message)
            case _:
                logger.debug("an answer that nobody waits for: id %r", message.id)

    def _answered(self, waiting: asyncio.Future[msgspec.Raw], message: _Message) -> None:
        if waiting.done():
            return
        if message.error is None:
            waiting.set_result(message.result)
            return
        error = message.error
        data = error.data if isinstance(error.data, dict) else {}
        kind = str(data.get("kind", ""))
        waiting.set_exception(SidecarError(error.code, kind, error.message, data))

    def _notified(self, method: str, params: msgspec.Raw) -> None:
        if method == "$/cancelRequest":
            task = self._answering.get(msgspec.json.decode(params, type=_Cancel).id)
            if task is not None:
                task.cancel()
            return
        try:
            self._on_notification(method, params)
        except Exception:
            logger.exception("the callback for %s failed", method)

    # --- out ---------------------------------------------------------------------------------

    async def _answer(self, number: RequestId, method: str, params: msgspec.Raw) -> None:
        try:
            result = await self._answers.get(method, partial(_unknown, method))(params)
            reply = {"jsonrpc": "2.0", "id": number, "result": result}
            encoded = msgspec.json.encode(reply)
        except asyncio.CancelledError:
            encoded = _refusal(number, CANCELLED, "cancelled", "the request was cancelled")
        except SidecarError as error:
            encoded = _refusal(number, error.code, error.kind, error.message)
        except msgspec.ValidationError as error:
            encoded = _refusal(number, INVALID_PARAMS, "bad_request", str(error))
        except Exception as error:
            logger.exception("answering %s failed", method)
            encoded = _refusal(number, INTERNAL_ERROR, "client", f"the client failed: {error!r}")
        finally:
            del self._answering[number]
        if self._lost is None:
            self._write_bytes(encoded)

    async def _send(self, message: dict[str, Any]) -> None:
        self._write(message)
        try:
            await self._writer.drain()
        except ConnectionError as error:
            self.lose("the daemon ended: its stderr says why")
            raise Disconnected("the daemon ended: its stderr says why") from error

    def _write(self, message: dict[str, Any]) -> None:
        given = {name: value for name, value in message.items() if value is not None}
        self._write_bytes(msgspec.json.encode({"jsonrpc": "2.0", **given}))

    def _write_bytes(self, body: bytes) -> None:
        if not self._writer.is_closing():
            self._writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))


async def _unknown(method: str, _: msgspec.Raw) -> NoReturn:
    text = f"this client does not answer {method}"
    raise SidecarError(METHOD_NOT_FOUND, "unknown_method", text, {})


def _refusal(number: RequestId, code: int, kind: str, message: str) -> bytes:
    error = {"code": code, "message": message, "data": {"kind": kind}}
    return msgspec.json.encode({"jsonrpc": "2.0", "id": number, "error": error})
