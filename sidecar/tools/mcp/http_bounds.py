"""Bounds what an MCP server answers by HTTP, which the SDK reads whole, or event by event."""

import re
from collections.abc import AsyncIterator

import httpx2

from sidecar.tools.mcp.mcp_bounds import MessageSize

HEADERS = {"Accept-Encoding": "identity"}
"""A packed answer could be a thousand times larger than what comes."""
_EVENTS_END = re.compile(rb"\n\r?\n|\r\r")


async def bound(response: httpx2.Response) -> None:
    """Has a response end where it is too large; for `event_hooks`."""
    if isinstance(response.stream, httpx2.AsyncByteStream):
        response.stream = _Bounded(response.stream, response.headers)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, headers: httpx2.Headers) -> None:
        self._stream = stream
        self._packed = headers.get("content-encoding", "identity").strip().lower() != "identity"
        self._events = headers.get("content-type", "").lower().startswith("text/event-stream")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        """Raises as the SDK expects of a failing stream."""
        failed = httpx2.SSEError if self._events else httpx2.StreamError
        if self._packed:
            raise failed("it sent a packed answer")
        size = MessageSize()
        async for piece in self._stream:
            # The SDK has bounds for an event, but not for its values.
            first, *others = _EVENTS_END.split(piece) if self._events else [piece]
            excess = size.add(first)
            for other in others:
                size = MessageSize()
                excess = excess or size.add(other)
            if excess:
                raise failed(f"it sent a message of more than {excess}")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()
