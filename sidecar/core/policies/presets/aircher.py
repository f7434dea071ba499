"""`aircher`: outputs are cut as they come; at 85 per cent each turn is scored.

Turns are kept, summarised, referenced or dropped. A model scores and extracts facts on the warm
prefix; failing that, code scores.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.units import Item
from sidecar.core.parts import PartId
from sidecar.core.plans.draft import CUT_NOTE_TOKENS, Edits, cut_to, draft, full
from sidecar.core.plans.guard import NOTES, untouchable
from sidecar.core.plans.plan import Change, Plan, Situation, Standing, Summary
from sidecar.core.prompt.prompt import Ttl
from sidecar.core.prompt.tokens import tokens_of
from sidecar.core.prompt.visibility import Cause
from sidecar.core.summaries.model_summary import note_of, summary_in
from sidecar.core.summaries.sections import room_in_characters, shortened
from sidecar.core.summaries.turn_scores import (
    ACTIONS,
    ScoredTurn,
    TurnAction,
    TurnScore,
    changes,
    question,
    read_scores,
    scorable,
    told,
    turns_of,
)

# Described by its makers; no source has been seen: 85 per cent, the four actions with a reason,
# facts, and failed approaches that are never dropped.
TRIGGER = 0.85
NEW_TOKENS, NEW_LINES = 2_000, 50
"""The most that is shown of a new output. Lines count once more than so many tokens have come."""
LEFT = 0.60
"""Share of what may be sent, less the static part, that a compaction leaves at most."""
BY_HAND = 0.50
"""Share of the history that is left at most when the user asks, or the provider refused."""
OUTPUT_TOKENS = 2_500
EARLIER_TOKENS = 800
"""What earlier summaries may take where the model did not bring them up to date."""
AGE, FAILED, TYPED, SIZE = 0.5, 0.2, 0.2, 0.4
"""What counts how much in a score by code: being new, having failed, having been typed, being
large (against it, in full from a tenth of the history on)."""


@dataclass(frozen=True, slots=True)
class Aircher:
    """Due at 85 per cent of the window, and for long new outputs."""

    name: str = "aircher"
    static_ttl: Ttl = "5m"

    def due(self, standing: Standing) -> Cause | None:
        cause = full(standing, min(standing.limit, round(TRIGGER * standing.window)))
        return cause or ("budget" if standing.newest > NEW_TOKENS else None)

    def plan(self, situation: Situation, cause: Cause) -> Plan | None:
        standing = situation.standing
        if cause == "budget" and standing.newest > NEW_TOKENS:
            cuts = shortened_outputs(situation)
            why = f"{len(cuts)} new outputs cut to {NEW_TOKENS} tokens or {NEW_LINES} lines"
            short = draft(situation, self.name, cause, Edits(cuts), why)
            if short is not None or self.due(replace(standing, newest=0)) is None:
                return short
        turns, spared = turns_of(situation.items), kept_always(situation)
        listed = scorable(turns, spared)
        summary = Summary("extension", 0, OUTPUT_TOKENS, prompt=question(listed), finish=finish)
        return _planned(situation, self.name, cause, {}, summary)


def shortened_outputs(situation: Situation) -> tuple[Change, ...]:
    new = (i for i in situation.items[situation.sent :] if i.unit.kind == "call")
    open_ = (i for i in new if i.shown is None and not i.unit.running and not i.pinned)
    cuts = (_cut(item) for item in open_ if item.unit.part_id not in situation.preserved)
    return tuple(change for change in cuts if change is not None)


def _cut(item: Item) -> Change | None:
    lines = item.unit.text.splitlines(keepends=True)
    half = NEW_LINES // 2
    most = NEW_TOKENS
    if len(lines) > NEW_LINES:
        end = min(len("".join(lines[:half])), len("".join(lines[-half:])))
        most = min(most, 2 * end * item.result // len(item.unit.text) + CUT_NOTE_TOKENS)
    return cut_to(item, most, "both", "a long new output")


def finish(plan: Plan, situation: Situation, reply: str) -> Plan:
    """Makes a reply's final plan.

    Raises ValueError if the reply is unusable, or the plan would free no tokens.
    """
    turns, spared = turns_of(situation.items), kept_always(situation)
    scores = read_scores(reply, turns)
    final = _planned(situation, plan.policy, plan.cause, scores.turns, plan.summary)
    if final is None or plan.summary is None:
        raise ValueError("these scores free nothing")
    notes = (i.unit.text for i in situation.items if i.unit.part_id in final.retired)
    before = "\n\n".join(text for note in notes if (text := summary_in(note)))
    earlier = shortened(scores.earlier or before, EARLIER_TOKENS)
    actions = decided(situation, plan.cause, scores.turns)
    said = {
        turn_id: replace(scores.turns.get(turn_id, TurnScore(action)), action=action)
        for turn_id, action in actions.items()
    }
    text = told(turns, said, spared, room_in_characters(plan.summary.output_tokens))
    note = note_of("\n".join(filter(None, (earlier, text))), "model")
    after = final.tokens_after - plan.summary.output_tokens + tokens_of(note)
    if after >= final.tokens_before:
        raise ValueError("these scores free nothing")
    counts: dict[str, float] = {a: list(actions.values()).count(a) for a in ACTIONS[1:]}
    return replace(
        final,
        told=note,
        tokens_after=after,
        reason=f"{final.tokens_before} to {after} tokens: {_counted(actions)}, scored by a model",
        figures={**final.figures, **counts},
    )


def kept_always(situation: Situation) -> frozenset[PartId]:
    typed = (i.unit for i in situation.items if i.unit.kind == "typed")
    first = next((unit.message_id for unit in typed), None)
    goal = {i.unit.part_id for i in situation.items if i.unit.message_id == first}
    return untouchable(situation) | goal


def decided(
    situation: Situation, cause: Cause, scores: Mapping[str, TurnScore]
) -> dict[str, TurnAction]:
    """Gives actions for turns not kept.

    If scores leave too much, the turns of least worth are referenced, then summarised.
    """
    spared = kept_always(situation)
    turns = scorable(turns_of(situation.items), spared)
    actions: dict[str, TurnAction] = {turn.id: "keep" for turn in turns}
    actions.update((i, score.action) for i, score in scores.items() if i in actions)
    freed = {turn.id: _freed(changes(turn, actions[turn.id], spared)) for turn in turns}
    wanted = _wanted(situation, cause) - sum(freed.values())
    worth = worths(turns)
    ranked = sorted(turns, key=lambda turn: worth[turn.id])
    for action, less in _HARDER:
        for turn in ranked:
            if wanted <= 0:
                break
            if actions[turn.id] in less:
                more = _freed(changes(turn, action, spared)) - freed[turn.id]
                if more > 0:
                    actions[turn.id] = action
                    freed[turn.id] += more
                    wanted -= more
    return {turn_id: action for turn_id, action in actions.items() if action != "keep"}


_HARDER: tuple[tuple[TurnAction, tuple[TurnAction, ...]], ...] = (
    ("reference", ("keep",)),
    ("summarise", ("keep", "reference")),
)
"""What is done next where too much is left, and to turns of which score."""


def worths(turns: Sequence[ScoredTurn]) -> dict[str, float]:
    """Scores turns by code: new, failed, typed and small ones score high."""
    sizes = [turn.tokens for turn in turns]
    tenth = max(1, sum(sizes)) / 10
    found = {}
    for place, (turn, size) in enumerate(zip(turns, sizes, strict=True)):
        typed = sum(i.tokens for i in turn.items if i.unit.kind == "typed") / max(1, size)
        found[turn.id] = (
            AGE * place / len(turns)
            + FAILED * bool(turn.failures())
            + TYPED * typed
            - SIZE * min(1.0, size / tenth)
        )
    return found


def _planned(
    situation: Situation,
    policy: str,
    cause: Cause,
    scores: Mapping[str, TurnScore],
    summary: Summary | None,
) -> Plan | None:
    spared = kept_always(situation)
    actions = decided(situation, cause, scores)
    made = [
        change
        for turn in turns_of(situation.items)
        if turn.id in actions
        for change in changes(turn, actions[turn.id], spared)
    ]
    if not made:
        return None
    notes = (i.unit.part_id for i in situation.items if i.unit.kind in NOTES)
    retired = [part_id for part_id in notes if part_id not in spared]
    edits = Edits(tuple(made), tuple(retired))
    why = f"{_counted(actions)}, scored by code, at {TRIGGER:.0%} of the window"
    return draft(situation, policy, cause, edits, why, summary=summary)


def _wanted(situation: Situation, cause: Cause) -> int:
    standing = situation.standing
    left = LEFT * (standing.limit - standing.static)
    if cause in ("user", "overflow"):
        left = min(left, BY_HAND * (standing.used - standing.static))
    return round(standing.used - standing.static - left) + OUTPUT_TOKENS


def _freed(made: Sequence[Change]) -> int:
    return sum(change.tokens_before - change.tokens_after for change in made)


def _counted(actions: Mapping[str, TurnAction]) -> str:
    counts = {name: list(actions.values()).count(name) for name in ACTIONS[1:]}
    words = {"summarise": "summarised", "reference": "referred to", "drop": "dropped"}
    said = [f"{count} turns {words[name]}" for name, count in counts.items() if count]
    return ", ".join(said) or "nothing"


POLICY = Aircher()
