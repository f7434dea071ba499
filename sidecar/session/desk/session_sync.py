"""Syncs a window's sessions with a git remote; one sync at a time uses a data folder."""

import asyncio
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import TypeVar

from sidecar.core.errors import Overloaded, SessionOwned, StorageFailed
from sidecar.core.parts import JsonObject, PartId, SessionId
from sidecar.core.text.visible import one_line
from sidecar.session.desk.open_sessions import HEARTBEAT, begin_beside
from sidecar.session.desk.sessions import Sessions
from sidecar.session.desk.whole_work import begun, outcome
from sidecar.session.environment import Environment
from sidecar.session.epochs.session_params import checked_folder
from sidecar.session.lifecycle.session import Session
from sidecar.session.lifecycle.session_title import LONGEST_TITLE
from sidecar.session.log.events import Event
from sidecar.session.meter.pause import logged
from sidecar.session.sync.sync_departures import named_rows
from sidecar.session.sync.sync_git import SyncGit
from sidecar.session.sync.sync_outcome import FoundThere, SyncOutcome, SyncWish
from sidecar.session.sync.sync_refs import SyncRefs
from sidecar.session.sync.sync_remotes import project_in, remote_for
from sidecar.session.sync.sync_sealing import Sealing
from sidecar.session.sync.syncing import Syncing
from sidecar.session.transfer.archive import check_idle
from sidecar.session.transfer.bundle_export import known_secrets
from sidecar.store.connection.store_faults import storage_failed
from sidecar.store.connection.store_files import SYNC, SYNC_COPIES, make_folder
from sidecar.store.format.bundles import LATEST
from sidecar.store.format.values import SessionRow

LEASE = SessionId("sync")
"""What a sync holds, where a session's writer holds its id."""
WAIT = 60.0
LOOK = 0.1
"""Seconds that a sync waits for another, and between looks."""
MOST_LISTED = 1_000
"""Sessions of a remote, the newest, that are offered."""
_TIMES = count(1)

T = TypeVar("T")


async def sync(sessions: Sessions, wish: SyncWish) -> SyncOutcome:
    """Raises BadRequest, RemoteFailed, Overloaded for a long other sync, StorageFailed."""
    environment = await sessions.shared.ready()
    folder = await asyncio.to_thread(checked_folder, wish.folder)
    project = await _project(environment, folder)
    wish = replace(wish, folder=folder, project=project)
    async with _alone(sessions, environment):

        async def synced() -> SyncOutcome:
            refs = await _refs(environment, folder, wish.remote, SYNC_COPIES[0])
            await asyncio.to_thread(refs.sealing.check)
            done = await Syncing(environment, _Held(sessions), refs, wish).run()
            if done.sent or done.received:
                await refs.tidy()
            return done

        return await _anew_if_damaged(environment.store.folder / SYNC / SYNC_COPIES[0], synced)


async def found_there(
    sessions: Sessions, folder: str, remote: str | None
) -> tuple[str, tuple[FoundThere, ...]]:
    """Lists a remote's sessions, newest first; gives the remote as people see it, too.

    Those of the folder's project come before others.
    """
    environment = await sessions.shared.ready()
    folder = await asyncio.to_thread(checked_folder, folder)
    async with _alone(sessions, environment):

        async def looked() -> tuple[str, dict[str, str], list[JsonObject]]:
            # Heads alone are asked for, in a repository of their own: the other has whole lines.
            refs = await _refs(environment, folder, remote, SYNC_COPIES[1])
            tips = await refs.tips()
            # Names begin with the time at which a session was made.
            tips = {name: tips[name] for name in sorted(tips, reverse=True)[:MOST_LISTED]}
            await refs.fetch(tips, heads=True)
            tips = {name: tip for name, tip in (await refs.fetched()).items() if name in tips}
            return refs.remote.shown, tips, await refs.about(tuple(tips.values()))

        copy = environment.store.folder / SYNC / SYNC_COPIES[1]
        shown, tips, about = await _anew_if_damaged(copy, looked)
        here = await named_rows(environment.store)
    ours = await _project(environment, folder)

    def described() -> tuple[FoundThere, ...]:
        found = [
            replace(one, is_of_project=one.project.casefold() == ours.casefold())
            if one.project
            else replace(one, is_of_project=one.folder == folder)
            for one in (_described(*both, here) for both in zip(tips, about, strict=True))
        ]
        return tuple(sorted(found, key=lambda o: (not o.is_of_project, -o.updated, o.name)))

    return shown, await asyncio.to_thread(described)


async def _project(environment: Environment, folder: str) -> str:
    """Asks git in trusted folders alone: an untrusted one's settings may include other files."""
    if not environment.trust(folder).granted:
        return ""
    return await project_in(folder, environment.workspaces.variables)


def _described(name: str, about: JsonObject, rows: Mapping[str, SessionRow]) -> FoundThere:
    title, folder, project = (_whole(about.get(one, "")) for one in ("title", "folder", "project"))
    updated, turns = (
        one if isinstance(one := about.get(field), int) and 0 <= one <= LATEST else 0
        for field in ("updated", "turns")
    )
    here = rows[name].id if name in rows else None
    return FoundThere(name, title, folder, updated, turns, here, project)


