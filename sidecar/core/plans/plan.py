"""Defines what a policy is given and the plan that it returns."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

from sidecar.core.conversation.call_outcome import LONGEST
from sidecar.core.dataclass import dataclass
from sidecar.core.parts import MessageId, PartId
from sidecar.core.prompt.budget import at_most
from sidecar.core.prompt.prompt import Ttl
from sidecar.core.prompt.tokens import USUAL_FACTOR
from sidecar.core.prompt.visibility import Cause, Shown

if TYPE_CHECKING:
    from sidecar.core.ledger.units import Item, Unit
    from sidecar.core.sights.seen_files import SeenFiles
    from sidecar.core.text.identifiers import NameIndex

REWRITE_ID = "<<REWRITE>>"
"""Stands in a plan's note for the id that the rewrite gets when it is carried out.

Nothing that a note quotes from the log may look like it.
"""

OPTIONAL: frozenset[Cause] = frozenset({"cold", "pays", "idle"})
"""Why a rewrite may be made that need not be."""
SUMMARY_TOKENS = 1_500
"""What a summary came to in measured runs; opencode's may take 4,096."""


@dataclass(frozen=True, slots=True)
class Rates:
    """Prices in USD per token; without caching, `write` and `read` equal `input`.

    A prompt of more than `above` tokens is billed wholly at `dearer`.
    """

    input: float
    output: float
    write: float
    read: float
    above: int = 0
    dearer: "Rates | None" = None

    def at(self, prompt: int) -> "Rates":
        return self if self.dearer is None or prompt <= self.above else self.dearer


@dataclass(frozen=True, slots=True)
class Standing:
    """Totals before a request, by which a policy tells whether a rewrite is due.

    In tokens: `used`, the prompt as it would be sent; `static`, before the history; `limit`, the
    window less the reserve; `base`, the prompt after the last rewrite (`static` before the first);
    `rent`, the sum above `base` over requests since, dearer ones weighted; `newest`, unsent
    content; `guessed`, the estimated part of `used`.

    `messages` are in view; `requests`: since the last rewrite; `opens_turn`: a typed message is
    newest; `cooling_ms`: since the last request began.
    """

    used: int
    static: int
    window: int
    limit: int
    base: int
    rent: int
    requests: int
    warm: bool
    opens_turn: bool
    messages: int
    rates: Rates
    newest: int = 0
    guessed: int = 0
    now: int = 0
    cooling_ms: int = 0
    overflow: bool = False
    asked: bool = False

    @property
    def is_over(self) -> bool:
        """Whether `used` exceeds the limit, with estimates at their highest."""
        return at_most(self.used, self.guessed) > self.limit


def rent_of(prompts: Sequence[int], base: int, rates: Rates) -> int:
    """Adds up prompts' tokens above `base`, weighted if at the dearer price."""
    if rates.dearer is None or not rates.read:
        return sum([prompt - base for prompt in prompts if prompt > base])
    times = rates.dearer.read / rates.read
    floor, *paid = [
        prompt if prompt <= rates.above else round(prompt * times) for prompt in (base, *prompts)
    ]
    return sum([prompt - floor for prompt in paid if prompt > floor])


def _none_seen() -> "SeenFiles":
    # Who only asks whether a rewrite is due needs none.
    from sidecar.core.sights.seen_files import SeenFiles  # noqa: PLC0415 - see above

    return SeenFiles()


@dataclass(frozen=True, slots=True)
class Situation:
    """What a plan is made from; `items` are in prompt order, notes included.

    `step` numbers the coming request. The last request held the first `sent` items, so changing
    later ones is free. `factor`: the model's tokens per token of a raw estimate. `tools`: names of
    the model's tools, none if unknown.
    """

    standing: Standing
    items: "Sequence[Item]"
    names: "NameIndex"
    step: int
    revision: int = 0
    sent: int = 0
    protected_tools: frozenset[str] = frozenset()
    preserved: frozenset[PartId] = frozenset()
    instructions: str = ""
    factor: float = USUAL_FACTOR
    tools: frozenset[str] = frozenset()
    files: "SeenFiles" = field(default_factory=_none_seen)


@dataclass(frozen=True, slots=True)
class FileImage:
    """Ranges of a file's lines (first, last; from 1), and their `text` with gaps."""

    path: str
    ranges: tuple[tuple[int, int], ...]
    text: str
    tokens: int

    @property
    def lines(self) -> str:
        return ", ".join(f"{first}-{last}" for first, last in self.ranges)


