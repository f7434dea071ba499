"""Carries out what a policy planned: one record, one event, and everything as it was if it fails.

A plan fits one revision of the log only. Undoing is another record.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from sidecar.core.errors import BadRequest, NothingToDo, RevisionConflict
from sidecar.core.guard import untouchable
from sidecar.core.keepalive import hour_pays
from sidecar.core.parts import Json, JsonObject, MessageId, StepFinishPart
from sidecar.core.plan import REWRITE_ID, Plan, Policy, Rates, Situation, Standing
from sidecar.core.policies import DEFAULT, policies
from sidecar.core.pricing import money_of
from sidecar.core.prompt import ModelRequest, Ttl
from sidecar.core.render import Region
from sidecar.core.view import Cause, Note, Rewrite
from sidecar.session.emergency import drop_oldest
from sidecar.session.events import EpochChanged
from sidecar.session.gauge import read_size
from sidecar.session.planner import Planner, anchor_after, rates
from sidecar.session.rewrites import (
    REWRITE,
    UNDONE,
    Recorded,
    standing_rewrites,
    to_json,
    view_of,
)
from sidecar.session.state import State


@dataclass(frozen=True, slots=True)
class Decision:
    """A plan, what it was made from, and what it costs: `price` is USD now, may be negative."""

    plan: Plan
    situation: Situation
    price: float
    break_even: float | None


def decide(
    state: State, planner: Planner, *, overflow: bool = False, skip: int = 0
) -> Decision | None:
    """Ask the session's policy whether the view should be rewritten before the next request.

    `skip` counts the plans that were carried out just now for the same request.
    """
    policy = _policy(state)
    off = state.log.row.settings.get("autoCompact") is False
    if skip > 1 or (off and not overflow):
        return None
    standing = planner.standing(state, overflow=overflow)
    cause = policy.due(standing)
    if overflow:
        cause = "overflow"
    if cause is None:
        return None
    situation = planner.situation(state, standing)
    plan = None if off else policy.plan(situation, cause)
    if plan is None and overflow:
        plan = drop_oldest(situation)
    return None if plan is None else _priced(state, plan, situation)


def decide_by_hand(state: State, planner: Planner, strategy: str | None) -> Decision:
    """Plan a compaction that the user asked for, with a policy of their choice.

    Raises:
        BadRequest: there is no such policy.
        NothingToDo: the policy has nothing to leave out.
    """
    known = policies()
    if strategy is not None and strategy not in known:
        raise BadRequest(
            f"there is no strategy {strategy!r}; there are {', '.join(known)}", "params.strategy"
        )
    chosen = known[strategy] if strategy else _policy(state)
    standing = planner.standing(state, asked=True)
    situation = planner.situation(state, standing)
    plan = (known[DEFAULT] if chosen.name == "manual" else chosen).plan(situation, "user")
    if plan is None:
        raise NothingToDo(
            "there is nothing worth leaving out yet: the context is small, or all of it is pinned, "
            "new, or was typed by you"
        )
    return _priced(state, plan, situation)


async def carry_out(state: State, decision: Decision) -> EpochChanged | None:
    """Write the rewrite as one record, show the view accordingly, and give the event to tell.

    Gives `None` when only what no request had carried yet was cut: that begins no epoch.

    Raises:
        RevisionConflict: the log moved on since the plan was made.
    """
    plan, log, view = decision.plan, state.log, state.view
    if plan.revision != log.row.revision:
        raise RevisionConflict(
            f"the plan was made for revision {plan.revision} and the session is at "
            f"{log.row.revision}: plan again",
            revision=log.row.revision,
        )
    recorded = _record(state, decision)
    log.note(REWRITE, to_json(recorded))
    written = log.commit("compacted", {"compactionId": recorded.rewrite.id})
    view.reshape(
        view_of(log.records), _anchor(state), state.clock.now() if recorded.opens else None
    )
    await written
    if not recorded.opens:
        return None
    return _event(state, recorded, "completed", recorded.rewrite.cause, recorded.price)


async def undo(state: State, compaction_id: str) -> EpochChanged:
    """Take a rewrite back; the parts it left out are shown again, whatever came after.

    Raises:
        NothingToDo: there is no such rewrite, or it was taken back before.
    """
    standing = {recorded.rewrite.id: recorded for recorded in standing_rewrites(state.log.records)}
    recorded = standing.get(compaction_id)
    if recorded is None:
        raise NothingToDo(
            f"there is no compaction {compaction_id!r} in effect: it was taken back, or never was"
        )
    before = read_size(state).total
    state.log.note(UNDONE, {"compactionId": compaction_id})
    written = state.log.commit("compaction_undone", {"compactionId": compaction_id})
    state.view.reshape(view_of(state.log.records), _anchor(state), state.clock.now())
    await written
    after = read_size(state).total
    undone = replace(recorded, tokens_before=before, tokens_after=after)
    return _event(state, undone, "undone", "undo", None)


def restore(state: State) -> None:
    """Show a loaded session as its log says, and count and predict as before the restart."""
    view, records = state.view, state.log.records
    view.static_ttl = _static_ttl(state)
    rewrites = standing_rewrites(records)
    changed = [r for r in records if r.kind in (REWRITE, UNDONE)]
    opened = [r for r in changed if r.kind == UNDONE or r.body.get("opens") is True]
    if changed:
        since = max(opened[-1].at, view.since) if opened else None
        if rewrites:
            view.trust(rewrites[-1].factor)
        view.reshape(view_of(records), _anchor(state), since)
    view.replay(state.log)
    if view.anchor is not None:
        anchor, prompt = view.anchor, view.prompt(state.log)
        request = ModelRequest(view.static.model, prompt, 0, state.setting("effort"))
        state.cached.resume(request, anchor.blocks, anchor.started, view.static_ttl, anchor.usage)


def _static_ttl(state: State) -> Ttl:
    """Keep the static prefix for an hour where the policy wants it and the arithmetic agrees."""
    card = state.info().price
    if card is None or _policy(state).static_ttl != "1h":
        return "5m"
    found = hour_pays(
        state.view.static_tokens,
        write_5m=float(card.write_5m) / 1e6,
        write_1h=float(card.write_1h) / 1e6,
        read=float(card.read) / 1e6,
    )
    return "1h" if found.pays else "5m"


def told_plan(plan: Plan) -> list[Json]:
    """Give a plan's changes as `context/compact` answers them."""
    names: Mapping[str, str] = {
        "Dropped": "drop",
        "Placeholder": "evict",
        "Truncated": "truncate",
        "Excerpt": "excerpt",
        "NoneType": "restore",
    }
    return [
        {
            "partId": change.part_id,
            "action": names[type(change.shown).__name__],
            "reason": change.reason,
            "tokensBefore": change.tokens_before,
            "tokensAfter": change.tokens_after,
        }
        for change in plan.changes
    ]


