"""Send requests and notifications, and decode answers."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from sidecar_client.connection import INTERNAL_ERROR, Connection
from sidecar_client.errors import SidecarError
from sidecar_client.messages import ServerCapabilities

T = TypeVar("T")


class Caller:
    """A running, initialized daemon, open to any request."""

    def __init__(
        self, connection: Connection, version: str, capabilities: ServerCapabilities
    ) -> None:
        self._connection = connection
        self.version = version
        self.capabilities = capabilities

    async def request(self, method: str, params: Any = None) -> Any:  # noqa: ANN401 - any JSON
        """Send any request; return its result as plain JSON."""
        return msgspec.json.decode(await self._connection.request(method, _object(params)))

    async def notify(self, method: str, params: Any = None) -> None:  # noqa: ANN401 - any JSON
        """Send any notification."""
        await self._connection.notify(method, _object(params))

    async def call(self, method: str, params: msgspec.Struct, result: type[T]) -> T:
        """Send a request and decode its result."""
        answer = await self._connection.request(method, params)
        try:
            return msgspec.json.decode(answer, type=result)
        except msgspec.ValidationError as error:
            text = f"{method} was answered in a form that this client does not know: {error}"
            raise SidecarError(INTERNAL_ERROR, "unknown_form", text, {}) from error


def given(value: T | None) -> T | UnsetType:
    """Turn `None` into an absent parameter."""
    return UNSET if value is None else value


def given_path(path: str | Path | None) -> str | UnsetType:
    """Turn `None` into an absent parameter, a path into text."""
    return UNSET if path is None else str(path)


def blocks(prompt: str | Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Convert a prompt to content blocks."""
    if isinstance(prompt, str):
        return [{"type": "text", "text": prompt}]
    return [dict(block) for block in prompt]


def _object(params: Any) -> Any:  # noqa: ANN401 - any JSON
    return {} if params is None else params
