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
    """Fork a session at the end of a message, or at its current end.

    Unfinished work is left out.
    """

    session_id: str
    at_message_id: str | msgspec.UnsetType = msgspec.UNSET
    mcp_servers: list[dict[str, Any]] | msgspec.UnsetType = msgspec.UNSET


class SessionForkResult(msgspec.Struct, rename="camel", kw_only=True):
    """The new session."""

    session_id: str
    revision: int


class SessionHandoffParams(msgspec.Struct, rename="camel", kw_only=True):
    """Draft the next session's first prompt, for a goal.

    `continue` opens it at once, in the same folder with the same settings; its first prompt
    includes the state of the work. Then an empty `goal` keeps the old one.
    """

    session_id: str
    goal: str
    go_on: bool | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="continue")


class SessionHandoffResult(msgspec.Struct, rename="camel", kw_only=True):
    """A first prompt to edit, in Markdown, and relevant files, likeliest first.

    Open the next session with `session/new` and `from`; with `continue`, `sessionId` is already
    there.
    """

    draft: str
    files: list[str]
    session_id: str | msgspec.UnsetType = msgspec.UNSET


class SessionExportParams(msgspec.Struct, rename="camel", kw_only=True):
    """Export a session to an absolute path of a file or folder.

    A folder gets a new file; so does the data folder's `exports` without a path. An existing file
    is kept unless `overwrite` is true. With `snapshots`, what checkpoints need of files goes along:
    at most 64 MiB, but no file with a likely key.
    """

    session_id: str
    path: str | msgspec.UnsetType = msgspec.UNSET
    overwrite: bool | msgspec.UnsetType = msgspec.UNSET
    snapshots: bool | msgspec.UnsetType = msgspec.UNSET


class SessionExportResult(msgspec.Struct, rename="camel", kw_only=True):
    """The bundle: a packed file, readable by its user only, `size` bytes long.

    Holds durable, settled content only. `redacted` counts likely keys removed; `notes` name other
    omissions, in sentences.
    """

    path: str
    size: int
    redacted: int
    notes: list[str]


class SessionArchiveParams(msgspec.Struct, rename="camel", kw_only=True):
    """Archive a session without running turns and not open in another window."""

    session_id: str


class ArchivedSession(msgspec.Struct, rename="camel", kw_only=True):
    """A session in a bundle at `path`, of `size` bytes; `freed` bytes in the store."""

    session_id: str
    path: str
    size: int
    freed: int


class SessionArchiveResult(msgspec.Struct, rename="camel", kw_only=True):
    """The archived sessions: first those of subtasks, last the session itself.

    `session/import` with a path restores each under its own id.
    """

    sessions: list[ArchivedSession]


class SessionImportParams(msgspec.Struct, rename="camel", kw_only=True):
    """Import a session from a file's absolute path, or its text as `content`.

    An absent format is detected. The session works in the folder `cwd`, by default the workspace
    named by `initialize`; never in one named by the file. With `snapshots`, what a bundle says of
    files is believed, so that the session can go back in these, too.
    """

    format: BundleFormat | msgspec.UnsetType = msgspec.UNSET
    content: str | msgspec.UnsetType = msgspec.UNSET
    path: str | msgspec.UnsetType = msgspec.UNSET
    cwd: str | msgspec.UnsetType = msgspec.UNSET
    snapshots: bool | msgspec.UnsetType = msgspec.UNSET


class SessionImportResult(msgspec.Struct, rename="camel", kw_only=True):
    """The new session, ready to load, and the detected format.

    `notes` are remarks for people, in sentences.
    """

    session_id: str
    revision: int
    format: BundleFormat
    notes: list[str]


class FileChange(msgspec.Struct, rename="camel", kw_only=True):
    """A changed file; `path` is relative to `cwd` with `/`, `from` is a renamed file's old path.

    `author`: the agent by a `tool` or `shell` command, the `user` (or anybody else), a `restore`,
    or `unknown`: by the user or a command that does not declare its writes, while it ran. `size`
    and `sizeBefore` are bytes, 0 without a file. `restorable` is false where content before or
    after is not stored (too large, for example).
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

    `authors` are all between the two states, the last at the end; `author` is the only one, or
    `several`, so that no author's lines are shown as another's.
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
    """A state to go back to; `files` are the changes up to it.

    Made at each turn's start, after each step that changed files, and before each restore. A turn's
    marks the place of its prompt, and the user's changes before. `left` is true on an abandoned
    branch, its message no longer in the conversation.
    """

    checkpoint_id: str
    turn_id: str
    message_id: str
    at: str
    title: str
    files: list[FileChange]
    left: bool | msgspec.UnsetType = msgspec.UNSET


class CheckpointListParams(msgspec.Struct, rename="camel", kw_only=True):
    """List a session's checkpoints."""

    session_id: str


class SessionChanges(msgspec.Struct, rename="camel", kw_only=True):
    """The agent's changes in a session, except undone ones; `additions`, `deletions` are sums."""

    files: list[FileChange]
    additions: int
    deletions: int


class CheckpointListResult(msgspec.Struct, rename="camel", kw_only=True):
    """All checkpoints, oldest first; `head` is the session's current one.

    Checkpoints of abandoned branches are included.
    """

    checkpoints: list[Checkpoint]
    head: str | None
    changes: SessionChanges | msgspec.UnsetType = msgspec.UNSET


