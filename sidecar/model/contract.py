"""What the session needs from a model; `anthropic` and the offline model both give it."""

from collections.abc import AsyncIterator
from typing import Protocol

from sidecar.core.conversation.stream import StreamEvent
from sidecar.core.parts import JsonObject, Usage
from sidecar.core.prompt.prompt import ModelRequest


class Model(Protocol):
    """Streams answers. Retries are inside: an `AttemptFailed` voids what came before it."""

    def body(self, request: ModelRequest) -> JsonObject:
        """Give the provider's request body, exactly as `stream` would send it."""
        ...

    def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        """Send the request and yield events up to `ResponseFinished`.

        Raises:
            ModelFailed: when it cannot succeed, or no attempt is left.
        """
        ...

    async def ping(self, request: ModelRequest) -> Usage:
        """Have the provider read a prompt without answering, and give what it reports.

        What is cached of the prompt lives on from then. `max_tokens` is taken as 0. Tried once.

        Raises:
            ModelFailed: when it cannot be done, or not now.
        """
        ...
