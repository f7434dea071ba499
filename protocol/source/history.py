"""Going back, branching off, moving sessions: checkpoints, fork, handoff, export, facts."""

from typing import Annotated, Any, Literal

import msgspec

RestoreScope = Literal["conversation", "files", "both"]
OnConflict = Literal["refuse", "keep", "overwrite", "merge"]
BundleFormat = Literal["sidecar", "claude-code", "codex", "opencode", "pi", "neutral"]
FileChangeKind = Annotated[
    str, msgspec.Meta(examples=["created", "modified", "deleted", "renamed", "mode"])
]
FactKind = Annotated[
    str,
    msgspec.Meta(
        examples=["decision", "error", "file_state", "dependency", "constraint", "learning"]
    ),
]
Speaker = Annotated[str, msgspec.Meta(examples=["user", "model", "tool"])]
Author = Annotated[
    str, msgspec.Meta(examples=["tool", "shell", "user", "unknown", "restore", "several"])
]


class SessionForkParams(msgspec.Struct, rename="camel", kw_only=True):
    """The session to branch off, as it was when a message had ended, or as it is.

    What is still under way is left out.
    """

    session_id: str
    at_message_id: str | msgspec.UnsetType = msgspec.UNSET
    mcp_servers: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET


class SessionForkResult(msgspec.Struct, rename="camel", kw_only=True):
    """The new session."""

    session_id: str
    revision: int


class SessionHandoffParams(msgspec.Struct, rename="camel", kw_only=True):
    """What the next session is for.

    `continue` opens it at once, in the same folder with the same settings; it reads at its first
    prompt where the work stands. Then `goal` may be empty: it stays what it was.
    """

    session_id: str
    goal: str
    go_on: bool | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="continue")


class SessionHandoffResult(msgspec.Struct, rename="camel", kw_only=True):
    """A first prompt to edit, in Markdown, and the files that bear on it, the likeliest first.

    Open the next session with `session/new` and `from`; `sessionId` is there with `continue`.
    """

    draft: str
    files: list[str]
    session_id: str | msgspec.UnsetType = msgspec.UNSET


class SessionExportParams(msgspec.Struct, rename="camel", kw_only=True):
    """The session to write out, and where to: an absolute path of a file, or of a folder.

    A folder gets a file of its own; so does the data folder's `exports` without a path. A file
    that is there stays unless `overwrite` is true.
    """

    session_id: str
    path: str | msgspec.UnsetType = msgspec.UNSET
    overwrite: bool | msgspec.UnsetType = msgspec.UNSET


class SessionExportResult(msgspec.Struct, rename="camel", kw_only=True):
    """The bundle: a packed file that only its user can read, `size` bytes long.

    It holds what is durable and settled. `redacted` counts what looked like a key and was taken
    out; `notes` say in sentences what else is not in it.
    """

    path: str
    size: int
    redacted: int
    notes: list[str]


class SessionArchiveParams(msgspec.Struct, rename="camel", kw_only=True):
    """The session to put away. None of its turns may run, and no other window have it open."""

    session_id: str


class ArchivedSession(msgspec.Struct, rename="camel", kw_only=True):
    """A session that is in a bundle at `path` now: `size` bytes there, `freed` in the store."""

    session_id: str
    path: str
    size: int
    freed: int


class SessionArchiveResult(msgspec.Struct, rename="camel", kw_only=True):
    """What was put away: the session last, and before it those of its subtasks.

    `session/import` with the path brings each back as it was, under its own id.
    """

    sessions: list[ArchivedSession]


class SessionImportParams(msgspec.Struct, rename="camel", kw_only=True):
    """A session to read in: the absolute path of a file, or its text as `content`.

    The format is found out when absent. The session works in the folder `cwd`, or else in the
    workspace that `initialize` named; never in one that the file names.
    """

    format: BundleFormat | msgspec.UnsetType = msgspec.UNSET
    content: str | msgspec.UnsetType = msgspec.UNSET
    path: str | msgspec.UnsetType = msgspec.UNSET
    cwd: str | msgspec.UnsetType = msgspec.UNSET


