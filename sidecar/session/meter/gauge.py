"""A session's meter, and the inputs of its computation."""

from collections.abc import Iterable, Sequence
from decimal import Decimal

from sidecar.core.conversation.turns import Turn, turns
from sidecar.core.engine.trigger import compaction_point
from sidecar.core.parts import Message, MessageId, Millis, Part, StepFinishPart, TurnId, Usage
from sidecar.core.plans.plan import Rates, Standing
from sidecar.core.policies import DEFAULT, policies
from sidecar.core.prompt.budget import burn_rate, velocity
from sidecar.core.prompt.meter import CacheState, Costs, Meter, Size, measure
from sidecar.core.prompt.pricing import money_of, total
from sidecar.core.prompt.prompt import ModelRequest
from sidecar.core.prompt.warmth import Prediction
from sidecar.session.meter.side_request import asked_since
from sidecar.session.state import State
from sidecar.session.view.model_view import ModelView
from sidecar.store.format.log_records import AskedRecord, ForkedRecord, PingRecord

UNKNOWN = Rates(3e-6, 15e-6, 3.75e-6, 0.3e-6)
"""USD per token assumed for a model of unknown price: the usual ratios."""


BURNING = 5
"""Turns averaged for the burn rate."""


def read_meter(state: State, compact_now: str | None = None) -> Meter:
    """Measure context, cache and cost now; plans nothing.

    `compact_now`: a compaction's cost in USD, if known.
    """
    size, everything = state.view.size(state.log), turns(state.log)
    forked = state.log.last_record(ForkedRecord)
    since = 0 if forked is None else forked.at
    return measure(
        session_id=state.log.row.id,
        revision=state.log.row.revision,
        window=state.settings.window(),
        max_tokens=state.settings.max_tokens(),
        compact_at=_compact_at(state, size),
        burn_rate=_burn_rate(state, everything[-BURNING:], since),
        size=size,
        turn_sizes=[ended for turn in everything if (ended := _size_after(turn)) is not None],
        cache=_cache(state),
        cost=_costs(state, everything[-1:], since, compact_now),
    )


def _compact_at(state: State, size: Size) -> int:
    """Tokens at which the policy must rewrite; the limit if never."""
    room = state.settings.room()
    static = round(state.view.static_tokens * state.view.calibration.factor)
    policy = policies().get(state.settings.text("policy"), policies()[DEFAULT])
    if not state.settings.is_on("autoCompact"):
        return room.limit
    standing = Standing(
        size.total, static, room.window, room.limit, static, 0, 0, True, True, size.messages,
        rates(state),
    )  # fmt: skip
    return compaction_point(policy, standing)


def rates(state: State) -> Rates:
    """The model's USD per token; the usual rates if unknown."""
    card = state.settings.info().price
    if card is None:
        return UNKNOWN
    million = Decimal(1_000_000)
    return Rates(
        float(card.input / million),
        float(card.output / million),
        float(card.write_5m / million),
        float(card.read / million),
    )


async def user_message_limit(state: State, parts: tuple[Part, ...]) -> tuple[int, int]:
    """Estimated tokens: (a user's message, the window's room for a message)."""
    factor = state.view.calibration.factor
    raw = await state.view.rendering.weigh(Message(MessageId(""), TurnId(""), "user", parts, 0))
    room = state.settings.room().limit
    return round(raw * factor), room - round(state.view.static_tokens * factor)


def _cache(state: State) -> CacheState:
    last, until = state.view.last, state.view.warm_until()
    if last is None:
        return CacheState(warm=False, expires_at=None, hit_rate=0.0)
    return CacheState(
        warm=state.clock.now() <= until,
        expires_at=until or None,
        hit_rate=round(last.usage.cache_read / last.usage.prompt, 4),
        last_break=state.cached.last_break,
    )


def foresee(
    state: State, view: ModelView, messages: Iterable[Message]
) -> tuple[ModelRequest, Prediction]:
    """The next request for messages in a view, with predicted cache use."""
    prompt = view.prompt(messages)
    asked = state.settings
    request = ModelRequest(view.static.model, prompt, asked.max_tokens(), asked.effort)
    minimum, factor = asked.info().min_cacheable, view.calibration.factor
    return request, state.cached.foresee(request, state.clock.now(), minimum, factor)


def price_of(state: State, seen: Prediction) -> str | None:
    """USD of a predicted request's prompt; `None` if unknown."""
    usage = Usage(seen.uncached, seen.read, seen.write_5m, seen.write_1h)
    return state.environment.models.cost(state.settings.model_id, usage)


def _costs(state: State, last: Sequence[Turn], since: Millis, compact_now: str | None) -> Costs:
    costs = [step.cost for step in _steps(last, since)]
    costs += [cost for turn in last for _, cost in asked_since(state.log, turn.id)]
    return Costs(
        session=state.log.row.cost,
        last_turn=total(costs) if costs else None,
        next_request=price_of(state, foresee(state, state.view, state.log)[1]),
        compact_now=compact_now,
    )


def _size_after(turn: Turn) -> int | None:
    steps = [p for m in turn.messages for p in m.parts if isinstance(p, StepFinishPart)]
    return steps[-1].usage.prompt + steps[-1].usage.output if steps else None


def sized_turns(messages: Iterable[Message]) -> list[TurnId]:
    """Turns with a known context size at the end, oldest first."""
    return [turn.id for turn in turns(messages) if _size_after(turn) is not None]


def usual_growth(state: State) -> int:
    """Tokens added per turn of late."""
    sizes = [ended for turn in turns(state.log) if (ended := _size_after(turn)) is not None]
    begun = round(state.view.static_tokens * state.view.calibration.factor)
    return velocity((begun, *sizes)) if sizes else 0


def _burn_rate(state: State, recent: Sequence[Turn], since: Millis) -> str | None:
    """USD per hour over some turns, side requests and pings included."""
    if not recent:
        return None
    begun = max(recent[0].messages[0].created, since)
    records = (r for r in state.log.records if isinstance(r, AskedRecord | PingRecord))
    beside = (record for record in records if record.at >= begun)
    spent = [
        *((step.started, step.cost) for step in _steps(recent, since)),
        *((record.at, record.cost) for record in beside),
    ]
    costs = sorted((at, float(str(cost))) for at, cost in spent if cost is not None)
    rate = burn_rate(costs, state.clock.now())
    return None if rate is None else money_of(rate)


def _steps(some: Sequence[Turn], since: Millis) -> list[StepFinishPart]:
    """Ends of the turns' steps, without those before `since`, which the fork's origin paid."""
    steps = (part for turn in some for message in turn.messages for part in message.parts)
    return [part for part in steps if isinstance(part, StepFinishPart) and part.started >= since]
