"""The interface between sessions and models, hosted or offline."""

from collections.abc import AsyncIterator
from typing import Protocol

from sidecar.core.conversation.stream import StreamEvent
from sidecar.core.parts import JsonObject, Usage
from sidecar.core.prompt.prompt import ModelRequest


class Model(Protocol):
    """A model with streamed answers. `AttemptFailed` voids all earlier events of a request."""

    def body(self, request: ModelRequest) -> JsonObject:
        """Return the provider's request body exactly as `stream` sends it."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """Send the request, retry, and yield events up to `ResponseFinished`.

        Raises:
          ModelFailed: no attempt can succeed, or none is left.
        """
        ...

    async def ping(self, request: ModelRequest) -> Usage:
        """Have the provider read a prompt without answering; return the usage.

        Renews the lifetime of the cached prefix. `max_tokens` counts as 0. One attempt only.

        Raises:
          ModelFailed: the request failed.
        """
        ...
