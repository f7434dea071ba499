"""Requests and notifications to one client."""

import asyncio
import logging
from collections.abc import Callable

from sidecar.core.errors import Cancelled, SidecarError
from sidecar.core.parts import Json, JsonObject
from sidecar.core.text.visible import visible_message
from sidecar.wire.outbox import Outbox
from sidecar.wire.unread_fields import unread

logger = logging.getLogger("sidecar.wire")

ERROR, WARNING, INFO = 1, 2, 3
"""LSP's message types."""
MOST_TOLD = 100
"""Warnings of one connection, each of something else."""


class ClientFailed(SidecarError):
    """The client answered a request with an error."""

    kind = "client"


class ClientRequests:
    """Sends requests, until the client is gone."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox
        self._asked: dict[str, asyncio.Future[Json]] = {}
        self._number = 0
        self._closed = False

    def notify(self, method: str, params: JsonObject) -> None:
        """LSP's own notifications only."""
        self._outbox.answer({"jsonrpc": "2.0", "method": method, "params": params})

    async def request(
        self, method: str, params: JsonObject, late: Callable[[Json], None] | None = None
    ) -> Json:
        """Awaits an answer without limit; raises ClientFailed, or Cancelled without client.

        `late` takes the answer to a request that was withdrawn.
        """
        if self._closed:
            raise Cancelled("the editor is not connected any more")
        message = self.asking(method, params)
        request_id = str(message["id"])
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._asked[request_id] = answer
        self._outbox.answer(message)

        def end(answer: "asyncio.Future[Json]") -> None:
            self._asked.pop(request_id, None)
            if late is not None and withdrawn and answer.exception() is None:
                late(answer.result())

        withdrawn = False
        answer.add_done_callback(end)
        try:
            return await (answer if late is None else asyncio.shield(answer))
        except asyncio.CancelledError:
            withdrawn = True
            self._outbox.answer(self._withdrawal(request_id))
            raise

    def asking(self, method: str, params: JsonObject) -> JsonObject:
        self._number += 1
        request_id = f"sidecar-{self._number}"
        return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}

    def _withdrawal(self, request_id: str) -> JsonObject:
        return {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": request_id}}

    def answered(self, request_id: Json, result: Json, error: Json) -> None:
        answer = self._asked.get(str(request_id))
        if answer is None or answer.done():
            return
        if error is None:
            answer.set_result(result)
        else:
            reason = inside(error, "message") or "no reason given"
            answer.set_exception(ClientFailed(f"the editor answered with an error: {reason}"))

    def close(self) -> None:
        self._closed = True
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(Cancelled("the editor is not connected any more"))


class ClientLog:
    """Writes problems to the daemon's log and, by `requests`, to the client's."""

    def __init__(self, requests: ClientRequests | None) -> None:
        self._requests = requests
        self._told: set[str] = set()

    def write(self, kind: int, text: str) -> None:
        logger.log(logging.ERROR if kind == ERROR else logging.WARNING, "%s", text)
        if self._requests is not None:
            self._requests.notify("window/logMessage", shown(kind, f"Sidecar: {text}"))

    def once(self, text: str) -> None:
        if text not in self._told and len(self._told) < MOST_TOLD:
            self._told.add(text)
            self.write(WARNING, text)

    def unread(self, method: str, params: Json, shape: type | None) -> None:
        for text in unread(method, params, shape):
            self.once(text)


def shown(kind: int, text: str) -> JsonObject:
    return {"type": kind, "message": visible_message(text)}


def inside(value: Json, *path: str) -> Json:
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value
