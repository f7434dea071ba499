"""The ledger: requests, files, attempts and plans, from a session's log."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace

from sidecar.core.conversation.call_outcome import (
    BY_THE_USER,
    argument,
    error_of,
    exit_code,
    failed,
    one_line,
    status,
)
from sidecar.core.conversation.turns import REFUSED
from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.attempts import achieved, attempt_of, is_overcome, needs, still_missing
from sidecar.core.ledger.deeds import (
    Delegated,
    Entered,
    LineSpans,
    ListedTodo,
    MovedTodo,
    Operation,
    RanCommand,
    TodoProgress,
    TouchedFile,
    deeds_of,
    list_after,
)
from sidecar.core.parts import (
    Message,
    MessageId,
    PartId,
    SubtaskPart,
    TextPart,
    ToolPart,
    ToolPending,
    ToolRunning,
    TurnId,
)

TYPED = ("typed", "steer")
MOST_RANGES = 20
"""Ranges of lines that are kept of one file, the last ones."""


@dataclass(frozen=True, slots=True)
class Said:
    """A typed message, verbatim."""

    text: str
    turn_id: TurnId
    message_id: MessageId


@dataclass(frozen=True, slots=True)
class File:
    """A file's history; `state`: the outcome, `turn_id`: the last turn.

    `read` and `edited`: line numbers of that time. `hash`: content last read or left, `""` if
    unknown.
    """

    path: str
    state: Operation
    operations: tuple[Operation, ...]
    turn_id: TurnId
    read: LineSpans = ()
    edited: LineSpans = ()
    hash: str = ""

    @property
    def changed(self) -> bool:
        gone = self.state == "deleted" and self.operations[0] == "created"
        return self.state != "read" and not gone


@dataclass(frozen=True, slots=True)
class Command:
    """A shell command's last run; `exit` is `None` if unknown."""

    command: str
    exit: int | None
    error: str
    turn_id: TurnId
    part_id: PartId


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed attempt, not overcome later, and its error line."""

    tool: str
    tried: str
    error: str
    turn_id: TurnId
    part_id: PartId

    @property
    def refused(self) -> bool:
        return self.error.startswith((BY_THE_USER, REFUSED))


@dataclass(frozen=True, slots=True)
class Todo:
    """To-dos, in list order."""

    planned: tuple[str, ...] = ()
    in_progress: tuple[str, ...] = ()
    done: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LedgerSubtask:
    """A subtask; `status` is running, done or failed."""

    task: str
    status: str
    result: str
    turn_id: TurnId
    part_id: PartId


@dataclass(frozen=True, slots=True)
class Ledger:
    """What a session came to; lists are oldest first, files by last touch."""

    goal: Said | None = None
    directives: tuple[Said, ...] = ()
    files: tuple[File, ...] = ()
    commands: tuple[Command, ...] = ()
    failures: tuple[Failure, ...] = ()
    todo: Todo = field(default_factory=Todo)
    subtasks: tuple[LedgerSubtask, ...] = ()

    @property
    def changed(self) -> tuple[File, ...]:
        return tuple(file for file in self.files if file.changed)


def read_ledger(messages: Iterable[Message]) -> Ledger:
    folding = Folding()
    for message in messages:
        folding.hear(message)
    return folding.ledger()


@dataclass(frozen=True, slots=True)
class OpenAttempt:
    """A failed attempt, and its still unsuccessful steps."""

    same: str
    missing: frozenset[str]


class Folding:
    """A ledger that grows by message; `changes` counts changes of files."""

    def __init__(self) -> None:
        self.changes = 0
        self._said: list[Said] = []
        self._files: dict[str, File] = {}
        self._commands: dict[str, Command] = {}
        self._failures: dict[tuple[str, str, str], Failure] = {}
        self._open: dict[PartId, OpenAttempt] = {}
        self._todo: Mapping[str, tuple[str, TodoProgress]] = {}
        self._subtasks: dict[PartId, LedgerSubtask] = {}

    @classmethod
    def resumed(
        cls,
        ledger: Ledger,
        todo: Mapping[str, tuple[str, TodoProgress]],
        failed: Mapping[PartId, OpenAttempt],
        changes: int,
    ) -> "Folding":
        folding = cls()
        folding.changes = changes
        goal = () if ledger.goal is None else (ledger.goal,)
        folding._said = [*goal, *ledger.directives]
        folding._files = {file.path: file for file in ledger.files}
        folding._commands = {command.command: command for command in ledger.commands}
        folding._failures = {(f.tool, f.tried, f.error): f for f in ledger.failures}
        folding._open = dict(failed)
        folding._todo = todo
        folding._subtasks = {task.part_id: task for task in ledger.subtasks}
        return folding

    @property
    def todo(self) -> Mapping[str, tuple[str, TodoProgress]]:
        return self._todo

    @property
    def failed(self) -> Mapping[PartId, OpenAttempt]:
        return self._open

    def hear(self, message: Message) -> None:
        if message.status == "discarded":
            return
        if message.role == "user":
            texts = [p.text for p in message.parts if isinstance(p, TextPart) and p.source in TYPED]
            text = "\n\n".join(text for text in texts if text.strip())
            if text:
                self._said.append(Said(text, message.turn_id, message.id))
        for part in message.parts:
            if isinstance(part, ToolPart):
                self._call(part, message.turn_id)
            elif isinstance(part, SubtaskPart):
                line = _first_line(part.result)
                stands = "done" if line else "running"
                task = LedgerSubtask(one_line(part.task), stands, line, message.turn_id, part.id)
                self._subtasks[part.id] = task

    def _call(self, part: ToolPart, turn: TurnId) -> None:
        deeds = deeds_of(part)
        if not isinstance(part.state, ToolPending | ToolRunning) and failed(part):
            self._fail(part, turn)
        elif self._failures and status(part) == "ok":
            self._overcome(achieved(part, deeds))
        for deed in deeds:
            match deed:
                case TouchedFile():
                    self._touch(deed, turn)
                case RanCommand(command=command):
                    bad = failed(part)
                    line = error_of(part) if bad else ""
                    self._commands.pop(command, None)
                    ran = Command(command, exit_code(part), line, turn, part.id)
                    self._commands[command] = ran
                case Delegated(task=task, status=stands, result=result):
                    self._subtasks[part.id] = LedgerSubtask(task, stands, result, turn, part.id)
                case ListedTodo() | Entered() | MovedTodo():
                    after = list_after(self._todo, deed)
                    self._todo = self._todo if after is None else after

    def _fail(self, part: ToolPart, turn: TurnId) -> None:
        same, missing = attempt_of(part), needs(part)
        for key, failure in list(self._failures.items()):
            before = self._open[failure.part_id]
            if same and same == before.same and same not in before.missing:
                del self._failures[key], self._open[failure.part_id]
        if missing:
            tried, error = argument(part.input), error_of(part)
            failure = Failure(part.name, tried, error, turn, part.id)
            failure = self._failures.setdefault((part.name, tried, error), failure)
            self._open[failure.part_id] = OpenAttempt(same, missing)

    def _overcome(self, done: frozenset[str]) -> None:
        for key, failure in list(self._failures.items()):
            before = self._open[failure.part_id]
            if is_overcome(before.same, before.missing, done):
                del self._failures[key], self._open[failure.part_id]
            else:
                left = still_missing(before.missing, done)
                self._open[failure.part_id] = OpenAttempt(before.same, left)

    def _touch(self, deed: TouchedFile, turn: TurnId) -> None:
        self.changes += deed.operation != "read"
        before = self._files.pop(deed.path, None)
        if before is None:
            before = File(deed.path, deed.operation, (), turn)
        operations = tuple(dict.fromkeys((*before.operations, deed.operation)))
        file = replace(before, operations=operations, turn_id=turn)
        match deed.operation:
            case "read":
                lines = joined((*before.read, *deed.lines))
                self._files[deed.path] = replace(file, read=lines, hash=deed.hash or before.hash)
            case "created" | "edited" as operation:
                lines = joined((*before.edited, *deed.lines))
                state = _after_change(before, operation)
                self._files[deed.path] = replace(file, state=state, edited=lines, hash=deed.hash)
            case "deleted":
                self._files[deed.path] = replace(file, state="deleted", read=(), edited=(), hash="")

    def ledger(self) -> Ledger:
        said = tuple(self._said)
        items = self._todo.values()
        todo = Todo(*(tuple(c for c, p in items if p == which) for which in _PROGRESS))
        return Ledger(
            said[0] if said else None,
            said[1:],
            tuple(self._files.values()),
            tuple(self._commands.values()),
            tuple(self._failures.values()),
            todo,
            tuple(self._subtasks.values()),
        )


_PROGRESS: Sequence[TodoProgress] = ("planned", "in_progress", "done")


def _after_change(before: File, operation: Operation) -> Operation:
    if not before.operations:
        return operation
    if before.state == "read":
        return "edited"
    return "edited" if before.state == "deleted" else before.state


def joined(ranges: Iterable[tuple[int, int]]) -> LineSpans:
    """Merges touching ranges, and keeps the last `MOST_RANGES`."""
    whole: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if whole and first <= whole[-1][1] + 1:
            whole[-1] = (whole[-1][0], max(whole[-1][1], last))
        else:
            whole.append((first, last))
    return tuple(whole[-MOST_RANGES:])


def _first_line(text: str) -> str:
    return next((one_line(line) for line in text.splitlines() if line.strip()), "")
