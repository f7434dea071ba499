"""Params of ACP's requests; unlisted fields are ignored. `meta` is `_meta`."""

from typing import Any, TypeAlias

import msgspec

from sidecar.core.parts import Json, JsonObject

Opaque: TypeAlias = dict[str, Any]
"""Any JSON object, for msgspec."""


class Shape(msgspec.Struct, frozen=True, rename="camel"):
    """Base of all params."""

    meta: Opaque | None = msgspec.field(default=None, name="_meta")


class Initialize(Shape, frozen=True):
    """`initialize`, without the version: some clients send no number."""

    client_capabilities: Opaque = {}


class Authenticate(Shape, frozen=True, kw_only=True):
    """`authenticate`."""

    method_id: str


class AcpNewSession(Shape, frozen=True, kw_only=True):
    """`session/new`."""

    cwd: str
    mcp_servers: list[Opaque] = []


class AcpOpenSession(Shape, frozen=True, kw_only=True):
    """`session/load`, `session/resume` and `session/fork`."""

    session_id: str
    cwd: str = ""
    mcp_servers: list[Opaque] = []


class ListSessions(Shape, frozen=True):
    """`session/list`."""

    cwd: str | None = None
    cursor: str | None = None


class NamedSession(Shape, frozen=True, kw_only=True):
    """`session/close`, `session/delete` and `session/cancel`."""

    session_id: str


class SetConfigOption(Shape, frozen=True, kw_only=True):
    """`session/set_config_option`."""

    session_id: str
    config_id: str
    value: str | bool


class SetMode(Shape, frozen=True, kw_only=True):
    """`session/set_mode`."""

    session_id: str
    mode_id: str


class AcpPrompt(Shape, frozen=True, kw_only=True):
    """`session/prompt`."""

    session_id: str
    prompt: list[Opaque]


def extra(shape: Shape) -> JsonObject:
    found: Json = (shape.meta or {}).get("sidecar")
    return found if isinstance(found, dict) else {}
