"""`picoclaw`: between turns summarises all but the last messages; when full, drops half the turns.

Without turns worth dropping, all but the newest steps go.
"""

from collections.abc import Sequence

from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.units import Item
from sidecar.core.plans.draft import draft, forced, leave_out, message_count, shown_items
from sidecar.core.plans.guard import NOTES, untouchable
from sidecar.core.plans.plan import SUMMARY_TOKENS, Plan, Situation, Standing, Summary
from sidecar.core.prompt.prompt import Ttl
from sidecar.core.prompt.visibility import Cause, Dropped

# PicoClaw, pkg/agent/context_legacy.go: maybeSummarize with the defaults of instance.go, and
# forceCompression; its budget check counts the answer's reserve, which comes to about 90 per cent
# of the window.
MESSAGES = 20
"""SummarizeMessageThreshold: with more of them the next turn begins with a summary."""
SUMMARISED_AT = 0.75
"""SummarizeTokenPercent."""
KEPT_MESSAGES = 4
KEPT_BY_HAND = 2
"""The newest messages that stay, and those that stay when the user asks."""
BATCH = 10
"""With more messages than this two halves are summarised and a third call joins them."""
CALLS = 3
TRIGGER = 0.90
DROPPED = 0.5
PROMPT = """\
Summarise this stretch of the conversation briefly. Keep its core and its key points: what was
wanted, what was done, what came of it, and what is still open. Where there is an earlier summary,
make one of both."""
"""What summarizeBatch asks for; theirs reads what was typed and answered, and no results."""


@dataclass(frozen=True, slots=True)
class PicoClaw:
    """Due as a turn opens above 20 messages or 75 per cent, and always at 90."""

    name: str = "picoclaw"
    static_ttl: Ttl = "5m"

    def due(self, standing: Standing) -> Cause | None:
        cause = forced(standing)
        if cause is not None:
            return cause
        # After a summary there is nothing to summarise before the model has answered.
        opens = standing.opens_turn and standing.requests > 0
        many = standing.messages > MESSAGES or standing.used > _much(standing)
        if standing.used >= trigger(standing) or (opens and many):
            return "budget"
        return None

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        standing = situation.standing
        if cause == "user":
            return self._summarised(situation, cause, KEPT_BY_HAND)
        if cause == "idle" or (cause == "budget" and standing.opens_turn):
            count = message_count(situation.items)
            if count > MESSAGES or standing.used > _much(standing):
                plan = self._summarised(situation, cause, KEPT_MESSAGES)
                if plan is not None and plan.tokens_after < trigger(standing):
                    return plan
        if cause in ("budget", "idle") and standing.used < trigger(standing):
            return None
        return self._dropped(situation, cause)

    def _summarised(self, situation: Situation, cause: Cause, kept: int) -> Plan | None:
        items = situation.items
        head = items[: boundary(items, kept)]
        edits = leave_out(head, untouchable(situation), "summarised")
        talk = [item for item in shown_items(head) if item.unit.kind in ("typed", "prose")]
        calls = CALLS if message_count(talk) > BATCH else 1
        # Both halves are read once, and the third call reads the summaries of the first two.
        read = sum(item.tokens for item in talk) + (calls - 1) * SUMMARY_TOKENS
        summary = Summary("fresh", read // calls, calls=calls, prompt=PROMPT)
        why = f"all but the newest {kept} messages summarised"
        return draft(situation, self.name, cause, edits, why, summary=summary)

    def _dropped(self, situation: Situation, cause: Cause) -> Plan | None:
        items = situation.items
        turns = sorted({item.unit.turn for item in shown_items(items)})
        spared = untouchable(situation)
        going = int(DROPPED * len(turns))
        if going:
            edits = leave_out(items[: _end(items, turns[going - 1])], spared, "an old turn")
            why = f"the oldest {going} of {len(turns)} turns dropped"
            plan = draft(situation, self.name, cause, edits, why)
            if plan is not None:
                return plan
        edits = leave_out(items, spared, "a turn that is too long")
        why = f"no whole turn to drop among {len(turns)}, all but the newest steps dropped"
        return draft(situation, self.name, cause, edits, why)


def trigger(standing: Standing) -> int:
    return min(standing.limit, round(TRIGGER * standing.window))


def boundary(items: Sequence[Item], kept: int) -> int:
    """Gives the index where the newest `kept` messages begin, moved to a turn's start.

    A message just typed does not count. Without such a turn, cuts between steps.
    """
    end = len(items)
    while end and items[end - 1].unit.kind in ("typed", "context"):
        end -= 1
    start = newest_messages(items[:end], kept)
    turns = [i for i in range(1, end) if _opens(items, i)]
    before = [index for index in turns if index <= start]
    after = [index for index in turns if index > start]
    if before or after:
        return before[-1] if before else after[0]
    while 0 < start < end and items[start - 1].unit.step == items[start].unit.step:
        start -= 1
    return start


def newest_messages(items: Sequence[Item], kept: int) -> int:
    """Gives the index where the newest `kept` messages begin; results count as one more."""
    messages: set[tuple[str, bool]] = set()
    start = len(items)
    for index in range(len(items) - 1, -1, -1):
        unit = items[index].unit
        if unit.kind not in NOTES and not isinstance(items[index].shown, Dropped):
            messages |= {(unit.message_id, False), (unit.message_id, unit.kind == "call")}
        if len(messages) > kept:
            break
        start = index
    return start


def _much(standing: Standing) -> int:
    return round(SUMMARISED_AT * standing.window)


def _opens(items: Sequence[Item], index: int) -> bool:
    unit, before = items[index].unit, items[index - 1].unit
    return unit.kind == "typed" and unit.message_id != before.message_id


def _end(items: Sequence[Item], turn: int) -> int:
    places = (
        index
        for index, item in enumerate(items)
        if item.unit.turn <= turn and item.unit.kind not in NOTES
    )
    return max(places) + 1


POLICY = PicoClaw()
