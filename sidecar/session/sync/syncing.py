"""Syncs a folder's sessions with a remote: reads both sides, decides, takes in, sends.

Who sends second is refused, looks again, and parts: that session becomes a fork. A process killed
anywhere leaves both sides whole, and the next sync goes on from what it finds.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import replace

from sidecar.core.errors import BadRequest, RemoteFailed, SessionOwned
from sidecar.core.parts import PartId, SessionId
from sidecar.session.environment import Environment
from sidecar.session.lifecycle.fork import SUFFIX
from sidecar.session.log.held_log import held_of
from sidecar.session.session_settings import syncing_as
from sidecar.session.sync.sync_arrivals import check_new, take_new, take_on
from sidecar.session.sync.sync_departures import Local, departure_of, local_of, named_rows
from sidecar.session.sync.sync_files import (
    KnownRemote,
    keep_remote,
    known_remote,
    removed_names,
    settle_removed,
)
from sidecar.session.sync.sync_history import history_here, history_of, relation
from sidecar.session.sync.sync_outcome import HeldSessions, SyncedOne, SyncOutcome, SyncWish
from sidecar.session.sync.sync_plan import (
    Mark,
    Relation,
    Sides,
    is_settled_by_mark,
    is_to_be_removed,
    step_for,
)
from sidecar.session.sync.sync_refs import SentRef, SyncRefs
from sidecar.store.format.bundles import Bundle
from sidecar.store.format.log_records import NoticeRecord
from sidecar.store.format.record_codec import write as store_record
from sidecar.store.format.values import AppendRecord, PutSession, SessionRow, Stored

ROUNDS = 8
"""Times that one sync looks again after a refusal."""
MOVED = ("stale info", "non-fast-forward", "fetch first", "already exists", "failed to update ref",
         "reference already exists", "cannot lock ref", "failed to lock")  # fmt: skip
"""What git says where somebody else moved a ref first."""
PARTED = (
    "Another machine went on with this session first. What was said here is kept as this fork, and "
    "goes on by itself."
)
GONE = "{title}: its ref is gone from {remote}, so it stays here; it is sent again as it goes on."
WITHOUT = (
    "it lies there without what files held before: its new turns alone bring that along, and "
    "going back in files begins with them."
)
BUSY = "{title}: a turn runs, so what came from elsewhere waits for the next sync."


class Syncing:
    """One sync of one folder with one remote; the caller sees to it that there is no other."""

    def __init__(
        self, environment: Environment, held: HeldSessions, refs: SyncRefs, wish: SyncWish
    ) -> None:
        self._environment = environment
        self._store = environment.store
        self._held = held
        self._refs = refs
        self._wish = wish
        self._named = set[str]()
        self._wanted = set[str]()
        self._known = KnownRemote(refs.remote.shown)
        self._snapshots = False
        self.outcome = SyncOutcome(refs.remote.shown, len(refs.sealing.recipients))

    async def run(self) -> SyncOutcome:
        """Raises RemoteFailed, BadRequest, StorageFailed; what was done by then stays done."""
        data, remote, outcome = self._store.folder, self._refs.remote, self.outcome
        self._known = await asyncio.to_thread(known_remote, data, remote)
        folder, sealed = self._wish.folder, outcome.recipients > 0
        known, wished = self._known, self._wish.snapshots
        has = known.may_snapshots(folder, sealed=sealed)
        self._snapshots = has if wished is None else wished
        if not self._wish.dry_run:
            if wished is False:
                known = known.without_snapshots(folder)
            if self._wish.agreed == remote.shown:
                known = known.agreed(folder, sealed=sealed, snapshots=self._snapshots)
            if known != self._known:
                self._known = known
                await self._keep({})
        outcome.agreed = known.may(folder, sealed=sealed)
        outcome.agreed &= not self._snapshots or known.may_snapshots(folder, sealed=sealed)
        if self._wish.if_agreed and not outcome.agreed:
            return outcome
        only: frozenset[str] | None = None
        for _ in range(ROUNDS):
            only = await self._round(only)
            if not only:
                break
        else:
            raise RemoteFailed(f"{remote.shown} moves faster than it can be read: sync again")
        return outcome

    async def _round(self, only: frozenset[str] | None) -> frozenset[str]:
        """Does what can be done at once; returns names of refs that moved meanwhile."""
        tips, rows = await self._refs.tips(), await named_rows(self._store)
        removed = await asyncio.to_thread(removed_names, self._store.folder)
        if only is None:
            self._named = {_whole(name, tips) for name in self._wish.names}
            self._wanted |= self._named
        names = self._candidates(tips, rows, set(removed), only)
        tips |= await self._fetched(names, tips)
        sends: list[SentRef] = []
        told: dict[str, tuple[SyncedOne, Mark]] = {}
        for name in names:
            try:
                made = await self._settle(name, rows.get(name), tips.get(name))
            except (SessionOwned, BadRequest) as error:
                self.outcome.notes.append(f"{_title(rows.get(name), name)}: {error.message}")
                continue
            for sent, mark, old in made:
                told[sent.name] = sent, mark
                sends.append(SentRef(sent.name, mark.tip, old))
        if only is None:
            here = rows.keys() | {one.name for one in self.outcome.received}
            self.outcome.elsewhere = len(tips.keys() - here)
            self._tell_unfound(tips, rows)
        if not self._does:
            self.outcome.sent += [sent for sent, _ in told.values()]
            return frozenset()
        removals = await self._removals(tips, removed) if only is None else []
        return await self._send([*sends, *removals], told)

    def _tell_unfound(self, tips: dict[str, str], rows: dict[str, SessionRow]) -> None:
        for name in sorted(self._named):
            if name in rows:
                self.outcome.notes.append(f"{name} is here already, as {rows[name].id}.")
            elif name not in tips:
                shown = self._refs.remote.shown
                told = f"{name} is not on {shown}, or begins more than one name there."
                self.outcome.notes.append(told)

    @property
    def _does(self) -> bool:
        return self.outcome.agreed and not self._wish.dry_run

    def _candidates(
        self,
        tips: dict[str, str],
        rows: dict[str, SessionRow],
        removed: set[str],
        only: frozenset[str] | None,
    ) -> list[str]:
        wish, marks = self._wish, self._known.marks
        ours = {n: row for n, row in rows.items() if row.cwd == wish.folder and row.turns}
        chosen = {n for n, row in ours.items() if not wish.only or row.id in wish.only}
        # Of a fork that was cut short, the other one was to come.
        lost = {n for n, m in marks.items() if n not in rows and m.folder == wish.folder}
        self._wanted |= lost - removed
        chosen |= {name for name in self._wanted if name in tips and name not in rows}
        if only is not None:
            chosen &= only | self._wanted
        sides = {n: Sides(_revision(rows.get(n)), tips.get(n), marks.get(n)) for n in chosen}
        return sorted(name for name in chosen if not is_settled_by_mark(sides[name]))

    async def _fetched(self, names: Iterable[str], tips: dict[str, str]) -> dict[str, str]:
        there = await self._refs.fetched()
        moved = [name for name in names if name in tips and there.get(name) != tips[name]]
        if not moved:
            return {}
        await self._refs.fetch(moved)
        there = await self._refs.fetched()
        return {name: there[name] for name in moved if name in there}

    async def _settle(
        self, name: str, row: SessionRow | None, tip: str | None
    ) -> list[tuple[SyncedOne, Mark, str]]:
        """Decides and takes in; returns what is to be sent, with the ref's old commit."""
        local = None if row is None else await local_of(self._store, name, row)
        there = None if tip is None else await self._refs.bundle(tip)
        mark = self._known.marks.get(name)
        how = None
        if local is not None and there is not None:
            how = await _related(local, there)
        revision = None if local is None else local.row.revision
        step = step_for(Sides(revision, tip, mark, name in self._wanted, how))
        match step:
            case "send" if local is not None:
                return await self._sent(local, there, tip or "")
            case "take_new" if there is not None and tip is not None:
                await self._take_new(name, there, tip)
            case "take_on" if local is not None and there is not None and tip is not None:
                await self._take_on(local, there, tip)
            case "part" if local is not None and there is not None and tip is not None:
                return await self._part(local, there, tip)
            case "keep" if local is not None:
                self.outcome.notes.append(
                    GONE.format(title=local.title, remote=self._refs.remote.shown)
                )
            case _ if local is not None and tip is not None and self._does:
                await self._keep({name: Mark(tip, local.row.revision, local.row.cwd)})
        return []

    async def _sent(
        self, local: Local, there: Bundle | None, old: str
    ) -> list[tuple[SyncedOne, Mark, str]]:
        project, secrets, snapshots = self._wish.project, self._held.secrets(), self._snapshots
        made = await departure_of(
            self._environment, local, there, project, secrets, snapshots=snapshots
        )
        if made is None:
            return []
        self._refs.check_sealing(old)
        row = local.row
        tip = await self._refs.commit(old, made.data, made.about) if self._does else ""
        size = len(made.data)
        told = SyncedOne(
            local.name, row.id, local.title, made.messages, size, made.redacted, made.files
        )
        notes = list(made.notes)
        if self._snapshots and there is not None and there.files is None:
            notes.append(WITHOUT)
        self.outcome.notes += [f"{local.title}: {note}" for note in notes]
        return [(told, Mark(tip, row.revision, row.cwd), old)]

    async def _take_new(self, name: str, there: Bundle, tip: str) -> None:
        title, count = there.session.title or name, len(there.messages)
        if not self._does:
            self.outcome.received.append(SyncedOne(name, SessionId(""), title, count))
            return
        made = await take_new(
            self._environment, there, name, self._wish.folder, snapshots=self._snapshots
        )
        await self._keep({name: Mark(tip, made.revision, self._wish.folder)})
        self._wanted.discard(name)
        self.outcome.received.append(SyncedOne(name, made.session_id, title, count))
        self.outcome.notes += [f"{title}: {note}" for note in made.notes]

    async def _take_on(self, local: Local, there: Bundle, tip: str) -> None:
        row, count = local.row, len(there.messages) - len(local.history.parts)
        told = SyncedOne(local.name, row.id, local.title, count)
        if not self._does:
            self.outcome.received.append(told)
            return
        if self._held.busy(row.id):
            self.outcome.notes.append(BUSY.format(title=local.title))
            return
        after: list[SessionRow] = []

        async def write() -> None:
            now = await local_of(self._store, local.name, await self._store.sessions.row(row.id))
            if await _related(now, there) != "behind":
                raise BadRequest("it was written to meanwhile: sync again", "params")
            after.append(await self._taken_on(now, there))

        await self._held.change(row.id, write, _last_shown(local.stored))
        await self._keep({local.name: Mark(tip, after[0].revision, row.cwd)})
        self.outcome.received.append(told)

    async def _taken_on(self, now: Local, there: Bundle) -> SessionRow:
        snapshots = self._snapshots
        return await take_on(self._environment, now.stored, now.history, there, snapshots=snapshots)

    async def _part(
        self, local: Local, there: Bundle, tip: str
    ) -> list[tuple[SyncedOne, Mark, str]]:
        """Makes the session here a fork under a name of its own, then takes in the other."""
        row, name = local.row, self._environment.clock.new_id("ses")
        title = row.title if row.title.endswith(SUFFIX) else f"{local.title}{SUFFIX}"
        if not self._does:
            history = history_here(local.stored, local.cut, name)
            return await self._sent(replace(local, name=name, history=history), None, "")
        await check_new(self._environment, there, row.cwd, snapshots=self._snapshots)
        # The fork's own ref has nothing to go by.
        self._refs.check_sealing(tip)
        # Should the process end here, the mark has the other taken in by the next sync.
        await self._keep({local.name: Mark("", -1, row.cwd)})
        await self._held.change(
            row.id, self._parting(row.id, name, title), _last_shown(local.stored)
        )
        self._wanted.add(local.name)
        await self._take_new(local.name, there, tip)
        other = self.outcome.received[-1].session_id
        self.outcome.notes.append(f"{title}: {PARTED} The other is {other} here.")
        found = SyncedOne(name, row.id, title, len(local.history.parts), forked=other)
        self.outcome.forked.append(found)
        fork = await local_of(self._store, name, await self._store.sessions.row(row.id))
        return await self._sent(fork, None, "")

    def _parting(
        self, session_id: SessionId, name: str, title: str
    ) -> Callable[[], Awaitable[None]]:
        async def write() -> None:
            row = await self._store.sessions.row(session_id)
            revision, seq, now = row.revision + 1, row.seq + 1, self._environment.clock.now()
            notice = NoticeRecord(revision=revision, at=now, seq=seq, level="warning", text=PARTED)
            settings = {**row.settings, **syncing_as(session_id, name)}
            parted = replace(row, title=title, revision=revision, seq=seq, settings=settings)
            await self._store.write(
                PutSession(parted), AppendRecord(session_id, store_record(notice))
            )

        return write

    async def _removals(self, tips: dict[str, str], names: list[str]) -> list[SentRef]:
        marks = self._known.marks
        going = [name for name in names if is_to_be_removed(tips.get(name), marks.get(name))]
        # Where somebody went on, the ref is theirs.
        left = {name: None for name in names if name in marks and name not in going}
        await self._keep(left)
        if not going:
            await asyncio.to_thread(settle_removed, self._store.folder, names)
        return [SentRef(name, "", tips[name]) for name in going]

    async def _send(
        self, sends: list[SentRef], told: dict[str, tuple[SyncedOne, Mark]]
    ) -> frozenset[str]:
        if not sends:
            return frozenset()
        refused = await self._refs.send(sends)
        moved = {name for name, said in refused.items() if any(one in said for one in MOVED)}
        for name in refused.keys() - moved:
            title = told[name][0].title if name in told else name
            shown = self._refs.remote.shown
            self.outcome.notes.append(f"{title}: {shown} refused it: {refused[name]}")
        marks: dict[str, Mark | None] = {}
        for one in sends:
            if one.name in refused:
                continue
            if one.new:
                sent, marks[one.name] = told[one.name]
                self.outcome.sent.append(sent)
            else:
                marks[one.name] = None
                self.outcome.removed.append(one.name)
        await self._keep(marks)
        if gone := self.outcome.removed:
            await self._refs.forget(gone)
            await asyncio.to_thread(settle_removed, self._store.folder, gone)
        return frozenset(moved)

    async def _keep(self, marks: Mapping[str, Mark | None]) -> None:
        self._known = self._known.marked(marks)
        await asyncio.to_thread(keep_remote, self._store.folder, self._refs.remote, self._known)


async def _related(local: Local, there: Bundle) -> Relation:
    return await asyncio.to_thread(lambda: relation(local.history, history_of(there)))


def _whole(name: str, tips: Iterable[str]) -> str:
    """Gives the one name that begins so; else `name`."""
    found = [one for one in tips if one.startswith(name)]
    return found[0] if len(found) == 1 else name


def _revision(row: SessionRow | None) -> int | None:
    return None if row is None else row.revision


def _title(row: SessionRow | None, name: str) -> str:
    return name if row is None else row.title or row.id


def _last_shown(stored: Stored) -> PartId | None:
    """Gives a part that clients have seen, near the end."""
    left = held_of(stored).left
    shown = (m for m in reversed(stored.messages) if m.id not in left and m.status != "discarded")
    return next((message.parts[-1].id for message in shown if message.parts), None)
