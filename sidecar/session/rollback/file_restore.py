"""A restore's files and open documents."""

import asyncio
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest, SidecarError
from sidecar.core.files.changeset import ChangeSet, attribute, same
from sidecar.core.files.reconcile import Choices
from sidecar.core.files.restore_plan import Fate, RestorePlan, plan_redo, plan_restore
from sidecar.core.files.tree import SnapshotId, TreeChange, TreeEntry
from sidecar.core.text.digest import digest
from sidecar.session.changes.change_summary import Differences, paths_of
from sidecar.session.changes.path_fates import Diffs
from sidecar.session.changes.tracker import Tracking
from sidecar.session.interface import Wish
from sidecar.store.content.restores import RestoreRows
from sidecar.workspace import files as texts
from sidecar.workspace.buffers import Buffers
from sidecar.workspace.present_state import beside
from sidecar.workspace.restore.places import spelt
from sidecar.workspace.snapshots.ignore import HISTORIES
from sidecar.workspace.snapshots.snapshots import Snapshots

ReadFile: TypeAlias = Callable[[str], bytes | None]

INLINE_CHANGES = 32
"""Path changes planned on the event loop, where a thread takes longer."""
PARTLY = "Some of its changes are taken back, the others stay."
_HUNK = re.compile(r"^(?=@@ )", re.MULTILINE)
_NO_HUNK = (
    "these are not hunks of what a dry run foresees for this one file: it may have changed since, "
    "so ask with dryRun again"
)
FOREIGN = "The session came from elsewhere, so this is not written."
TAB = "It is open in the editor: close its tab, for saving it would make the file again."


@dataclass(frozen=True, slots=True)
class Files:
    """A plan, and the user's changes since the newest snapshot.

    `notes` tell of content outside snapshots.
    """

    snapshots: Snapshots
    fresh: ChangeSet
    plan: RestorePlan
    notes: tuple[str, ...] = ()


