"""What a tool is given and gives back, and what it may ask of the client."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias

from sidecar.core.files.authorship import Intent
from sidecar.core.parts import Json, JsonObject, Media, SessionId
from sidecar.core.prompt.prompt import ToolKind
from sidecar.workspace.buffers import Buffers


@dataclass(frozen=True, slots=True)
class PermissionOption:
    """One answer a user can give; `kind` is ACP's (allow_once, allow_always, reject_once, …)."""

    option_id: str
    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class TerminalEnd:
    """How a command in a client's terminal ended. `code`: `None` where it was killed.

    `cut`: the beginning of its output is missing.
    """

    text: str
    code: int | None
    cut: bool = False
    timed_out: bool = False


class Terminals(Protocol):
    """Terminals of the editor, in which people see a command run."""

    async def run(
        self,
        session_id: SessionId,
        call_id: str,
        command: tuple[str, ...],
        cwd: str,
        seconds: float,
        variables: Mapping[str, str],
    ) -> TerminalEnd:
        """Run a command for a tool call to its end, or kill it after so many seconds.

        `variables` are added to the editor's environment.

        Raises:
            SidecarError: the editor could not.
        """
        ...


class Client(Protocol):
    """The editor, as tools and sessions see it. All methods raise `Cancelled` when it is gone."""

    @property
    def can_read_files(self) -> bool:
        """Whether it answers `fs/read_text_file`."""
        ...

    @property
    def can_write_files(self) -> bool:
        """Whether it answers `fs/write_text_file`."""
        ...

    @property
    def can_apply_edits(self) -> bool:
        """Whether it answers `workspace/applyEdit`."""
        ...

    @property
    def terminals(self) -> Terminals | None:
        """Its terminals, if it has any."""
        ...

    async def call_tool(
        self, session_id: SessionId, call_id: str, name: str, tool_input: Json
    ) -> JsonObject:
        """Have a client-provided tool run; the answer is `tool/call`'s result as it came."""
        ...

    async def request_permission(
        self, session_id: SessionId, tool_call: JsonObject, options: tuple[PermissionOption, ...]
    ) -> str | None:
        """Ask the user; gives the chosen option's id, or `None` when the question was dismissed."""
        ...

    async def read_text_file(self, session_id: SessionId, path: str) -> str:
        """Read a file as the editor has it."""
        ...

    async def write_text_file(self, session_id: SessionId, path: str, content: str) -> None:
        """Write a file through the editor."""
        ...

    async def apply_edit(self, label: str, path: str, content: str) -> bool:
        """Replace a document's whole text through the editor's undo history; whether it did."""
        ...


class ThroughClient:
    """A client that passes on to another what it does in no other way itself.

    Tools and files are asked for in the name of `session_id`, if one is given.
    """

    def __init__(self, client: Client, session_id: SessionId | None = None) -> None:
        self._client = client
        self._named = session_id

    @property
    def can_read_files(self) -> bool:
        """As the client says."""
        return self._client.can_read_files

    @property
    def can_write_files(self) -> bool:
        """As the client says."""
        return self._client.can_write_files

    @property
    def can_apply_edits(self) -> bool:
        """As the client says."""
        return self._client.can_apply_edits

    @property
    def terminals(self) -> Terminals | None:
        """The client's."""
        return self._client.terminals

    async def call_tool(
        self, session_id: SessionId, call_id: str, name: str, tool_input: Json
    ) -> JsonObject:
        """Have a tool of the client's run."""
        named = self._named or session_id
        return await self._client.call_tool(named, call_id, name, tool_input)

    async def read_text_file(self, session_id: SessionId, path: str) -> str:
        """Read a file as the editor has it."""
        return await self._client.read_text_file(self._named or session_id, path)

    async def write_text_file(self, session_id: SessionId, path: str, content: str) -> None:
        """Write a file through the editor."""
        await self._client.write_text_file(self._named or session_id, path, content)

    async def apply_edit(self, label: str, path: str, content: str) -> bool:
        """Replace a document's text through the editor's undo history."""
        return await self._client.apply_edit(label, path, content)


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """What a tool gives back, before its output is cut and stored.

    `text` is the complete output. `metadata` is for people and the ledger (`exitCode`, `diff`).
    `most_tokens` bounds what the model is shown of it, beside the usual limits.
    """

    text: str
    is_error: bool = False
    title: str = ""
    metadata: JsonObject = field(default_factory=dict)
    media: tuple[Media, ...] = ()
    most_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Subtask:
    """Work for a child session, which begins with nothing but this.

    `tools` are the only ones that it may have, of its parent's; `None` leaves it all of them.
    """

    task: str
    context: str = ""
    tools: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class SubtaskEnd:
    """What came of a subtask, and what that took: model calls, and USD (`None`: nobody knows).

    `failed` says why it did not end well, and then `report` is what it had found so far.
    """

    session_id: SessionId
    report: str
    steps: int
    cost: str | None
    failed: str = ""


class Changes(Protocol):
    """Follows what tools do to the workspace, so that it can be undone."""

    def editing(self, real: Path, text: str) -> AbstractAsyncContextManager[None]:
        """Around the writing of a file, which gets this text."""
        ...

    def running(self, call: Intent) -> AbstractAsyncContextManager[None]:
        """Around what may change any file, such as a command, with what it says of itself."""
        ...


class Unfollowed:
    """Where nobody follows."""

    def editing(self, real: Path, text: str) -> AbstractAsyncContextManager[None]:  # noqa: ARG002 - see Changes
        """See `Changes`."""
        return nullcontext()

    def running(self, call: Intent) -> AbstractAsyncContextManager[None]:  # noqa: ARG002 - see Changes
        """See `Changes`."""
        return nullcontext()


Recall: TypeAlias = Callable[[str, int, int | None, str | None], Awaitable[str]]
"""(part id, offset, limit, pattern) -> text; offsets in bytes, as `context/recall` counts them."""

Progress: TypeAlias = Callable[[str], None]
"""Called with more of a running tool's output; what it is given is shown, not stored."""

Delegate: TypeAlias = Callable[[Subtask, str, Progress], Awaitable[SubtaskEnd]]
"""(subtask, id of the call that asks for it, progress) -> what came of it."""


@dataclass(frozen=True, slots=True)
class Access:
    """What permission rules need to know about a call before it runs.

    `paths` are absolute, with links resolved. `outside` are those not inside the workspace.
    `shown` are the paths in the same order, relative to the workspace where they lie inside it.
    A command's path is the folder that it runs in. `words` are the words of a command that is one
    simple command of literal words, else empty; `strays` those that lead out of the workspace.
    `linked` are other names that a path which is written has by links.
    `problem` says what is wrong with the input: the call then only answers that, so nobody need
    be asked about it.
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
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ToolContext:
    """One call's surroundings.

    `cwd` is the workspace's root. `environment` is the daemon's own; a shell gets it without
    what looks like a key. `granted` are the paths outside of the workspace that the user allowed
    for this call: `Access.outside`, once permission was given. `delegate` has a child session do
    something; `None` where there can be none. What writes does so within `changes`.
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
    delegate: Delegate | None = None
    changes: Changes = field(default_factory=Unfollowed)


Tool: TypeAlias = Callable[[JsonObject, ToolContext], Awaitable[ToolAnswer]]
"""A built-in tool. Raises `SidecarError` or `OSError`; `run_builtin` tells the model."""
