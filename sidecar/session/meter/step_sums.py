"""Sums of turns' steps, kept while a turn grows."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from decimal import Decimal

from sidecar.core.conversation.growing import NEWEST
from sidecar.core.conversation.turns import Turn, finished_steps
from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Message, Millis, TurnId
from sidecar.core.prompt.pricing import total


@dataclass(frozen=True, slots=True)
class StepSums:
    """Steps, those of unknown cost, the others' USD, and when the first of these began."""

    steps: int = 0
    unpriced: int = 0
    usd: Decimal = Decimal(0)
    begun: Millis | None = None

    def _paid(self, usd: str | None, at: Millis) -> "StepSums":
        if usd is None:
            return replace(self, steps=self.steps + 1, unpriced=self.unpriced + 1)
        begun = at if self.begun is None else min(self.begun, at)
        return StepSums(self.steps + 1, self.unpriced, self.usd + Decimal(usd), begun)

    def total(self, beside: Sequence[str | None]) -> str | None:
        """Returns USD, of requests beside too; `None` if nothing was asked, or one is unknown."""
        if self.unpriced or not (self.steps or beside):
            return None
        return total((str(self.usd), *beside))

    def plus(self, messages: Iterable[Message], since: Millis) -> "StepSums":
        """Adds steps since `since`: a fork's origin paid earlier ones."""
        found = self
        for message in messages:
            for step in finished_steps(message):
                if step.started >= since:
                    found = found._paid(step.cost, step.started)
        return found


class TurnSums:
    """Sums of the turns asked for last; only new messages are looked at."""

    def __init__(self) -> None:
        self._known: dict[TurnId, tuple[Sequence[Message], Millis, StepSums]] = {}

    def of(self, turns: Iterable[Turn], since: Millis) -> list[StepSums]:
        before, self._known, found = self._known, {}, []
        for turn in turns:
            settled = turn.messages[: max(0, len(turn.messages) - NEWEST)]
            known, at, sums = before.get(turn.id, ((), since, StepSums()))
            # Identical members are equal at once, so that this is a walk in C.
            if at != since or known != settled[: len(known)]:
                known, sums = (), StepSums()
            sums = sums.plus(settled[len(known) :], since)
            self._known[turn.id] = settled, since, sums
            found.append(sums.plus(turn.messages[len(settled) :], since))
        return found
