"""Writes a rewrite's note by code from the log: nothing is invented."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set

from sidecar.core.conversation.call_outcome import one_line
from sidecar.core.conversation.task_news import TaskEnd, task_end
from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.deeds import (
    IN_BACKGROUND,
    SHELLS,
    Delegated,
    ListedTodo,
    TodoProgress,
    finding,
    list_after,
)
from sidecar.core.ledger.net_changes import (
    diff_lines,
    file_lines,
    net_files,
    plain_lines,
    told_files,
)
from sidecar.core.ledger.units import Item, Unit
from sidecar.core.parts import PartId
from sidecar.core.plans.outcomes import Upshot, failures_in, short
from sidecar.core.plans.plan import REWRITE_ID, Change, Room, UnitsShown
from sidecar.core.plans.standing_rules import standing_rules
from sidecar.core.plans.told_failures import (
    FAILED,
    OPEN,
    REFUSED,
    failure_lines,
    first_line,
    lessons,
)
from sidecar.core.plans.typed_text import brief, request_lines
from sidecar.core.prompt.tokens import tokens_of
from sidecar.core.prompt.visibility import Dropped
from sidecar.core.sights.spelling import changes_of

ASKED = "Asked by the user, oldest first:"
DIRECTIVE, BRIEF = 800, 400
"""Characters of a typed message that is told whole; bytes that are told of a longer one."""
CAME_TO = "What edits came to, newest first, as it stands unless a command changed it:"
ALIKE = 60
"""Characters of a hunk from which on one that is alike is told in a word."""
FILE = 60
"""Lines of a file's hunks, each of which is told whole or counted."""
MOST_COUNTED = 4
"""Files of which no hunk is told that are named with the lines of theirs."""
OVERTAKEN = 1
"""Turns after which a list in progress is of work that was left."""
LONG_AGO = 30
"""Requests after which a list may be behind the work: the list's age is told."""
THREAD = 100
"""Characters of a text's first line."""
_MARKS: dict[TodoProgress, str] = {"in_progress": "[~]", "planned": "[ ]", "done": "[x]"}


@dataclass(frozen=True, slots=True)
class Aftermath:
    """A log once a plan is carried out. `learnt`: by failed call, the text with its lesson."""

    shown: UnitsShown
    retired: Collection[PartId]
    upshot: Upshot
    learnt: Mapping[PartId, Unit]


def aftermath(
    items: Iterable[Item],
    changes: Iterable[Change],
    retired: Collection[PartId],
    upshot: Upshot | None = None,
) -> Aftermath:
    after = {change.part_id: change.shown for change in changes}
    shown = [(item.unit, after.get(item.unit.part_id, item.shown)) for item in items]
    upshot = upshot or failures_in([unit for unit, _ in shown])
    return Aftermath(shown, retired, upshot, lessons(shown, upshot.failures))


def write_note(
    after: Aftermath,
    *,
    head: str,
    first: int = 0,
    room: Room | None = None,
    files: str = "",
    passages: str = "",
    root: str = "",
) -> str:
    """Writes the note on parts left out.

    Tells texts, subtasks and commands from index `first` on, as a standing note tells earlier ones.
    `files`: shown beside; `passages`: told in their places; `root`: the workspace's folder.
    """
    room, shown = room or Room(), after.shown
    stays = [u.text for u, _ in shown if u.kind == "ledger" and u.part_id not in after.retired]
    hidden = {u.part_id for u, how in shown if isinstance(how, Dropped)}
    gone = [unit for unit, _ in shown[first:] if unit.part_id in hidden]
    units = [unit for unit, _ in shown if unit.kind == "call"]
    told = told_files(stays)
    turn = max((unit.turn for unit, _ in shown), default=0)
    sections = [
        head,
        *(request_lines([unit for unit, _ in shown]) if room.story else ()),
        *_todo(units, hidden, stays, room.todo, turn - OVERTAKEN),
        *_asked(shown, stays, room.asked),
        *standing_rules(shown, room.rules, passages),
        *file_lines(net_files((deeds for _, deeds in changes_of(units, root)), told), told),
        *_failures(after, stays, room),
        *_subtasks(shown, gone, room.subtasks, turn),
        *_worked(gone, room.commands),
        *_said(gone, room.prose),
        *_hunks(after, hidden, room.hunks, files, root),
    ]
    return "\n".join([head, *map(unlike_an_id, sections[1:])])


