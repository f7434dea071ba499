"""Renders and counts each message once."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from copy import copy

from sidecar.core.conversation.growing import unchanged
from sidecar.core.parts import Message, MessageId, Millis
from sidecar.core.prompt import visibility as core_view
from sidecar.core.prompt.tokens import Count
from sidecar.session.view.message_view import (
    PartWeights,
    RenderedMessage,
    characters,
    look,
    thinks,
)

THREAD_CHARS = 200_000
"""Counting runs at some 10 MB/s; longer texts are counted in a thread."""
THREAD_PARTS = 500
"""More parts take over ten milliseconds to render, and are rendered in a thread."""


class Rendering:
    """Renders messages; `shown` says how parts not verbatim are shown. Estimates are raw.

    Thinking from before `bound` belongs to tools or a system text sent no more.
    """

    def __init__(self, count: Count, model: str, bound: Millis) -> None:
        self.shown = core_view.View()
        self._count = count
        self._model, self._bound = model, bound
        self._seen: dict[MessageId, RenderedMessage] = {}
        self._row: tuple[list[Message], tuple[RenderedMessage, ...]] = ([], ())
        self._whole: dict[MessageId, tuple[Message, tuple[int, ...]]] = {}
        self._before: Mapping[MessageId, tuple[core_view.Note, ...]] = {}

    def imagined(self) -> "Rendering":
        other = copy(self)
        vars(other).update({"_seen": {**self._seen}, "_whole": {**self._whole}})
        return other

    def read_by(self, model: str, bound: Millis | None = None) -> None:
        """Changes the model, or with `bound` drops earlier thinking."""
        if bound is not None or model != self._model:
            self._whole = {}
        self._bound = self._bound if bound is None else bound
        self._model = model
        self._seen = {
            message_id: seen
            for message_id, seen in self._seen.items()
            if seen.model == self._reader(seen.message)
        }
        self._row = ([], ())

    def reshape(self, shown: core_view.View) -> Mapping[MessageId, RenderedMessage]:
        """Shows parts otherwise, counting only changed messages again.

        Returns messages as rendered before.
        """
        # As a log is read, most views pass by before anything is rendered.
        changed = {
            part_id
            for part_id in ({*self.shown.shown, *shown.shown} if self._seen else ())
            if self.shown.shown.get(part_id) != shown.shown.get(part_id)
        }
        grouped: dict[MessageId, tuple[core_view.Note, ...]] = {}
        for note in shown.notes.values():
            grouped[note.before] = (*grouped.get(note.before, ()), note)
        before = self._seen
        self._seen = {
            message_id: seen
            for message_id, seen in before.items()
            if seen.notes == grouped.get(message_id, ())
            and not any(part.id in changed for part in seen.message.parts)
        }
        self.shown, self._before = shown, grouped
        self._row = ([], ())
        return before

    def seen(self, messages: Iterable[Message]) -> tuple[RenderedMessage, ...]:
        now, (before, row) = list(messages), self._row
        same = unchanged(before, now)
        if same == len(now) == len(row):
            return row
        seen = (*row[:same], *map(self.one, now[same:]))
        self._row = (now, seen)
        return seen

    def one(self, message: Message) -> RenderedMessage:
        seen = self._seen.get(message.id)
        if seen is None or seen.message is not message:
            seen = self._seen[message.id] = self._look(message)
        return seen

    def _is_known(self, message: Message) -> bool:
        seen = self._seen.get(message.id)
        return seen is not None and seen.message is message

    def weigh_whole(self, message: Message) -> PartWeights:
        """Returns raw estimates (call, rest) of parts as if verbatim."""
        known = self._whole.get(message.id)
        if known is not None and known[0] is message:
            return _by_part(message, known[1])
        seen = self._seen.get(message.id)
        touched = any(part.id in self.shown.shown for part in message.parts)
        if seen is None or seen.message is not message or touched:
            seen = look(message, {}, self._reader(message), self._count)
        weights = seen.weights()
        # A dictionary for each message would take four times the memory.
        flat = tuple(n for part in message.parts for n in weights.get(part.id, (0, 0)))
        self._whole[message.id] = (message, flat)
        return _by_part(message, flat)

    async def weigh(self, message: Message) -> int:
        if characters(message) > THREAD_CHARS:
            return sum((await asyncio.to_thread(self._look, message)).raw)
        return sum(self._look(message).raw)

    async def refresh(self, messages: Iterable[Message]) -> None:
        """Renders and counts large new messages in a thread."""
        now = list(messages)
        late = now[unchanged(self._row[0], now) :]
        fresh = [message for message in late if not self._is_known(message)]
        many = sum(len(message.parts) for message in fresh) > THREAD_PARTS
        if many or sum(map(characters, fresh)) > THREAD_CHARS:
            for seen in await asyncio.to_thread(lambda: [self._look(m) for m in fresh]):
                self._seen[seen.message.id] = seen

    def _look(self, message: Message) -> RenderedMessage:
        notes = self._before.get(message.id, ())
        before = self._seen.get(message.id)
        return look(message, self.shown.shown, self._reader(message), self._count, notes, before)

    def _reader(self, message: Message) -> str:
        """No model reads thinking bound to other bytes."""
        unreadable = message.created < self._bound and thinks(message)
        return "" if unreadable else self._model


def _by_part(message: Message, flat: Sequence[int]) -> PartWeights:
    pairs = zip(flat[::2], flat[1::2], strict=True)
    return {part.id: both for part, both in zip(message.parts, pairs, strict=True)}
