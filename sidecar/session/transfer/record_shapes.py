"""The shapes of those records that are read back, for logs that come from elsewhere.

What wrote them here needs no check; what reads them relies on it.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeAlias

import msgspec
from msgspec import Meta, Struct

from sidecar.core.prompt.prompt import ToolKind, ToolOrigin
from sidecar.core.prompt.render import Region
from sidecar.core.prompt.visibility import Cause
from sidecar.session.compaction.session_handoff import INHERITED
from sidecar.session.epochs.epochs import CHANGED, EPOCH
from sidecar.session.epochs.known_instructions import TOLD
from sidecar.session.lifecycle.fresh_window import COMPARED
from sidecar.session.log.change_records import REACHED
from sidecar.session.log.notices import NOTICE
from sidecar.session.log.rewrite_records import PINNED, REWRITE, UNDONE
from sidecar.session.log.session_log import RESTORED
from sidecar.session.meter.pings import PING
from sidecar.session.meter.side_request import ASKED
from sidecar.store.format.values import Record

MOST = 10**12
"""Tokens, bytes or steps; more than any log counts."""

BoundedCount: TypeAlias = Annotated[int, Meta(ge=0, le=MOST)]
Signed: TypeAlias = Annotated[int, Meta(ge=-MOST, le=MOST)]
Cost: TypeAlias = Annotated[str, Meta(pattern=r"^[0-9]{1,12}(\.[0-9]{1,18})?$")]
LineRange: TypeAlias = tuple[BoundedCount, BoundedCount]


class _Shape(Struct, rename="camel"):
    pass


class _Tool(_Shape):
    name: str
    description: str
    input_schema: dict[str, Any]
    kind: ToolKind
    read_only: bool
    output_limit: BoundedCount | None
    protected_from_pruning: bool
    origin: ToolOrigin


class _System(_Shape):
    text: str
    region: Region


class _Epoch(_Shape):
    compaction_id: str
    cause: str
    model: str
    renderer: BoundedCount
    system: list[_System]
    tools: list[_Tool]


class _Shown(_Shape):
    kind: Literal["truncated", "excerpt", "quoted", "placeholder", "dropped"]
    keep: Literal["head", "tail", "both"] = "head"
    max_bytes: BoundedCount = 0
    lines: list[LineRange] = []
    spans: list[tuple[BoundedCount, BoundedCount]] = []


class _Note(_Shape):
    id: str
    text: str
    before: str
    region: Region


class _Rewrite(_Shape, kw_only=True):
    compaction_id: str
    cause: Cause
    shown: dict[str, _Shown | None]
    notes: list[_Note]
    retired: list[str]
    policy: str
    reason: str
    tokens_before: BoundedCount
    tokens_after: BoundedCount
    price: Cost | None
    steps: BoundedCount
    anchor: str | None
    opens: bool
    factor: Annotated[float, Meta(ge=0.1, le=10)]
    observations: BoundedCount
    bias: Signed
    figures: dict[str, Any]
    summary: dict[str, Any] = {}


class _Restored(_Shape):
    restore_id: str
    scope: Literal["conversation", "files", "both"]
    title: str
    head: str | None
    newest: str | None
    undoes: str | None
    left: list[str]
    back: list[str]
    fates: list[tuple[str, str]]


class _Turn(_Rewrite, kw_only=True):
    """A restore that moved the conversation is a rewrite too."""

    standing: list[BoundedCount]


class _Pin(_Shape):
    part_id: str
    pinned: bool


class _Files(_Shape):
    files: dict[str, str]


class _Inherited(_Shape):
    title: str
    goal: str
    said: list[str]
    checkpoint: dict[str, Any]


class _Asked(_Shape):
    usage: dict[
        Literal[
            "input",
            "cache_read",
            "cache_write_5m",
            "cache_write_1h",
            "output",
            "thinking",
            "requests",
        ],
        BoundedCount,
    ]
    cost: Cost | None


class _Ping(_Shape):
    message_id: str
    started: BoundedCount
    uncached: BoundedCount
    read: BoundedCount
    write5m: BoundedCount
    write1h: BoundedCount


class _Notice(_Shape):
    seq: Signed
    level: Literal["info", "warning", "error"]
    text: str


class _Changed(_Shape):
    compaction_id: str
    cause: str = ""
    tokens_before: BoundedCount = 0
    tokens_after: BoundedCount = 0


class _Started(_Shape):
    turn_id: str
    message_id: str


class _Failure(_Shape):
    kind: str
    message: str
    retryable: bool
    status: Signed | None = None


class _Ended(_Shape):
    turn_id: str
    stop_reason: str
    error: _Failure | None = None


class _Named(_Shape):
    """What any record may say of messages, turns and parts."""

    message_id: str | None = None
    message_ids: list[str] = []
    turn_id: str | None = None
    part_id: str | None = None


_SHAPES: Mapping[str, tuple[type[_Shape], ...]] = MappingProxyType(
    {
        EPOCH: (_Epoch,),
        REWRITE: (_Rewrite,),
        UNDONE: (_Rewrite,),
        RESTORED: (_Restored,),
        PINNED: (_Pin,),
        TOLD: (_Files,),
        COMPARED: (_Files,),
        INHERITED: (_Inherited,),
        ASKED: (_Asked,),
        PING: (_Ping,),
        REACHED: (),
        NOTICE: (_Notice,),
        CHANGED: (_Changed,),
        "turn_started": (_Started,),
        "turn_ended": (_Ended,),
    }
)


def check(record: Record) -> None:
    """Raise ValueError, which says what is wrong, for a record that its readers cannot take."""
    shapes = _SHAPES.get(record.kind, (_Named,))
    if record.kind == RESTORED and "standing" in record.body:
        shapes = (*shapes, _Turn)
    for shape in shapes:
        try:
            msgspec.convert(record.body, shape)
        except msgspec.ValidationError as error:
            raise ValueError(f"{record.kind}: {error}") from error
