"""Starting the daemon, its state, and its other notifications."""

from typing import Annotated, Any

import msgspec

ChangeCause = Annotated[
    str, msgspec.Meta(examples=["turn_started", "step", "tools", "turn_ended", "option"])
]


class ProviderOptions(msgspec.Struct, rename="camel", kw_only=True):
    """The provider's name, address and key."""

    name: str | msgspec.UnsetType = msgspec.UNSET
    base_url: str | msgspec.UnsetType = msgspec.UNSET
    api_key: str | msgspec.UnsetType = msgspec.UNSET


class PermissionRules(msgspec.Struct, rename="camel", kw_only=True):
    """Rules to allow or reject calls unasked: `TOOL`, `TOOL:PATTERN` or `shell@FOLDER:COMMAND`.

    See `docs/reference/permissions.md`.
    """

    allow: list[str] | msgspec.UnsetType = msgspec.UNSET
    reject: list[str] | msgspec.UnsetType = msgspec.UNSET


class InitializationOptions(msgspec.Struct, rename="camel", kw_only=True):
    """`initializationOptions` of `initialize`; over ACP `_meta.sidecar`. All are optional.

    `config` has any other of `docs/reference/settings.md`, as in a file:
    `{retry: {totalMs: 60000}}`.
    """

    model: str | msgspec.UnsetType = msgspec.UNSET
    policy: str | msgspec.UnsetType = msgspec.UNSET
    window: int | msgspec.UnsetType = msgspec.UNSET
    max_tokens: int | msgspec.UnsetType = msgspec.UNSET
    provider: ProviderOptions | msgspec.UnsetType = msgspec.UNSET
    data_dir: str | msgspec.UnsetType = msgspec.UNSET
    workspace_trusted: bool | msgspec.UnsetType = msgspec.UNSET
    agent: str | msgspec.UnsetType = msgspec.UNSET
    config: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET
    permissions: PermissionRules | msgspec.UnsetType = msgspec.UNSET
    mcp_servers: dict[str, dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET
    providers: dict[str, dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET


class FileCapabilities(msgspec.Struct, rename="camel", kw_only=True):
    """Whether the client reads and writes files for the daemon."""

    read_text_file: bool | msgspec.UnsetType = msgspec.UNSET
    write_text_file: bool | msgspec.UnsetType = msgspec.UNSET


class ClientCapabilities(msgspec.Struct, rename="camel", kw_only=True):
    """`capabilities.experimental.sidecar` of an editor's `initialize`; ACP has the same `fs`.

    Nothing else is requested: without `requestPermission`, calls in need of permission are refused;
    without `toolCall`, tools of the client fail, each with the reason. ACP clients always answer
    questions, and announce `toolCall` in their `_meta.sidecar`. `workspace/applyEdit` is announced
    as in LSP.
    """

    fs: FileCapabilities | msgspec.UnsetType = msgspec.UNSET
    tool_call: bool | msgspec.UnsetType = msgspec.UNSET
    request_permission: bool | msgspec.UnsetType = msgspec.UNSET


class ServerCapabilities(msgspec.Struct, rename="camel", kw_only=True):
    """`capabilities.experimental.sidecar` of the daemon's answer to `initialize`."""

    protocol_version: int
    features: list[str]


class DaemonStatusParams(msgspec.Struct, rename="camel", kw_only=True):
    """Ask for the daemon's state, without params."""


class OpenSession(msgspec.Struct, rename="camel", kw_only=True):
    """A session open in this daemon."""

    session_id: str
    revision: int
    busy: bool


class DaemonStatusResult(msgspec.Struct, rename="camel", kw_only=True):
    """The daemon's state. Inner objects are for people; null means absent (so far).

    `settings` lists all settings changed from their default, by name: value (keys hidden), layer
    (user, workspace, environment, client) and place, and whether `pending` until a restart.
    """

    version: str
    pid: int
    uptime_ms: int
    sessions: list[OpenSession]
    store: dict[str, Any] | None
    watcher: dict[str, Any] | None
    model: dict[str, Any] | None
    mcp: list[dict[str, Any]]
    metrics: dict[str, Any]
    alerts: list[dict[str, Any]]
    settings: dict[str, Any] | msgspec.UnsetType = msgspec.UNSET


class DaemonStatusChangedParams(msgspec.Struct, rename="camel", kw_only=True):
    """The daemon became busy or idle, or failed; `message` is for a status bar."""

    busy: bool
    kind: Annotated[str, msgspec.Meta(examples=["idle", "working", "error"])]
    message: str


class DaemonAlertParams(msgspec.Struct, rename="camel", kw_only=True):
    """A value crossed a threshold (`raised`) or came back (`cleared`); each is sent once.

    `name` is the threshold's setting under `alerts`, which also sets the unit of `value`. `action`
    is advice. Without `sessionId` the alert is about all sessions of the daemon.
    """

    state: Annotated[str, msgspec.Meta(examples=["raised", "cleared"])]
    name: Annotated[str, msgspec.Meta(examples=["hit_rate", "utilisation"])]
    level: Annotated[str, msgspec.Meta(examples=["info", "warning", "critical"])]
    message: str
    action: str
    value: float
    threshold: float
    at: str
    session_id: str | msgspec.UnsetType = msgspec.UNSET


class SessionChangedParams(msgspec.Struct, rename="camel", kw_only=True):
    """The session's log grew; `revision` is its newest."""

    session_id: str
    revision: int
    cause: ChangeCause


class RetryError(msgspec.Struct, rename="camel", kw_only=True):
    """Failure of a model request; `kind` is one of -32020's, `status` is HTTP's."""

    kind: str
    message: str
    status: int | msgspec.UnsetType = msgspec.UNSET


class SessionRetryingParams(msgspec.Struct, rename="camel", kw_only=True):
    """A failed model request is retried after `delayMs`; `discard` names void parts."""

    session_id: str
    attempt: int
    max_attempts: int
    delay_ms: int
    error: RetryError
    discard: list[str]
