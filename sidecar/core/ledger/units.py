"""Units, which a rewrite keeps, shortens or drops whole."""

from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from functools import lru_cache
from typing import Literal, TypeAlias

from sidecar.core.conversation.call_outcome import (
    argument,
    error_line,
    failed,
    one_line,
    refused,
    result_text,
    status,
)
from sidecar.core.conversation.user_words import user_words
from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.attempts import achieved, attempt_of, is_overcome, needs
from sidecar.core.ledger.deeds import Deed, Means, TouchedFile, changed, deeds_of, means_of
from sidecar.core.ledger.guidance import HANDED_ON, LONGEST_FILE, THE_DRAFTS, guidance_of, stated
from sidecar.core.ledger.replacements import Replacement, replacements
from sidecar.core.parts import (
    FilePart,
    HeldText,
    Message,
    MessageId,
    Millis,
    OpaquePart,
    PartId,
    ReasoningPart,
    TextPart,
    ToolCompleted,
    ToolPart,
    ToolPending,
    ToolRunning,
)
from sidecar.core.prompt.visibility import Shown
from sidecar.core.text.identifiers import NameIndex, asked_to_keep, names_in
from sidecar.core.text.json_text import strings
from sidecar.core.text.rule_sentences import RuleSentence, rules_in

RECORDED_SUMMARY = "[Summary that the recorded agent wrote of what had come before]\n"
"""Stands before a summary that a recording held of itself; such a context is told by notes."""
LONGEST_URI = 200
"""Characters of an attached file's name that are told."""
UnitKind: TypeAlias = Literal[
    "typed", "context", "prose", "reasoning", "call", "opaque", "ledger", "excerpt", "image"
]
"""`typed` is all that the user sent; `ledger`, `excerpt` and `image` are notes of earlier
rewrites."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of the log.

    `turn` and `step` count from 0; `step`: the part's request, or the first with the typed text.
    `names`: identifiers in text and call. `at`: 0 if unknown. `asked`: names to keep. `attempt`:
    equal for calls that try the same. `steps`: achieved by a call, or if it failed, still needed.
    `replaced`: texts of files. `guidance`: a source and its rules. `attached`: name of a file sent
    along, not the user's words. `said`: the user's answer to a call; `refused`: by the user.
    """

    part_id: PartId
    message_id: MessageId
    turn: int
    step: int
    kind: UnitKind
    held: HeldText
    names: tuple[str, ...] = ()
    call_names: tuple[str, ...] = ()
    call: str = ""
    tool: str = ""
    argument: str = ""
    status: str = ""
    failed: bool = False
    running: bool = False
    at: Millis = 0
    deeds: tuple[Deed, ...] = ()
    rules: tuple[RuleSentence, ...] = ()
    asked: frozenset[str] = frozenset()
    attempt: str = ""
    steps: tuple[str, ...] = ()
    replaced: tuple[Replacement, ...] = ()
    guidance: tuple[str, ...] = ()
    attached: str = ""
    said: tuple[str, ...] = ()
    refused: bool = False
    means: Means = field(init=False, default="prose")
    touched: tuple[str, ...] = field(init=False, default=())
    changed: tuple[TouchedFile, ...] = field(init=False, default=())

    @property
    def text(self) -> str:
        return str(self.held)

    @property
    def error(self) -> str:
        """A failed call's error in one line."""
        return error_line(self.text, denied=self.refused)

    def __post_init__(self) -> None:
        if self.kind == "call":
            object.__setattr__(self, "means", means_of(self.tool))
        if self.deeds:
            files = tuple(deed.path for deed in self.deeds if isinstance(deed, TouchedFile))
            object.__setattr__(self, "touched", files)
            object.__setattr__(self, "changed", tuple(changed(self.deeds)))


@dataclass(slots=True)
class Item:
    """A unit in view, with calibrated tokens; `call`: the call's share."""

    unit: Unit
    tokens: int
    call: int = 0
    shown: Shown | None = None
    pinned: bool = False
    tokens_whole: int = 0

    def __post_init__(self) -> None:
        self.tokens_whole = self.tokens_whole or self.tokens

    @property
    def result(self) -> int:
        return self.tokens - self.call


