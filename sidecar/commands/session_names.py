"""Which session a command means: by id or its beginning, by folder, or the newest."""

import asyncio
import os
from pathlib import Path

from sidecar.commands.terminal import run_async
from sidecar.config import load
from sidecar.core.errors import BadRequest
from sidecar.core.parts import SessionId
from sidecar.daemon.stores import look_into
from sidecar.session.desk.session_named import PREFIX, find
from sidecar.store.connection.store_files import ARCHIVE
from sidecar.store.journal import Store


def whole_id(session: str | None, *, last: bool = False) -> SessionId:
    """Also finds archived sessions, by the beginning of their ids.

    Raises SidecarError, with advice, unless exactly one is meant.
    """
    return whole_ids((session,), last=last)[0]


def whole_ids(sessions: tuple[str | None, ...], *, last: bool = False) -> list[SessionId]:
    """Raises as `whole_id`."""
    return run_async(_whole_ids(sessions, last=last))


def ids_alone(sessions: tuple[str, ...]) -> list[SessionId]:
    """For what takes sessions away: a folder means none. Raises as `whole_id`."""
    for session in sessions:
        if meant(session, last=False)[0] is None:
            raise BadRequest(f"“{session}” is a folder, and here an id is wanted.", "session")
    return whole_ids(sessions)


async def named(store: Store, session: str | None, *, last: bool = False) -> SessionId:
    """Raises as `whole_id`."""
    name, folder = meant(session, last=last)
    archived = [] if name is None else await asyncio.to_thread(_archived, store.folder, name)
    try:
        found = await find(store.sessions, name, folder)
    except BadRequest:
        if len(archived) != 1:
            raise
        return archived[0]
    if name in (found, found.removeprefix(PREFIX)) or not {*archived} - {found}:
        return found
    raise BadRequest(
        f"Several sessions' ids begin with “{name}”, archived ones too: give more of it.", "session"
    )


def meant(session: str | None, *, last: bool) -> tuple[str | None, Path | None]:
    """Returns (session id or its beginning, folder), `None` for any."""
    if session is None:
        return None, None if last else Path.cwd()
    if not session.strip():
        raise BadRequest("A session's name is empty. `sidecar sessions` lists them all.", "session")
    # Lists shorten ids to what there is room for.
    session = session.removesuffix("…")
    path = Path(session)
    if session in (".", "..") or os.sep in session or path.is_dir():
        return None, path
    return session, None


async def _whole_ids(sessions: tuple[str | None, ...], *, last: bool) -> list[SessionId]:
    config, _ = load(workspace=None, environment=os.environ, options={})
    store = await asyncio.to_thread(look_into, config.data_dir)
    try:
        return list(dict.fromkeys([await named(store, one, last=last) for one in sessions]))
    finally:
        await store.close()


def _archived(data_dir: Path, name: str) -> list[SessionId]:
    folder = data_dir / ARCHIVE
    ids = {path.name.partition("-")[0] for path in folder.iterdir()} if folder.is_dir() else set()
    return [SessionId(one) for one in sorted(ids) if one.startswith((name, PREFIX + name))]
