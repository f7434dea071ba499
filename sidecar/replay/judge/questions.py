"""Makes questions about a recorded session, by code."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

from sidecar.core.conversation.call_outcome import one_line
from sidecar.core.conversation.turns import turns
from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.ledger import Failure, Ledger, read_ledger
from sidecar.core.ledger.units import Unit, units_of
from sidecar.core.ledger.wording import failure_line, file_line, todo_lines
from sidecar.core.parts import Message, TextPart
from sidecar.core.summaries.extractive import extract
from sidecar.core.summaries.sections import (
    CONSTRAINTS,
    DECISIONS,
    GOAL,
    IN_PROGRESS,
    KEY_FACTS,
    NEXT,
    Section,
    sections_of,
)

QuestionKind: TypeAlias = Literal[
    "goal", "constraints", "files", "failures", "commands", "decisions", "facts", "state", "next"
]

EVIDENCE = 2_000
"""Characters of evidence per question."""
SAID = 1_200
"""Tokens of an extract for decisions, facts and limits."""
LISTED = 40
"""Lines of evidence: files, failures, commands."""
BETWEEN = 300
"""Characters per typed message between first and last."""
COMMANDS = 6
"""Newest commands in the evidence."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question; `evidence` is quoted or derived from the log."""

    id: str
    kind: QuestionKind
    text: str
    evidence: str


def questions_of(messages: Iterable[Message]) -> tuple[Question, ...]:
    kept = [message for message in messages if message.status != "discarded"]
    ledger, said = read_ledger(kept), _said(kept)
    last = _last_words(kept)
    found = (*_asked(ledger, said), *_done(ledger), *_thought(ledger, said, last))
    return tuple(
        Question(f"q{number}", kind, text, bounded(evidence, EVIDENCE))
        for number, (kind, text, evidence) in enumerate(found, start=1)
    )


_Made: TypeAlias = tuple[QuestionKind, str, str]


def _asked(ledger: Ledger, said: Sequence[Section]) -> Iterator[_Made]:
    if ledger.goal is not None:
        yield "goal", "What did the user ask for at first, in detail?", ledger.goal.text
    if ledger.directives:
        newest = ledger.directives[-1].text
        yield "goal", "What did the user ask for last, in detail?", newest
    limits = _lines(said, CONSTRAINTS)
    if limits:
        text = "Which rules, limits and wishes of the user hold for the work?"
        yield "constraints", text, _listed(limits)
    elif len(ledger.directives) > 1:
        text = "What else did the user ask for or decide along the way?"
        between = [one_line(said.text, BETWEEN) for said in ledger.directives[:-1]]
        yield "constraints", text, _listed(between)


def _done(ledger: Ledger) -> Iterator[_Made]:
    changed = [file_line(file) for file in ledger.changed]
    text = "Which files were created, edited or deleted so far? Name every path."
    yield "files", text, _listed(changed) or "The log shows no changed file."
    failures = ledger.failures
    if failures:
        text = "Which approaches, commands or calls failed so far, and with what error each?"
        yield "failures", text, _listed([failure_line(failure) for failure in failures])
    for failure in _single(failures):
        text = f"How did this fail, and what was the error: {failure.tool} {failure.tried}?"
        yield "failures", text, failure_line(failure)
    ran = [
        f"{one_line(command.command)} → {_ended(command.exit, command.error)}"
        for command in ledger.commands[-COMMANDS:]
    ]
    if ran:
        text = "Which commands were run last to check the work, and what came of each?"
        yield "commands", text, _listed(ran)


def _single(failures: Sequence[Failure]) -> list[Failure]:
    # The first and a middle one: old failures are lost first. The general question covers a single
    # one.
    known = [failure for failure in failures if failure.tried.isprintable() and failure.error]
    known = [failure for failure in known if failure.tried.strip()]
    return [known[0], known[len(known) // 2]] if len(known) > 1 else []


def _ended(code: int | None, error: str) -> str:
    if error:
        return f"failed: {error}"
    return "succeeded" if not code else f"exit {code}"


def _thought(ledger: Ledger, said: Sequence[Section], last: str) -> Iterator[_Made]:
    if decided := _lines(said, DECISIONS):
        yield "decisions", "What was decided, and why?", _listed(decided)
    if facts := _lines(said, KEY_FACTS):
        text = "What was found out about the code, its causes and its workings?"
        yield "facts", text, _listed(facts)
    todo = list(todo_lines(ledger.todo))
    text = "Where exactly does the work stand: what is finished, what is half done?"
    standing = _listed([*todo, *_lines(said, IN_PROGRESS)])
    if standing or last:
        yield "state", text, standing or last
    ahead = [line for line in todo if not line.startswith("[x]")]
    if coming := [*ahead, *_lines(said, NEXT)]:
        yield "next", "What is the very next step, and what is still to be done?", _listed(coming)


def _last_words(messages: Sequence[Message]) -> str:
    for message in reversed(messages):
        if message.role == "assistant":
            words = [part.text for part in message.parts if isinstance(part, TextPart)]
            if text := "\n\n".join(words).strip():
                return text
    return ""


def _said(messages: Sequence[Message]) -> tuple[Section, ...]:
    # Decisions, facts and plans in the conversation's own sentences.
    units: list[Unit] = []
    step = 0
    for number, turn in enumerate(turns(messages)):
        for message in turn.messages:
            step += message.role == "assistant"
            units.extend(units_of(message, number, step))
    return tuple(s for s in sections_of(extract(units, "", SAID)) if s.title != GOAL)


def _lines(said: Sequence[Section], title: str) -> list[str]:
    return [line.removeprefix("- ") for s in said if s.title == title for line in s.lines]


def _listed(lines: Sequence[str]) -> str:
    if len(lines) > LISTED:
        half = LISTED // 2
        left = f"… {len(lines) - 2 * half} more …"
        lines = [*lines[:half], left, *lines[-half:]]
    return "\n".join(f"- {line}" for line in lines)


def bounded(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters …]\n{text[-half:]}"
