"""Reads the rest of a log, where a window is not enough."""

from sidecar.session.log.losses import readable, tell_damage, unsigned
from sidecar.session.state import State


async def widen(state: State) -> None:
    """Read the unread part of the log, if any; nothing else changes.

    Damaged pieces are left out as in a full read.

    Raises:
        StorageFailed: the store cannot be read.
    """
    if state.log.past is None:
        return
    async with state.widening:
        log, view = state.log, state.view
        if log.past is None:
            return
        stored = readable(await state.store.logs.load(log.row.id))
        before = [epoch.view for epoch in state.views.epochs()]
        sent = view.size(log).messages
        log.fill(stored)
        state.views.forget()
        after = [epoch.view for epoch in state.views.epochs()]
        view.widen(list(zip(before, after, strict=False)), state.views.view())
        if view.size(log).messages != sent:
            # A rewrite is lost, and what it left out is there again: thinking is not bound to
            # that, and its size is not known.
            log.take(unsigned(m) for m in log.messages if m.status != "open")
            view.reshape(state.views.view(), state.views.anchor, state.clock.now())
        tell_damage(log, state.channel, stored.problems)
