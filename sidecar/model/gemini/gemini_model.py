"""Streams answers with Google's SDK, of Gemini's API and servers like it."""

import asyncio
import importlib
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import cached_property, partial
from typing import Any
from urllib.parse import quote

from sidecar.core.conversation.stream import StreamEvent
from sidecar.core.errors import ModelFailed
from sidecar.core.parts import JsonObject, Usage
from sidecar.core.prompt.prompt import ModelRequest
from sidecar.extras import adding
from sidecar.model.gemini.gemini_chunks import ChunkCutter, ChunkEvent
from sidecar.model.gemini.gemini_decode import GeminiDecoder
from sidecar.model.gemini.gemini_encode import GeminiEncoder
from sidecar.model.hosted import DRAIN, HostedModel, timeout, transport_of, written
from sidecar.model.stalls import AnswerLimits, CutEvent, InTime

SILENCE = 3
"""How many times as long as others Gemini may be silent: it thinks without a sign of life."""
ADDRESS = "https://generativelanguage.googleapis.com"
VERSION = "v1beta"
"""Unless the address names one: `v1`, the SDK's default, lacks previews and `-latest` names."""
_VERSIONS = ("v1", "v1alpha", "v1beta")
NO_KEY = (
    "there is no API key: set GEMINI_API_KEY or the provider's apiKey, "
    'or choose the model "offline", which needs none'
)
NO_SDK = (
    "the provider {} cannot be used: this needs the package google-genai, an extra of Sidecar: `{}`"
)


class GeminiModel(HostedModel):
    """Speaks to Gemini by the SDK's inner client, which gives address, headers and errors.

    Bodies and chunks are ours: the SDK would check and rebuild the whole history for each step.
    """

    @cached_property
    def _encoder(self) -> GeminiEncoder:
        return GeminiEncoder()

    def body(self, request: ModelRequest) -> JsonObject:
        body: JsonObject = json.loads(GeminiEncoder().write(request))
        return body

    def missing_key(self) -> str:
        return NO_KEY if self.endpoint.hosted and not self.endpoint.api_key else ""

    async def renew(self, request: ModelRequest, headers: Mapping[str, str]) -> Usage:  # noqa: ARG002 - has none
        raise ModelFailed(
            "Gemini keeps no prefix warm by request: turn keepAlive off for this model",
            kind="bad_request",
        )

    async def answer(
        self, request: ModelRequest, headers: Mapping[str, str], allowed: AnswerLimits
    ) -> AsyncIterator[StreamEvent]:
        names = [tool.name for tool in request.prompt.tools]
        decoder = GeminiDecoder(names, allowed, self.sdk)
        allowed = replace(allowed, stall=SILENCE * allowed.stall)
        response = await self._asked(request, headers)
        try:
            cut = InTime(ChunkCutter(), allowed).aiter_bytes(response.aiter_bytes())
            async with aclosing(cut) as chunks:  # type: ignore[type-var] # a generator
                async for chunk in chunks:
                    for event in self._decoded(decoder, chunk):
                        yield event
                    if decoder.stopped:
                        break
                # Some servers tell usage behind the end.
                for event in await self._drained(decoder, chunks):
                    yield event
            for event in decoder.end():
                yield event
        finally:
            await response.aclose()

    async def _asked(self, request: ModelRequest, headers: Mapping[str, str]) -> Any:  # noqa: ANN401 - the SDK's
        model = request.model
        model = model if model.startswith(("models/", "tunedModels/")) else f"models/{model}"
        path = f"{quote(model)}:streamGenerateContent?alt=sse"
        asked = self._address("post", path, {})
        write = partial(self._encoder.write, request)
        asked.data = await written(self._encoder.unwritten(request), write)
        asked.headers.update(headers)
        asked.timeout = self._timeout
        answered = await self._send(asked, stream=True)
        return answered.response_stream

    def _decoded(self, decoder: GeminiDecoder, chunk: CutEvent) -> list[StreamEvent]:
        match chunk:
            case ChunkEvent(content={"error": dict()} as refused):
                raise self._refusal(0, refused)
            case ChunkEvent(content=dict(content)):
                return list(decoder.take(content))
            case _:
                return []

    async def _drained(
        self, decoder: GeminiDecoder, chunks: AsyncIterator[CutEvent]
    ) -> list[StreamEvent]:
        # To reuse the connection. The answer is complete, so no error matters.
        found: list[StreamEvent] = []
        with suppress(Exception):
            async with asyncio.timeout(DRAIN):
                async for chunk in chunks:
                    found += self._decoded(decoder, chunk)
        return found

    def load(self) -> Any:  # noqa: ANN401 - see the base class
        try:
            sdk = importlib.import_module("google.genai")
        except ModuleNotFoundError as error:
            if error.name not in ("google", "google.genai"):
                raise
            text = NO_SDK.format(self.endpoint.name, adding("gemini"))
            raise ModelFailed(text, kind="bad_request") from None
        inner = importlib.import_module("google.genai._api_client")
        options = importlib.import_module("google.genai.types").HttpOptions
        self._refusal = importlib.import_module("google.genai.errors").APIError
        transport = importlib.import_module("httpx2")
        self._timeout = timeout(SILENCE * self.stall)
        self.sdk = f"google-genai {sdk.__version__}"
        address = (self.endpoint.base_url or ADDRESS).rstrip("/")
        versioned = address.rpartition("/")[2] in _VERSIONS
        self._transport = transport_of(
            transport.AsyncClient, timeout=self._timeout, follow_redirects=False
        )
        # What is given here is not looked for in the environment: another account, key, version.
        client = inner.BaseApiClient(
            vertexai=False,
            # Local servers take any key.
            api_key=self.endpoint.api_key or "none",
            http_options=options(
                base_url=address,
                api_version="" if versioned else VERSION,
                httpx_async_client=self._transport,
            ),
        )
        # Found missing here, where that is told; see the class for why they are not public.
        self._address = client._build_request  # noqa: SLF001
        self._send = client._async_request_once  # noqa: SLF001
        return client

    async def aclose(self) -> None:
        if self.client is not None:
            await self._transport.aclose()
            self.client.close()