def _whole(said: object) -> str:
    return one_line(said[:1000], 1000) if isinstance(said, str) else ""


async def _anew_if_damaged(copy: Path, work: Callable[[], Awaitable[T]]) -> T:
    """Does `work` once more without the copy, which holds nothing that is not elsewhere."""
    try:
        return await work()
    except StorageFailed as error:
        if error.kind != "io":
            raise
    await asyncio.to_thread(shutil.rmtree, copy, ignore_errors=True)
    return await work()


async def _refs(
    environment: Environment, folder: str, remote: str | None, repository: str
) -> SyncRefs:
    store, variables = environment.store, environment.workspaces.variables
    usual, trusted = environment.settings.config.sync.remote, environment.trust(folder).granted
    found = await remote_for(remote, usual, folder, trusted, variables)
    place = store.folder / SYNC / repository
    try:
        await asyncio.to_thread(make_folder, place)
    except OSError as error:
        raise storage_failed(error) from error
    git = SyncGit(place, variables, environment.clock.now)
    await git.prepare()
    own = environment.settings.config.sync
    identity = Path(own.identity) if own.identity else None
    return SyncRefs(git, found, Sealing(own.recipients, identity))


@asynccontextmanager
async def _alone(sessions: Sessions, environment: Environment) -> AsyncIterator[None]:
    leases, clock = environment.store.leases, environment.clock
    if (why := environment.store.refusal()) is not None:
        raise why
    # One token for each: this daemon's other syncs wait as another's do.
    owner = replace(sessions.open.owner, token=f"{sessions.open.owner.token}-{next(_TIMES)}")

    async def release() -> None:
        with suppress(StorageFailed):
            await leases.release(LEASE, owner.token)

    try:
        for _ in range(round(WAIT / LOOK)):
            if await leases.acquire(LEASE, owner) is None:
                break
            await clock.sleep(LOOK)
        else:
            raise Overloaded("another sync has been running for a minute: wait for its end")
        beating = begin_beside(sessions.open, _beat(environment, owner.token))
        try:
            yield
        finally:
            beating.cancel()
    finally:
        # Whoever was cancelled amid acquiring may have it all the same.
        await outcome(begun(sessions.open.group, release))


async def _beat(environment: Environment, token: str) -> None:
    while True:
        await environment.clock.sleep(HEARTBEAT)
        with suppress(StorageFailed):
            await environment.store.leases.beat(token)


class _Held:
    """Takes sessions out of windows' hands for a change, and gives them back."""

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    def busy(self, session_id: SessionId) -> bool:
        session = self._sessions.open.find(session_id)
        return session is not None and session.prompts.busy

    def secrets(self) -> tuple[str, ...]:
        return known_secrets(self._sessions.open.windows.entered)

    async def change(
        self, session_id: SessionId, write: Callable[[], Awaitable[None]], after: PartId | None
    ) -> None:
        opened, written = self._sessions.open, partial(self._written, session_id, write)
        async with opened.opening_of(session_id):
            session = opened.find(session_id)
            check_idle(session is not None and session.prompts.busy, "sync again later")
            if session is None:
                opened.ending[session_id] = None, asyncio.Event()
        # Others are opened meanwhile: what came may be large.
        if session is None:
            try:
                return await written()
            finally:
                opened.ending.pop(session_id)[1].set()
        opened.replaced[session_id] = session
        try:
            await opened.end(session, written)
        except Exception:
            after = None
            raise
        finally:
            # Also if the one who asked goes: others have this session open.
            assert opened.group is not None
            back = partial(self._given_back, session, after)
            await asyncio.shield(opened.group.create_task(logged(back)))

    async def _written(self, session_id: SessionId, write: Callable[[], Awaitable[None]]) -> None:
        store, owner = (await self._sessions.shared.ready()).store, self._sessions.open.owner
        living = await store.leases.acquire(session_id, owner)
        if living is not None:
            about: JsonObject = {"pid": living.pid, "host": living.host}
            raise SessionOwned("another window has it open: sync there", owner=about)
        try:
            await write()
        finally:
            await store.leases.release(session_id, owner.token)

    async def _given_back(self, taken: Session, after: PartId | None) -> None:
        opened, audience = self._sessions.open, taken.audience
        try:
            # Whoever opens it meanwhile does it for these windows, too.
            if opened.replaced.get(taken.id) is taken and not audience.connected:
                return
            again = await self._sessions.get(taken.id)
        finally:
            opened.replaced.pop(taken.id, None)
            await opened.end_unused()
        told = [one.watcher for one in audience.connected]
        for watcher in told if after is not None else ():
            if watcher in again.audience.watchers():
                await again.replay.tell(after, _emitting(watcher))
        if again.row.title != taken.row.title:
            # Said to be renamed, so that windows hear of it.
            await again.rename(again.row.title[:LONGEST_TITLE])


def _emitting(watcher: Callable[[Event], None]) -> Callable[[Event], Awaitable[None]]:
    async def emit(event: Event) -> None:
        watcher(event)

    return emit
