"""A session's course as values: what each request held and cost, what changed, what is in view.

`session/desk/log_course` reads them from a log; the inspector and the report tell them. Pure data.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import Literal, TypeAlias

from sidecar.core.parts import Millis, Usage
from sidecar.core.prompt.budget import REGIONS
from sidecar.core.prompt.meter import Meter

Presentation: TypeAlias = Literal["verbatim", "truncated", "excerpt", "placeholder", "dropped"]
"""How a part is shown to the model."""
CourseChangeKind: TypeAlias = Literal["rewrite", "undo", "restore", "model"]


@dataclass(frozen=True, slots=True)
class About:
    """Which session it is, in the words of its row.

    `parent` is the session that it was made from, `recorded_by` the agent whose recording it began
    as; `priced_as` names the model at whose prices costs are given, where its own cost nothing.
    All three are empty else.
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
    """What a model call took, in tokens and USD.

    `uncached` is what it would have cost without a cache. Both are `None` where the price is
    unknown. What is not this session's `own` it did not pay for: what a fork has from its parent,
    and what another agent recorded.
    """

    usage: Usage
    cost: Decimal | None
    uncached: Decimal | None
    own: bool = True


@dataclass(frozen=True, slots=True)
class CourseRequest:
    """What one model call held.

    `regions` are tokens in the order of `budget.REGIONS`. They add up to what the provider
    reported, or to an estimate where nothing was reported and so nothing is known as `spent`.
    `miss` says of a request that read less from the cache than it should have, at which segment
    and why. `stands`: its answer is part of the conversation still.
    """

    number: int
    turn: int
    at: Millis
    model: str
    regions: tuple[int, ...]
    spent: Spent | None
    miss: tuple[str, str] | None
    stands: bool

    @property
    def held(self) -> int:
        """All tokens that were sent."""
        return sum(self.regions)


@dataclass(frozen=True, slots=True)
class Aside:
    """What was asked beside the conversation: a summary, a title, a subtask, a ping."""

    after: int
    at: Millis
    purpose: str
    model: str
    spent: Spent


@dataclass(frozen=True, slots=True)
class CourseChange:
    """A recorded change of the context, after so many requests.

    `left_out` counts the parts that it showed otherwise, by how. `opens`: it began an epoch, so
    that the prefix was written anew. `undone`: it is not in effect any more. `summary` says who
    wrote one, and what that cost. Tokens are `None` where the log does not say.
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
    """One turn. `held` is the context when it ended, `None` where no model was asked."""

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
    """All calls of one tool.

    `tokens` is what its results would take if all were shown whole, about; `in_view` is what they
    take now. `cut` counts results that were too long and were cut before they were ever sent, of
    `whole` bytes in all.
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
    """A path that changed, and who changed it."""

    path: str
    change: str
    author: str


@dataclass(frozen=True, slots=True)
class CourseCheckpoint:
    """A state to go back to. `files` are what changed since the one before."""

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
    """Something that is in the context, or was left out of it; `tokens` add up to the meter's."""

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
    """A tool's result that was cut at its source; all of it can be recalled by the part's id."""

    part_id: str
    tool: str
    label: str
    shown_bytes: int
    whole_bytes: int


@dataclass(frozen=True, slots=True)
class CourseNote:
    """A text of a rewrite that stands in the context."""

    id: str
    region: str
    tokens: int
    text: str


@dataclass(frozen=True, slots=True)
class Course:
    """One session, from its beginning to now. `messages` and `parts` are counts by what they are.

    `problems` says, a sentence each, what of the log could not be read.
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
        """What all requests took that somebody reported, those beside the conversation too."""
        own = (one.spent for one in self.requests if one.spent is not None)
        return (*own, *(one.spent for one in self.asides))

    @property
    def now(self) -> tuple[int, ...]:
        """The context as the meter has it now, in the order of `budget.REGIONS`."""
        return tuple(self.meter.regions.get(region, 0) for region in REGIONS)
