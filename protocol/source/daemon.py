"""Starting the daemon, its state, and its other notifications."""

from typing import Annotated, Any

import msgspec

ChangeCause = Annotated[
    str, msgspec.Meta(examples=["turn_started", "step", "tools", "turn_ended", "option"])
]


class ProviderOptions(msgspec.Struct, rename="camel", kw_only=True):
    """Which provider to call, where, and with which key."""

    name: str | msgspec.UnsetType = msgspec.UNSET
    base_url: str | msgspec.UnsetType = msgspec.UNSET
    api_key: str | msgspec.UnsetType = msgspec.UNSET


class PermissionRules(msgspec.Struct, rename="camel", kw_only=True):
    """What tools may do without asking, or never: `TOOL`, `TOOL:PATTERN` or `shell@FOLDER:COMMAND`.

    `docs/reference/permissions.md` says what each covers.
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


class FileCapabilities(msgspec.Struct, rename="camel", kw_only=True):
    """Whether the client reads and writes files for the daemon."""

    read_text_file: bool | msgspec.UnsetType = msgspec.UNSET
    write_text_file: bool | msgspec.UnsetType = msgspec.UNSET


class ClientCapabilities(msgspec.Struct, rename="camel", kw_only=True):
    """`capabilities.experimental.sidecar` of an editor's `initialize`; ACP has the same `fs`.

    What is absent is not asked of the client: without `requestPermission` a call that would be
    asked about is refused, without `toolCall` tools of the client's fail, each with the reason.
    ACP clients always answer questions, and say `toolCall` in `_meta.sidecar` of theirs.
    `workspace/applyEdit` is announced as in LSP.
    """

    fs: FileCapabilities | msgspec.UnsetType = msgspec.UNSET
    tool_call: bool | msgspec.UnsetType = msgspec.UNSET
    request_permission: bool | msgspec.UnsetType = msgspec.UNSET


class ServerCapabilities(msgspec.Struct, rename="camel", kw_only=True):
    """`capabilities.experimental.sidecar` of the daemon's answer to `initialize`."""

    protocol_version: int
    features: list[str]


class DaemonStatusParams(msgspec.Struct, rename="camel", kw_only=True):
    """Nothing is needed to ask how the daemon is."""


class OpenSession(msgspec.Struct, rename="camel", kw_only=True):
    """A session that is open in this daemon."""

    session_id: str
    revision: int
    busy: bool


class DaemonStatusResult(msgspec.Struct, rename="camel", kw_only=True):
    """How the daemon is. The inner objects are for people; null is what is not there (yet).

    `settings` has those that are no defaults, by name: the value, no key shown; where it was given,
    by layer (user, workspace, environment, client) and place; what is `pending` until a restart.
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
    """The daemon became busy or idle, or something is wrong; `message` is for a status bar."""

    busy: bool
    kind: Annotated[str, msgspec.Meta(examples=["idle", "working", "error"])]
    message: str


class DaemonAlertParams(msgspec.Struct, rename="camel", kw_only=True):
    """A number is bad (`raised`) or well again (`cleared`); each is told once.

    `name` is the setting under `alerts` that holds the threshold, in whose unit `value` is too.
    `action` says what to do. Without `sessionId` it is about all sessions of the daemon.
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
    """Why a model request failed; `kind` is one of -32020's, `status` is HTTP's."""

    kind: str
    message: str
    status: int | msgspec.UnsetType = msgspec.UNSET


class SessionRetryingParams(msgspec.Struct, rename="camel", kw_only=True):
    """A model request failed and is tried again after `delayMs`; `discard` names void parts."""

    session_id: str
    attempt: int
    max_attempts: int
    delay_ms: int
    error: RetryError
    discard: list[str]