class SessionImportResult(msgspec.Struct, rename="camel", kw_only=True):
    """The session that was made of it, to be loaded, and the format that it was read as.

    `notes` say in sentences what people should know of it.
    """

    session_id: str
    revision: int
    format: BundleFormat
    notes: list[str]


class FileChange(msgspec.Struct, rename="camel", kw_only=True):
    """A changed file; `path` is relative to `cwd` with `/`, `from` is a renamed one's old path.

    `author`: the agent by a `tool` or by a `shell` command, the `user` (and whoever else), a
    `restore`, or `unknown`: it came while a command ran that does not say that it writes there,
    so that it may be the command's or the user's. `size` and `sizeBefore` are bytes, 0 where
    there is no file. `restorable` is false where a content before or after it is not stored (too
    large, for one) and cannot come back.
    """

    path: str
    change: FileChangeKind
    author: Author
    additions: int
    deletions: int
    size: int
    size_before: int
    renamed_from: str | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="from")
    restorable: bool | msgspec.UnsetType = msgspec.UNSET


class FileDiff(msgspec.Struct, rename="camel", kw_only=True):
    """A changed file with its unified diff; `restorable` as in `FileChange`.

    `authors` are all who changed it between the two states, who did so last at the end; `author`
    is the one, or `several` where there are more, so that lines of the one are not shown as the
    other's.
    """

    path: str
    change: FileChangeKind
    author: Author
    authors: list[Author]
    diff: str
    additions: int
    deletions: int
    renamed_from: str | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="from")
    restorable: bool | msgspec.UnsetType = msgspec.UNSET


class Checkpoint(msgspec.Struct, rename="camel", kw_only=True):
    """A state to which files and conversation can go back; `files` are what changed up to it.

    There is one at the start of each turn, one after each step that changed files, and one
    before each restore. A turn's says where its prompt stood, and what the user had changed.
    `left` is true on a branch that was left: its message is not in the conversation now.
    """

    checkpoint_id: str
    turn_id: str
    message_id: str
    at: str
    title: str
    files: list[FileChange]
    left: bool | msgspec.UnsetType = msgspec.UNSET


class CheckpointListParams(msgspec.Struct, rename="camel", kw_only=True):
    """The session whose checkpoints are listed."""

    session_id: str


class SessionChanges(msgspec.Struct, rename="camel", kw_only=True):
    """What the agent changed in a session and nobody took back; `additions` and so on are sums."""

    files: list[FileChange]
    additions: int
    deletions: int


class CheckpointListResult(msgspec.Struct, rename="camel", kw_only=True):
    """All checkpoints, oldest first; `head` is where the session stands.

    Those of branches that were left are among them.
    """

    checkpoints: list[Checkpoint]
    head: str | None
    changes: SessionChanges | msgspec.UnsetType = msgspec.UNSET


class CheckpointDiffParams(msgspec.Struct, rename="camel", kw_only=True):
    """What changed between two checkpoints, or since one; of one file, or of those in a folder."""

    session_id: str
    from_checkpoint: str = msgspec.field(name="from")
    to: str | msgspec.UnsetType = msgspec.UNSET
    path: str | msgspec.UnsetType = msgspec.UNSET


class CheckpointDiffResult(msgspec.Struct, rename="camel", kw_only=True):
    """The changed files."""

    files: list[FileDiff]


class CheckpointRestoreParams(msgspec.Struct, rename="camel", kw_only=True):
    """Go back to a checkpoint, or to before a message. `onConflict` is `refuse` when absent.

    `paths` are files or folders, relative to `cwd`. With `markers`, `merge` writes what clashes
    with both sides between conflict markers. While a turn runs it is refused.
    """

    session_id: str
    scope: RestoreScope
    checkpoint_id: str | msgspec.UnsetType = msgspec.UNSET
    before_message_id: str | msgspec.UnsetType = msgspec.UNSET
    on_conflict: OnConflict | msgspec.UnsetType = msgspec.UNSET
    markers: bool | msgspec.UnsetType = msgspec.UNSET
    paths: list[str] | msgspec.UnsetType = msgspec.UNSET
    dry_run: bool | msgspec.UnsetType = msgspec.UNSET
    expected_revision: int | msgspec.UnsetType = msgspec.UNSET


