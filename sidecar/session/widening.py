"""Reads what was left unread of a log, for those who need more than a window of it."""

from sidecar.session.state import State


async def widen(state: State) -> None:
    """Read what was left unread, if anything was; nothing else of the session changes.

    Raises:
        StorageFailed: the store cannot be read.
    """
    if state.log.past is None:
        return
    async with state.widening:
        log = state.log
        if log.past is None:
            return
        stored = await state.store.load(log.row.id)
        before = [epoch.view for epoch in state.views.epochs()]
        log.fill(stored)
        state.views.forget()
        after = [epoch.view for epoch in state.views.epochs()]
        state.view.widen(list(zip(before, after, strict=True)), state.views.view())
