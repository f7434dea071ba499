"""What a session's policy is told: where it stands, and each part as the view shows it.

Units and identifiers are taken in once, as messages settle; a plan's own work is to weigh them.
"""

from decimal import Decimal

from sidecar.core.budget import budget
from sidecar.core.names import NameIndex, names_in
from sidecar.core.parts import (
    Message,
    MessageId,
    PartId,
    StepFinishPart,
)
from sidecar.core.plan import Rates, Situation, Standing
from sidecar.core.preserve import for_agent, preserved
from sidecar.core.turns import is_settled
from sidecar.core.units import Item, Unit, learn, units_of
from sidecar.core.view import Dropped, Note
from sidecar.session.gauge import is_warm, read_size
from sidecar.session.log import SessionLog
from sidecar.session.rewrites import Recorded, pinned_parts, standing_rewrites
from sidecar.session.state import State

UNKNOWN = Rates(3e-6, 15e-6, 3.75e-6, 0.3e-6)
"""What decisions assume where a model's price is unknown: the usual ratios."""


class Planner:
    """Follows one session's log and describes it to policies."""

    def __init__(self) -> None:
        self._log: SessionLog | None = None
        self._reset()

    def _reset(self) -> None:
        self._units: dict[MessageId, tuple[Unit, ...]] = {}
        self._names = NameIndex()
        self._turns: dict[str, int] = {}
        self._step = 0

    def standing(
        self, state: State, *, opens_turn: bool = False, overflow: bool = False, asked: bool = False
    ) -> Standing:
        """Say where the session stands before its next request."""
        view = state.view
        size = read_size(state)
        factor = view.calibration.factor
        static = round(view.static_tokens * factor)
        rewrites = [r for r in standing_rewrites(state.log.records) if r.opens]
        newest = rewrites[-1] if rewrites else None
        base = static if newest is None else newest.tokens_after
        steps = [p for m in state.log for p in m.parts if isinstance(p, StepFinishPart)]
        since = steps[0 if newest is None else newest.steps :]
        now = state.clock.now()
        room = budget(state.window(), state.max_tokens())
        return Standing(
            used=size.total,
            static=static,
            window=room.window,
            limit=room.limit,
            base=base,
            rent=sum(max(0, step.usage.prompt - base) for step in since),
            requests=len(since),
            warm=is_warm(view, now),
            opens_turn=opens_turn,
            messages=sum(message.status != "discarded" for message in state.log),
            rates=rates(state),
            newest=view.unsent(state.log),
            now=now,
            cooling_ms=0 if not steps else now - steps[-1].started,
            overflow=overflow,
            asked=asked,
        )

    def situation(self, state: State, standing: Standing) -> Situation:
        """Describe every part as it is shown now, notes of rewrites included."""
        self._absorb(state)
        view, factor = state.view, state.view.calibration.factor
        pinned = pinned_parts(state.log.records)
        newest = _newest_epoch(state)
        anchor = None if newest is None else newest.anchor
        sent_until = None if view.anchor is None else view.anchor.message_id
        items: list[Item] = []
        anchored = sent = 0
        for seen in view.seen(state.log):
            message = seen.message
            if message.id == anchor:
                anchored = len(items)
            items.extend(self._noted(view.notes_before(message.id), state, factor))
            items.extend(self._items(state, message, pinned, factor))
            if message.id == sent_until:
                sent = len(items)
        settings = for_agent(state.config.preserve, state.setting("agent"))
        return Situation(
            standing,
            items,
            self._names,
            self._step,
            state.log.row.revision,
            anchored,
            sent,
            frozenset(t.name for t in view.static.tools if t.protected_from_pruning),
            preserved(items, settings),
        )

    @property
    def step(self) -> int:
        """The number of the coming request."""
        return self._step

    def _absorb(self, state: State) -> None:
        if state.log is not self._log:
            # Another daemon had written the session: its log was read anew.
            self._reset()
            self._log = state.log
        for message in state.log:
            if message.id in self._units or message.status == "discarded":
                continue
            if not is_settled(message):
                return
            units = self._split(message)
            self._units[message.id] = units
            for unit in units:
                learn(self._names, unit)
            self._step += message.role == "assistant"

    def _split(self, message: Message) -> tuple[Unit, ...]:
        turn = self._turns.setdefault(message.turn_id, len(self._turns))
        return tuple(units_of(message, turn, self._step))

    def _items(
        self, state: State, message: Message, pinned: frozenset[PartId], factor: float
    ) -> list[Item]:
        view = state.view
        units = self._units.get(message.id)
        if units is None:
            if message.status == "discarded":
                return []
            units = self._split(message)
        whole = view.weigh_whole(message)
        shown_now = view.part_tokens(message)
        items = []
        for unit in units:
            call, rest = whole.get(unit.part_id, (0, 0))
            if not call and not rest and unit.kind != "call":
                continue
            how = view.shown.shown.get(unit.part_id)
            entire = max(1, round((call + rest) * factor))
            tokens = entire if how is None else round(shown_now.get(unit.part_id, 0) * factor)
            if isinstance(how, Dropped):
                tokens = 0
            items.append(
                Item(
                    unit,
                    tokens,
                    min(tokens, round(call * factor)),
                    how,
                    unit.part_id in pinned,
                    entire,
                )
            )
        return items

    def _noted(self, notes: tuple[Note, ...], state: State, factor: float) -> list[Item]:
        return [
            Item(
                Unit(
                    note.id,
                    note.before,
                    0,
                    0,
                    "ledger" if note.region == "ledger" else "excerpt",
                    note.text,
                    names_in(note.text),
                ),
                round(state.view.note_tokens(note) * factor),
            )
            for note in notes
        ]


def rates(state: State) -> Rates:
    """Give the model's prices per token in USD, or the usual ones where they are unknown."""
    card = state.info().price
    if card is None:
        return UNKNOWN
    million = Decimal(1_000_000)
    return Rates(
        float(card.input / million),
        float(card.output / million),
        float(card.write_5m / million),
        float(card.read / million),
    )


def anchor_after(situation: Situation) -> MessageId | None:
    """Give the first message that a rewrite leaves after what it rebuilds: the newest steps'."""
    for item in situation.items:
        if item.unit.kind not in ("ledger", "excerpt") and item.unit.step >= situation.step - 2:
            return item.unit.message_id
    return None


def _newest_epoch(state: State) -> Recorded | None:
    return next(
        (r for r in reversed(standing_rewrites(state.log.records)) if r.opens),
        None,
    )
