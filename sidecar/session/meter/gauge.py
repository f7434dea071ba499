"""A session's meter."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import takewhile

from sidecar.core.conversation.growing import Growing
from sidecar.core.conversation.turns import Turn, finished_steps, turns
from sidecar.core.dataclass import dataclass
from sidecar.core.engine.trigger import compaction_point
from sidecar.core.parts import Message, MessageId, Millis, Part, TextPart, TurnId, Usage
from sidecar.core.plans.plan import Policy, Rates, Standing
from sidecar.core.prompt.budget import RECENT_TURNS, ZoneStarts, burn_rate, velocity
from sidecar.core.prompt.cache.warmth import Prediction
from sidecar.core.prompt.meter import CacheState, Costs, Meter, Size, measure
from sidecar.core.prompt.pricing import MILLION, ModelInfo, Price, money_of
from sidecar.core.prompt.prompt import ModelRequest, Ttl
from sidecar.core.prompt.tokens import FRAMING
from sidecar.session.log.session_log import SessionLog
from sidecar.session.meter.asked import asked_since
from sidecar.session.meter.step_sums import StepSums, TurnSums
from sidecar.session.session_settings import SessionSettings
from sidecar.session.turn.clock import Clock
from sidecar.session.turn.model_access import ModelAccess
from sidecar.session.view.cache_state import CacheWatch
from sidecar.session.view.model_view import ModelView
from sidecar.store.format.log_records import (
    AskedRecord,
    ForkedRecord,
    PingRecord,
    TurnStartedRecord,
)
from sidecar.store.format.record_codec import LogRecord

UNKNOWN = Rates(3e-6, 15e-6, 3.75e-6, 0.3e-6)
"""USD per token assumed for a model of unknown price: the usual ratios."""
BURNING = 5
"""Turns averaged for the burn rate."""
SIZED = RECENT_TURNS + 2
"""Turns whose sizes the meter compares."""


@dataclass(frozen=True, slots=True)
class MeterChoices:
    """Choices made elsewhere; `next_ttl` is the static text's lifetime if sent now."""

    policy: Callable[[], Policy]
    zones: Callable[[], ZoneStarts]
    next_ttl: Callable[[ModelView], Ttl]


