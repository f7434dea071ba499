"""What a session offers on its context: look, plan, rewrite, undo, pin."""

from dataclasses import dataclass
from typing import Protocol

from sidecar.core.errors import NothingToDo
from sidecar.core.meter import Meter
from sidecar.core.parts import JsonObject, PartId, TextPart, Usage
from sidecar.core.pricing import money, money_of
from sidecar.session.blocks import parts_of
from sidecar.session.compaction import (
    Decision,
    carry_out,
    decide,
    decide_by_hand,
    told_plan,
    undo,
)
from sidecar.session.events import EpochChanged
from sidecar.session.gauge import read_meter, read_size
from sidecar.session.inspection import as_json, request_for, segments
from sidecar.session.planner import Planner
from sidecar.session.recall import find_part
from sidecar.session.rewrites import PINNED, pinned_parts
from sidecar.session.state import State

ATTEMPTS = 2
"""Plans before one request: what has just come is cut first, then the rest may be rebuilt."""


class Host(Protocol):
    """What a session lets its rewriting do."""

    async def writable(self, expected_revision: int | None) -> None:
        """Raise unless this daemon may write the session at this revision."""
        ...

    def rewritten(self, event: EpochChanged | None, cause: str) -> None:
        """Tell clients that the context is another now, meter included."""
        ...


@dataclass(frozen=True, slots=True)
class Preview:
    """`body` is exactly what would be sent; tokens and USD are predictions."""

    body: JsonObject
    tokens: int
    read: int
    write: int
    price: str | None
    breakpoints: tuple[JsonObject, ...]


class Rewriting:
    """One session's context, in the hands of its user and of its policy."""

    def __init__(self, state: State, host: Host) -> None:
        self._state = state
        self._host = host
        self._planner = Planner()

    async def make_room(self, *, overflowed: bool) -> bool:
        """Let the policy rewrite the view before a request; says whether it did."""
        done = False
        for attempt in range(ATTEMPTS):
            decision = decide(self._state, self._planner, overflow=overflowed, skip=attempt)
            if decision is None:
                return done
            event = await carry_out(self._state, decision)
            self._host.rewritten(event, "compacted")
            done = True
            if overflowed or event is not None:
                return done
        return done

    async def compact(
        self, strategy: str | None, expected_revision: int | None, *, dry_run: bool
    ) -> JsonObject:
        """Plan a compaction by hand and, unless it is a dry run, carry it out.

        Raises:
            NothingToDo: there is nothing worth leaving out.
            BadRequest, RevisionConflict, SessionOwned: as their names say.
        """
        if not dry_run:
            await self._host.writable(expected_revision)
        decision = decide_by_hand(self._state, self._planner, strategy)
        told = self._told(decision)
        if dry_run:
            return told
        event = await carry_out(self._state, decision)
        self._host.rewritten(event, "compacted")
        compaction_id = event.compaction_id if event else ""
        return {**told, "compactionId": compaction_id}

    async def undo(self, compaction_id: str) -> Meter:
        """Take a compaction back and give the meter as it is then."""
        await self._host.writable(None)
        event = await undo(self._state, compaction_id)
        self._host.rewritten(event, "compaction_undone")
        return read_meter(self._state)

    async def pin(self, part_id: str, *, pinned: bool) -> int:
        """Keep a part through rewrites, or no longer; gives the revision.

        Raises:
            BadRequest: nothing with this id was logged.
        """
        await self._host.writable(None)
        part = find_part(self._state.log.messages, part_id)
        already = part.id in pinned_parts(self._state.log.records)
        if already != pinned:
            self._state.log.note(PINNED, {"partId": part.id, "pinned": pinned})
            await self._state.log.commit("pinned", {"partId": part.id})
            self._host.rewritten(None, "pinned")
        return self._state.log.row.revision

    def breakdown(self) -> tuple[Meter, list[JsonObject]]:
        """Take the context apart; the segments' tokens add up to the meter's `used`."""
        state = self._state
        meter = read_meter(state)
        cached = state.view.last
        known = cached.usage.prompt - cached.usage.input if cached and meter.cache.warm else 0
        found = segments(state, meter.used, known)
        return meter, [as_json(segment, meter.accuracy) for segment in found]

    async def preview(self, blocks: tuple[JsonObject, ...]) -> Preview:
        """Build the next request, with this prompt or as the history stands."""
        state = self._state
        parts = parts_of(blocks, lambda: PartId("preview"), "typed") if blocks else ()
        if parts and (context := await state.facts({})):
            parts = (*parts, TextPart(PartId("preview"), context, "context"))
        weight = await state.view.weigh_parts(parts)
        request = request_for(state, parts)
        tokens = read_size(state).total + round(weight * state.view.calibration.factor)
        factor = state.view.calibration.factor
        seen = state.cached.foresee(request, state.clock.now(), state.info().min_cacheable, factor)
        predicted = Usage(seen.uncached, seen.read, seen.write_5m, seen.write_1h)
        price = state.price(predicted)
        marks: tuple[JsonObject, ...] = tuple(
            {"message": mark.message, "block": mark.block, "ttl": mark.ttl}
            for mark in request.prompt.breakpoints
        )
        written = predicted.cache_write_5m + predicted.cache_write_1h
        cost = None if price is None else money(price)
        return Preview(
            state.model().body(request), tokens, predicted.cache_read, written, cost, marks
        )

    def price(self) -> None:
        """Find out what a compaction by hand would cost now, for the meter."""
        state = self._state
        revision = state.log.row.revision
        if state.compact_now[0] == revision:
            return
        try:
            told: str | None = money_of(decide_by_hand(state, self._planner, None).price)
        except NothingToDo:
            told = None
        state.compact_now = (revision, told)

    def _told(self, decision: Decision) -> JsonObject:
        plan = decision.plan
        text = "\n".join(text for text in (plan.excerpt, plan.note) if text)
        even = decision.break_even
        told: JsonObject = {
            "plan": told_plan(plan),
            "tokensBefore": plan.tokens_before,
            "tokensAfter": plan.tokens_after,
            "price": money_of(decision.price),
            "breakEvenRequests": None if even is None else max(0, -int(-even // 1)),
        }
        return {**told, "summary": text} if text else told
