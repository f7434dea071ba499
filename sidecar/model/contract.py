"""The interface between sessions and models, hosted or offline."""

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Protocol

from sidecar.core.parts import JsonObject, Usage
from sidecar.core.prompt.prompt import ModelRequest

if TYPE_CHECKING:
    from sidecar.core.conversation.stream import StreamEvent


class Model(Protocol):
    """Streams answers; `AttemptFailed` voids all earlier events."""

    def body(self, request: ModelRequest) -> JsonObject: ...

    def stream(self, request: ModelRequest) -> "AsyncIterator[StreamEvent]":
        """Streams up to `ResponseFinished`, with retries; raises ModelFailed after the last."""
        ...

    async def ping(self, request: ModelRequest) -> Usage:
        """Renews a cached prefix without an answer or retries; raises ModelFailed."""
        ...
