"""Files as a log tells them: lines shown or written, with later edits."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import islice, takewhile

from sidecar.core.dataclass import dataclass
from sidecar.core.files.formatters import formatted
from sidecar.core.files.shell_writes import joined
from sidecar.core.ledger.deeds import commands_of
from sidecar.core.ledger.replacements import Replacement, half_merged
from sidecar.core.ledger.units import Unit
from sidecar.core.parts import PartId, ToolPart
from sidecar.core.sights.file_sights import FileShown, file_sights
from sidecar.core.sights.search_sights import search_sights
from sidecar.core.sights.shell_sights import shell_sights
from sidecar.core.text.line_diff import hunks

MOST_FILES, MOST_LINES = 500, 5_000
"""Files that are followed, and lines of each."""
MOST_CHANGED = 20
"""Changed files that are worked on: the newest."""
MOST_REMOVED, TELLING = 1_000, 12
"""Removed lines of a file that are remembered, the newest, and characters of each at least."""
NEVER, LATER = -1, 1 << 30


@dataclass(slots=True)
class SeenFile:
    """A file's lines, `None` if never shown, with the steps of last showing and writing.

    `changed`: step of the newest change. `removed`: lines that an edit took out, without
    indentation, by step, the newest last. `ends`: the last line is the file's. `drift`: most lines
    by which edits at unknown places moved them. `formatted`: step of a formatter's newest run.
    """

    texts: list[str | None] = field(default_factory=list)
    shown: list[int] = field(default_factory=list)
    written: list[int] = field(default_factory=list)
    changed: int = NEVER
    removed: dict[str, int] = field(default_factory=dict)
    ends: bool = False
    drift: int = 0
    formatted: int = NEVER

    def forget(self) -> None:
        self.texts, self.shown, self.written = [], [], []
        self.ends, self.drift = False, 0

    def change(self, made: Replacement, step: int) -> None:
        self.changed = step
        if made.new is None:
            self.forget()
        elif made.old is None:
            lines = made.new.removesuffix("\n").split("\n")
            self._remember(self.texts, lines, step)
            self.forget()
            self._splice(0, 0, lines[:MOST_LINES], step)
            self.ends = len(self.texts) < MOST_LINES
        else:
            self._replace(made.old, made.new, step, every=made.every)

    def may_differ(self, start: int, end: int) -> bool:
        """Whether a formatter ran over written lines not shown since."""
        lines = zip(self.written[start:end], self.shown[start:end], strict=True)
        return any(wrote != NEVER and shown <= self.formatted for wrote, shown in lines)

    def showed_removed(self, text: str, step: int) -> bool:
        """Whether a text of `step` has a line removed afterwards."""
        later = takewhile(lambda one: one[1] > step, reversed(self.removed.items()))
        return any(line in text for line, _ in later)

    def _remember(self, old: Iterable[str | None], new: Iterable[str], step: int) -> None:
        stands = {line.strip() for line in new}
        gone = [one for line in old if line and len(one := line.strip()) >= TELLING]
        for line in (*stands, *gone):
            self.removed.pop(line, None)
        self.removed.update((line, step) for line in gone if line not in stands)
        for line in list(islice(self.removed, max(0, len(self.removed) - MOST_REMOVED))):
            del self.removed[line]

    def runs(self) -> Iterator[tuple[int, int]]:
        """Stretches of known lines: (first, last + 1), from 0."""
        start = None
        for index, text in enumerate((*self.texts, None)):
            if text is None:
                if start is not None:
                    yield start, index
                start = None
            elif start is None:
                start = index

    def held_against(self, text: str | None) -> "SeenFile":
        """Gives known lines still in the present `text`, at their present places."""
        stands = SeenFile(changed=self.changed, removed=self.removed)
        if text is None:
            return stands
        lines = text.removesuffix("\n").split("\n")
        size = len(lines)
        stands.texts, stands.ends = [None] * size, True
        stands.shown, stands.written = [NEVER] * size, [NEVER] * size
        moved = list(_equal(self.texts, lines))
        stands.removed = self._removed_against(lines, moved)
        for start, to, count in moved:
            stands.texts[to : to + count] = self.texts[start : start + count]
            stands.shown[to : to + count] = self.shown[start : start + count]
            stands.written[to : to + count] = self.written[start : start + count]
        return stands

    def _removed_against(
        self, lines: list[str], moved: Iterable[tuple[int, int, int]]
    ) -> dict[str, int]:
        """Adds to `removed` known lines absent from the text."""
        known, at = list[str | None](), 0
        for start, _, count in moved:
            known += self.texts[at:start]
            at = start + count
        if not any(known):
            return self.removed
        stood = {line.strip() for line in lines}
        gone = (one for line in known if line and len(one := line.strip()) >= TELLING)
        return {**self.removed, **{line: LATER for line in gone if line not in stood}}

    def show(self, shown: FileShown, step: int) -> None:
        start, lines = shown.first - 1, shown.lines
        end = start + len(lines)
        if end > MOST_LINES:
            return
        known = zip(self.texts[start:end], lines, strict=False)
        if self.drift or any(text is not None and text != line for text, line in known):
            # The other lines may have moved: the file was changed where nobody saw it.
            self.forget()
        if shown.ends and lines:
            # The file goes no further any more.
            del self.texts[end:], self.shown[end:], self.written[end:]
        missing = max(0, end - len(self.texts))
        self.ends = shown.ends or (self.ends and not missing)
        self.texts += [None] * missing
        self.shown += [NEVER] * missing
        self.written += [NEVER] * missing
        self.texts[start:end] = lines
        self.shown[start:end] = [step] * len(lines)

    def _splice(self, start: int, end: int, lines: list[str], step: int) -> None:
        self._remember(self.texts[start:end], lines, step)
        self.texts[start:end] = lines
        self.shown[start:end] = [step] * len(lines)
        self.written[start:end] = [step] * len(lines)

    def _replace(self, old: str, new: str, step: int, *, every: bool) -> None:
        places = [
            (start + run.count("\n", 0, at), run, at)
            for start, end in self.runs()
            for run in ("\n".join(map(str, self.texts[start:end])),)
            for at in _places(run, old)
        ]
        if not places or (len(places) > 1 and not every):
            self._remember(old.split("\n"), new.split("\n"), step)
        if not places:
            self._replace_unseen(old, new)
            return
        taken = old.count("\n") + 1
        if len(places) > 1 and not every:
            # One of them was changed: of the others and of all around, lines stand as before.
            for line, _, _ in places:
                self.texts[line : line + taken] = [None] * taken
            self.drift += abs(new.count("\n") - old.count("\n"))
            return
        for line, run, at in reversed(places):
            head = run[run.rfind("\n", 0, at) + 1 : at]
            # The rest of the last line may hold places that were replaced already.
            ended = len((head + old).rpartition("\n")[2])
            tail = str(self.texts[line + taken - 1])[ended:]
            self._splice(line, line + taken, (head + new + tail).split("\n"), step)

    def _replace_unseen(self, old: str, new: str) -> None:
        """Forgets stretches that an edit at an unknown place may have reached."""
        gone = old.split("\n")
        for start, end in list(self.runs()):
            top, bottom = str(self.texts[start]), str(self.texts[end - 1])
            into = bottom in gone or bottom.endswith(gone[0])
            if into or top in gone or top.startswith(gone[-1]):
                self.texts[start:end] = [None] * (end - start)
        self.drift += abs(new.count("\n") - old.count("\n"))


def _equal(old: Sequence[str | None], new: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Gives equal stretches: (start in `old`, start in `new`, lines)."""
    at, to = 0, 0
    for hunk in hunks(old, new):
        yield at, to, hunk.old_from - at
        at, to = hunk.old_to, hunk.new_to
    yield at, to, len(old) - at


