"""Streams answers and pings with the Anthropic SDK, under our own retries.

The SDK's import takes half a second and 30 MiB. It follows `initialize`, in a thread without
garbage collection, to stall the event loop for milliseconds only.
"""

import asyncio
import gc
import importlib
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sidecar.core.conversation.stream import StreamEvent
from sidecar.core.errors import ModelFailed
from sidecar.core.parts import JsonObject, Millis, Usage
from sidecar.core.prompt.prompt import ModelRequest
from sidecar.model.decode import ResponseDecoder, usage_of
from sidecar.model.encode import Encoder, encode
from sidecar.model.endpoint import Endpoint
from sidecar.model.failures import EndedEarly, classify
from sidecar.model.late_names import late_names
from sidecar.model.retry import USUAL, Patience, with_retries
from sidecar.model.stalls import STALL, AnswerLimits, InTime, limits

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

DRAIN = 1.0
"""Seconds for a stream to end after its answer."""

_CLIENTS = {
    "anthropic": "AsyncAnthropic",
    "bedrock": "AsyncAnthropicBedrock",
    "vertex": "AsyncAnthropicVertex",
    "foundry": "AsyncAnthropicFoundry",
}
_ONE_AT_A_TIME = threading.Lock()
"""Held by who imports the SDK: windows do in threads of their own."""
_BODIES_CHANGED = frozenset({"bedrock", "vertex"})
"""Providers whose SDK clients write into the body, which others get as bytes."""
NO_KEY = (
    "there is no API key: set ANTHROPIC_API_KEY or the provider's apiKey, "
    'or choose the model "offline", which needs none'
)