def units_of(message: Message, turn: int, step: int) -> Iterator[Unit]:
    made, at = message.id, message.created
    for part in message.parts:
        match part:
            case TextPart(id=part_id, text=text, source="context"):
                yield Unit(part_id, made, turn, step, "context", text, at=at)
            case TextPart(id=part_id, text=text):
                if message.role == "user":
                    yield typed_unit(part_id, message, turn, step, text)
                else:
                    names = in_row(names_in(text))
                    yield Unit(part_id, made, turn, step, "prose", text, names, at=at)
            case FilePart():
                yield attached_unit(part, message, turn, step)
            case ReasoningPart(id=part_id, text=text):
                yield Unit(part_id, made, turn, step, "reasoning", text, at=at)
            case OpaquePart(id=part_id):
                yield Unit(part_id, made, turn, step, "opaque", "", at=at)
            case ToolPart():
                yield call_unit(part, message, turn, step)
            case _:
                pass


def in_row(names: Iterable[str]) -> tuple[str, ...]:
    """Makes a tuple: a set takes six times the memory."""
    return _once(tuple(sorted(names)))


@lru_cache(maxsize=128)
def _once(row: tuple[str, ...]) -> tuple[str, ...]:
    """Shares rows: builds and tests repeat the same names."""
    return row


def note_kind(region: str) -> UnitKind:
    return "ledger" if region == "ledger" else "image" if region == "toolResults" else "excerpt"


def learn(index: NameIndex, unit: Unit) -> None:
    match unit.kind:
        case "prose":
            index.use(unit.names, unit.step, "prose")
        case "call":
            index.use(unit.call_names, unit.step, "call")
            index.see(frozenset(unit.names).difference(unit.call_names), unit.step, "result")
        case "typed":
            index.see(unit.names, unit.step, "typed")
        case _:
            index.see(unit.names, unit.step)


def overcome(units: Iterable[Unit]) -> frozenset[PartId]:
    """Gives failed calls without a lesson: they succeeded later, or only looked.

    The newest of equal attempts stands for all; each refusal for itself.
    """
    calls = [unit for unit in units if unit.kind == "call"]
    first = next((n for n, unit in enumerate(calls) if unit.failed), len(calls))
    done: set[str] = set()
    again: set[str] = set()
    found: set[PartId] = set()
    for unit in reversed(calls[first:]):
        if unit.failed:
            tried_again = unit.attempt in again and unit.attempt not in unit.steps
            if tried_again or is_overcome(unit.attempt, unit.steps, done):
                found.add(unit.part_id)
            again |= {unit.attempt} - {""}
        elif unit.status == "ok":
            done.update(unit.steps)
    return frozenset(found)


def typed_unit(part_id: PartId, message: Message, turn: int, step: int, text: str) -> Unit:
    return Unit(
        part_id,
        message.id,
        turn,
        step,
        "typed",
        text,
        in_row(names_in(text)),
        at=message.created,
        rules=rules_in(text),
        asked=asked_to_keep(text),
        guidance=stated(THE_DRAFTS, text.partition(HANDED_ON)[2]),
    )


def attached_unit(part: FilePart, message: Message, turn: int, step: int) -> Unit:
    """Makes a unit of an attached file, whose rules and wishes are not the user's."""
    text = part.text or part.uri
    source = one_line(part.uri or part.name, LONGEST_URI) or "a file"
    return replace(
        typed_unit(part.id, message, turn, step, text),
        asked=frozenset(),
        guidance=stated(source, (part.text or "")[:LONGEST_FILE]),
        attached=source,
    )


def call_unit(part: ToolPart, message: Message, turn: int, step: int) -> Unit:
    text, bad, deeds = result_text(part), failed(part), deeds_of(part)
    # Each in lines of its own: what a command is said to be for is no part of it.
    given = "\n".join(strings(part.input))
    call_names = names_in(given)
    command = part.input.get("command") if isinstance(part.input, dict) else None
    if isinstance(command, str) and 0 < len(command) <= 200 and "\n" not in command:
        call_names |= {command}
    return Unit(
        part.id,
        message.id,
        turn,
        step,
        "call",
        part.state.output.held if isinstance(part.state, ToolCompleted) else text,
        in_row(names_in(text) | call_names),
        in_row(call_names),
        given,
        part.name,
        argument(part.input),
        status(part),
        bad,
        isinstance(part.state, ToolPending | ToolRunning),
        message.created,
        deeds,
        attempt=attempt_of(part),
        steps=in_row(needs(part) if bad else achieved(part, deeds)),
        replaced=replacements(part),
        guidance=guidance_of(part),
        said=user_words(part),
        refused=refused(part),
    )