class FilePlans:
    """Plans for files, open documents included."""

    def __init__(
        self,
        tracking: Tracking,
        buffers: Buffers,
        rows: RestoreRows,
        differences: Differences,
        guarded: Callable[[str], str],
    ) -> None:
        """`guarded` says why a file is not written as a session from elsewhere has it, or ""."""
        self._guarded = guarded
        self._tracking = tracking
        self._buffers = buffers
        self._rows = rows
        self._differences = differences

    async def plan(
        self,
        sets: Sequence[ChangeSet],
        redone: ChangeSet | None,
        wish: Wish,
        stood: tuple[str, ...] | None = None,
    ) -> Files:
        """Plans to undo the agent's part, or to redo a restore.

        `stood` names what snapshots left out then. Raises as `Tracking.since`, and BadRequest for
        hunks that are not there.
        """
        made, fresh = await self._tracking.since()
        every = (*sets, fresh)
        told = every if redone is None else (*every, redone)
        changes = [change for one in told for change in one.changes]
        named = {p for change in changes for p in (change.path, change.source) if p is not None}
        if any((one := made.entry(path)) and one.lost == "unread" for path in named):
            # Of a folder that was never looked at, as of a session from another machine.
            await made.ready()
        paths = wish.paths
        meant = None if paths is None else {p for given in paths for p in paths_of(given, named)}
        inside = _inside(os.fsencode(made.root))

        @cache
        def seen() -> tuple[dict[bytes, TreeEntry], dict[bytes, str]]:
            now = _standing(made, named)
            removed = _removed(every if redone is None else (redone, *every), now)
            return now, _dirty(self._buffers, made.root, removed)

        def plan(read: ReadFile) -> RestorePlan:
            now, dirty = seen()
            choices = Choices(read, wish.on_conflict, dirty, wish.markers, self._tracking.limits)
            if redone is None:
                return plan_restore(every, now, choices, meant, inside)
            return plan_redo(redone, every, now, choices, inside)

        here = made.quick and len(changes) <= INLINE_CHANGES and not self._buffers.open_paths()
        planned = await self._planned(plan, here=here)
        if foreign := _foreign(sets if redone is None else (redone, *sets)):
            planned = await asyncio.to_thread(_without, planned, foreign, self._guarded)
        if wish.hunks is not None and planned.actions:
            planned = await self._narrowed(planned, wish.hunks)
        look = partial(beside, made.root, made.entry)
        stands = look() if made.quick else await asyncio.to_thread(look)
        notes = _uncovered(stood, stands)
        return Files(made, fresh, _with_tabs(self._buffers, made.root, planned), notes)

    async def _planned(self, plan: Callable[[ReadFile], RestorePlan], *, here: bool) -> RestorePlan:
        """Plans on the event loop if `here` (a small plan), else in a thread."""
        contents: dict[str, bytes | None] = {}
        while True:
            wanted: set[str] = set()
            read = _reader(contents, wanted)
            # What has to be merged may take long.
            inline = here and not contents
            planned = plan(read) if inline else await asyncio.to_thread(plan, read)
            if not wanted:
                return planned
            found = await self._rows.contents(wanted)
            contents.update((name, found.get(name)) for name in wanted)

    async def _narrowed(self, plan: RestorePlan, hunks: tuple[str, ...]) -> RestorePlan:
        """Leaves of a plan for one file what these hunks change."""
        action, *others = plan.actions
        old, new = action.expect, action.entry
        diff = await self._differences.diff(action.path, old, new, action.content)
        if others or not hunks or not {*hunks} <= {*_HUNK.split(diff)[1:]}:
            raise BadRequest(_NO_HUNK, "params.hunks")
        if old is None or new is None:
            # A file that comes or goes has one hunk: the whole of it.
            return plan
        content = await self._differences.partly(old, new, action.content, hunks)
        if content is None:
            raise BadRequest(_NO_HUNK, "params.hunks")
        if (hashed := digest(content)) == new.hash:
            return plan
        entry = TreeEntry(old.mode, hashed, len(content))
        partly = replace(action, entry=entry, content=content)
        fates = (
            replace(fate, fate="partly", reason=PARTLY) if fate.path == action.path else fate
            for fate in plan.fates
        )
        return replace(plan, actions=(partly,), fates=tuple(fates))

    async def foresee(self, files: Files) -> dict[bytes, str]:
        return {
            a.path: await self._differences.diff(a.path, a.expect, a.entry, a.content)
            for a in files.plan.actions
        }

    async def show_conflicts(self, fates: Sequence[Fate]) -> Diffs:
        """Returns conflicts' diffs: the agent's, others' since, unknown ones."""
        show = self._differences.diff
        return {
            fate.path: (
                await show(fate.path, fate.theirs, fate.base),
                await show(fate.path, fate.base, fate.mine),
                await show(fate.path, *(fate.unknown or (None, None))),
            )
            for fate in fates
            if fate.fate == "conflict"
        }

    def reached(self, at: SnapshotId, theirs: tuple[ChangeSet, ...]) -> None:
        self._tracking.reached(at, theirs)

    async def show_in_editor(self, files: Files) -> None:
        if not self._buffers.open_paths():
            return
        root = files.snapshots.root
        for action in files.plan.actions:
            real = root / os.fsdecode(action.path)
            buffer = self._buffers.get(real)
            if buffer is None or action.entry is None or action.entry.kind != "file":
                continue
            with suppress(SidecarError, OSError):
                text = await asyncio.to_thread(texts.read_text, real)
                editor = buffer.owner
                if text != buffer.text and editor is not None and editor.can_apply_edits:
                    label = f"Sidecar: restored {real.name}"
                    if await editor.apply_edit(label, str(real), text):
                        self._buffers.set(real, text, buffer.version, buffer.owner)


def _foreign(sets: Iterable[ChangeSet]) -> set[bytes]:
    """Returns paths of changes that came from another machine: they have no numbers here."""
    changes = [change for one in sets if not (one.before or one.after) for change in one.changes]
    return {path for c in changes for path in (c.path, c.source) if path is not None}


def _without(
    plan: RestorePlan, foreign: Collection[bytes], guarded: Callable[[str], str]
) -> RestorePlan:
    """Leaves what would be asked about out of a plan: a link here may make it run later. Blocks."""
    acts = (one.path for one in plan.actions if one.path in foreign)
    why = {path: said for path in acts if (said := guarded(os.fsdecode(path)))}
    actions = tuple(one for one in plan.actions if one.path not in why)
    fates = (
        Fate(one.path, "skipped", f"{FOREIGN} {why[one.path]}") if one.path in why else one
        for one in plan.fates
    )
    return RestorePlan(actions, tuple(fates))


def _uncovered(then: tuple[str, ...] | None, now: tuple[str, ...]) -> tuple[str, ...]:
    """Names what snapshots do not hold, now or then."""
    gone = [name for name in then or () if name not in now]
    notes = []
    if gone:
        verb = "was here then and is gone" if len(gone) == 1 else "were here then and are gone"
        notes.append(
            f"{', '.join(gone)} {verb}: snapshots do not hold that, so it cannot be brought back."
        )
    # That a repository's history is not touched is known.
    if built := [name for name in now if os.fsencode(name) not in HISTORIES]:
        notes.append(f"Not covered, and left as it is now: {', '.join(built)}.")
    return tuple(notes)