def unlike_an_id(text: str) -> str:
    """Breaks up `REWRITE_ID` in quotes, which must not pass for the id."""
    return text.replace(REWRITE_ID, f"{REWRITE_ID[:-1]} {REWRITE_ID[-1]}")


def _asked(shown: UnitsShown, stays: Sequence[str], room: int) -> Iterator[str]:
    told = "\n".join(stays)
    gone = [unit for unit, how in shown if unit.kind == "typed" and isinstance(how, Dropped)]
    lines = [f"- {text}" for text in dict.fromkeys(map(directive, gone)) if text]
    kept = list(_within((line for line in reversed(lines) if line not in told), room))[::-1]
    if kept:
        yield "\n".join((ASKED, *kept))


def directive(unit: Unit) -> str:
    """Gives a typed message, a long one by first words and rules, a file by name."""
    if unit.attached:
        return f"attached {unit.attached} (recall {unit.part_id})"
    text = unit.text.strip()
    if len(text) > DIRECTIVE:
        text = f"{brief(unit, BRIEF)} ⋯ (recall {unit.part_id})"
    return text.replace("\n", "\n  ")


def _failures(after: Aftermath, stays: Sequence[str], room: Room) -> Iterator[str]:
    told = {line for text in stays for line in text.splitlines()}
    most = 0 if room.story else room.quoted
    every = failure_lines(after.shown, after.upshot, after.learnt, most)
    lines = [(title, line) for title, line in every if line not in told]
    if room.failures is not None:
        kept = set(_within((line for _, line in reversed(lines)), room.failures))
        lines = [(title, line) for title, line in lines if line in kept]
    for title in (FAILED, OPEN, REFUSED):
        if mine := [line for under, line in lines if under is title]:
            yield "\n".join((title, *mine))


def _hunks(
    after: Aftermath, hidden: Set[PartId], room: int, files: str, root: str
) -> Iterator[str]:
    """Gives net changes of edits out of view, last changed file first, without lines in view."""
    stands: set[str] | None = None
    lines: list[str] = []
    alike: dict[str, str] = {}
    large: list[str] = []
    for path, hunks in reversed(after.upshot.net.items()):
        mine: list[str] = []
        once: set[tuple[str, ...]] = set()
        left: list[tuple[Sequence[str], PartId]] = []
        for hunk in reversed(hunks):
            if hidden.isdisjoint(hunk.part_ids):
                continue
            if stands is None:
                stands = _lines_below(after.shown, files)
            diff = diff_lines(hunk, stands)
            place = [line for line in diff if line.startswith("@@ ")]
            differ = "\n".join(diff[len(place) :])
            if tuple(diff) in once:
                continue
            once.add(tuple(diff))
            if differ in alike:
                diff = [*place, f"= as in {alike[differ]}"]
            if diff and mine and not place:
                # Where nothing tells the place, it would pass for more of the hunk above.
                diff = ["@@", *diff]
            size = sum(tokens_of(line) - 6 for line in diff)
            if size <= room and len(mine) + len(diff) <= FILE:
                room -= size
                mine += diff
                if len(differ) >= ALIKE:
                    alike.setdefault(differ, " ".join((short(path), *place)))
            else:
                left.append((diff[len(place) :], hunk.part_ids[-1]))
        if mine:
            inside = path.removeprefix(f"{root}/") if root else path
            lines += [f"{inside}:", *mine, *_edits(left, more=" more")]
        else:
            large += _edits(left, f"{short(path)}: ")
    lines += large[:MOST_COUNTED]
    if lines:
        yield "\n".join((CAME_TO, *lines))


def _edits(
    left: Sequence[tuple[Sequence[str], PartId]], where: str = "", more: str = ""
) -> Iterator[str]:
    if left:
        signs = [line[:1] for diff, _ in left for line in diff]
        sizes = " ".join(f"{sign}{n}" for sign in "+-" if (n := signs.count(sign)))
        count = f"{len(left)}{more} edit{'s' * (len(left) > 1)}"
        yield f"⋯ {where}{count}, {sizes} lines; recall {left[0][1]}"


def _lines_below(shown: UnitsShown, files: str) -> set[str]:
    texts = [files]
    for unit, how in shown:
        if how is None and unit.kind == "call":
            texts += [unit.text, unit.call]
    return plain_lines(texts)


