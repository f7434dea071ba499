"""Bounds answers that are no stream: a provider's errors, and plain texts.

SDKs read those whole, packed or not. Imported late, with the SDKs' transport.
"""

import asyncio
import zlib
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import httpx2

MOST_BYTES = 1024 * 1024
"""Of one answer, unpacked; the rest is not read."""
SECONDS = 30.0
"""For one answer."""
_PACKED = ("gzip", "deflate")
_AS_A_STREAM = "sidecar_as_a_stream"
_UNPACK = 47
"""zlib's window, for gzip and deflate."""


def bounding(client: type[Any], **options: Any) -> Any:  # noqa: ANN401 - an SDK's own kind
    """Makes a transport that reads so; streams have bounds of their own (`stalls.py`)."""

    async def send(self: Any, request: httpx2.Request, **given: Any) -> Any:  # noqa: ANN401 - as above
        request.extensions = {**request.extensions, _AS_A_STREAM: given.get("stream", False)}
        return await client.send(self, request, **given)

    asked = {"accept-encoding": "identity"}
    noting = type(client.__name__, (client,), {"send": send})
    return noting(event_hooks={"response": [_bound]}, headers=asked, **options)


async def _bound(response: httpx2.Response) -> None:
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    kind = response.headers.get("content-type", "").lower()
    # Proxies change a stream's type, and answer other requests with pages.
    streams = response.request.extensions.get(_AS_A_STREAM, False) and "json" not in kind
    if response.status_code == httpx2.codes.OK and streams:
        # Unpacked piece by piece; a few bytes of other encodings may be gigabytes.
        if encoding not in _PACKED:
            response.headers.pop("content-encoding", None)
        return
    response.headers.pop("content-encoding", None)
    stream = response.stream
    assert isinstance(stream, httpx2.AsyncByteStream)
    response.stream = _Bounded(stream, encoding in _PACKED)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, whole: httpx2.AsyncByteStream, packed: bool) -> None:
        self._whole = whole
        self._packed = packed

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield await self._read()

    async def _read(self) -> bytes:
        unpacking = zlib.decompressobj(_UNPACK) if self._packed else None
        pieces: list[bytes] = []
        left = MOST_BYTES
        # What came until then is the answer.
        with suppress(TimeoutError, zlib.error):
            async with asyncio.timeout(SECONDS):
                async for piece in self._whole:
                    plain = piece if unpacking is None else unpacking.decompress(piece, left)
                    pieces.append(plain[:left])
                    left -= len(pieces[-1])
                    if not left:
                        break
        return b"".join(pieces)

    async def aclose(self) -> None:
        await self._whole.aclose()
