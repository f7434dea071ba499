"""A named provider's model: requests say `name/model`, the provider gets `model`."""

from collections.abc import AsyncIterator
from dataclasses import replace

from sidecar.core.conversation.stream import StreamEvent
from sidecar.core.parts import JsonObject, Usage
from sidecar.core.prompt.prompt import ModelRequest
from sidecar.model.hosted import HostedModel


class NamedModel:
    """The `Model` of `model.contract` for `NAME/…`."""

    def __init__(self, name: str, model: HostedModel) -> None:
        self.model = model
        self._prefix = f"{name}/"

    def body(self, request: ModelRequest) -> JsonObject:
        return self.model.body(self._own(request))

    def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        return self.model.stream(self._own(request))

    async def ping(self, request: ModelRequest) -> Usage:
        return await self.model.ping(self._own(request))

    def _own(self, request: ModelRequest) -> ModelRequest:
        return replace(request, model=request.model.removeprefix(self._prefix))
