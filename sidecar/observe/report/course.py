"""Values for a session's course: requests, changes, turns, context."""

from decimal import Decimal
from typing import Literal, TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Millis, Usage
from sidecar.core.prompt.budget import REGIONS
from sidecar.core.prompt.meter import Meter

Presentation: TypeAlias = Literal["verbatim", "truncated", "excerpt", "placeholder", "dropped"]
"""A part's form in the prompt."""
CourseChangeKind: TypeAlias = Literal["rewrite", "undo", "restore", "model"]


@dataclass(frozen=True, slots=True)
class About:
    """The session's row in the store.

    May be empty: `parent` (of a fork), `recorded_by` (an agent), `priced_as` (for a free model).
    """

    id: str
    title: str
    cwd: str
    model: str
    policy: str
    created: Millis
    updated: Millis
    revision: int
    parent: str
    recorded_by: str
    priced_as: str


@dataclass(frozen=True, slots=True)
class Spent:
    """A model call's tokens and USD, with and without a cache; `None`: unknown.

    Unless `own`, a fork's parent or a recorded agent paid.
    """

    usage: Usage
    cost: Decimal | None
    uncached: Decimal | None
    own: bool = True


@dataclass(frozen=True, slots=True)
class CourseRequest:
    """One model call of the conversation.

    `regions`: tokens in order of `budget.REGIONS`, estimated if `spent` is `None`, and their sum
    `held`; empty if not asked for. `miss`: segment and reason. `stands`: still in the conversation.
    """

    number: int
    turn: int
    at: Millis
    model: str
    regions: tuple[int, ...]
    spent: Spent | None
    miss: tuple[str, str] | None
    stands: bool
    held: int


@dataclass(frozen=True, slots=True)
class Aside:
    """A request outside the conversation: summary, title, subtask or ping."""

    after: int
    at: Millis
    purpose: str
    model: str
    spent: Spent


@dataclass(frozen=True, slots=True)
class CourseChange:
    """A recorded change of the context, made `after` so many requests.

    `left_out`: number of parts by new presentation. `summary`: writer and cost. `before`,
    `afterwards`: tokens, if logged.
    """

    id: str
    number: int
    after: int
    turn: int
    at: Millis
    kind: CourseChangeKind
    cause: str
    policy: str
    reason: str
    before: int | None
    afterwards: int | None
    price: str | None
    left_out: tuple[tuple[Presentation, int], ...]
    notes: int
    summary: str
    opens: bool
    undone: bool


@dataclass(frozen=True, slots=True)
class CourseTurn:
    """A turn; `held`: tokens at its end, `None` without a request."""

    number: int
    id: str
    at: Millis
    title: str
    requests: int
    calls: int
    failed: int
    held: int | None
    usage: Usage
    cost: Decimal | None
    stop: str
    changes: int
    stands: bool


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool's calls; `tokens`: estimate for all whole results, `in_view`: in context.

    `cut`: number of results cut before first sent, of `whole` bytes.
    """

    name: str
    calls: int
    failed: int
    tokens: int
    in_view: int
    cut: int
    whole: int


@dataclass(frozen=True, slots=True)
class CourseFile:
    """A changed path, and the author."""

    path: str
    change: str
    author: str


@dataclass(frozen=True, slots=True)
class CourseCheckpoint:
    """A state to go back to; `files` changed since the last checkpoint."""

    number: int
    id: str
    kind: str
    turn: int
    at: Millis
    title: str
    files: tuple[CourseFile, ...]
    stands: bool


@dataclass(frozen=True, slots=True)
class ContextPiece:
    """A piece of the context, or left out; tokens add up to the meter's."""

    id: str
    region: str
    label: str
    tokens: int
    shown: Presentation | Literal["note"]
    cached: bool
    turn: int | None
    part_id: str


@dataclass(frozen=True, slots=True)
class CutResult:
    """A result cut before first sent; `recall` returns it whole."""

    part_id: str
    tool: str
    label: str
    shown_bytes: int
    whole_bytes: int


@dataclass(frozen=True, slots=True)
class CourseNote:
    """A rewrite's text in the context."""

    id: str
    region: str
    tokens: int
    text: str


@dataclass(frozen=True, slots=True)
class Course:
    """A session's course; `messages` and `parts` are counts by kind.

    `problems`: sentences on unreadable entries.
    """

    about: About
    meter: Meter
    limit: int
    requests: tuple[CourseRequest, ...]
    asides: tuple[Aside, ...]
    changes: tuple[CourseChange, ...]
    turns: tuple[CourseTurn, ...]
    tools: tuple[ToolUse, ...]
    checkpoints: tuple[CourseCheckpoint, ...]
    pieces: tuple[ContextPiece, ...]
    cuts: tuple[CutResult, ...]
    notes: tuple[CourseNote, ...]
    messages: tuple[tuple[str, int], ...]
    parts: tuple[tuple[str, int], ...]
    problems: tuple[str, ...]

    @property
    def spent(self) -> tuple[Spent, ...]:
        own = (one.spent for one in self.requests if one.spent is not None)
        return (*own, *(one.spent for one in self.asides))

    @property
    def now(self) -> tuple[int, ...]:
        return tuple(self.meter.regions.get(region, 0) for region in REGIONS)
