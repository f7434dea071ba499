"""The ledger in words: bounded, most important first."""

from collections.abc import Collection, Iterable, Iterator, Sequence

from sidecar.core.conversation.call_outcome import one_line
from sidecar.core.ledger.deeds import LineSpans
from sidecar.core.ledger.ledger import Failure, File, Ledger, Todo
from sidecar.core.ledger.net_changes import MOST_NAMED, by_folder
from sidecar.core.prompt.tokens import tokens_of

DIRECTIVE = 400
"""Characters of a directive that is neither the first nor the newest."""
OPEN_SHARE = 2
"""An optional section takes at most this fraction of what is left, so that others have some."""


def render(ledger: Ledger, most: int) -> str:
    """Writes the ledger within `most` tokens.

    Goal, newest directive, failures and newest changed files stay even beyond.
    """
    sections = list(_needed(ledger))
    left = most - sum(tokens_of(section) for section in sections)
    for title, lines in _optional(ledger):
        kept = list(within(lines, left // OPEN_SHARE - tokens_of(title)))
        if kept:
            sections.append("\n".join((title, *kept)))
            left -= tokens_of(sections[-1])
    return "\n\n".join(sections)


def failure_line(failure: Failure) -> str:
    return f"{failure.tool} {failure.tried} → {failure.error}"


def file_line(file: File) -> str:
    lines = file.edited if file.changed else file.read
    where = f" lines {spans(lines)}" if lines else ""
    return f"{file.path} ({file.state}{where})"


def changed_lines(ledger: Ledger, told: Collection[str] = ()) -> Iterator[str]:
    files = [file for file in reversed(ledger.changed) if file.path not in told]
    yield from map(file_line, files[:MOST_NAMED])
    if more := [file.path for file in files[MOST_NAMED:]]:
        yield f"and {len(more)} more{by_folder(more)}"


def spans(lines: LineSpans) -> str:
    """Writes ranges as `1-20, 35`."""
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in lines)


def todo_lines(todo: Todo) -> Iterator[str]:
    yield from (f"[~] {item}" for item in todo.in_progress)
    yield from (f"[ ] {item}" for item in todo.planned)
    yield from (f"[x] {item}" for item in todo.done)


def within(lines: Iterable[str], room: int) -> Iterator[str]:
    left = room
    for line in lines:
        left -= tokens_of(line) - 6
        if left < 0:
            return
        yield line


def _needed(ledger: Ledger) -> Iterator[str]:
    if ledger.goal is not None:
        yield f"Goal, as the user typed it:\n{ledger.goal.text}"
    if ledger.directives:
        yield f"Newest directive:\n{ledger.directives[-1].text}"
    for title, is_refused in (("Failed, do not repeat:", False), ("Refused by the user:", True)):
        mine = [one for one in ledger.failures if one.refused is is_refused]
        if mine:
            yield "\n".join((title, *(f"- {failure_line(failure)}" for failure in mine)))
    if ledger.changed:
        yield "\n".join(("Changed:", *(f"- {line}" for line in changed_lines(ledger))))


def _optional(ledger: Ledger) -> Iterator[tuple[str, Sequence[str]]]:
    yield "To do:", [f"- {one_line(line)}" for line in todo_lines(ledger.todo)]
    order = sorted(ledger.subtasks, key=lambda one: one.status != "running")
    subtasks = [one_line(f"- {one.task} ({one.status}) {one.result}", DIRECTIVE) for one in order]
    yield "Subtasks:", subtasks
    earlier = [f"- {one_line(said.text, DIRECTIVE)}" for said in reversed(ledger.directives[:-1])]
    yield "Earlier directives, newest first:", earlier
    worked = [f"- {c.command}" for c in reversed(ledger.commands) if not c.error and not c.exit]
    yield "Commands that worked, newest first:", worked
    read = [f"- {file_line(file)}" for file in reversed(ledger.files) if file.state == "read"]
    yield "Read, newest first:", read
