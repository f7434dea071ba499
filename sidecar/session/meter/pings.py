"""Keep-alive: pings refresh the provider's cache in pauses, where worth the price.

A ping repeats the last request for no answer, shortly before the cache's five minutes since the
previous request's start are over.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from decimal import Decimal
from itertools import takewhile
from typing import TypeVar

from sidecar.config import OFFLINE_MODEL
from sidecar.core.errors import ModelFailed
from sidecar.core.parts import Millis, Usage
from sidecar.core.prompt.keep_alive import Pays, chance_back, ping_pays, starts_of
from sidecar.core.prompt.pricing import price
from sidecar.core.prompt.prompt import ModelRequest
from sidecar.core.prompt.warmth import TTL_MS, Miss, Prediction
from sidecar.session.state import State
from sidecar.session.view.cache_state import with_cache
from sidecar.session.view.message_view import Anchor
from sidecar.store.format.log_records import PingRecord

logger = logging.getLogger("sidecar.session")

AHEAD: Millis = 20_000
"""Milliseconds before the end of the cache's life to send a ping, enough for it to arrive."""
SLICE = 5.0
"""Seconds slept at a time, since the clock may be moved, and stops in a suspended machine. The
daemon wakes as often for its leases."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Due:
    """A worthwhile ping, with the request to repeat and its answer."""

    request: ModelRequest
    anchor: Anchor
    pays: Pays


class Pings:
    """A session's pings. `gate` is held during a ping; `told` publishes the new state."""

    def __init__(self, state: State, gate: asyncio.Lock, told: Callable[[], None]) -> None:
        self._state = state
        self._gate = gate
        self._told = told
        self._refused_by = ""

    async def until(self, coming: Awaitable[T], group: asyncio.TaskGroup) -> T:
        """Await the end of the pause, keeping the cache alive."""
        state = self._state
        wanted = state.config.keep_alive
        wanted = wanted and state.settings.model_id not in (OFFLINE_MODEL, self._refused_by)
        keeping = group.create_task(self._keep()) if wanted else None
        try:
            return await coming
        finally:
            if keeping is not None:
                keeping.cancel()

    async def _keep(self) -> None:
        try:
            while await self._sleep() and await self._ping():
                pass
        except Exception:  # a ping is never worth a session
            logger.exception("keeping the cache alive failed")

    async def _sleep(self) -> bool:
        """Sleep until a ping is due; return whether there is a cache to keep."""
        clock = self._state.clock
        while (anchor := self._state.view.anchor) is not None:
            left = anchor.started + TTL_MS["5m"] - AHEAD - clock.now()
            if left <= 0:
                return True
            await clock.sleep(min(SLICE, left / 1000))
        return False

    async def _ping(self) -> bool:
        """Send and log a ping if worthwhile; return whether to consider another."""
        state = self._state
        async with self._gate:
            due = ping_due(state)
            # How long pauses last is learned from all of them.
            if due is not None and await state.log.whole():
                due = ping_due(state)
            if due is None:
                return False
            started = state.clock.now()
            models = state.environment.models
            try:
                async with models.wait_if_cold(state.view, due.request) as begun:
                    usage = await models.find(due.request.model).ping(due.request)
                    begun()
            except ModelFailed as error:
                logger.warning("a ping was not answered: %s", error.message)
                if not error.retryable:
                    # Some servers know no request without an answer.
                    self._refused_by = due.request.model
                return False
            await self._log(due, started, usage)
        self._told()
        return usage.prompt > 0

    async def _log(self, due: Due, started: Millis, usage: Usage) -> None:
        state = self._state
        cost = state.environment.models.cost(due.request.model, usage)
        record = PingRecord(
            message_id=due.anchor.message_id,
            started=started,
            cost=cost,
            why=due.pays.reason,
            uncached=usage.input,
            read=usage.cache_read,
            write_5m=usage.cache_write_5m,
            write_1h=usage.cache_write_1h,
        )
        if usage.prompt:
            record = with_cache(record, *_follow(state, due.request, started, usage), usage)
        state.log.entry.spend(cost)
        await state.log.writer.commit(record)


def ping_due(state: State) -> Due | None:
    """The ping to send now, if worth the price after the pause's earlier pings.

    The whole prompt must be cached: nothing is written only to be kept alive.
    """
    view, anchor, info = state.view, state.view.anchor, state.settings.info()
    if anchor is None or state.ownership.read_only:
        return None
    request = _again(state, anchor)
    factor = view.calibration.factor
    foreseen = state.cached.foresee(request, state.clock.now(), info.min_cacheable, factor)
    tokens = foreseen.read
    if tokens < max(1, info.min_cacheable) or foreseen.cached > tokens:
        return None
    write = _per_token(price(info, Usage(cache_write_5m=tokens)), tokens)
    read = _per_token(price(info, Usage(cache_read=tokens)), tokens)
    if write is None or read is None:
        return None
    sent = len(_since(state, anchor))
    hour = round(view.static_tokens * factor) if view.static_ttl == "1h" else 0
    pays = ping_pays(
        tokens,
        write=write,
        read=read,
        pings=sent,
        chance=chance_back(starts_of(state.log), sent),
        surviving=min(hour, tokens),
    )
    return Due(request, anchor, pays) if pays.pays else None


def restore(state: State) -> None:
    """After a restart, restore the cache's state from pings since the last answer."""
    anchor = state.view.anchor
    if anchor is None:
        return
    for ping in _since(state, anchor):
        usage = usage_of(ping)
        if usage.prompt:
            _follow(state, _again(state, anchor), ping.started, usage)


def usage_of(ping: PingRecord) -> Usage:
    """Tokens of a ping."""
    return Usage(ping.uncached, ping.read, ping.write_5m, ping.write_1h, requests=1)


def _again(state: State, anchor: Anchor) -> ModelRequest:
    """Rebuild the request of an answer."""
    asked = takewhile(lambda message: message.id != anchor.message_id, state.log)
    prompt = state.view.prompt(asked)
    return ModelRequest(state.view.static.model, prompt, 0, state.settings.effort)


def _follow(
    state: State, request: ModelRequest, started: Millis, usage: Usage
) -> tuple[Prediction, Miss | None]:
    """Take in a ping's usage; return the prediction and any miss."""
    minimum, factor = state.settings.info().min_cacheable, state.view.calibration.factor
    foreseen, miss = state.cached.sent(request, started, minimum, factor, usage)
    state.view.renew(started)
    return foreseen, miss


def _since(state: State, anchor: Anchor) -> list[PingRecord]:
    """Records of pings since an answer, also from before a restart."""
    pings = (record for record in state.log.records if isinstance(record, PingRecord))
    return [ping for ping in pings if ping.message_id == anchor.message_id]


def _per_token(cost: Decimal | None, tokens: int) -> float | None:
    return None if cost is None else float(cost) / tokens