def _policy(state: State) -> Policy:
    return policies().get(state.setting("policy")) or policies()[DEFAULT]


def _priced(state: State, plan: Plan, situation: Situation) -> Decision:
    """Check a plan against what must not be touched, and say what it costs now."""
    kept = untouchable(situation)
    touched = [c for c in plan.changes if c.part_id in kept and c.shown is not None]
    free = {item.unit.part_id for item in situation.items[situation.sent :]}
    free |= {item.unit.part_id for item in situation.items if item.unit.kind == "reasoning"}
    wrong = [c.part_id for c in touched if c.part_id not in free]
    if wrong:
        raise BadRequest(
            f"the policy {plan.policy} planned to touch what must stay ({wrong[0]}): "
            "choose another one, and report this"
        )
    removed = plan.tokens_before - plan.tokens_after
    before = situation.standing.static + sum(i.tokens for i in situation.items[: plan.first])
    extra, even = rewrite_cost(situation.standing, before, removed, rates(state))
    return Decision(plan, situation, extra, even)


def rewrite_cost(
    standing: Standing, before: int, removed: int, prices: Rates
) -> tuple[float, float | None]:
    """Give what a rewrite costs now in USD and after how many requests that is earned back.

    `before` are the tokens before the first edited block, `removed` those that go. The second is
    `None` when it is earned at once, or never.
    """
    rewritten = max(0, standing.used - removed - before)
    if not standing.warm:
        return -removed * prices.write, None
    extra = rewritten * (prices.write - prices.read)
    saved = removed * prices.read
    return extra, extra / saved if saved > 0 else None


def _record(state: State, decision: Decision) -> Recorded:
    plan, situation = decision.plan, decision.situation
    rewrite_id = state.clock.new_id("cmp")
    before = situation.items[plan.first].unit.message_id
    regions: tuple[tuple[str, Region], ...] = ((plan.excerpt, "summary"), (plan.note, "ledger"))
    notes = tuple(
        Note(state.clock.part_id(), text.replace(REWRITE_ID, rewrite_id), before, region)
        for text, region in regions
        if text
    )
    cause: Cause = plan.cause
    rewrite = Rewrite(
        rewrite_id,
        cause,
        {change.part_id: change.shown for change in plan.changes},
        notes,
        plan.retired,
    )
    steps = sum(isinstance(p, StepFinishPart) for m in state.log for p in m.parts)
    opens = plan.first < situation.sent or not situation.sent
    figures: JsonObject = {key: round(value, 6) for key, value in plan.figures.items()}
    return Recorded(
        rewrite,
        plan.policy,
        plan.reason,
        plan.tokens_before,
        plan.tokens_after,
        money_of(decision.price),
        steps,
        anchor_after(situation),
        opens,
        state.view.calibration.factor,
        figures,
    )


def _anchor(state: State) -> MessageId | None:
    opened = [r for r in standing_rewrites(state.log.records) if r.opens]
    return opened[-1].anchor if opened else None


def _event(
    state: State, recorded: Recorded, status: str, cause: str, price: str | None
) -> EpochChanged:
    return EpochChanged(
        state.log.row.id,
        state.channel.next_seq(),
        recorded.rewrite.id,
        status,
        cause,
        recorded.tokens_before,
        recorded.tokens_after,
        price,
    )
