"""Thinking that can no longer be sent, because the prefix before changed.

Newer models answer 400 to thinking behind any other prefix.
"""

from collections.abc import Iterable, Mapping, Sequence

from sidecar.core.parts import Message, MessageId, PartId, ReasoningPart
from sidecar.core.prompt.visibility import Dropped, Note, View
from sidecar.session.view.view_history import Epoch


def unbound(messages: Iterable[Message], epochs: Sequence[Epoch], now: View) -> frozenset[PartId]:
    """Shown thinking whose prefix would differ from the original.

    `epochs`: all views so far, oldest first; `now`: the planned view.
    """
    gone: set[PartId] = set()
    differs = [False] * len(epochs)
    before = _grouped(now)
    noted = [_grouped(epoch.view) for epoch in epochs]
    for message in messages:
        if message.status == "discarded":
            continue
        for k, notes in enumerate(noted):
            differs[k] = differs[k] or notes.get(message.id) != before.get(message.id)
        own = max(k for k, epoch in enumerate(epochs) if epoch.since <= message.created)
        for part in message.parts:
            how = now.shown.get(part.id)
            if isinstance(part, ReasoningPart) and how is None and differs[own]:
                gone.add(part.id)
                how = Dropped()
            for k, epoch in enumerate(epochs):
                differs[k] = differs[k] or epoch.view.shown.get(part.id) != how
    return frozenset(gone)


def _grouped(view: View) -> Mapping[MessageId, tuple[Note, ...]]:
    grouped: dict[MessageId, tuple[Note, ...]] = {}
    for note in view.notes.values():
        grouped[note.before] = (*grouped.get(note.before, ()), note)
    return grouped