class Change(NamedTuple):
    """A part's new display; `shown=None` is word for word again."""

    part_id: PartId
    shown: Shown | None
    reason: str
    tokens_before: int
    tokens_after: int


UnitsShown: TypeAlias = "Sequence[tuple[Unit, Shown | None]]"
"""Units in prompt order, and how each is shown."""


Asking: TypeAlias = Literal["extension", "fresh"]
"""`extension`: the instruction is appended to the warm prefix; `fresh`: a request of its own."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary that a plan asks a model for.

    `input_tokens` (for `fresh` only), `output_tokens`: of each call. `calls`: how many a preset's
    agent makes; a session makes one. `prompt`: what is asked. `finish` makes the answer the final
    plan, or raises `ValueError`; by default the text precedes the notes.
    """

    asking: Asking
    input_tokens: int
    output_tokens: int = SUMMARY_TOKENS
    calls: int = 1
    prompt: str = ""
    finish: "Callable[[Plan, Situation, str], Plan] | None" = None


@dataclass(frozen=True, slots=True)
class Passage:
    """A note before a message, on what is left out there."""

    before: MessageId
    text: str


@dataclass(frozen=True, slots=True)
class Plan:
    """A rewrite not yet made, valid for `revision` only.

    Before the changed item `first` stand `told` (the written summary) and `note`; `passages` stand
    in their places, `images` before the newest steps. `note_tokens` counts all but `told`.
    `retired`: earlier notes to remove.
    """

    policy: str
    cause: Cause
    reason: str
    revision: int
    changes: tuple[Change, ...]
    first: int
    tokens_before: int
    tokens_after: int
    note: str = ""
    note_tokens: int = 0
    retired: tuple[PartId, ...] = ()
    summary: Summary | None = None
    figures: Mapping[str, float] = field(default_factory=dict)
    told: str = ""
    passages: tuple[Passage, ...] = ()
    images: tuple[FileImage, ...] = ()


def retired_items(situation: Situation, plan: Plan) -> "list[Item]":
    retired = set(plan.retired)
    return [i for i in situation.items if i.unit.part_id in retired] if retired else []


def compression(situation: Situation, plan: Plan) -> float:
    """Divides the tokens of changed items before the rewrite by those after."""
    before = sum([change.tokens_before for change in plan.changes])
    before += sum([item.tokens for item in retired_items(situation, plan)])
    return before / max(1, before - (plan.tokens_before - plan.tokens_after))


@dataclass(frozen=True, slots=True)
class Room:
    """Most tokens per section of a note.

    `quoted`: characters for an attempt, and for its error. `story`: of passages, which replace the
    sections on asked, worked and said. `hunks`: of what edits came to. `rules`: of those out of
    view.
    """

    asked: int = 1_500
    commands: int = 200
    prose: int = 700
    story: int = 0
    hunks: int = 0
    rules: int = 0
    todo: int = 500
    subtasks: int = 200
    failures: int | None = None
    quoted: int = LONGEST


STORY = Room(asked=0, commands=0, prose=0, story=3_600, hunks=1_500, rules=13_000)
"""What is asked, run and said is told in its place."""


@dataclass(frozen=True, slots=True)
class Keeping:
    """How much a rebuild keeps.

    Blocks take `keep` tokens, at most `KEEP_SHARE` of the window, each worth `density` (chance per
    token) at least; `tail` is the newest requests' share of the window. Typed messages, in tokens:
    `first` message, `each` other, `typed` in all, `old` for rules and first words. Caps, in windows
    times `share`: 1/8 for `first`, 1/10 for `typed`, 1/16 for `old`.
    """

    keep: int = 10_000
    density: float = 3e-5
    tail: float = 0.005
    first: int = 4_000
    each: int = 2_500
    typed: int = 8_000
    old: int = 8_000
    room: Room = STORY
    share: float = 1.0


class Policy(Protocol):
    """Decides when and how to rewrite; pure and hashable."""

    def __hash__(self) -> int: ...

    @property
    def name(self) -> str: ...

    @property
    def static_ttl(self) -> Ttl:
        """Wanted cache lifetime of the static prefix."""
        ...

    def due(self, standing: Standing) -> Cause | None:
        """Gives a cause if a rewrite may be worth planning."""
        ...

    def plan(self, situation: Situation, cause: Cause) -> Plan | None: ...
