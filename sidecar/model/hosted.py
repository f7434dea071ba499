"""A model behind a vendor's SDK, under our own retries.

An SDK's import takes half a second and 30 MiB. It follows `initialize`, in a thread without garbage
collection, to stall the event loop for milliseconds only.
"""

import asyncio
import gc
import importlib
import threading
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from typing import Any, TypeVar

from sidecar.core.conversation.stream import StreamEvent
from sidecar.core.errors import ModelFailed
from sidecar.core.parts import JsonObject, Millis, Usage
from sidecar.core.prompt.prompt import ModelRequest
from sidecar.model.endpoint import Endpoint, key_of
from sidecar.model.failures import classify
from sidecar.model.retry import USUAL, Patience, with_retries
from sidecar.model.stalls import STALL, AnswerLimits, limits

DRAIN = 1.0
"""Seconds for a stream to end after its answer."""
_THREAD_BLOCKS = 500
"""More new blocks take over ten milliseconds to write."""
_ONE_AT_A_TIME = threading.Lock()
"""Held by who imports an SDK: windows do in threads of their own."""

_Body = TypeVar("_Body")


class HostedModel(ABC):
    """The `Model` for hosted providers; a vendor's class speaks to the SDK."""

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
        self.endpoint = endpoint
        self.stall = stall
        self.sdk = ""
        self.client: Any = None
        self._now = now
        self._random = random
        self._patience = patience
        self._limits = limits
        self._loading = asyncio.Lock()

    # --- a vendor's part ---------------------------------------------------------------------

    @abstractmethod
    def body(self, request: ModelRequest) -> JsonObject: ...

    @abstractmethod
    def missing_key(self) -> str:
        """Says how to give a key, if one is needed and missing."""

    @abstractmethod
    def load(self) -> Any:  # noqa: ANN401 - one of the SDK's clients, imported late
        """Imports the SDK and makes a client, in a thread. Raises ModelFailed, ImportError."""

    @abstractmethod
    def answer(
        self, request: ModelRequest, headers: Mapping[str, str], allowed: AnswerLimits
    ) -> AsyncIterator[StreamEvent]:
        """Streams one attempt's answer; raises the SDK's errors, or EndedEarly."""

    @abstractmethod
    async def renew(self, request: ModelRequest, headers: Mapping[str, str]) -> Usage:
        """Keeps the prefix cached, without an answer; raises the SDK's errors."""

    # --- for sessions ------------------------------------------------------------------------

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        await self._get_ready()
        allowed = self._limits(request.max_tokens, self.stall)
        tries = with_retries(
            lambda: self._attempt(request, allowed), self._patience, asyncio.sleep, self._random
        )
        async with aclosing(tries) as events:  # type: ignore[type-var] # a generator
            async for event in events:
                yield event

    async def ping(self, request: ModelRequest) -> Usage:
        await self._get_ready()
        # The Messages API refuses to stream an answer of 0 tokens.
        asked = replace(request, max_tokens=0)
        try:
            usage = await self.renew(asked, _headers(request))
        except ModelFailed:
            raise
        except Exception as error:  # noqa: BLE001 - the SDKs' failures have no common base
            raise self.failed(error) from None
        return replace(usage, requests=1)

    async def warm_up(self) -> None:
        """Imports the SDK and makes the client, for which requests wait."""
        async with self._loading:
            if self.client is None:
                self.client = await asyncio.to_thread(self._load)

    async def aclose(self) -> None:
        if self.client is not None:
            await self.client.close()

    # --- pieces ------------------------------------------------------------------------------

    async def _get_ready(self) -> None:
        if missing := self.missing_key():
            raise ModelFailed(missing, kind="authentication")
        await self.warm_up()

    def _load(self) -> Any:  # noqa: ANN401 - see `load`
        self.endpoint = replace(self.endpoint, api_key=key_of(self.endpoint.api_key))
        gc.disable()
        try:
            with _ONE_AT_A_TIME:
                client = self.load()
            gc.freeze()
        except (ImportError, AttributeError) as error:
            raise self.unusable(error) from None
        finally:
            gc.enable()
        return client

    async def _attempt(
        self, request: ModelRequest, allowed: AnswerLimits
    ) -> AsyncIterator[StreamEvent]:
        try:
            answer = self.answer(request, _headers(request), allowed)
            async with aclosing(answer) as events:  # type: ignore[type-var] # a generator
                async for event in events:
                    yield event
        except (asyncio.CancelledError, GeneratorExit, ModelFailed):
            raise
        except Exception as error:  # noqa: BLE001 - the SDKs' failures have no common base
            raise self.failed(error) from None

    def failed(self, error: Exception) -> ModelFailed:
        return self.classified(error, {})

    def classified(self, error: Exception, advice: Mapping[str, str]) -> ModelFailed:
        # Without the chain: the SDKs' exceptions quote headers and bodies.
        return classify(error, self._now(), self.endpoint.api_key, advice)

    def unusable(self, error: Exception) -> ModelFailed:
        text = f"the provider {self.endpoint.name} cannot be used: {error}"
        return ModelFailed(text, kind="bad_request")


def timeout(silence: float) -> Any:  # noqa: ANN401 - httpx2's, imported late
    """Limits an SDK's waits; `silence` is seconds between an answer's bytes."""
    transport = importlib.import_module("httpx2")
    return transport.Timeout(connect=10.0, read=silence, write=60.0, pool=60.0)


def transport_of(client: type[Any], **options: Any) -> Any:  # noqa: ANN401 - an SDK's own kind
    """Makes an SDK's transport; `client`: its usual class."""
    return importlib.import_module("sidecar.model.bounded_answers").bounding(client, **options)


async def written(blocks: int, write: Callable[[], _Body]) -> _Body:
    """Writes a body with so many new blocks, many of them in a thread."""
    return await asyncio.to_thread(write) if blocks > _THREAD_BLOCKS else write()


async def drained(response: AsyncIterator[object]) -> None:
    """Reads a complete answer's rest, to reuse the connection; no error matters."""
    with suppress(Exception):
        async with asyncio.timeout(DRAIN):
            async for _ in response:
                pass


def _headers(request: ModelRequest) -> Mapping[str, str]:
    return {"x-sidecar-purpose": request.purpose}