def _places(text: str, wanted: str) -> Iterator[int]:
    at = text.find(wanted)
    while at >= 0:
        yield at
        at = text.find(wanted, at + len(wanted))


@dataclass(slots=True)
class SeenFiles:
    """The files of a log; `reads`: calls that only showed files: (step, paths).

    Paths are relative to `root`; without `root`, a path may be known by its end.
    """

    root: str = ""
    files: dict[str, SeenFile] = field(default_factory=dict)
    reads: dict[PartId, tuple[int, tuple[str, ...]]] = field(default_factory=dict)

    def hear(self, part: ToolPart, unit: Unit) -> None:
        shell = unit.means == "shell"
        step, replaced = unit.step, unit.replaced
        if not replaced and shell:
            # A command that failed may have changed them before.
            changed = (Replacement(deed.path) for deed in unit.changed)
            replaced = (*changed, *half_merged(part))
        for made in replaced:
            for path, file in self.files.items():
                if made.may_reach(path):
                    file.forget()
            if made.path:
                self._file(made.path).change(made, step)
        if shell and (ends := {e for said, _ in commands_of(part) for e in formatted(said)}):
            for path, file in self.files.items():
                if path.endswith(tuple(ends)):
                    file.formatted = step
        shown = tuple(shell_sights(part) if shell else file_sights(part))
        for sight in (*shown, *search_sights(part)):
            self._file(sight.path).show(sight, step)
        if shown and not replaced:
            paths = dict.fromkeys(self._key(sight.path) for sight in shown)
            self.reads[part.id] = (step, tuple(paths))

    def _file(self, path: str) -> SeenFile:
        key = self._key(path)
        file = self.files.pop(key) if key in self.files else SeenFile()
        self.files[key] = file
        if len(self.files) > MOST_FILES:
            del self.files[next(iter(self.files))]
        return file

    def changed_at(self, path: str) -> int:
        return self.files[path].changed if path in self.files else NEVER

    def is_stale(self, unit: Unit) -> bool:
        """Whether a call that changed nothing showed a line removed since."""
        return not unit.replaced and any(
            file.removed
            and ((name := path.rpartition("/")[2]) in unit.text or name in unit.call)
            and file.showed_removed(unit.text, unit.step)
            for path, file in self.files.items()
        )

    def changed(self) -> list[tuple[str, SeenFile]]:
        """Gives changed files of which lines are known, the newest last."""
        found = [
            (path, file)
            for path, file in self.files.items()
            if file.changed != NEVER and any(text is not None for text in file.texts)
        ]
        return sorted(found, key=lambda one: one[1].changed)[-MOST_CHANGED:]

    def held_against(self, present: Mapping[str, str | None]) -> "SeenFiles":
        """`present`: text by path; `None`: the file is gone."""
        files = {
            path: file.held_against(present[path]) if path in present else file
            for path, file in self.files.items()
        }
        return SeenFiles(self.root, files, self.reads)

    def _key(self, path: str) -> str:
        if self.root:
            return joined("", path).removeprefix(f"{self.root.rstrip('/')}/")
        if path in self.files or path[:1] in "/~":
            return path
        ends = [known for known in self.files if known.endswith(f"/{path}")]
        return ends[0] if len(ends) == 1 else path
