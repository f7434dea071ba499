"""A rewrite's note, written by code from the log, so nothing is invented."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sidecar.core.conversation.call_outcome import LONGEST, error_line, one_line
from sidecar.core.ledger.deeds import (
    SHELLS,
    Delegated,
    ListedTodo,
    TodoProgress,
    changed,
    list_after,
)
from sidecar.core.ledger.units import Item, Unit
from sidecar.core.parts import PartId
from sidecar.core.plans.plan import REWRITE_ID, Change
from sidecar.core.plans.typed_text import brief
from sidecar.core.prompt.tokens import tokens_of
from sidecar.core.prompt.visibility import Dropped, Excerpt, Quoted, Shown, Truncated, shorten

ASKED = "Asked by the user, oldest first:"
DIRECTIVE, BRIEF = 800, 400
"""Characters of a typed message that is told whole; bytes that are told of a longer one."""
FAILED, CHANGED, DELETED = "Failed, do not repeat:", "Changed: ", "Deleted: "
QUOTED = 60
"""Characters of an error line that must be left of a shortened result, or the note tells it."""
_MARKS: dict[TodoProgress, str] = {"in_progress": "[~]", "planned": "[ ]", "done": "[x]"}


@dataclass(frozen=True, slots=True)
class Room:
    """Tokens per section; changed files have no limit, failures usually none.

    `quoted`: characters for an attempt, and for its error.
    """

    asked: int = 1_500
    commands: int = 200
    names: int = 4_000
    prose: int = 700
    todo: int = 500
    subtasks: int = 200
    failures: int | None = None
    quoted: int = LONGEST


def write_note(
    items: Sequence[Item],
    changes: Iterable[Change],
    retired: Collection[PartId],
    *,
    head: str,
    first: int = 0,
    names: Sequence[str] = (),
    room: Room | None = None,
) -> str:
    """Write the note for a plan's changes; `names` likeliest first.

    Thread, subtasks and commands start at index `first`: a note that stays tells earlier ones.
    """
    room = room or Room()
    after: dict[PartId, Shown | None] = {change.part_id: change.shown for change in changes}
    shown = [(item.unit, after.get(item.unit.part_id, item.shown)) for item in items]
    stays = [u.text for u, _ in shown if u.kind == "ledger" and u.part_id not in retired]
    hidden = {u.part_id for u, how in shown if isinstance(how, Dropped)}
    gone = [unit for unit, _ in shown[first:] if unit.part_id in hidden]
    units = [unit for unit, _ in shown if unit.kind == "call"]
    sections = [
        head,
        *_asked(shown, stays, room.asked),
        *_failures(shown, stays, room),
        *_files(units, stays),
        *_todo(units, hidden, stays, room.todo),
        *_subtasks(gone, room.subtasks),
        *_worked(gone, room.commands),
        *_said(gone, room.prose),
        *_names(names, room.names),
    ]
    return "\n".join([head, *map(unlike_an_id, sections[1:])])


def unlike_an_id(text: str) -> str:
    """Break up `REWRITE_ID` in quotes, lest one pass for the id."""
    return text.replace(REWRITE_ID, f"{REWRITE_ID[:-1]} {REWRITE_ID[-1]}")


def failure_line(unit: Unit, most: int = LONGEST) -> str:
    """An attempt and its error, `most` characters each."""
    tried, error = one_line(unit.argument, most), one_line(error_line(unit.text), most)
    return f"- {unit.tool} {tried} → {error}"


def _asked(
    shown: Sequence[tuple[Unit, Shown | None]], stays: Sequence[str], room: int
) -> Iterator[str]:
    told = "\n".join(stays)
    gone = [unit for unit, how in shown if unit.kind == "typed" and isinstance(how, Dropped)]
    lines = [f"- {text}" for text in dict.fromkeys(map(_directive, gone)) if text]
    kept = list(_within((line for line in reversed(lines) if line not in told), room))[::-1]
    if kept:
        yield "\n".join((ASKED, *kept))


def _directive(unit: Unit) -> str:
    text = unit.text.strip()
    if len(text) > DIRECTIVE:
        text = f"{brief(unit, BRIEF)} […] (recall {unit.part_id})"
    return text.replace("\n", "\n  ")


def _failures(
    shown: Sequence[tuple[Unit, Shown | None]], stays: Sequence[str], room: Room
) -> Iterator[str]:
    told = {line for text in stays for line in text.splitlines()}
    lost = (unit for unit, how in shown if unit.kind == "call" and unit.failed and _lost(unit, how))
    every = dict.fromkeys(failure_line(unit, room.quoted) for unit in lost)
    lines = [line for line in every if line not in told]
    if room.failures is not None:
        lines = list(_within(reversed(lines), room.failures))[::-1]
    if lines:
        yield "\n".join((FAILED, *lines))


def _lost(unit: Unit, how: Shown | None) -> bool:
    """Whether a failed call's error is out of view; a placeholder tells it."""
    match how:
        case Dropped():
            return True
        case Truncated() | Excerpt() | Quoted():
            left = shorten(unit.text, how, unit.part_id)
            return error_line(unit.text)[:QUOTED] not in one_line(left, len(left))
        case _:
            return False


