"""Describes a session to policies: totals, and each part as shown.

Units and identifiers are gathered as messages settle, so planning stays cheap.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from sidecar.config.reload import CurrentSettings
from sidecar.core.conversation.growing import Growing
from sidecar.core.conversation.turns import finished_steps, is_settled
from sidecar.core.conversation.wishes import for_agent
from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.units import Item, Unit, in_row, learn, note_kind, units_of
from sidecar.core.parts import Message, MessageId, PartId, StepStartPart, ToolPart
from sidecar.core.plans.plan import Situation, Standing, rent_of
from sidecar.core.plans.preserve import NAMED_SHARE, preserved
from sidecar.core.prompt.meter import Size
from sidecar.core.prompt.prompt import Static
from sidecar.core.prompt.visibility import Note
from sidecar.core.sights.seen_files import SeenFiles
from sidecar.core.text.identifiers import NameIndex, names_in
from sidecar.session.log.rewrite_records import Recorded
from sidecar.session.log.session_log import SessionLog
from sidecar.session.log.whole_log import imported_at, steps_before
from sidecar.session.meter.gauge import rates
from sidecar.session.session_settings import SessionSettings
from sidecar.session.turn.clock import Clock
from sidecar.session.view.message_view import RenderedMessage, characters
from sidecar.session.view.model_view import PREVIEW, ModelView
from sidecar.session.view.rendering import THREAD_CHARS
from sidecar.session.view.view_history import Epoch, Views
from sidecar.workspace.buffers import Buffers
from sidecar.workspace.present_state import read_present

SLICE = 500
"""Messages that are taken in before others have the loop: some 50 ms."""
IDLE_KEEPS = 2
"""Turns, the newest, that a rewrite leaves alone which nobody waits for."""


@dataclass(frozen=True, slots=True)
class Occasion:
    """Why a decision is made: before a request, unless `asked` by hand or `idle`.

    `growth` is a usual turn's tokens. `hurried` allows only rewrites that the next turn would
    force. `keep`: parts that stay this once, as if pinned.
    """

    opens_turn: bool = False
    overflow: bool = False
    asked: bool = False
    instructions: str = ""
    keep: frozenset[PartId] = frozenset()
    idle: bool = False
    growth: int = 0
    hurried: bool = False


BY_HAND = Occasion(asked=True)


@dataclass(frozen=True, slots=True)
class Scene:
    """The session to plan for: now, or after a coming prompt.

    `rewrites` are in effect; `number` is the next rewrite's, `head` a new epoch's static part.
    """

    occasion: Occasion
    messages: Sequence[Message]
    view: ModelView
    rewrites: tuple[Recorded, ...]
    epochs: tuple[Epoch, ...]
    number: int
    head: Static

    @property
    def newest(self) -> Recorded | None:
        return next((r for r in reversed(self.rewrites) if r.opens), None)


class Planner:
    """Describes a session."""

    def __init__(
        self,
        log: SessionLog,
        view: ModelView,
        views: Views,
        settings: SessionSettings,
        current: CurrentSettings,
        buffers: Buffers,
        clock: Clock,
    ) -> None:
        self._log = log
        self._view = view
        self._views = views
        self._settings = settings
        self._current = current
        self._buffers = buffers
        self._clock = clock
        self._steps = Growing(self._paid)
        self._reading: tuple[int, frozenset[MessageId]] = (0, frozenset())
        self._read: dict[MessageId, tuple[Message, tuple[Unit, ...]]] = {}
        self._reset()

    def _reset(self) -> None:
        self._units: dict[MessageId, tuple[Unit, ...]] = {}
        self._noted: dict[PartId, Unit] = {}
        self._names = NameIndex()
        self._files = SeenFiles(self._log.row.cwd)
        self._workspace: Mapping[str, str | None] = {}
        self._turns: dict[str, int] = {}
        self._step = 0

    def scene(self, occasion: Occasion, head: Static) -> Scene:
        views, messages = self._views, tuple(self._log)
        standing, epochs = views.standing(), views.epochs()
        return Scene(occasion, messages, self._view, standing, epochs, views.made + 1, head)

    def size(self) -> Size:
        return self._view.size(self._log)

    def present(self, occasion: Occasion) -> Standing:
        """Sums up without building a `scene`."""
        newest = self._views.newest_epoch()
        return self._standing(occasion, tuple(self._log), self._view, newest)

    def standing(self, scene: Scene) -> Standing:
        return self._standing(scene.occasion, scene.messages, scene.view, scene.newest)

    def _standing(
        self,
        occasion: Occasion,
        messages: Sequence[Message],
        view: ModelView,
        newest: Recorded | None,
    ) -> Standing:
        size = view.size(messages)
        base = size.static if newest is None else newest.tokens_after
        steps = self._steps.of(messages)
        since = steps[0 if newest is None else newest.steps - steps_before(self._log) :]
        last = (step for m in reversed(messages) for step in reversed(finished_steps(m)))
        asked_at = next((step.started for step in last), None)
        now = self._clock.now()
        room, prices = self._settings.room(), rates(self._settings.info())
        return Standing(
            used=size.total,
            static=size.static,
            window=room.window,
            limit=room.limit,
            base=base,
            rent=rent_of(since, base, prices),
            requests=len(since),
            warm=now <= view.warm_until(),
            opens_turn=occasion.opens_turn,
            messages=size.messages,
            rates=prices,
            newest=0 if view.anchor is None else size.guessed,
            guessed=size.guessed,
            now=now,
            cooling_ms=0 if asked_at is None else now - asked_at,
            overflow=occasion.overflow,
            asked=occasion.asked,
        )

    def _paid(self, message: Message) -> list[int]:
        """Gives prompts' tokens, 0 for those paid elsewhere."""
        begun = imported_at(self._log)
        steps = finished_steps(message)
        return [step.usage.prompt if step.started >= begun else 0 for step in steps]

    def situation(self, scene: Scene, standing: Standing) -> Situation:
        self.absorb()
        view = scene.view
        coming = [m for m in scene.messages if m.turn_id == PREVIEW]
        names = self._names.copy() if coming else self._names
        notes = view.rendering.shown.notes
        # Each rewrite has notes of its own.
        self._noted = {name: unit for name, unit in self._noted.items() if name in notes}
        for message in coming:
            for unit in self._split(message):
                learn(names, unit)
        sent_until = None if view.anchor is None else view.anchor.message_id
        items: list[Item] = []
        sent, pinned = 0, self._views.pinned | scene.occasion.keep
        for seen in view.rendering.seen(scene.messages):
            message = seen.message
            if message.id == sent_until:
                sent = len(items)
            items.extend(self._notes(seen, view.calibration.factor))
            items.extend(self._items(view, message, pinned))
        settings = for_agent(self._current.config.preserve, self._settings.text("agent"))
        room = NAMED_SHARE * standing.window
        files = self._files.held_against(self._workspace)
        kept = preserved(items, settings, room, files.is_stale)
        if scene.occasion.idle:
            kept |= _newest_turns(items, IDLE_KEEPS)
        return Situation(
            standing,
            items,
            names,
            self._step,
            self._log.row.revision,
            sent,
            frozenset(t.name for t in view.static.tools if t.protected_from_pruning),
            kept,
            scene.occasion.instructions,
            view.calibration.factor,
            frozenset(tool.name for tool in view.static.tools),
            files,
        )

    async def look(self) -> None:
        """Reads changed files, which plans can show."""
        await self.catch_up()
        self.absorb()
        paths = [path for path, _ in self._files.changed()]
        root = Path(self._log.row.cwd)
        self._workspace = await asyncio.to_thread(read_present, paths, root, self._buffers)

    async def catch_up(self) -> None:
        """Gathers settled messages in slices, long texts in a thread.

        Needs the whole log in memory, to count turns.
        """
        if not self._log.is_whole:
            return
        for message in tuple(self._log):
            fresh = message.id not in self._units and message.status != "discarded"
            if fresh and is_settled(message) and characters(message) > THREAD_CHARS:
                units = await asyncio.to_thread(lambda one: tuple(units_of(one, 0, 0)), message)
                self._read[message.id] = (message, units)
        for _ in iter(lambda: self.absorb(SLICE), True):
            await asyncio.sleep(0)

    def absorb(self, most: int | None = None) -> bool:
        """Takes `most` settled messages, or all; returns whether none is left."""
        reading = self._log.readings, self._log.left
        if reading != self._reading:
            # The log was read anew after another daemon, or a restore left messages behind.
            self._reset()
            self._reading = reading
        for message in self._log:
            if message.id in self._units or message.status == "discarded":
                continue
            if not is_settled(message):
                break
            if most == 0:
                return False
            most = None if most is None else most - 1
            self._turns.setdefault(message.turn_id, len(self._turns))
            units = self._split(message)
            self._units[message.id] = units
            for unit in units:
                learn(self._names, unit)
            calls = {part.id: part for part in message.parts if isinstance(part, ToolPart)}
            for unit in units:
                if unit.part_id in calls:
                    self._files.hear(calls[unit.part_id], unit)
            # An answer without output may be withdrawn, and after a restart would not count.
            said = any(not isinstance(part, StepStartPart) for part in message.parts)
            self._step += message.role == "assistant" and said
        return True

    def _split(self, message: Message) -> tuple[Unit, ...]:
        turn = self._turns.get(message.turn_id, len(self._turns))
        known, units = self._read.pop(message.id, (None, ()))
        if known is message:
            return tuple(replace(unit, turn=turn, step=self._step) for unit in units)
        return tuple(units_of(message, turn, self._step))

    def _items(self, view: ModelView, message: Message, pinned: frozenset[PartId]) -> list[Item]:
        factor = view.calibration.factor
        units = self._units.get(message.id)
        if units is None:
            if message.status == "discarded":
                return []
            units = self._split(message)
        whole = view.rendering.weigh_whole(message)
        shown = view.rendering.shown.shown
        touched = any(unit.part_id in shown for unit in units)
        now = view.rendering.one(message).weights() if touched else {}
        items = []
        for unit in units:
            call, rest = whole.get(unit.part_id, (0, 0))
            if not call and not rest:
                continue
            how = shown.get(unit.part_id)
            entire = max(1, round((call + rest) * factor))
            tokens = entire if how is None else round(sum(now.get(unit.part_id, (0, 0))) * factor)
            share = min(tokens, round(call * factor))
            pin = unit.part_id in pinned
            items.append(Item(unit, tokens, share, how, pin, entire))
        return items

    def _notes(self, seen: RenderedMessage, factor: float) -> list[Item]:
        weighed = zip(seen.notes, seen.raw, strict=False)
        return [Item(self._note(note), round(tokens * factor)) for note, tokens in weighed]

    def _note(self, note: Note) -> Unit:
        known = self._noted.get(note.id)
        if known is None:
            kind = note_kind(note.region)
            names = in_row(names_in(note.text))
            known = Unit(note.id, note.before, 0, 0, kind, note.text, names)
            self._noted[note.id] = known
        return known


def _newest_turns(items: Sequence[Item], count: int) -> frozenset[PartId]:
    newest = max((item.unit.turn for item in items), default=0)
    return frozenset(i.unit.part_id for i in items if i.unit.turn > newest - count)
