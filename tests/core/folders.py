"""A folder in memory that an agent and a user change, and that a plan is carried out on."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field

from sidecar.core.files.changeset import ChangeSet, ToolWrite, attribute, same, same_content
from sidecar.core.files.reconcile import Choices, OnConflict
from sidecar.core.files.restore_plan import Action, RestorePlan, plan_redo, plan_restore
from sidecar.core.files.tree import SnapshotId, TreeEntry, name, parent
from tests.core.trees import compare, holding

FILE, FOLDER, LINK = 0o100644, 0o040755, 0o120777


@dataclass
class Desk:
    """The folder, what its files ever held, and the change sets since the beginning."""

    tree: dict[bytes, TreeEntry] = field(default_factory=dict)
    blobs: dict[str, bytes] = field(default_factory=dict)
    sets: list[ChangeSet] = field(default_factory=list)
    _last: dict[bytes, TreeEntry] = field(default_factory=dict)

    def file(self, path: str | bytes, content: str | bytes, mode: int | None = None) -> TreeEntry:
        data = content.encode() if isinstance(content, str) else content
        where = _path(path)
        old = self.tree.get(where)
        kept = old.mode if old is not None and old.kind == "file" else FILE
        entry = holding(data, kept if mode is None else 0o100000 | mode)
        self.blobs[entry.hash] = data
        self.tree[where] = entry
        return entry

    def link(self, path: str | bytes, target: str) -> None:
        data = target.encode()
        entry = self.tree[_path(path)] = holding(data, LINK)
        self.blobs[entry.hash] = data

    def folder(self, path: str, mode: int = 0o755) -> None:
        self.tree[_path(path)] = TreeEntry(0o040000 | mode)

    def lost(self, path: str, size: int, version: int) -> None:
        self.tree[_path(path)] = TreeEntry(FILE, "", size, "large", version)

    def mode(self, path: str, mode: int) -> None:
        entry = self.tree[_path(path)]
        kind = entry.mode & 0o170000
        self.tree[_path(path)] = TreeEntry(
            kind | mode, entry.hash, entry.size, entry.lost, entry.version
        )

    def remove(self, path: str | bytes) -> None:
        where = _path(path)
        for inside in [p for p in self.tree if p == where or p.startswith(where + b"/")]:
            del self.tree[inside]

    def move(self, old: str | bytes, new: str | bytes) -> None:
        source, target = _path(old), _path(new)
        for path in [p for p in self.tree if p == source or p.startswith(source + b"/")]:
            self.tree[target + path.removeprefix(source)] = self.tree.pop(path)

    def text(self, path: str) -> str | None:
        entry = self.tree.get(_path(path))
        return None if entry is None else self.blobs[entry.hash].decode()

    def begin(self) -> None:
        self._last, self.sets = dict(self.tree), []

    def by_both(self) -> ChangeSet:
        """End an interval in which tools wrote all files that changed, and the shell the rest."""
        return self.by_tool(shell=True)

    def by_tool(self, *paths: str, saved: Collection[str] = (), shell: bool = False) -> ChangeSet:
        """End an interval in which tools wrote these paths last; all that changed without any."""
        found = compare(self._last, self.tree)
        named = {_path(path) for path in paths} or {
            c.path for c in found if not (c.new or c.old or TreeEntry(FILE)).is_folder
        }
        writes = [ToolWrite(p, self._last.get(p), self.tree.get(p)) for p in sorted(named)]
        return self._end(writes, saved=saved, shell=shell)

    def by_shell(self, saved: Collection[str] = ()) -> ChangeSet:
        return self._end([], shell=True, saved=saved)

    def by_user(self) -> ChangeSet:
        return self._end([], between_steps=True)

    def plan(
        self,
        on_conflict: OnConflict = "refuse",
        *,
        paths: Collection[str] | None = None,
        dirty: Mapping[str, str] | None = None,
        markers: bool = False,
    ) -> RestorePlan:
        return plan_restore(
            self.sets,
            self.tree,
            Choices(
                self.blobs.get,
                on_conflict,
                {_path(path): holding(text.encode()).hash for path, text in (dirty or {}).items()},
                markers,
            ),
            None if paths is None else [_path(path) for path in paths],
        )

    def redo(self, restore: ChangeSet, on_conflict: OnConflict = "refuse") -> RestorePlan:
        since = self.sets[self.sets.index(restore) + 1 :]
        return plan_redo(restore, since, self.tree, Choices(self.blobs.get, on_conflict))

    def carry_out(self, plan: RestorePlan) -> ChangeSet:
        """Do what a plan says, one thing after the other, as strictly as a file system would."""
        for action in plan.actions:
            self._do(action)
        return self._end([], shell=True)

    def _end(
        self,
        writes: list[ToolWrite],
        *,
        shell: bool = False,
        saved: Collection[str] = (),
        between_steps: bool = False,
    ) -> ChangeSet:
        found = attribute(
            compare(self._last, self.tree),
            tools=writes,
            shell=shell,
            saved=[_path(path) for path in saved],
            between_steps=between_steps,
        )
        number = len(self.sets)
        made = ChangeSet(SnapshotId(number), SnapshotId(number + 1), found)
        self.sets.append(made)
        self._last = dict(self.tree)
        return made

    def _do(self, action: Action) -> None:
        path, entry, now = action.path, action.entry, self.tree.get(action.path)
        assert now == action.expect, path
        assert not same(entry, now), path
        above = parent(path)
        if above:
            assert self.tree[above].is_folder, path
        full = any(parent(other) == path for other in self.tree)
        if now is not None and now.is_folder and (entry is None or not entry.is_folder):
            assert not full, path
        if entry is None:
            del self.tree[path]
            return
        if action.content is not None:
            merged = holding(action.content)
            assert (entry.hash, entry.size) == (merged.hash, merged.size)
            self.blobs[entry.hash] = action.content
        elif now is None or not same_content(now, entry):
            assert not entry.hash or entry.hash in self.blobs, path
            assert not entry.lost, path
        self.tree[path] = entry


def is_nothing(plan: RestorePlan) -> bool:
    """Whether there is nothing to do, and nothing in the way of it."""
    return not plan.actions and not plan.conflicts


def fates(plan: RestorePlan) -> dict[str, str]:
    """Give the fate of each path; every path has one, with a reason that is a sentence."""
    assert len({fate.path for fate in plan.fates}) == len(plan.fates)
    acted = {fate.path for fate in plan.fates if fate.fate in ("restored", "merged")}
    assert {action.path for action in plan.actions} in (acted, set())
    for fate in plan.fates:
        assert fate.reason[0].isupper(), fate.reason
        assert fate.reason.endswith("."), fate.reason
    return {fate.path.decode("utf-8", "surrogateescape"): fate.fate for fate in plan.fates}


def reason(plan: RestorePlan, path: str) -> str:
    return next(fate.reason for fate in plan.fates if fate.path == _path(path))


def desk(*files: str) -> Desk:
    """Begin with files that each hold ten numbered lines, in the folders that they need."""
    made = Desk()
    for path in files:
        at = parent(path.encode())
        while at:
            made.tree[at] = TreeEntry(FOLDER)
            at = parent(at)
        made.file(path, lines(path))
    made.begin()
    return made


def lines(path: str, change: Callable[[int], str | None] = lambda n: None) -> str:
    """Give ten lines; `change` gives another text for some."""
    base = name(path.encode()).decode()
    return "".join(f"{change(n) or f'{base} {n}'}\n" for n in range(10))


def _path(path: str | bytes) -> bytes:
    return path if isinstance(path, bytes) else path.encode("utf-8", "surrogateescape")