class AnthropicModel:
    """The `Model` of `model.contract` for hosted providers."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        now: Callable[[], Millis],
        random: Callable[[], float],
        patience: Patience = USUAL,
        stall: float = STALL,
        limits: Callable[[int, float], AnswerLimits] = limits,
    ) -> None:
        self._endpoint = endpoint
        self._now = now
        self._random = random
        self._patience = patience
        self._stall = stall
        self._limits = limits
        self._client: AsyncAnthropic | None = None
        self._encoder = Encoder()
        self._sdk = ""
        self._loading = asyncio.Lock()

    def body(self, request: ModelRequest) -> JsonObject:
        return {**encode(request), "stream": True}

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        await self._get_ready()
        headers = {"x-sidecar-purpose": request.purpose}
        allowed = self._limits(request.max_tokens, self._stall)
        tries = with_retries(
            lambda: self._attempt(request, headers, allowed),
            self._patience,
            asyncio.sleep,
            self._random,
        )
        async with aclosing(tries) as events:  # type: ignore[type-var] # a generator
            async for event in events:
                yield event

    async def ping(self, request: ModelRequest) -> Usage:
        await self._get_ready()
        client = self._client
        assert client is not None
        # The API refuses to stream an answer of 0 tokens.
        asked = replace(request, max_tokens=0)
        headers = {"x-sidecar-purpose": request.purpose}
        options: Any = {"headers": headers, "follow_redirects": False}
        try:
            sent = self._sent(asked, stream=False)
            told = await client.post("/v1/messages", **sent, cast_to=object, options=options)
        except Exception as error:  # noqa: BLE001 - the SDK's failures have no common base
            # Without the chain: the SDK's exceptions quote headers and bodies.
            raise classify(error, self._now(), self._endpoint.api_key) from None
        usage = told.get("usage") if isinstance(told, dict) else None
        return replace(usage_of(usage if isinstance(usage, dict) else {}, Usage()), requests=1)

    async def _get_ready(self) -> None:
        keyed = self._endpoint.name == "anthropic" and self._endpoint.hosted
        if keyed and not self._endpoint.api_key:
            raise ModelFailed(NO_KEY, kind="authentication")
        await self.warm_up()

    async def warm_up(self) -> None:
        """Imports the SDK and makes the client, for which requests wait."""
        async with self._loading:
            if self._client is None:
                self._client = await asyncio.to_thread(self._load)

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.close()

    async def _attempt(
        self, request: ModelRequest, headers: Mapping[str, str], allowed: AnswerLimits
    ) -> AsyncIterator[StreamEvent]:
        decoder = ResponseDecoder(allowed, self._sdk)
        client = self._client
        assert client is not None
        try:
            # The plain POST skips the SDK's transformation of the whole history, which costs
            # more than everything else we do for a step.
            response = await client.post(
                "/v1/messages",
                **self._sent(request, stream=True),
                cast_to=object,
                options={"headers": headers, "follow_redirects": False},
                stream=True,
                stream_cls=self._stream_class,
            )
            # Pings count too, but the SDK hides pings behind its decoder.
            response._decoder = InTime(response._decoder, allowed)  # noqa: SLF001 - see above
            async with response:
                async for event in response:
                    for known in decoder.take(event):
                        yield known
                    if decoder.finished:
                        await _drained(response)
                        break
            if not decoder.finished:
                raise EndedEarly  # noqa: TRY301 - it joins the SDK's own ways to fail
        except (asyncio.CancelledError, GeneratorExit, ModelFailed):
            raise
        except Exception as error:  # noqa: BLE001 - the SDK's failures have no common base
            # Without the chain: the SDK's exceptions quote headers and bodies.
            raise classify(error, self._now(), self._endpoint.api_key) from None

    def _sent(self, request: ModelRequest, *, stream: bool) -> dict[str, Any]:
        if self._endpoint.name in _BODIES_CHANGED:
            return {"body": self.body(request) if stream else encode(request)}
        # The SDK copies a body value by value.
        return {"content": self._encoder.write(request, stream=stream)}

    def _load(self) -> Any:  # noqa: ANN401 - one of the SDK's clients, imported late
        name = _CLIENTS.get(self._endpoint.name)
        if name is None:
            known = ", ".join(_CLIENTS)
            raise ModelFailed(
                f"there is no provider {self._endpoint.name!r}; there are {known}",
                kind="bad_request",
            )
        gc.disable()
        try:
            with _ONE_AT_A_TIME, late_names("anthropic", within="types"):
                sdk = importlib.import_module("anthropic")
                self._stream_class = sdk.AsyncStream[object]
                make = getattr(sdk, name)
            gc.freeze()
        except (ImportError, AttributeError) as error:
            raise self._unusable(error) from None
        finally:
            gc.enable()
        transport = importlib.import_module("httpx2")
        self._sdk = f"anthropic {sdk.__version__}"
        timeout = transport.Timeout(connect=10.0, read=self._stall, write=60.0, pool=60.0)
        options: dict[str, Any] = {"max_retries": 0, "timeout": timeout}
        if self._endpoint.name == "anthropic":
            # Local servers take any key; a key keeps the SDK from looking for others.
            options["api_key"] = self._endpoint.api_key or "none"
            options["base_url"] = self._endpoint.base_url or "https://api.anthropic.com"
            options["open_telemetry"] = False
        else:
            # A cloud's credentials and region come from its own environment, as its tools do.
            if self._endpoint.base_url:
                options["base_url"] = self._endpoint.base_url
            if self._endpoint.name == "foundry" and self._endpoint.api_key:
                options["api_key"] = self._endpoint.api_key
            if self._endpoint.shared and self._endpoint.ambient:
                # Those of another account might be found.
                raise ModelFailed(
                    f"the provider {self._endpoint.name} takes its account from the environment of "
                    "the daemon's process, which windows share here: have the editor start "
                    "`sidecar serve --stdio --alone`",
                    kind="bad_request",
                )
        try:
            return make(**options)
        except (ImportError, TypeError, ValueError, sdk.AnthropicError) as error:
            raise self._unusable(error) from None

    def _unusable(self, error: Exception) -> ModelFailed:
        text = f"the provider {self._endpoint.name} cannot be used: {error}"
        return ModelFailed(text, kind="bad_request")


async def _drained(response: AsyncIterator[object]) -> None:
    # To reuse the connection. The answer is complete, so no error matters.
    with suppress(Exception):
        async with asyncio.timeout(DRAIN):
            async for _ in response:
                pass