def _files(units: Iterable[Unit], stays: Iterable[str]) -> Iterator[str]:
    told: dict[str, str] = {}
    for line in (line for text in stays for line in text.splitlines()):
        for title in (CHANGED, DELETED):
            if line.startswith(title):
                told.update(dict.fromkeys(line.removeprefix(title).split(", "), title))
    now: dict[str, str] = {}
    scratch: set[str] = set()
    for unit in units:
        for deed in changed(unit.deeds):
            before = now.pop(deed.path, None)
            if before is None and deed.operation == "created":
                scratch.add(deed.path)
            if unit.tool.lower() not in SHELLS:
                scratch.discard(deed.path)
            if deed.operation != "deleted":
                now[deed.path] = CHANGED
            elif deed.path not in scratch or deed.path in told:
                # A file made by a command and deleted again leaves nothing to tell.
                now[deed.path] = DELETED
    for title in (CHANGED, DELETED):
        paths = [path for path in reversed(now) if now[path] == title]
        inside = _inside(paths)
        paths = [path for path in paths if title != told.get(path) and path not in inside]
        if paths:
            yield title + ", ".join(paths)


def _inside(paths: Sequence[str]) -> frozenset[str]:
    """Relative paths that an absolute one ends in."""
    tails: dict[str, list[str]] = {}
    for path in paths:
        if path[:1] in "/~":
            tails.setdefault(path.rpartition("/")[2], []).append(path)
    return frozenset(
        path
        for path in paths
        if path[:1] not in "/~"
        and any(whole.endswith(f"/{path}") for whole in tails.get(path.rpartition("/")[2], ()))
    )


def _todo(
    units: Iterable[Unit], hidden: Collection[PartId], stays: Iterable[str], room: int
) -> Iterator[str]:
    listed: Mapping[str, tuple[str, TodoProgress]] = {}
    lost = False
    for unit in units:
        for deed in unit.deeds:
            found = list_after(listed, deed)
            if found is not None:
                lost = unit.part_id in hidden or (lost and not isinstance(deed, ListedTodo))
                listed = found
    order = list(_MARKS)
    lines = [
        f"- {_MARKS[progress]} {one_line(content)}"
        for content, progress in sorted(listed.values(), key=lambda item: order.index(item[1]))
    ]
    section = "\n".join(("To do:", *_within(lines, room)))
    if lost and lines and not any(section in text for text in stays):
        yield section


def _subtasks(gone: Iterable[Unit], room: int) -> Iterator[str]:
    found = [deed for unit in gone for deed in unit.deeds if isinstance(deed, Delegated)]
    lines = [f"- {deed.task} (still running)" for deed in found if deed.status == "running"]
    ended = [deed for deed in reversed(found) if deed.status != "running"]
    lines += _within((f"- {deed.task} → {deed.result}" for deed in ended), room)
    if lines:
        yield "\n".join(("Subtasks:", *lines))


def _worked(gone: Sequence[Unit], room: int) -> Iterator[str]:
    ran = (u.argument for u in reversed(gone) if u.tool.lower() in SHELLS and not u.failed)
    commands = list(_within(dict.fromkeys(ran), room))
    if commands:
        yield "\n".join(("Worked:", *(f"- {command}" for command in commands)))


def _said(gone: Sequence[Unit], room: int) -> Iterator[str]:
    said = (thread for u in reversed(gone) if u.kind == "prose" and (thread := _thread(u.text)))
    kept = list(_within(said, room))[::-1]
    if kept:
        yield "\n".join(("Said:", *(f"- {line}" for line in kept)))


def _names(names: Sequence[str], room: int) -> Iterator[str]:
    kept = list(_within(names, room))
    if kept:
        yield "Seen: " + " · ".join(kept)


def _thread(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return one_line(line, 100) if len(text) >= 40 else ""


def _within(items: Iterable[str], room: int) -> Iterator[str]:
    left = room
    for item in items:
        size = tokens_of(item) - 6
        if size > left:
            return
        left -= size
        yield item
