"""Ends interrupted restores."""

import asyncio
import os
import secrets
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeAlias

from sidecar.core.errors import StorageFailed
from sidecar.store.connection.lease import this_process
from sidecar.store.content.restores import RestoreClaim, RestoreRows, Unfinished
from sidecar.store.journal import Store
from sidecar.workspace.restore.expectations import Conflict
from sidecar.workspace.restore.restore_outcome import LEFTOVER, Recovered, half_done
from sidecar.workspace.restore.staging import remove_stages
from sidecar.workspace.restore.undo_steps import lacking, undo

OnTouched: TypeAlias = Callable[..., None]
"""Called with paths (bytes) that may have changed."""

_tokens: set[str] = set()
"""Restores running here; others under this process's name were interrupted."""


@contextmanager
def claimed(root: bytes) -> Iterator[RestoreClaim]:
    token = secrets.token_hex(8)
    claim = RestoreClaim(root, this_process(token), frozenset(_tokens))
    _tokens.add(token)
    try:
        yield claim
    finally:
        _tokens.discard(token)


async def recover(
    root: Path, store: Store, *, touched: OnTouched | None = None
) -> Recovered | None:
    """Ends a dead process's restore, if any.

    Due before loading a session of the workspace, and the first snapshot. Raises StorageFailed; the
    next call tries again.
    """
    base = os.fsencode(await asyncio.to_thread(os.path.realpath, root))
    with claimed(base) as claim:
        found = await store.restores.adopt(claim)
        if not isinstance(found, Unfinished):
            return None
        return await end(base, store.restores, found, touched)


async def settle(root: Path, store: Store, *, touched: OnTouched | None = None) -> Recovered | None:
    """As `recover`, but leaves the restore for `recover` to report."""
    base = os.fsencode(await asyncio.to_thread(os.path.realpath, root))
    rows = store.restores
    with claimed(base) as claim:
        found = await rows.adopt(claim)
        if not isinstance(found, Unfinished):
            return None
        try:
            return await _settle(base, rows, found, touched)
        finally:
            await rows.leave(found.id)


async def _settle(
    root: bytes, rows: RestoreRows, found: Unfinished, touched: OnTouched | None
) -> Recovered:
    paths = {step.path for step in found.steps}
    left: tuple[Conflict, ...] = ()
    leftover = ""
    try:
        if found.state == "applying":
            left = await _undo(root, rows, found)
            await rows.undone(found.id)
    finally:
        if touched is not None:
            touched(*paths)
    try:
        await asyncio.to_thread(remove_stages, root, found.stages)
    except OSError as error:
        leftover = LEFTOVER.format(why=error)
    how: Literal["finished", "undone"] = "finished" if found.state == "done" else "undone"
    return Recovered(how, len(paths), left, leftover)


async def end(
    root: bytes, rows: RestoreRows, found: Unfinished, touched: OnTouched | None = None
) -> Recovered:
    paths = [step.path for step in found.steps]
    left: tuple[Conflict, ...] = ()
    if touched is not None:
        touched(*paths)
    if found.state == "applying":
        left = await _undo(root, rows, found)
    if touched is not None:
        touched(*paths)
    leftover = await _tidy(root, rows, found)
    count = len(set(paths))
    if found.state == "done":
        return Recovered("finished", count, (), leftover)
    return Recovered("undone", count, left, leftover)


async def take_back(root: bytes, rows: RestoreRows, found: Unfinished) -> tuple[Conflict, ...]:
    """Undoes and forgets a restore; returns paths changed by somebody meanwhile.

    Raises StorageFailed if some steps cannot be undone now.
    """
    left = await _undo(root, rows, found)
    await _tidy(root, rows, found)
    return left


async def clean(
    root: bytes,
    rows: RestoreRows,
    number: int,
    stages: Sequence[bytes],
    meanwhile: Callable[[], None] = lambda: None,
    *,
    small: bool = False,
) -> str:
    """Removes staging folders, forgets the restore; returns why some remain, or "".

    `meanwhile` may raise.
    """
    removed = asyncio.get_running_loop().run_in_executor(None, remove_stages, root, stages)
    try:
        meanwhile()
    finally:
        leftover = await _forget(removed, rows, number, small=small)
    return leftover


async def _forget(removed: Awaitable[None], rows: RestoreRows, number: int, *, small: bool) -> str:
    try:
        await removed
        await rows.over(number, small=small)
    except (OSError, StorageFailed) as error:
        return LEFTOVER.format(why=error)
    return ""


async def _undo(root: bytes, rows: RestoreRows, found: Unfinished) -> tuple[Conflict, ...]:
    stages, steps = found.stages, found.steps
    try:
        names = await asyncio.to_thread(lacking, root, stages, steps)
        contents = await rows.contents(names) if names else {}
        return tuple(await asyncio.to_thread(undo, root, stages, steps, contents))
    except (OSError, StorageFailed) as error:
        raise half_done(error) from error


async def _tidy(root: bytes, rows: RestoreRows, found: Unfinished) -> str:
    if found.state == "applying":
        try:
            await rows.undone(found.id)
        except StorageFailed as error:
            return LEFTOVER.format(why=error)
    return await clean(root, rows, found.id, found.stages)
