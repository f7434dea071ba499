"""What a policy is told and what it answers: the standing, the situation, the plan."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from sidecar.core.ledger.units import Item
from sidecar.core.parts import PartId
from sidecar.core.prompt.budget import at_most
from sidecar.core.prompt.prompt import Ttl
from sidecar.core.prompt.tokens import USUAL_FACTOR
from sidecar.core.prompt.visibility import Cause, Shown
from sidecar.core.text.identifiers import NameIndex

REWRITE_ID = "<<REWRITE>>"
"""Stands in a plan's note for the id that the rewrite gets when it is carried out.

Nothing that a note quotes from the log may look like it.
"""

OPTIONAL: frozenset[Cause] = frozenset({"cold", "pays", "idle"})
"""Why a rewrite may be made that need not be."""


@dataclass(frozen=True, slots=True)
class Rates:
    """USD per token. Without caching, `write` and `read` equal `input`."""

    input: float
    output: float
    write: float
    read: float


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a session stands before a request: totals only, so that asking costs nothing.

    All sizes are tokens. `used` is the prompt as it would be sent; `static` its part before the
    history; `limit` the window less the output reserve; `base` what was left after the last
    rewrite (`static` before the first); `rent` is the sum, over the requests since then, of what
    each carried above `base`. `messages` counts messages in the view, `requests` those since the
    last rewrite, `opens_turn` says that a typed message has just come. `cooling_ms` is how long
    ago the last request began; `newest` is what has come since then and was not sent yet,
    `guessed` what of all is estimated: that, or all of it where no answer has told its size.
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
        """Whether the prompt is too long to be sent, as far as is known."""
        return at_most(self.used, self.guessed) > self.limit


def rent_of(prompts: Iterable[int], base: int) -> int:
    """Add up what requests carried above what the last rewrite left, in tokens."""
    return sum(max(0, prompt - base) for prompt in prompts)


@dataclass(frozen=True, slots=True)
class Situation:
    """All that a plan is made from. `items` are in prompt order, notes of rewrites among them.

    `step` is the number of the coming request. `anchored` counts the items, from the first,
    that an earlier rewrite left and that are cached as they stand; `sent` those that the last
    request held: to change what comes after them costs nothing. `factor` is what the model
    counts for each token of a raw estimate, as far as it is known.
    """

    standing: Standing
    items: Sequence[Item]
    names: NameIndex
    step: int
    revision: int = 0
    anchored: int = 0
    sent: int = 0
    protected_tools: frozenset[str] = frozenset()
    preserved: frozenset[PartId] = frozenset()
    instructions: str = ""
    factor: float = USUAL_FACTOR


@dataclass(frozen=True, slots=True)
class Change:
    """One part shown otherwise from now on; `shown` is `None` for verbatim again."""

    part_id: PartId
    shown: Shown | None
    reason: str
    tokens_before: int
    tokens_after: int


Asking: TypeAlias = Literal["extension", "fresh"]
"""`extension`: the instruction is appended to the warm prefix; `fresh`: a request of its own."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary that the plan wants from a model: how it is asked for and how long it may be.

    `input_tokens` is what a fresh request sends, `calls` how many the system makes that a preset
    is named after: here it is one at most. `prompt` is what the model is told to write, or empty
    for the usual sections. `finish` makes the final plan of what the model wrote; without one the
    text stands before the plan's other notes. It raises `ValueError` for what cannot be used.
    """

    asking: Asking
    input_tokens: int
    output_tokens: int = 1_500
    calls: int = 1
    prompt: str = ""
    finish: "Callable[[Plan, Situation, str], Plan] | None" = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A rewrite that has not happened. It fits `revision` only.

    `first` is the index among the situation's items of the first that changes; `note` is the
    text that stands before it for what was left out, and `excerpt`, which comes first, holds
    lines of it word for word; `retired` are earlier notes that go. `told` is the summary, once
    there is one: it stands before both.
    `figures` are the numbers of the decision, for the log and for people.
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
    excerpt: str = ""
    excerpt_tokens: int = 0
    told: str = ""


def compression(situation: Situation, plan: Plan) -> float:
    """Give how many times larger what a plan changes is than what it leaves of it."""
    retired = set(plan.retired)
    before = sum(change.tokens_before for change in plan.changes)
    before += sum(item.tokens for item in situation.items if item.unit.part_id in retired)
    return before / max(1, before - (plan.tokens_before - plan.tokens_after))


class Policy(Protocol):
    """Decides when and how the view is rewritten. Pure: the same situation, the same plan.

    It is a value, so what it answered can be kept under it.
    """

    def __hash__(self) -> int:
        """Give the same for equal ones."""
        ...

    @property
    def name(self) -> str:
        """What users choose it by."""
        ...

    @property
    def static_ttl(self) -> Ttl:
        """How long the static prefix is to be cached, where the arithmetic allows it."""
        ...

    def due(self, standing: Standing) -> Cause | None:
        """Say, from totals alone, whether a rewrite may be worth planning now."""
        ...

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        """Plan the rewrite, or `None` when nothing is worth changing."""
        ...
