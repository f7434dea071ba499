"""A session's ledger at some moment, as JSON and Markdown."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from typing import TypeVar, cast, get_args

from sidecar.core.conversation.fact import Fact, FactKind, Speaker
from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.deeds import LineSpans, Operation
from sidecar.core.ledger.ledger import Command, Failure, File, Ledger, LedgerSubtask, Said, Todo
from sidecar.core.ledger.wording import failure_line, file_line
from sidecar.core.parts import Json, JsonObject, MessageId, Millis, PartId, SessionId, TurnId
from sidecar.core.text.sentences import sentences

FORMAT = 1
"""The version of the JSON's shape."""
T = TypeVar("T")
MOST_CRITERIA = 12
"""Criteria, the newest of more."""
LONGEST_COMMAND = 200
"""Characters of a command that is quoted."""

_CRITERION = re.compile(
    r"\b(?:until|till|so that|make sure|ensure|verify that"
    r"|(?:done|finished|complete|ready|stop|successful) (?:when|once|as soon as|if)"
    r"|(?:must|should|has to|have to|needs? to) (?:still )?(?:pass|succeed|work|compile|build)"
    r"|(?:tests?|checks?|builds?|suite|linter|ci) (?:all |must |should |still )*"
    r"(?:pass|passes|succeeds?|(?:is|are|stays?) green)"
    r"|bis (?:alle?|die|der|das|es)|so ?dass|stelle? sicher|fertig,? (?:ist|wenn|sobald)"
    r"|(?:müssen|muss|sollen|soll) .{0,60}(?:bestehen|grün|durchlaufen|funktionieren))\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Milestone:
    """Ledger and facts at some moment.

    `state_version`: the log's revision; `branch`: of `cwd`, or empty; `why`: the occasion.
    """

    session_id: SessionId
    window_id: str
    state_version: int
    at: Millis
    ledger: Ledger
    facts: tuple[Fact, ...] = field(default_factory=tuple)
    cwd: str = ""
    branch: str = ""
    why: str = ""


def may_replace(stored: Milestone | None, coming: Milestone) -> bool:
    return stored is None or coming.state_version >= stored.state_version


def to_json(checkpoint: Milestone) -> JsonObject:
    ledger, todo = checkpoint.ledger, checkpoint.ledger.todo
    return {
        "format": FORMAT,
        "sessionId": checkpoint.session_id,
        "windowId": checkpoint.window_id,
        "stateVersion": checkpoint.state_version,
        "at": checkpoint.at,
        "why": checkpoint.why,
        "cwd": checkpoint.cwd,
        "branch": checkpoint.branch,
        "goal": None if ledger.goal is None else _said(ledger.goal),
        "directives": [_said(said) for said in ledger.directives],
        "in_progress": [*todo.in_progress],
        "planned": [*todo.planned],
        "done": [*todo.done],
        "subtasks": [
            {"task": s.task, "status": s.status, "result": s.result, **_place(s)}
            for s in ledger.subtasks
        ],
        "files": [_file(file) for file in ledger.files],
        "failures": [
            {"tool": f.tool, "tried": f.tried, "error": f.error, **_place(f)}
            for f in ledger.failures
        ],
        "commands": [
            {"command": c.command, "exit": c.exit, "error": c.error, **_place(c)}
            for c in ledger.commands
        ],
        "facts": [
            {"kind": f.kind, "content": f.content, "source": f.source, "at": f.at, "who": f.who}
            for f in checkpoint.facts
        ],
    }


def from_json(body: Json) -> Milestone:
    """Raises ValueError, saying where."""
    given = _object(body)
    if given.get("format") != FORMAT:
        raise ValueError(f"a checkpoint of format {given.get('format')!r}, not {FORMAT}")
    goal = given.get("goal")
    ledger = Ledger(
        None if goal is None else _read_said(_object(goal)),
        _each(given, "directives", _read_said),
        _each(given, "files", _read_file),
        _each(given, "commands", _read_command),
        _each(given, "failures", _read_failure),
        Todo(*(_texts(given, key) for key in ("planned", "in_progress", "done"))),
        _each(given, "subtasks", _read_subtask),
    )
    return Milestone(
        SessionId(_text(given, "sessionId")),
        _text(given, "windowId"),
        _number(given, "stateVersion"),
        _number(given, "at"),
        ledger,
        _each(given, "facts", _read_fact),
        _text(given, "cwd"),
        _text(given, "branch"),
        _text(given, "why"),
    )


def to_markdown(checkpoint: Milestone, when: str) -> str:
    """`when` is the milestone's time in words."""
    return "\n".join(_markdown(checkpoint, when)).rstrip() + "\n"


def _markdown(checkpoint: Milestone, when: str) -> Iterator[str]:
    ledger = checkpoint.ledger
    yield f"# Checkpoint of session {checkpoint.session_id}"
    yield ""
    yield f"State version {checkpoint.state_version} in window {checkpoint.window_id}, {when}."
    if checkpoint.cwd:
        branch = f", branch {checkpoint.branch}" if checkpoint.branch else ""
        yield f"Workspace {checkpoint.cwd}{branch}."
    yield ""
    if ledger.goal is not None:
        yield from ("## Goal", "", *_quoted(ledger.goal.text), "")
    if ledger.directives:
        yield from ("## Directives", "")
        for said in ledger.directives:
            yield from (*_quoted(said.text), "")
    todo = ledger.todo
    yield from _section("In progress", [f"[ ] {item}" for item in todo.in_progress])
    yield from _section("Planned", [f"[ ] {item}" for item in todo.planned])
    yield from _section("Done when", done_when(ledger))
    yield from _section("Done", [f"[x] {item}" for item in todo.done])
    subtasks = [f"{s.task} ({s.status}) {s.result}".rstrip() for s in ledger.subtasks]
    yield from _section("Subtasks", subtasks)
    yield from _section("Failed approaches", [failure_line(f) for f in ledger.failures])
    yield from _section("Changed files", [file_line(file) for file in ledger.changed])
    read = [file_line(file) for file in ledger.files if file.state == "read"]
    yield from _section("Read files", read)
    yield from _section("Commands", [_command_line(command) for command in ledger.commands])
    facts = [f"{fact.kind}: {fact.content} (turn {fact.source})" for fact in checkpoint.facts]
    yield from _section("Facts", facts)


def done_when(ledger: Ledger) -> tuple[str, ...]:
    """Gives criteria, oldest first; a command that failed last must succeed."""
    typed = (*(() if ledger.goal is None else (ledger.goal,)), *ledger.directives)
    said = dict.fromkeys(one for message in typed for one in _criteria(message.text))
    failing = (one for one in ledger.commands if one.exit)
    open_ = (
        f"`{one.command[:LONGEST_COMMAND]}` succeeds (last: exit {one.exit})" for one in failing
    )
    return (*[*said][-MOST_CRITERIA:], *[*open_][-MOST_CRITERIA:])


def _criteria(text: str) -> Iterator[str]:
    # Most typed texts have none, which is quickly seen.
    spans = (text[start:end] for start, end in sentences(text if _CRITERION.search(text) else ""))
    return (one for one in spans if _CRITERION.search(one))


def _section(title: str, lines: Sequence[str]) -> Iterator[str]:
    if lines:
        yield from (f"## {title}", "", *(f"- {' '.join(line.split())}" for line in lines), "")


def _quoted(text: str) -> list[str]:
    return [f"> {line}".rstrip() for line in text.splitlines()]


def _command_line(command: Command) -> str:
    how = "" if command.exit is None else f", exit {command.exit}"
    return f"{command.command}{how}{f': {command.error}' if command.error else ''}"


def _said(said: Said) -> JsonObject:
    return {"text": said.text, "turnId": said.turn_id, "messageId": said.message_id}


def _place(entry: LedgerSubtask | Failure | Command) -> JsonObject:
    return {"turnId": entry.turn_id, "partId": entry.part_id}


def _file(file: File) -> JsonObject:
    operations: list[Json] = [*file.operations]
    read: list[Json] = [[first, last] for first, last in file.read]
    edited: list[Json] = [[first, last] for first, last in file.edited]
    return {
        "path": file.path,
        "state": file.state,
        "operations": operations,
        "turnId": file.turn_id,
        "read": read,
        "edited": edited,
        "hash": file.hash or None,
    }


def _wrong(what: str, due: str, found: Json) -> ValueError:
    return ValueError(f"{what} of a checkpoint must be {due}, not {type(found).__name__}")


def _object(body: Json) -> JsonObject:
    if not isinstance(body, dict):
        raise _wrong("an entry", "an object", body)
    return body


def _text(given: JsonObject, key: str) -> str:
    found = given.get(key)
    if not isinstance(found, str):
        raise _wrong(f"`{key}`", "text", found)
    return found


def _number(given: JsonObject, key: str) -> int:
    found = given.get(key)
    if not isinstance(found, int) or isinstance(found, bool):
        raise _wrong(f"`{key}`", "a number", found)
    return found


def _list(given: JsonObject, key: str) -> list[Json]:
    found = given.get(key)
    if not isinstance(found, list):
        raise _wrong(f"`{key}`", "a list", found)
    return found


def _each(given: JsonObject, key: str, read: Callable[[JsonObject], T]) -> tuple[T, ...]:
    return tuple(read(_object(item)) for item in _list(given, key))


def _texts(given: JsonObject, key: str) -> tuple[str, ...]:
    return tuple(_text({key: item}, key) for item in _list(given, key))


def _chosen(given: JsonObject, key: str, among: tuple[str, ...]) -> str:
    found = _text(given, key)
    if found not in among:
        raise ValueError(f"`{key}` cannot be {found!r} in a checkpoint")
    return found


def _read_said(given: JsonObject) -> Said:
    turn, message = TurnId(_text(given, "turnId")), MessageId(_text(given, "messageId"))
    return Said(_text(given, "text"), turn, message)


def _ids(given: JsonObject) -> tuple[TurnId, PartId]:
    return TurnId(_text(given, "turnId")), PartId(_text(given, "partId"))


def _read_command(given: JsonObject) -> Command:
    code = None if given.get("exit") is None else _number(given, "exit")
    return Command(_text(given, "command"), code, _text(given, "error"), *_ids(given))


def _read_failure(given: JsonObject) -> Failure:
    tool, tried, error = (_text(given, key) for key in ("tool", "tried", "error"))
    return Failure(tool, tried, error, *_ids(given))


def _read_subtask(given: JsonObject) -> LedgerSubtask:
    task, status, result = (_text(given, key) for key in ("task", "status", "result"))
    return LedgerSubtask(task, status, result, *_ids(given))


def _read_file(given: JsonObject) -> File:
    known = get_args(Operation)
    operations = [_chosen({"state": item}, "state", known) for item in _list(given, "operations")]
    return File(
        _text(given, "path"),
        cast("Operation", _chosen(given, "state", known)),
        tuple(cast("list[Operation]", operations)),
        TurnId(_text(given, "turnId")),
        _lines(given, "read"),
        _lines(given, "edited"),
        "" if given.get("hash") is None else _text(given, "hash"),
    )


def _lines(given: JsonObject, key: str) -> LineSpans:
    ranges = []
    for item in _list(given, key):
        match item:
            case [int(first), int(last)]:
                ranges.append((first, last))
            case _:
                raise ValueError(f"`{key}` must hold pairs of lines in a checkpoint")
    return tuple(ranges)


def _read_fact(given: JsonObject) -> Fact:
    return Fact(
        cast("FactKind", _chosen(given, "kind", get_args(FactKind))),
        _text(given, "content"),
        TurnId(_text(given, "source")),
        _number(given, "at"),
        cast("Speaker", _chosen(given, "who", get_args(Speaker))),
    )
