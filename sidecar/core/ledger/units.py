"""Units, which a rewrite keeps, shortens or drops whole."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from sidecar.core.conversation.call_outcome import argument, failed, result_text, status
from sidecar.core.ledger.deeds import Deed, deeds_of
from sidecar.core.parts import (
    FilePart,
    Json,
    Message,
    MessageId,
    Millis,
    OpaquePart,
    PartId,
    ReasoningPart,
    TextPart,
    ToolPart,
    ToolPending,
    ToolRunning,
)
from sidecar.core.prompt.visibility import Shown
from sidecar.core.text.identifiers import NameIndex, asked_to_keep, names_in
from sidecar.core.text.rule_sentences import RuleSentence, rules_in

UnitKind: TypeAlias = Literal[
    "typed", "context", "prose", "reasoning", "call", "opaque", "ledger", "excerpt"
]
"""`typed` is all that the user sent; `ledger` and `excerpt` are notes of earlier rewrites."""


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of the log, as policies see it.

    `turn` and `step` count from 0; `step`: the request that wrote the part, or first carries typed
    text. `names`: identifiers in text and call. `at`: 0 if unknown. `asked`: names to keep.
    """

    part_id: PartId
    message_id: MessageId
    turn: int
    step: int
    kind: UnitKind
    text: str
    names: frozenset[str] = frozenset()
    call_names: frozenset[str] = frozenset()
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


@dataclass(slots=True)
class Item:
    """A unit in view. Tokens are calibrated; `call` is the call's share."""

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
        """Tokens of the result."""
        return self.tokens - self.call


def units_of(message: Message, turn: int, step: int) -> Iterator[Unit]:
    """Yield a message's units."""
    made, at = message.id, message.created
    for part in message.parts:
        match part:
            case TextPart(id=part_id, text=text, source="context"):
                yield Unit(part_id, made, turn, step, "context", text, at=at)
            case TextPart(id=part_id, text=text):
                if message.role == "user":
                    yield typed_unit(part_id, message, turn, step, text)
                else:
                    yield Unit(part_id, made, turn, step, "prose", text, names_in(text), at=at)
            case FilePart(id=part_id):
                yield typed_unit(part_id, message, turn, step, part.text or part.uri)
            case ReasoningPart(id=part_id, text=text):
                yield Unit(part_id, made, turn, step, "reasoning", text, at=at)
            case OpaquePart(id=part_id):
                yield Unit(part_id, made, turn, step, "opaque", "", at=at)
            case ToolPart():
                yield call_unit(part, message, turn, step)
            case _:
                pass


def learn(index: NameIndex, unit: Unit) -> None:
    """Add a unit's identifiers to the index."""
    match unit.kind:
        case "prose":
            index.use(unit.names, unit.step, "prose")
        case "call":
            index.use(unit.call_names, unit.step, "call")
            index.see(unit.names - unit.call_names, unit.step, "result")
        case "typed":
            index.see(unit.names, unit.step, "typed")
        case _:
            index.see(unit.names, unit.step)


def typed_unit(part_id: PartId, message: Message, turn: int, step: int, text: str) -> Unit:
    """A typed part, searched for rules once, not by each plan."""
    return Unit(
        part_id,
        message.id,
        turn,
        step,
        "typed",
        text,
        names_in(text),
        at=message.created,
        rules=rules_in(text),
        asked=asked_to_keep(text),
    )


def call_unit(part: ToolPart, message: Message, turn: int, step: int) -> Unit:
    """Unit of a call and its result."""
    text = result_text(part)
    given = " ".join(strings(part.input))
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
        text,
        names_in(text) | call_names,
        call_names,
        given,
        part.name,
        argument(part.input),
        status(part),
        failed(part),
        isinstance(part.state, ToolPending | ToolRunning),
        message.created,
        deeds_of(part),
    )


def strings(value: Json) -> Iterable[str]:
    """All strings in a JSON value, in order."""
    match value:
        case str():
            yield value
        case dict():
            for inner in value.values():
                yield from strings(inner)
        case list():
            for inner in value:
                yield from strings(inner)
        case _:
            pass
