"""Raw estimates, by region, of the prompt at any time of a log.

Kept incrementally: counting per request would take the square of the log's length.
"""

from collections.abc import Collection, Iterable, Mapping

from sidecar.core.parts import Message, MessageId, Millis, OpaquePart, PartId, ReasoningPart
from sidecar.core.prompt.prompt import Static
from sidecar.core.prompt.render import Region
from sidecar.core.prompt.tokens import Count, count_block, count_tool
from sidecar.core.prompt.visibility import Note, View
from sidecar.session.view.message_view import look


class PastStanding:
    """Replays a conversation; `raw` estimates its prompt."""

    def __init__(self, static: Static, count: Count, since: Millis) -> None:
        self._count = count
        self._view = View()
        self._messages: dict[MessageId, Message] = {}
        self._weights: dict[MessageId, Mapping[Region, int]] = {}
        self._home: dict[PartId, MessageId] = {}
        self._left: set[MessageId] = set()
        self._notes: dict[MessageId, tuple[Note, ...]] = {}
        self._thinking: set[MessageId] = set()
        self._static, self._bound = static, since
        self._sums: dict[Region, int] = {}
        self._static_raw = self._weigh_static()

    @property
    def raw(self) -> Mapping[Region, int]:
        sums = dict(self._static_raw)
        for region, tokens in self._sums.items():
            sums[region] = sums.get(region, 0) + tokens
        return sums

    def add(self, message: Message) -> None:
        self._messages[message.id] = message
        self._home.update((part.id, message.id) for part in message.parts)
        if any(isinstance(part, ReasoningPart | OpaquePart) for part in message.parts):
            self._thinking.add(message.id)
        self._weigh(message.id)

    def restate(self, static: Static, at: Millis) -> None:
        before, self._static = self._static, static
        if (before.tools, before.system) != (static.tools, static.system):
            self._bound = at
        self._static_raw = self._weigh_static()
        self._again(self._thinking)

    def reshape(self, view: View) -> None:
        old, new = self._view.shown, view.shown
        parts = [p for p in {*old, *new} if old.get(p) != new.get(p)]
        before = self._notes
        self._view, self._notes = view, {}
        for note in view.notes.values():
            self._notes[note.before] = (*self._notes.get(note.before, ()), note)
        noted = {
            m
            for m in {*before, *self._notes}
            if _sized(before.get(m, ())) != _sized(self._notes.get(m, ()))
        }
        self._again({*noted, *(self._home[p] for p in parts if p in self._home)})

    def go_back(self, left: Collection[MessageId], back: Collection[MessageId]) -> None:
        self._left = (self._left | set(left)) - set(back)
        self._again({*left, *back})

    def _again(self, names: Iterable[MessageId]) -> None:
        for name in names:
            if name in self._messages:
                self._weigh(name)

    def _weigh(self, name: MessageId) -> None:
        for region, tokens in self._weights.pop(name, {}).items():
            self._sums[region] -= tokens
        if name in self._left:
            return
        message, notes = self._messages[name], self._notes.get(name, ())
        unreadable = message.created < self._bound and name in self._thinking
        reader = "" if unreadable else self._static.model
        weights = look(message, self._view.shown, reader, self._count, notes).regions
        self._weights[name] = weights
        for region, tokens in weights.items():
            self._sums[region] = self._sums.get(region, 0) + tokens

    def _weigh_static(self) -> dict[Region, int]:
        raw: dict[Region, int] = {
            "tools": sum(count_tool(t, self._count) for t in self._static.tools)
        }
        for block in self._static.system:
            raw[block.region] = raw.get(block.region, 0) + count_block(block, self._count)
        return raw


def _sized(notes: Iterable[Note]) -> list[tuple[Region, str]]:
    """Leaves out ids, which rewrites change."""
    return [(note.region, note.text) for note in notes]
