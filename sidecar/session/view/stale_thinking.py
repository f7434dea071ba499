"""Finds thinking not to be sent, because the prefix before changed.

Newer models answer 400 to thinking behind any other prefix.
"""

from collections.abc import Iterable, Mapping, Sequence

from sidecar.core.parts import Message, MessageId, PartId, ReasoningPart
from sidecar.core.prompt.visibility import Dropped, Note, View
from sidecar.session.view.view_history import Epoch


def unbound(messages: Iterable[Message], epochs: Sequence[Epoch], now: View) -> frozenset[PartId]:
    """Finds shown thinking whose prefix would differ from the original.

    `epochs` are all views so far, oldest first; `now` is the planned one.
    """
    conversation = [message for message in messages if message.status != "discarded"]
    owned = {
        message.id: max(k for k, epoch in enumerate(epochs) if epoch.since <= message.created)
        for message in conversation
        if any(isinstance(p, ReasoningPart) and p.id not in now.shown for p in message.parts)
    }
    gone: set[PartId] = set()
    before = _grouped(now)
    # Those that any thinking was sent in, as long as their prompts begin as the planned one.
    views = {k: epochs[k].view for k in {*owned.values()}}
    alike = {k: (view.shown, _grouped(view)) for k, view in views.items()}
    for message in conversation if owned else ():
        notes = before.get(message.id)
        alike = {k: view for k, view in alike.items() if view[1].get(message.id) == notes}
        for part in message.parts:
            how = now.shown.get(part.id)
            if isinstance(part, ReasoningPart) and how is None and owned[message.id] not in alike:
                gone.add(part.id)
                how = Dropped()
            alike = {k: view for k, view in alike.items() if view[0].get(part.id) == how}
    return frozenset(gone)


def _grouped(view: View) -> Mapping[MessageId, tuple[Note, ...]]:
    grouped: dict[MessageId, tuple[Note, ...]] = {}
    for note in view.notes.values():
        grouped[note.before] = (*grouped.get(note.before, ()), note)
    return grouped