class CheckpointDiffParams(msgspec.Struct, rename="camel", kw_only=True):
    """Compare two checkpoints, or one with now; for one file or folder, or all files."""

    session_id: str
    from_checkpoint: str = msgspec.field(name="from")
    to: str | msgspec.UnsetType = msgspec.UNSET
    path: str | msgspec.UnsetType = msgspec.UNSET


class CheckpointDiffResult(msgspec.Struct, rename="camel", kw_only=True):
    """The changed files."""

    files: list[FileDiff]


class CheckpointRestoreParams(msgspec.Struct, rename="camel", kw_only=True):
    """Go back to a checkpoint, or to before a message.

    Absent, `scope` is `both`, and `onConflict` is `refuse`. `paths` are files or folders, relative
    to `cwd`. `hunks`, for one file, are the only ones to restore of the `diff` of a dry run, each
    whole from its `@@` line on; refused if the file changed since. With `markers`, `merge` writes
    both sides of a clash between conflict markers. Refused while a turn runs.
    """

    session_id: str
    scope: RestoreScope | msgspec.UnsetType = msgspec.UNSET
    checkpoint_id: str | msgspec.UnsetType = msgspec.UNSET
    before_message_id: str | msgspec.UnsetType = msgspec.UNSET
    on_conflict: OnConflict | msgspec.UnsetType = msgspec.UNSET
    markers: bool | msgspec.UnsetType = msgspec.UNSET
    paths: list[str] | msgspec.UnsetType = msgspec.UNSET
    hunks: list[str] | msgspec.UnsetType = msgspec.UNSET
    dry_run: bool | msgspec.UnsetType = msgspec.UNSET
    expected_revision: int | msgspec.UnsetType = msgspec.UNSET


class RestoredFile(msgspec.Struct, rename="camel", kw_only=True):
    """A file of a restore, with the reason for its outcome.

    In a dry run `diff` is the expected change. A conflict has two diffs, where known: the agent's
    changes, and later ones. `unknownDiff`: changes while a command of the agent ran, by it or by
    others; `keep` leaves them, `overwrite` treats them as the agent's.
    """

    path: str
    reason: str
    diff: str | msgspec.UnsetType = msgspec.UNSET
    agent_diff: str | msgspec.UnsetType = msgspec.UNSET
    user_diff: str | msgspec.UnsetType = msgspec.UNSET
    unknown_diff: str | msgspec.UnsetType = msgspec.UNSET


class RestoredFiles(msgspec.Struct, rename="camel", kw_only=True):
    """Every file examined by a restore, by outcome."""

    restored: list[RestoredFile]
    merged: list[RestoredFile]
    skipped: list[RestoredFile]
    conflicts: list[RestoredFile]


class CheckpointRestoreResult(msgspec.Struct, rename="camel", kw_only=True):
    """The session after the restore, or as expected by a dry run.

    `undoCheckpointId` names the state before (empty in a dry run); `restoredPrompt` is the text of
    the first message that left the conversation. `notes` list everything outside of snapshots
    (`.git`, `node_modules`), and losses there, in sentences. A dry run with nothing to do returns
    an empty plan, `reason` and notes; `files.skipped` has each path's reason.
    """

    undo_checkpoint_id: str
    revision: int
    files: RestoredFiles
    reason: str | msgspec.UnsetType = msgspec.UNSET
    notes: list[str] | msgspec.UnsetType = msgspec.UNSET
    restored_prompt: str | msgspec.UnsetType = msgspec.UNSET


class CheckpointRedoParams(msgspec.Struct, rename="camel", kw_only=True):
    """Undo a restore by its `undoCheckpointId`, by default the newest not undone.

    The scope is the restore's. `onConflict` is `refuse` when absent; `markers` is as for a restore.
    """

    session_id: str
    checkpoint_id: str | msgspec.UnsetType = msgspec.UNSET
    on_conflict: OnConflict | msgspec.UnsetType = msgspec.UNSET
    markers: bool | msgspec.UnsetType = msgspec.UNSET
    dry_run: bool | msgspec.UnsetType = msgspec.UNSET
    expected_revision: int | msgspec.UnsetType = msgspec.UNSET


class FactsListParams(msgspec.Struct, rename="camel", kw_only=True):
    """List facts by session, folder, kind and words (the last may be a word's beginning).

    All given conditions must hold.
    """

    session_id: str | msgspec.UnsetType = msgspec.UNSET
    cwd: str | msgspec.UnsetType = msgspec.UNSET
    kind: FactKind | msgspec.UnsetType = msgspec.UNSET
    query: str | msgspec.UnsetType = msgspec.UNSET


class FactSource(msgspec.Struct, rename="camel", kw_only=True):
    """The turn that supports a fact, and the speaker."""

    session_id: str
    turn_id: str
    said_by: Speaker


class Fact(msgspec.Struct, rename="camel", kw_only=True):
    """A fact found out in a session; `learned` once passed on to later sessions."""

    fact_id: str
    kind: FactKind
    content: str
    source: FactSource
    at: str
    learned: bool


class FactsListResult(msgspec.Struct, rename="camel", kw_only=True):
    """The facts, newest first; at most 200."""

    facts: list[Fact]