def _with_tabs(buffers: Buffers, root: Path, plan: RestorePlan) -> RestorePlan:
    """Hints at removed files open in tabs: no protocol closes tabs."""
    tabs = {
        os.fsencode(real.relative_to(root))
        for real in buffers.open_paths()
        if real.is_relative_to(root)
    }
    left = tabs & {a.path for a in plan.actions if a.entry is None or a.entry.kind != "file"}
    fates = (
        replace(fate, reason=f"{fate.reason} {TAB}") if fate.path in left else fate
        for fate in plan.fates
    )
    return replace(plan, fates=tuple(fates)) if left else plan


def sets_of(files: Files) -> tuple[ChangeSet, ...]:
    """Returns the user's changes until then, and the restore's."""
    at = files.fresh.after
    kept = (files.fresh,) if files.fresh.changes else ()
    delta = tuple(
        sorted(
            (TreeChange(a.path, a.expect, a.entry) for a in files.plan.actions),
            key=lambda change: change.path,
        )
    )
    merged = {fate.path for fate in files.plan.fates if fate.fate == "merged"}
    told = attribute(delta, tools=(), shell=True, saved=(), between_steps=False)
    changes = (replace(c, author="merge" if c.path in merged else "restore") for c in told)
    return (*kept, ChangeSet(at, at, tuple(changes)))


def _reader(contents: Mapping[str, bytes | None], wanted: set[str]) -> ReadFile:
    def read(name: str) -> bytes | None:
        if name not in contents:
            wanted.add(name)
        return contents.get(name)

    return read


async def others_meanwhile(files: Files, at: SnapshotId) -> tuple[ChangeSet, ...]:
    left = {action.path: action.entry for action in files.plan.actions}
    delta = await files.snapshots.delta(files.fresh.after, at) or ()
    # Folders come and go with what is in them.
    theirs = tuple(
        TreeChange(c.path, left.get(c.path, c.old), c.new)
        for c in delta
        if not any(entry is not None and entry.is_folder for entry in (c.old, c.new))
        and not same(left.get(c.path, c.old), c.new)
    )
    told = attribute(theirs, tools=(), shell=False, saved=(), between_steps=True)
    return (ChangeSet(files.fresh.after, at, told),) if told else ()


def _standing(made: Snapshots, named: Collection[bytes]) -> dict[bytes, TreeEntry]:
    """Returns present entries, without contents that rules now ignore."""
    base = os.fsencode(made.root)
    listed = cache(lambda folder: frozenset(os.listdir(base + b"/" + folder)))
    found: dict[bytes, TreeEntry] = {}
    for path in named:
        entry = made.entry(path)
        if entry is None:
            with suppress(OSError):
                seen = os.lstat(base + b"/" + path)
                if spelt(path, listed):
                    entry = TreeEntry(seen.st_mode, "", seen.st_size, "ignored")
        if entry is not None:
            found[path] = entry
    return found


def _removed(sets: Sequence[ChangeSet], now: Mapping[bytes, TreeEntry]) -> dict[bytes, TreeEntry]:
    last: dict[bytes, TreeEntry] = {}
    for change in (change for one in sets for change in one.changes):
        path = change.path if change.source is None else change.source
        gone = change.new is None or change.source is not None
        if gone and change.old is not None and change.old.restorable:
            last[path] = change.old
        else:
            last.pop(path, None)
    return {path: entry for path, entry in last.items() if path not in now}


def _dirty(buffers: Buffers, root: Path, removed: Mapping[bytes, TreeEntry]) -> dict[bytes, str]:
    """Hashes unsaved documents.

    A removed file shown as last stored has nothing unsaved.
    """
    found: dict[bytes, str] = {}
    for real in buffers.open_paths():
        buffer = buffers.get(real)
        if buffer is None or not real.is_relative_to(root):
            continue
        path, shown = os.fsencode(real.relative_to(root)), _saved_hash(buffer.text)
        try:
            same = texts.read_text(real) == buffer.text
        except FileNotFoundError:
            same = path in removed and removed[path].hash == shown
        except (OSError, SidecarError):
            same = False
        if not same:
            found[path] = shown
    return found


def _saved_hash(text: str) -> str:
    """Returns "" if the text cannot be saved."""
    try:
        return digest(text.encode("utf-8", "surrogateescape"))
    except UnicodeEncodeError:
        return ""


def _inside(base: bytes) -> Callable[[bytes], Sequence[bytes]]:
    def names(folder: bytes) -> Sequence[bytes]:
        try:
            return [folder + b"/" + name for name in os.listdir(base + b"/" + folder)]
        except OSError:
            return ()

    return names
