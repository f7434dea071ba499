"""Streams answers with the OpenAI SDK, of its own APIs and others like them.

The SDK takes our bytes unchanged and gives events as plain JSON.
"""

import importlib
from abc import abstractmethod
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Protocol

from sidecar.core.conversation.stream import StreamEvent
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import ModelFailed
from sidecar.core.parts import Usage
from sidecar.core.prompt.prompt import ModelRequest
from sidecar.extras import adding
from sidecar.model.bodies.piece_writer import PieceWriter
from sidecar.model.failures import EndedEarly
from sidecar.model.hosted import HostedModel, drained, timeout, transport_of, written
from sidecar.model.late_names import late_names
from sidecar.model.stalls import PINGS, AnswerLimits, CutEvent, InTime

if TYPE_CHECKING:
    from openai import AsyncOpenAI

NO_SDK = "this needs the package openai, an extra of Sidecar: `{}`"
NO_RENEWAL = (
    "this provider has no request that keeps a prompt cached without an answer: "
    "its cache is renewed by use alone"
)


class EventDecoder(Protocol):
    """Decodes one answer's events; `finished` once it is complete."""

    finished: bool

    def take(self, event: Any) -> Iterator[StreamEvent]: ...  # noqa: ANN401 - any JSON

    def end(self) -> Iterator[StreamEvent]:
        """Gives what is known at the stream's end."""
        ...


class OpenAiModel(HostedModel):
    """What the SDK's client does for each API."""

    @abstractmethod
    def path(self, request: ModelRequest) -> str: ...

    @abstractmethod
    def pieces(self, request: ModelRequest) -> PieceWriter: ...

    @abstractmethod
    def written(self, request: ModelRequest) -> bytes:
        """Writes `body`."""

    @abstractmethod
    def decoder(self, allowed: AnswerLimits) -> EventDecoder: ...

    @abstractmethod
    def account(self) -> tuple[str, dict[str, Any]]:
        """Names the client's class and its arguments: key, address."""

    async def renew(
        self,
        request: ModelRequest,  # noqa: ARG002 - the base's
        headers: Mapping[str, str],  # noqa: ARG002 - the base's
    ) -> Usage:
        raise ModelFailed(NO_RENEWAL, kind="bad_request")

    async def answer(
        self, request: ModelRequest, headers: Mapping[str, str], allowed: AnswerLimits
    ) -> AsyncIterator[StreamEvent]:
        decoder = self.decoder(allowed)
        unwritten = self.pieces(request).unwritten(request.prompt.messages)
        response = await self.client.post(
            self.path(request),
            content=await written(unwritten, lambda: self.written(request)),
            cast_to=object,
            options={"headers": headers, "follow_redirects": False},
            stream=True,
            stream_cls=self._stream_class,
        )
        # Pings and comments are signs of life, but the SDK hides comments and we hide pings.
        response._decoder = _Unpinged(InTime(_heeding(response._decoder), allowed))  # noqa: SLF001
        async with response:
            async for event in response:
                for known in decoder.take(event):
                    yield known
                if decoder.finished:
                    await drained(response)
                    break
        for known in decoder.end():
            yield known
        if not decoder.finished:
            raise EndedEarly

    def load(self) -> "AsyncOpenAI":
        try:
            with late_names("openai", within="types"):
                sdk = importlib.import_module("openai")
                self._stream_class = sdk.AsyncStream[object]
                name, account = self.account()
                make = getattr(sdk, name)
        except ModuleNotFoundError as error:
            if error.name != "openai":
                raise
            raise ModelFailed(NO_SDK.format(adding("openai")), kind="bad_request") from None
        self.sdk = f"openai {sdk.__version__}"
        try:
            client: AsyncOpenAI = make(
                max_retries=0,
                timeout=timeout(self.stall),
                http_client=transport_of(sdk.DefaultAsyncHttpxClient),
                **account,
            )
        except (ImportError, TypeError, ValueError, sdk.OpenAIError) as error:
            raise self.unusable(error) from None
        # The SDK reads these from the environment, whichever server it speaks to.
        client.organization = client.project = client.admin_api_key = None
        client._custom_headers = {}  # noqa: SLF001 - see above
        return client


@dataclass(frozen=True, slots=True)
class _Ping:
    event: str = "ping"
    data: str = ""


_PING = _Ping()


def _heeding(decoder: Any) -> Any:  # noqa: ANN401 - the SDK's
    """Makes pings of comments, by which servers keep connections open."""
    usual = decoder.decode
    decoder.decode = lambda line: _PING if line.startswith(":") else usual(line)
    return decoder


class _Unpinged:
    def __init__(self, inner: InTime) -> None:
        self._inner = inner

    async def aiter_bytes(self, iterator: AsyncIterator[bytes]) -> AsyncIterator[CutEvent]:
        async with aclosing(self._inner.aiter_bytes(iterator)) as events:  # type: ignore[type-var] # a generator
            async for event in events:
                if event.event not in PINGS:
                    yield event