class Gauge:
    """Measures a session, planning and changing nothing."""

    def __init__(
        self,
        log: SessionLog,
        view: ModelView,
        cached: CacheWatch,
        settings: SessionSettings,
        models: ModelAccess,
        clock: Clock,
        chosen: MeterChoices,
    ) -> None:
        self._log = log
        self._view = view
        self._cached = cached
        self._settings = settings
        self._models = models
        self._clock = clock
        self._chosen = chosen
        self._sums = TurnSums()
        self._beside = Growing(_beside)

    def read(self, compact_now: str | None = None) -> Meter:
        """`compact_now` is a compaction's USD, if known."""
        size, recent = self._view.size(self._log), self._recent()
        forked = self._log.last_record(ForkedRecord)
        since = 0 if forked is None else forked.at
        late = recent[-BURNING:]
        sums = self._sums.of(late, since)
        return measure(
            session_id=self._log.row.id,
            revision=self._log.row.revision,
            room=self._settings.room(),
            compact_at=self._compact_at(size),
            burn_rate=self._burn_rate(late, sums, since),
            size=size,
            turn_sizes=[*_sizes(recent).values()],
            cache=self._cache(),
            cost=self._costs(late[-1:], sums[-1:], compact_now),
            zones=self._chosen.zones(),
        )

    def foresee(
        self, view: ModelView, messages: Iterable[Message]
    ) -> tuple[ModelRequest, Prediction]:
        """Predicts the request if sent now, and what the cache would serve."""
        asked = self._settings
        rules, known = asked.info().cache, view.calibration
        prompt = view.prompt(messages, (self._chosen.next_ttl(view), rules))
        request = ModelRequest(view.static.model, prompt, asked.max_tokens(), asked.effort)
        now = self._clock.now()
        return request, self._cached.foresee(request, now, rules, known.factor, known.bias)

    def price_of(self, seen: Prediction) -> str | None:
        usage = Usage(seen.uncached, seen.read, seen.write_5m, seen.write_1h)
        return self._models.cost(self._settings.model_id, usage)

    async def user_message_limit(self, parts: tuple[Part, ...]) -> tuple[int, int]:
        """Returns the message's tokens, perhaps overestimated, and the window's room for one."""
        factor = self._view.calibration.factor
        room = self._settings.room().limit - self._view.static_tokens
        texts = [part.text for part in parts if isinstance(part, TextPart)]
        # No token is shorter than a byte: what fits even so is counted in the log alone.
        most = sum(len(text.encode("utf-8", "surrogatepass")) + FRAMING for text in texts)
        if len(texts) == len(parts) and most * factor <= room:
            return round(most * factor), room
        raw = await self._view.rendering.weigh(Message(MessageId(""), TurnId(""), "user", parts, 0))
        return round(raw * factor), room

    def usual_growth(self) -> int:
        """Returns tokens per turn."""
        sizes = _sizes(self._recent()).values()
        begun = self._view.static_tokens
        return velocity((begun, *sizes)) if sizes else 0

    def _recent(self) -> Sequence[Turn]:
        """Returns the newest turns, enough for all figures: `SIZED` of known size."""
        left, newest, sized = self._log.left, [], set[TurnId]()
        turn: TurnId | None = None
        for message in reversed(self._log.by_id.values()):
            if message.id in left:
                continue
            if message.turn_id != turn and len(sized) > SIZED:
                break
            turn = message.turn_id
            newest.append(message)
            if turn not in sized and finished_steps(message):
                sized.add(turn)
        return turns(reversed(newest))

    def _compact_at(self, size: Size) -> int:
        """Returns the tokens at which the policy must rewrite; the limit if never."""
        room = self._settings.room()
        static = self._view.static_tokens
        if not self._settings.is_on("autoCompact"):
            return room.limit
        rest = Standing(
            size.total, static, room.window, room.limit, static, 0, 1, True, True, size.messages,
            rates(self._settings.info()),
        )  # fmt: skip
        return compaction_point(self._chosen.policy(), rest)

    def _cache(self) -> CacheState:
        last, until = self._view.last, self._view.warm_until()
        if last is None:
            return CacheState(warm=False, expires_at=None, hit_rate=0.0)
        return CacheState(
            warm=self._clock.now() <= until,
            expires_at=(until or None) if self._view.rules.ends_when_told else None,
            hit_rate=round(last.usage.cache_read / last.usage.prompt, 4),
            last_break=self._cached.last_break,
        )

    def _costs(
        self, last: Sequence[Turn], sums: Sequence[StepSums], compact_now: str | None
    ) -> Costs:
        records = self._beside.of(self._log.records)
        beside = [cost for turn in last for _, cost in asked_since(records, turn.id)]
        # While an answer streams, the price is that of its own request again.
        sent = [message for message in self._log if message.status != "open"]
        return Costs(
            session=self._log.row.cost,
            last_turn=next((one.total(beside) for one in sums), None),
            next_request=self.price_of(self.foresee(self._view, sent)[1]),
            compact_now=compact_now,
        )

    def _burn_rate(
        self, recent: Sequence[Turn], sums: Sequence[StepSums], since: Millis
    ) -> str | None:
        """Returns USD per hour, including side requests and pings."""
        if not recent:
            return None
        begun = max(recent[0].messages[0].created, since)
        late = takewhile(
            lambda record: record.at >= begun, reversed(self._beside.of(self._log.records))
        )
        beside = [r for r in late if not isinstance(r, TurnStartedRecord) and r.cost is not None]
        starts = [
            at for at in (*(one.begun for one in sums), *(r.at for r in beside)) if at is not None
        ]
        if not starts:
            return None
        spent = sum([*(one.usd for one in sums), *(Decimal(str(r.cost)) for r in beside)])
        rate = burn_rate([(min(starts), float(spent))], self._clock.now())
        return None if rate is None else money_of(rate)


def _beside(record: LogRecord) -> tuple[AskedRecord | PingRecord | TurnStartedRecord, ...]:
    return (record,) if isinstance(record, AskedRecord | PingRecord | TurnStartedRecord) else ()


def rates(info: ModelInfo) -> Rates:
    """Returns USD per token; usual rates if unknown."""
    if info.price is None:
        return UNKNOWN if info.cache.writes_cost else replace(UNKNOWN, write=UNKNOWN.input)
    card, above = _rates(info.price), info.tier_above
    if above is None or info.tier_price is None:
        return card
    return replace(card, above=above, dearer=_rates(info.tier_price))


def _rates(card: Price) -> Rates:
    return Rates(
        float(card.input / MILLION),
        float(card.output / MILLION),
        float(card.write_5m / MILLION),
        float(card.read / MILLION),
    )


def _sizes(some: Sequence[Turn]) -> dict[TurnId, int]:
    sizes: dict[TurnId, int] = {}
    for turn in some:
        ends = (end for m in reversed(turn.messages) for end in reversed(finished_steps(m)))
        if (end := next(ends, None)) is not None:
            sizes[turn.id] = end.usage.prompt + end.usage.output
    return sizes


def sized_turns(messages: Iterable[Message]) -> list[TurnId]:
    """Lists turns with a known size at their end, oldest first."""
    return [*_sizes(turns(messages))]
