"""Questions about a recorded session, made by code from its log, each with what the log says.

They ask what whoever goes on must know: the goal, the limits, what was changed, what failed and
how, what was decided, where the work stands. The same log gives the same questions.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sidecar.core.conversation.call_outcome import one_line
from sidecar.core.conversation.turns import turns
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
"""Characters of the log that go with a question."""
SAID = 1_200
"""Tokens from which decisions, facts and limits are chosen where the log says them itself."""
LISTED = 40
"""Most lines of evidence: files, failures, commands."""
BETWEEN = 300
"""Characters of a message that the user typed between the first and the last."""
COMMANDS = 6
"""Commands, the newest, that tell what was run last and how it ended."""


@dataclass(frozen=True, slots=True)
class Question:
    """One question; `evidence` is quoted from the log or told from it by code."""

    id: str
    kind: QuestionKind
    text: str
    evidence: str


def questions_of(messages: Iterable[Message]) -> tuple[Question, ...]:
    """Give the questions that the log of a session answers, at most twelve of them."""
    kept = [message for message in messages if message.status != "discarded"]
    ledger, said = read_ledger(kept), _said(kept)
    last = _last_words(kept)
    found = (*_asked(ledger, said), *_done(ledger), *_thought(ledger, said, last))
    return tuple(
        Question(f"q{number}", kind, text, _bounded(evidence))
        for number, (kind, text, evidence) in enumerate(found, start=1)
    )


_Made: TypeAlias = tuple[QuestionKind, str, str]


def _asked(ledger: Ledger, said: Sequence[Section]) -> Iterator[_Made]:
    """Ask what the user wants."""
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
    """Ask what was changed, what failed, and what was run."""
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
    """Choose two to be asked about by themselves, the first and one in the middle.

    What is old is lost first; of a single one the general question tells it all.
    """
    known = [failure for failure in failures if failure.tried.isprintable() and failure.error]
    known = [failure for failure in known if failure.tried.strip()]
    return [known[0], known[len(known) // 2]] if len(known) > 1 else []


def _ended(code: int | None, error: str) -> str:
    if error:
        return f"failed: {error}"
    return "succeeded" if not code else f"exit {code}"


def _thought(ledger: Ledger, said: Sequence[Section], last: str) -> Iterator[_Made]:
    """Ask what was decided and found out, where the work stands, and what comes next."""
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
    """Give what the model said last."""
    for message in reversed(messages):
        if message.role == "assistant":
            words = [part.text for part in message.parts if isinstance(part, TextPart)]
            if text := "\n\n".join(words).strip():
                return text
    return ""


def _said(messages: Sequence[Message]) -> tuple[Section, ...]:
    """Let the conversation's own sentences say what was decided, found and left to do."""
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
    """List lines; of very many, both ends."""
    if len(lines) > LISTED:
        half = LISTED // 2
        left = f"… {len(lines) - 2 * half} more …"
        lines = [*lines[:half], left, *lines[-half:]]
    return "\n".join(f"- {line}" for line in lines)


def _bounded(text: str) -> str:
    if len(text) <= EVIDENCE:
        return text
    half = EVIDENCE // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half} characters …]\n{text[-half:]}"
