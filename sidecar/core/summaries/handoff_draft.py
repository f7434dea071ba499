"""Writes the texts of a handoff, and a session's digest, by code."""

from collections.abc import Iterable, Iterator, Sequence

from sidecar.core.conversation.call_outcome import one_line
from sidecar.core.conversation.turns import turns
from sidecar.core.ledger.guidance import HANDED_ON
from sidecar.core.ledger.inheritance import current
from sidecar.core.ledger.ledger import Ledger
from sidecar.core.ledger.milestone import Milestone
from sidecar.core.ledger.units import Unit, units_of
from sidecar.core.ledger.wording import changed_lines, failure_line, file_line, render, within
from sidecar.core.parts import Message, TextPart
from sidecar.core.summaries.extractive import extract
from sidecar.core.summaries.sections import DECISIONS, KEY_FACTS, sections_of

GOAL, DIRECTIVE, DIRECTIVES = 4_000, 800, 20
"""Characters of the goal and of a directive; number of directives, the newest."""
FILES, COMMANDS = 25, 12
DIGESTED, NEWEST, TOLD = 2_000, 3, 20
"""Characters of a digest's goal and answer; its directives and its facts."""
SAID = 900
"""Tokens of an extract in which decisions are sought."""
LOADED = 6_000
"""Tokens of the ledger in a fresh window, beside indispensable lines."""
FACTS = 1_500
"""Tokens of the facts there, newest first."""


def said_so(messages: Iterable[Message]) -> tuple[str, ...]:
    """Gives the model's sentences that decide or conclude."""
    kept = [message for message in messages if message.status != "discarded"]
    units: list[Unit] = []
    step = 0
    for number, turn in enumerate(turns(kept)):
        for message in turn.messages:
            step += message.role == "assistant"
            units.extend(units_of(message, number, step))
    sections = sections_of(extract(units, "", SAID))
    wanted = (DECISIONS, KEY_FACTS)
    return tuple(line.removeprefix("- ") for s in sections if s.title in wanted for line in s.lines)


def draft(
    checkpoint: Milestone, title: str, goal: str, files: Sequence[str], said: Sequence[str]
) -> str:
    """Writes Markdown for people to edit; `files`: likeliest needed first."""
    return "\n".join(_draft(checkpoint, title, goal, files, said)).rstrip() + "\n"


def _draft(
    checkpoint: Milestone, title: str, goal: str, files: Sequence[str], said: Sequence[str]
) -> Iterator[str]:
    ledger = checkpoint.ledger
    yield from ("# Goal", "", goal.strip(), "", HANDED_ON, "")
    named = f" “{one_line(title)}”" if title else ""
    branch = f" on branch {checkpoint.branch}" if checkpoint.branch else ""
    yield f"It goes on from the session{named} in {checkpoint.cwd}{branch}."
    if ledger.goal is not None:
        yield from ("That session was asked:", "", *_quoted(ledger.goal.text, GOAL))
    newest = ledger.directives[-DIRECTIVES:]
    if newest:
        more = len(ledger.directives) - len(newest)
        yield from ("", f"Later, after {more} other messages:" if more else "And later:")
    for directive in newest:
        yield from ("", *_quoted(directive.text, DIRECTIVE))
    yield ""
    yield from _state(ledger)
    facts = dict.fromkeys(f"{fact.kind}: {fact.content}" for fact in checkpoint.facts)
    yield from _section("Decisions and facts", (*facts, *said))
    failures = [failure_line(one) for one in ledger.failures if not one.refused]
    yield from _section("Tried and failed: do not repeat", failures)
    refused = [failure_line(one) for one in ledger.failures if one.refused]
    yield from _section("Refused by the user", refused)
    yield from _section("Files", _file_lines(ledger, files))
    worked = [c.command for c in reversed(ledger.commands) if not c.error and not c.exit]
    yield from _section("Commands that worked", worked[:COMMANDS])


def digest(
    checkpoint: Milestone, title: str, said: Sequence[str], messages: Sequence[Message]
) -> str:
    """Tells another session's work in short: what was asked, changed, decided and answered last."""
    return "\n".join(_digest(checkpoint, title, said, messages)).rstrip() + "\n"


