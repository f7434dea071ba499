"""Inputs and results of tools, and requests to the client."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import field
from pathlib import Path
from typing import Protocol, TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.files.authorship import Intent
from sidecar.core.parts import Json, JsonObject, Media, SessionId, ToolKind
from sidecar.workspace.buffers import Buffers


@dataclass(frozen=True, slots=True)
class PermissionOption:
    """An answer that the user may choose; `kind`: ACP's (allow_once, reject_always, …)."""

    option_id: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class TerminalEnd:
    """How a command ended; `code`: `None` if killed. `cut`: the beginning is missing."""

    text: str
    code: int | None
    cut: bool = False
    timed_out: bool = False


class Terminals(Protocol):
    """The editor's terminals, where people see commands."""

    async def run(
        self,
        session_id: SessionId,
        call_id: str,
        command: tuple[str, ...],
        cwd: str,
        seconds: float,
        variables: Mapping[str, str],
    ) -> TerminalEnd:
        """Runs a command, killed after `seconds`; raises SidecarError if the editor fails.

        `variables`: added to the editor's.
        """
        ...


class Client(Protocol):
    """The editor; once gone, all methods raise `Cancelled`."""

    @property
    def can_read_files(self) -> bool: ...

    @property
    def can_write_files(self) -> bool: ...

    @property
    def terminals(self) -> Terminals | None: ...

    async def call_tool(
        self, session_id: SessionId, call_id: str, name: str, tool_input: Json
    ) -> JsonObject:
        """Returns `tool/call`'s result, unchanged."""
        ...

    async def request_permission(
        self, session_id: SessionId, tool_call: JsonObject, options: tuple[PermissionOption, ...]
    ) -> str | None:
        """The chosen option's id, or `None` if dismissed."""
        ...

    async def read_text_file(self, session_id: SessionId, path: str) -> str: ...

    async def write_text_file(self, session_id: SessionId, path: str, content: str) -> None: ...


class ThroughClient:
    """Passes requests on; those of tools and files go under `session_id`."""

    def __init__(self, client: Client, session_id: SessionId | None = None) -> None:
        self._client = client
        self._named = session_id

    @property
    def can_read_files(self) -> bool:
        return self._client.can_read_files

    @property
    def can_write_files(self) -> bool:
        return self._client.can_write_files

    @property
    def terminals(self) -> Terminals | None:
        return self._client.terminals

    async def call_tool(
        self, session_id: SessionId, call_id: str, name: str, tool_input: Json
    ) -> JsonObject:
        named = self._named or session_id
        return await self._client.call_tool(named, call_id, name, tool_input)

    async def read_text_file(self, session_id: SessionId, path: str) -> str:
        return await self._client.read_text_file(self._named or session_id, path)

    async def write_text_file(self, session_id: SessionId, path: str, content: str) -> None:
        await self._client.write_text_file(self._named or session_id, path, content)


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """A tool's answer before being cut and stored.

    `metadata`: for people and the ledger (`exitCode`, `diff`). `most_tokens` limits the model's
    view.
    """

    text: str
    is_error: bool = False
    title: str = ""
    metadata: JsonObject = field(default_factory=dict)
    media: tuple[Media, ...] = ()
    most_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Subtask:
    """Work for a child session; `tools`: the allowed ones, `None` for all."""

    task: str
    context: str = ""
    tools: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class SubtaskEnd:
    """A subtask's end; `cost`: USD, or `None`; `failed`: the reason, or ""."""

    session_id: SessionId
    report: str
    steps: int
    cost: str | None
    failed: str = ""


class Changes(Protocol):
    """Follows the workspace's changes, for restores."""

    def editing(self, real: Path, text: str) -> AbstractAsyncContextManager[None]:
        """Returns a block for writing a file."""
        ...

    def running(self, call: Intent) -> AbstractAsyncContextManager[None]:
        """Returns a block for a call that may change any file."""
        ...


class Unfollowed:
    """Changes that nobody follows."""

    def editing(self, real: Path, text: str) -> AbstractAsyncContextManager[None]:  # noqa: ARG002 - see Changes
        return nullcontext()

    def running(self, call: Intent) -> AbstractAsyncContextManager[None]:  # noqa: ARG002 - see Changes
        return nullcontext()


Recall: TypeAlias = Callable[[str, int, int | None, str | None], Awaitable[str]]
"""(part id, offset, limit, pattern) -> text; in bytes, as in `context/recall`."""

Progress: TypeAlias = Callable[[str], None]
"""More of a running tool's output, to be shown, not stored."""

Delegate: TypeAlias = Callable[[Subtask, str, Progress], Awaitable[SubtaskEnd]]
"""(subtask, requesting call's id, progress) -> result."""


@dataclass(frozen=True, slots=True)
class Access:
    """What a call accesses, for permission rules.

    `paths`: absolute, links resolved (a command's: its working directory); `outside` the workspace;
    `shown`: all, relative if inside; `linked`: written paths' other names, by links and inner
    repositories; `spelt`: a path as given, link by link. `words`: a simple literal command's;
    `strays` lead out of the workspace. `held`: why a written file is not ordinary (the root's
    folders, an environment, a variable). `problem`: the input's error.
    """

    kind: ToolKind
    title: str
    paths: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()
    command: str = ""
    words: tuple[str, ...] = ()
    strays: tuple[str, ...] = ()
    shown: tuple[str, ...] = ()
    linked: tuple[str, ...] = ()
    spelt: tuple[str, ...] = ()
    held: str = ""
    problem: str = ""


KeptBack: TypeAlias = Callable[[str, str, tuple[str, ...]], bool]
"""(real path, shown name, names by links) -> whether a rule keeps a file from the model."""


def nothing_kept() -> KeptBack | None:
    """Of no rules that reject."""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """What a tool may use in one call.

    `cwd`: the workspace's root. `environment`: the daemon's; a shell gets none of its secrets.
    `granted`: outside paths allowed. `decided`: the paths that were decided on, before a link could
    move. `shown`: the change that somebody was asked about, if anybody was. `kept_back` blocks.
    """

    session_id: SessionId
    call_id: str
    cwd: Path
    buffers: Buffers
    client: Client | None
    trusted: bool
    progress: Progress
    recall: Recall
    environment: Mapping[str, str]
    granted: tuple[str, ...] = ()
    decided: tuple[str, ...] | None = None
    shown: list[Json] | None = None
    delegate: Delegate | None = None
    changes: Changes = field(default_factory=Unfollowed)
    kept_back: Callable[[], KeptBack | None] = nothing_kept


Tool: TypeAlias = Callable[[JsonObject, ToolContext], Awaitable[ToolAnswer]]
"""Raises `SidecarError` or `OSError`; `run_builtin` tells the model."""