class RestoredFile(msgspec.Struct, rename="camel", kw_only=True):
    """A file of a restore, and why it fared so.

    In a dry run `diff` is what would be done to it. A conflict has two diffs: what the agent did,
    and what was done since, where they are known. `unknownDiff` came while a command of the agent
    ran, by that or by others: `keep` leaves it, `overwrite` takes it for the agent's.
    """

    path: str
    reason: str
    diff: str | msgspec.UnsetType = msgspec.UNSET
    agent_diff: str | msgspec.UnsetType = msgspec.UNSET
    user_diff: str | msgspec.UnsetType = msgspec.UNSET
    unknown_diff: str | msgspec.UnsetType = msgspec.UNSET


class RestoredFiles(msgspec.Struct, rename="camel", kw_only=True):
    """Every file that a restore looked at, by how it fared."""

    restored: list[RestoredFile]
    merged: list[RestoredFile]
    skipped: list[RestoredFile]
    conflicts: list[RestoredFile]


class CheckpointRestoreResult(msgspec.Struct, rename="camel", kw_only=True):
    """The session after it, or for a dry run what would be.

    `undoCheckpointId` names the state before it, and is empty in a dry run; `restoredPrompt` is
    what was typed in the message that left the conversation first. `notes` say in sentences what
    snapshots do not cover (`.git`, `node_modules`), and what of that is gone since.
    A dry run that finds nothing to do answers an empty plan with the `reason`, notes included, and
    `files.skipped` says of every path why it stays.
    """

    undo_checkpoint_id: str
    revision: int
    files: RestoredFiles
    reason: str | msgspec.UnsetType = msgspec.UNSET
    notes: list[str] | msgspec.UnsetType = msgspec.UNSET
    restored_prompt: str | msgspec.UnsetType = msgspec.UNSET


class CheckpointRedoParams(msgspec.Struct, rename="camel", kw_only=True):
    """Undo a restore by its `undoCheckpointId`; without one, the newest that stands.

    Its scope is the restore's own. `onConflict` is `refuse` when absent; `markers` is as for a
    restore.
    """

    session_id: str
    checkpoint_id: str | msgspec.UnsetType = msgspec.UNSET
    on_conflict: OnConflict | msgspec.UnsetType = msgspec.UNSET
    markers: bool | msgspec.UnsetType = msgspec.UNSET
    dry_run: bool | msgspec.UnsetType = msgspec.UNSET
    expected_revision: int | msgspec.UnsetType = msgspec.UNSET


class FactsListParams(msgspec.Struct, rename="camel", kw_only=True):
    """Which facts: of a session, of a folder, of a kind, with these words; the last may be begun.

    All that is given must hold.
    """

    session_id: str | msgspec.UnsetType = msgspec.UNSET
    cwd: str | msgspec.UnsetType = msgspec.UNSET
    kind: FactKind | msgspec.UnsetType = msgspec.UNSET
    query: str | msgspec.UnsetType = msgspec.UNSET


class FactSource(msgspec.Struct, rename="camel", kw_only=True):
    """The turn that bears a fact out, and who said it there."""

    session_id: str
    turn_id: str
    said_by: Speaker


class Fact(msgspec.Struct, rename="camel", kw_only=True):
    """Something that a session found out; `learned` once later sessions are told of it too."""

    fact_id: str
    kind: FactKind
    content: str
    source: FactSource
    at: str
    learned: bool


class FactsListResult(msgspec.Struct, rename="camel", kw_only=True):
    """The facts, newest first; at most 200."""

    facts: list[Fact]
