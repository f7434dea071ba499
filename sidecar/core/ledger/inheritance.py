"""Merges ledgers of work continued in another session."""

from dataclasses import replace

from sidecar.core.ledger.attempts import attempt
from sidecar.core.ledger.ledger import File, Ledger, Todo, joined


def merged(earlier: Ledger, later: Ledger) -> Ledger:
    """The later goal becomes a directive."""
    if earlier.goal is None:
        directives, goal = later.directives, later.goal
    else:
        goal = earlier.goal
        said = () if later.goal is None else (later.goal, *later.directives)
        directives = (*earlier.directives, *said)
    files = {file.path: file for file in earlier.files}
    for file in later.files:
        before = files.pop(file.path, None)
        files[file.path] = file if before is None else _after(before, file)
    commands = {command.command: command for command in earlier.commands}
    for command in later.commands:
        commands.pop(command.command, None)
        commands[command.command] = command
    done = _went_through(later)
    failed = [f for f in earlier.failures if attempt(f.tool, f.tried) not in done]
    failures = {(f.tool, f.tried, f.error): f for f in (*later.failures, *failed)}
    ordered = (*failed, *later.failures)
    kept = {id(failure) for failure in failures.values()}
    return Ledger(
        goal,
        directives,
        tuple(files.values()),
        tuple(commands.values()),
        tuple(failure for failure in ordered if id(failure) in kept),
        earlier.todo if later.todo == Todo() else later.todo,
        (*earlier.subtasks, *later.subtasks),
    )


def current(ledger: Ledger) -> str:
    """Gives the task in progress, else the first planned, else ""."""
    running = (task.task for task in ledger.subtasks if task.status == "running")
    todo = ledger.todo
    return next(iter((*todo.in_progress, *running, *todo.planned)), "")


def _went_through(later: Ledger) -> set[str]:
    commands = (c.command for c in later.commands if not c.error and not c.exit)
    found = {attempt("shell", command) for command in commands}
    found |= {attempt("edit", file.path) for file in later.changed}
    found |= {attempt("read", file.path) for file in later.files if file.read}
    return found - {""}


def _after(before: File, later: File) -> File:
    operations = tuple(dict.fromkeys((*before.operations, *later.operations)))
    if later.state == "deleted":
        return replace(later, operations=operations)
    if later.state == "read":
        if before.state == "deleted":
            # Somebody else has restored the file.
            return replace(later, operations=operations)
        state, edited = before.state, before.edited
    else:
        state = "created" if before.state == "created" else "edited"
        edited = joined((*before.edited, *later.edited))
    return replace(
        later,
        state=state,
        operations=operations,
        read=joined((*before.read, *later.read)),
        edited=edited,
        hash=later.hash or (before.hash if later.state == "read" else ""),
    )