def _todo(
    units: Sequence[Unit], hidden: Collection[PartId], stays: Iterable[str], room: int, turn: int
) -> Iterator[str]:
    """Gives the newest to-do list, unless in view, done, or in progress since before `turn`."""
    listed: Mapping[str, tuple[str, TodoProgress]] = {}
    lost = False
    at = step = 0
    for unit in units:
        for deed in unit.deeds:
            found = list_after(listed, deed)
            if found is not None:
                lost = unit.part_id in hidden or (lost and not isinstance(deed, ListedTodo))
                listed, at, step = found, unit.turn, unit.step
    progress = {how for _, how in listed.values()}
    if not lost or progress <= {"done"} or ("in_progress" in progress and at < turn):
        return
    order = list(_MARKS)
    lines = [
        f"- {_MARKS[progress]} {one_line(content)}"
        for content, progress in sorted(listed.values(), key=lambda item: order.index(item[1]))
    ]
    ago = units[-1].step - step
    title = "To do:" if ago < LONG_AGO else f"To do, as listed {ago} requests before the newest:"
    section = "\n".join((title, *_within(lines, room)))
    if not any(section in text for text in stays):
        yield section


def _subtasks(shown: UnitsShown, gone: Iterable[Unit], room: int, turn: int) -> Iterator[str]:
    """Tells outcomes of subtasks; without room, in brief and if begun in `turn` or later.

    An unfinished one is told only if still running or begun then.
    """
    found = [(unit, deed) for unit in gone for deed in unit.deeds if isinstance(deed, Delegated)]
    news = [(unit, task_end(unit.text)) for unit, _ in shown if found and unit.kind == "context"]
    ends = {end.task_id: (unit.part_id, end) for unit, end in news if end}
    running: list[str] = []
    ended: list[tuple[str, str, str, bool]] = []
    places = {unit.part_id: n for n, (unit, _) in enumerate(shown)} if found else {}
    changed = _last_changes(shown) if found else {}
    for unit, deed in reversed(found):
        now, begun = unit.turn >= turn, deed.status == "running" or deed.result == IN_BACKGROUND
        told = next((ends[one] for one in ends if begun and one in unit.text), None)
        if begun and not told and deed.status == "running":
            running.insert(0, f"- {deed.task} (still running)")
        elif not begun or told or now:
            came = _report(told[1]) if told else deed.result
            said = told[0] if told else unit.part_id
            later = [name for name, n in changed.items() if n >= places[said] and name in came]
            where = f"{_outdated(came, later)} (recall {said})"
            ended.append((f"- {deed.task} → ", came, where, now))
    whole = list(_within((f"{task}{came}{where}" for task, came, where, _ in ended), room))
    rest = (f"{t}{one_line(came, THREAD)}{w}" for t, came, w, now in ended[len(whole) :] if now)
    if lines := [*running, *whole, *_within(rest, room)]:
        yield "\n".join(("Subtasks:", *lines))


def _last_changes(shown: UnitsShown) -> dict[str, int]:
    deeds = ((n, deed) for n, (unit, _) in enumerate(shown) for deed in unit.changed)
    return {deed.path.replace("\\", "/").rpartition("/")[2]: n for n, deed in deeds}


def _outdated(came: str, later: Iterable[str]) -> str:
    named = [name for name in later if re.search(rf"(?<![\w.-]){re.escape(name)}(?![\w-])", came)]
    return f" [as of then: {', '.join(named)} changed since]" if named else ""


def _report(end: TaskEnd) -> str:
    how = "" if end.status == "completed" else end.status
    return f"{how} {finding(end.report)}".strip() or "ended"


def _worked(gone: Sequence[Unit], room: int) -> Iterator[str]:
    ran = (u.argument for u in reversed(gone) if u.tool.lower() in SHELLS and not u.failed)
    commands = list(_within(dict.fromkeys(ran), room))
    if commands:
        yield "\n".join(("Worked:", *(f"- {command}" for command in commands)))


def _said(gone: Sequence[Unit], room: int) -> Iterator[str]:
    said = (
        thread
        for u in reversed(gone)
        if u.kind == "prose" and (thread := first_line(u.text, THREAD))
    )
    kept = list(_within(said, room))[::-1]
    if kept:
        yield "\n".join(("Said:", *(f"- {line}" for line in kept)))


def _within(items: Iterable[str], room: int) -> Iterator[str]:
    left = room
    for item in items:
        size = tokens_of(item) - 6
        if size > left:
            return
        left -= size
        yield item
