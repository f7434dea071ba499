"""Records that change the prompt: epochs, rewrites, pins, restores."""

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Meta, Struct, field

from sidecar.core.parts import MessageId, PartId, ToolKind, ToolOrigin
from sidecar.core.prompt.render import Region
from sidecar.core.prompt.visibility import Cause, Note
from sidecar.core.text.truncate import Keep
from sidecar.store.format.log_records import Cost, RecordHead, Signed

RestoreScope: TypeAlias = Literal["conversation", "files", "both"]


class SystemShape(Struct, frozen=True):
    """A block of system text."""

    text: str
    region: Region


class ToolShape(Struct, frozen=True, rename="camel"):
    """A tool as `core.prompt.prompt.ToolSpec` has it."""

    name: str
    description: str
    input_schema: dict[str, Any]
    kind: ToolKind
    read_only: bool
    output_limit: int | None
    protected_from_pruning: bool
    origin: ToolOrigin


class EpochRecord(RecordHead, frozen=True, tag="epoch", kw_only=True):
    """Begins the static part of later prompts."""

    compaction_id: str
    cause: str
    model: str
    renderer: Signed
    system: tuple[SystemShape, ...]
    tools: tuple[ToolShape, ...]


class ModelChangedRecord(RecordHead, frozen=True, tag="epoch_changed", kw_only=True):
    """Another model's epoch; sizes in tokens, if a prompt had been sent."""

    compaction_id: str
    cause: str = ""
    tokens_before: Signed | None = None
    tokens_after: Signed | None = None


class _Shown(Struct, frozen=True, rename="camel", tag_field="kind"): ...


class TruncatedShape(_Shown, frozen=True, tag="truncated"):
    """Shows one end or both, of at most so many bytes."""

    keep: Keep
    max_bytes: Signed


class ExcerptShape(_Shown, frozen=True, tag="excerpt"):
    """Shows ranges of lines, counted from 1, both ends included."""

    lines: tuple[tuple[Signed, Signed], ...]


class QuotedShape(_Shown, frozen=True, tag="quoted"):
    """Shows ranges of characters, counted from 0, the end excluded."""

    spans: tuple[tuple[Signed, Signed], ...]


class PlaceholderShape(_Shown, frozen=True, tag="placeholder"):
    """Shows one line instead."""


class DroppedShape(_Shown, frozen=True, tag="dropped"):
    """Shows nothing."""


ShownShape: TypeAlias = (
    TruncatedShape | ExcerptShape | QuotedShape | PlaceholderShape | DroppedShape
)


class ViewRecord(RecordHead, frozen=True, kw_only=True):
    """The view changed; fields as in `session.log.rewrite_records.Recorded`."""

    compaction_id: str
    cause: Cause
    shown: dict[PartId, ShownShape | None]
    notes: tuple[Note, ...]
    retired: tuple[PartId, ...]
    policy: str
    reason: str
    tokens_before: Signed
    tokens_after: Signed
    price: Cost | None
    steps: Signed
    anchor: MessageId | None
    opens: bool
    factor: Annotated[float, Meta(ge=0.1, le=10)]
    observations: Signed
    bias: Signed
    figures: dict[str, Any]
    summary: dict[str, Any] = field(default_factory=dict)


class RewriteRecord(ViewRecord, frozen=True, tag="rewrite"):
    """The view was rewritten."""


class UndoneRecord(ViewRecord, frozen=True, tag="rewrite_undone"):
    """A rewrite was taken back."""


class PinRecord(RecordHead, frozen=True, tag="pin", kw_only=True):
    """A part was pinned, or let go."""

    part_id: PartId
    pinned: bool


class FilesRestoredRecord(RecordHead, frozen=True, tag="restored", kw_only=True):
    """Files went back, not the conversation.

    Fields as in `session.log.restore_records.Restored`; `sets` as in `session.log.change_records`;
    `snapshot`: the state reached.
    """

    restore_id: str
    scope: RestoreScope
    title: str
    head: str | None
    newest: MessageId | None
    undoes: str | None
    left: tuple[MessageId, ...]
    back: tuple[MessageId, ...]
    fates: tuple[tuple[str, str], ...]
    sets: list[Any] = field(default_factory=list)
    snapshot: Signed | None = field(default=None, name="at")


class TalkRestoredRecord(ViewRecord, frozen=True, tag="restored", kw_only=True):
    """The conversation went back or forth, perhaps with the files.

    `standing`: revisions of the view's changes that hold again.
    """

    standing: tuple[Signed, ...]
    restore_id: str
    scope: RestoreScope
    title: str
    head: str | None
    newest: MessageId | None
    undoes: str | None
    left: tuple[MessageId, ...]
    back: tuple[MessageId, ...]
    fates: tuple[tuple[str, str], ...]
    sets: list[Any] = field(default_factory=list)
    snapshot: Signed | None = field(default=None, name="at")


RestoreRecord: TypeAlias = FilesRestoredRecord | TalkRestoredRecord
"""Two types with the same fields: only one is the view's, and msgspec joins no such bases."""


class ReachedRecord(RecordHead, frozen=True, tag="snapshot_reached", kw_only=True):
    """The snapshot after a restore; `sets`: changes by others meanwhile."""

    snapshot: Signed | None = field(default=None, name="at")
    sets: list[Any] = field(default_factory=list)