def _digest(
    checkpoint: Milestone, title: str, said: Sequence[str], messages: Sequence[Message]
) -> Iterator[str]:
    ledger = checkpoint.ledger
    named = f" “{one_line(title)}”" if title else ""
    branch = f" on branch {checkpoint.branch}" if checkpoint.branch else ""
    yield f"What became of the session{named} in {checkpoint.cwd}{branch}, read from its log."
    if ledger.goal is not None:
        yield from ("It was asked:", "", *_quoted(ledger.goal.text, DIGESTED))
    for directive in ledger.directives[-NEWEST:]:
        yield from ("", "And later:", "", *_quoted(directive.text, DIRECTIVE))
    yield ""
    yield from _state(ledger)
    facts = dict.fromkeys(f"{fact.kind}: {fact.content}" for fact in checkpoint.facts)
    yield from _section("Decisions and facts", (*facts, *said)[:TOLD])
    yield from _section("Files changed", changed_lines(ledger))
    if answer := _last_answer(messages):
        yield from ("# Its last answer", "", *_quoted(answer, DIGESTED))


def _last_answer(messages: Sequence[Message]) -> str:
    for message in reversed(messages):
        if message.role == "assistant" and message.status != "discarded":
            texts = [part.text for part in message.parts if isinstance(part, TextPart)]
            if any(text.strip() for text in texts):
                return "\n\n".join(texts).strip()
    return ""


def _state(ledger: Ledger) -> Iterator[str]:
    todo = ledger.todo
    subtasks = [f"{s.task} ({s.status}) {s.result}".rstrip() for s in ledger.subtasks]
    yield from _section("Done", [f"[x] {item}" for item in todo.done])
    yield from _section("In progress", [f"[ ] {item}" for item in todo.in_progress])
    yield from _section("Planned", [f"[ ] {item}" for item in todo.planned])
    yield from _section("Subtasks", subtasks)


def _file_lines(ledger: Ledger, files: Sequence[str]) -> Iterator[str]:
    known = {file.path: file for file in ledger.files}
    yield from (file_line(known[path]) for path in files[:FILES])
    # Changed files are named or counted; deleted ones are listed as deleted.
    yield from changed_lines(ledger, files[:FILES])


def bootstrap(
    checkpoint: Milestone, title: str, goal: str, said: Sequence[str], drifted: Sequence[str]
) -> str:
    """Writes a fresh window's opening: orient, load, verify, resume."""
    ledger = checkpoint.ledger
    return "\n\n".join(
        (
            "\n".join(_orientation(checkpoint, title, goal)),
            render(ledger, LOADED),
            *_known(checkpoint, said),
            _verified(drifted),
            _resume(ledger, goal),
        )
    )


def _orientation(checkpoint: Milestone, title: str, goal: str) -> Iterator[str]:
    named = f" “{one_line(title)}”" if title else ""
    yield (
        f"This window goes on with the work of the session{named}. Its conversation is not here; "
        "what follows was read from its log."
    )
    branch = f", branch {checkpoint.branch}" if checkpoint.branch else ""
    yield f"Workspace: {checkpoint.cwd}{branch}"
    if goal.strip():
        yield f"Goal now: {goal.strip()}"


def _known(checkpoint: Milestone, said: Sequence[str]) -> Iterator[str]:
    newest = sorted(checkpoint.facts, key=lambda fact: -fact.at)
    facts = (f"- {fact.kind}: {one_line(fact.content, 400)}" for fact in newest)
    told = dict.fromkeys((*facts, *(f"- {line}" for line in said)))
    lines = list(within(told, FACTS))
    if lines:
        yield "\n".join(("Decisions and facts:", *lines))


def _verified(drifted: Sequence[str]) -> str:
    if not drifted:
        return "The workspace was compared with this: nothing that is known of it has changed."
    return "\n".join(("The workspace is not as it was left:", *(f"- {line}" for line in drifted)))


def _resume(ledger: Ledger, goal: str) -> str:
    rule = "Do not do again what is done, nor try again what failed."
    at = current(ledger)
    if at:
        return f"{rule} Resume with: {at}"
    return f"{rule} Go on towards the goal." if goal.strip() or ledger.goal else rule


def changes_since(drifted: Sequence[str]) -> str:
    lines = (f"- {line}" for line in drifted)
    return "\n".join(("Since this session was used last, the workspace has changed:", *lines))


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    told = [f"- {' '.join(line.split())}" for line in lines]
    if told:
        yield from (f"# {title}", "", *told, "")


def _quoted(text: str, most: int) -> list[str]:
    kept = text if len(text) <= most else f"{text[:most].rstrip()} […]"
    return [f"> {line}".rstrip() for line in kept.splitlines()]
