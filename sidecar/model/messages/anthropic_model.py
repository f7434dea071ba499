"""Streams answers and pings with Anthropic's SDK, from its API and clouds."""

import importlib
from collections.abc import AsyncIterator, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from sidecar.core.conversation.stream import StreamEvent
from sidecar.core.errors import ModelFailed
from sidecar.core.parts import JsonObject, Usage
from sidecar.core.prompt.prompt import ModelRequest
from sidecar.extras import adding
from sidecar.model.failures import EndedEarly
from sidecar.model.hosted import HostedModel, drained, timeout, transport_of, written
from sidecar.model.late_names import late_names
from sidecar.model.messages.clouds import CLOUDS, Cloud, advice, forget_account, is_unsent
from sidecar.model.messages.decode import ResponseDecoder, usage_of
from sidecar.model.messages.encode import Encoder, encode
from sidecar.model.stalls import AnswerLimits, InTime

if TYPE_CHECKING:
    from anthropic import AsyncAnthropic

COMPACTING = {"anthropic-beta": "compact-2026-09-04"}
NO_KEY = (
    "there is no API key: set ANTHROPIC_API_KEY or the provider's apiKey, "
    'or choose the model "offline", which needs none'
)
NO_PACKAGE = "this needs the package {}, an extra of Sidecar: `{}`"


class AnthropicModel(HostedModel):
    """Speaks to Claude's API, to clouds that pass it on, and local servers like it."""

    @cached_property
    def _encoder(self) -> Encoder:
        return Encoder()

    @property
    def _cloud(self) -> Cloud:
        cloud = CLOUDS.get(self.endpoint.name)
        if cloud is None:
            raise ModelFailed(
                f"there is no provider {self.endpoint.name!r}; there are {', '.join(CLOUDS)}",
                kind="bad_request",
            )
        return cloud

    def body(self, request: ModelRequest) -> JsonObject:
        return {**self._encoded(request), "stream": True}

    def _encoded(self, request: ModelRequest) -> JsonObject:
        cloud = CLOUDS.get(self.endpoint.name)
        told: JsonObject = {"anthropic_version": cloud.version} if cloud and cloud.version else {}
        return {**encode(request), **told}

    def missing_key(self) -> str:
        keyed = self.endpoint.name == "anthropic" and self.endpoint.hosted
        return NO_KEY if keyed and not self.endpoint.api_key else ""

    async def renew(self, request: ModelRequest, headers: Mapping[str, str]) -> Usage:
        options: Any = {"headers": headers, "follow_redirects": False}
        sent = self._sent(request, stream=False)
        told = await self.client.post("/v1/messages", **sent, cast_to=object, options=options)
        usage = told.get("usage") if isinstance(told, dict) else None
        return usage_of(usage if isinstance(usage, dict) else {}, Usage())

    async def answer(
        self, request: ModelRequest, headers: Mapping[str, str], allowed: AnswerLimits
    ) -> AsyncIterator[StreamEvent]:
        compacting = bool(request.compaction)
        decoder = ResponseDecoder(allowed, self.sdk, compacting=compacting)
        headers = {**headers, **(COMPACTING if compacting else {})}
        # The plain POST skips the SDK's transformation of the whole history, which costs more than
        # everything else we do for a step.
        sent = partial(self._sent, request, stream=True)
        response = await self.client.post(
            "/v1/messages",
            **await written(self._encoder.unwritten(request), sent),
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
                    await drained(response)
                    break
        if not decoder.finished:
            raise EndedEarly

    def _sent(self, request: ModelRequest, *, stream: bool) -> dict[str, Any]:
        if self._cloud.rewritten:
            return {"body": self.body(request) if stream else self._encoded(request)}
        # The SDK copies a body value by value.
        return {"content": self._encoder.write(request, stream=stream)}

    def load(self) -> "AsyncAnthropic":
        cloud = self._cloud
        if cloud.package:
            try:
                importlib.import_module(cloud.package)
            except ModuleNotFoundError:
                missing = ImportError(NO_PACKAGE.format(cloud.package, adding(cloud.extra)))
                raise self.unusable(missing) from None
        with late_names("anthropic", within="types"):
            sdk = importlib.import_module("anthropic")
            self._stream_class = sdk.AsyncStream[object]
            make = getattr(sdk, cloud.client)
        self.sdk = f"anthropic {sdk.__version__}"
        options = {
            "max_retries": 0,
            "timeout": timeout(self.stall),
            "http_client": transport_of(sdk.DefaultAsyncHttpxClient),
            **self._account(),
        }
        try:
            client: AsyncAnthropic = make(**options)
        except (ImportError, TypeError, ValueError, sdk.AnthropicError) as error:
            raise self.unusable(error) from None
        return client

    def failed(self, error: Exception) -> ModelFailed:
        cloud = self._cloud
        failed = self.classified(error, advice(cloud))
        if cloud.account and is_unsent(error):
            failed = ModelFailed(f"{error}; {cloud.account}", kind="authentication")
        if cloud.account and failed.failure == "authentication":
            forget_account(self.client)
        return failed

    def _account(self) -> dict[str, Any]:
        endpoint = self.endpoint
        if endpoint.name == "anthropic":
            # Local servers take any key; a key keeps the SDK from looking for others.
            key, address = endpoint.api_key or "none", endpoint.base_url
            address = address or "https://api.anthropic.com"
            return {"api_key": key, "base_url": address, "open_telemetry": False}
        if endpoint.shared and endpoint.ambient:
            # Those of another account might be found.
            raise ModelFailed(
                f"the provider {endpoint.name} takes its account from the environment of "
                "the daemon's process, which windows share here: have the editor start "
                "`sidecar serve --stdio --alone`",
                kind="bad_request",
            )
        # A cloud's credentials and region come from its own environment, as its tools do.
        key = endpoint.api_key if self._cloud.keyed else ""
        options = {"base_url": endpoint.base_url, "api_key": key}
        return {name: value for name, value in options.items() if value}
