"""A recorded session as requests over a growing list of units."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import median

from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.units import Unit, learn, units_of
from sidecar.core.parts import (
    FilePart,
    Media,
    Message,
    Millis,
    OpaquePart,
    Output,
    Part,
    PartId,
    ReasoningPart,
    StepFinishPart,
    TextPart,
    ToolCompleted,
    ToolPart,
    Usage,
)
from sidecar.core.prompt.render import render
from sidecar.core.prompt.tokens import USUAL_FACTOR, Count, count_block
from sidecar.core.text.identifiers import NameIndex

FAR = 15
"""Requests since a name was last seen, so many that only a good memory still has the name."""
STATIC = 15_000
STATIC_LEAST = 2_000


@dataclass(frozen=True, slots=True)
class Request:
    """A recorded model call, with the first `end` units in its prompt.

    `used`: earlier names in the answer; `far`: those unseen for `FAR` requests or more.
    """

    step: int
    at: Millis
    end: int
    messages: int
    opens_turn: bool
    output: int
    used: tuple[str, ...]
    far: tuple[str, ...]
    usage: Usage | None


@dataclass(frozen=True, slots=True)
class Conversation:
    """A simulation's input; `tokens` and `calls` are calibrated counts per unit.

    `compacted`: steps after the agent's own rewrites. `factor`: tokens per raw `count`. `messages`:
    without media bytes; empty if only sizes are known. `cwd`: of relative paths, empty if unknown.
    """

    name: str
    format: str
    units: tuple[Unit, ...]
    tokens: tuple[int, ...]
    calls: tuple[int, ...]
    requests: tuple[Request, ...]
    static: int
    factor: float
    compacted: tuple[int, ...] = ()
    messages: tuple[Message, ...] = ()
    count: Count = len
    cwd: str = ""


class Listener:
    """Builds conversations message by message."""

    def __init__(self, count: Count) -> None:
        self._count = count
        self._units: list[Unit] = []
        self._raw: list[tuple[int, int]] = []
        self._requests: list[Request] = []
        self._names = NameIndex()
        self._compacted: list[int] = []
        self._turns: dict[str, int] = {}
        self._turned = -1
        self._messages: list[Message] = []
        self._rendered = 0

    def compacted(self) -> None:
        self._compacted.append(len(self._requests))

    def hear(self, message: Message) -> None:
        if message.status == "discarded":
            return
        turn = self._turns.setdefault(message.turn_id, len(self._turns))
        step = len(self._requests)
        units = list(units_of(message, turn, step))
        if message.role == "assistant":
            self._requests.append(self._request(message, units, step, turn))
        for unit, raw in zip(units, self._weigh(message), strict=True):
            self._units.append(unit)
            self._raw.append(raw)
            learn(self._names, unit)
        self._messages.append(_without_bytes(message))
        self._rendered += 2 if any(u.kind == "call" for u in units) else 1

    def conversation(self, name: str, format_name: str, cwd: str = "") -> Conversation:
        factor = self._factor()
        tokens = tuple(
            max(1, round((call + result) * factor)) if call or result else 0
            for call, result in self._raw
        )
        return Conversation(
            name,
            format_name,
            tuple(self._units),
            tokens,
            tuple(round(call * factor) for call, _ in self._raw),
            tuple(self._requests),
            self._static(tokens),
            factor,
            tuple(self._compacted),
            tuple(self._messages),
            self._count,
            cwd,
        )

    def _request(self, message: Message, units: Sequence[Unit], step: int, turn: int) -> Request:
        used: set[str] = set()
        for unit in units:
            if unit.kind == "prose":
                used.update(unit.names)
            elif unit.kind == "call":
                used.update(unit.call_names)
        before = [name for name in used if name in self._names]
        finish = next((p for p in message.parts if isinstance(p, StepFinishPart)), None)
        usage = finish.usage if finish is not None and finish.usage.prompt else None
        opens, self._turned = turn != self._turned, turn
        written = sum(
            self._count(getattr(u, "text", "") if u.kind != "call" else u.call) for u in units
        )
        output = usage.output if usage is not None and usage.output > written // 2 else written
        return Request(
            step,
            finish.started if finish is not None and finish.started else message.created,
            len(self._units),
            self._rendered,
            opens,
            output,
            tuple(sorted(before)),
            tuple(sorted(n for n in before if step - self._names[n].seen >= FAR)),
            usage,
        )

    def _weigh(self, message: Message) -> list[tuple[int, int]]:
        blocks: dict[PartId, list[int]] = {}
        for rendered in render(message, message.model):
            for block in rendered.blocks:
                if block.part_id is not None:
                    blocks.setdefault(block.part_id, []).append(count_block(block, self._count))
        weights = []
        for part in message.parts:
            match part:
                case TextPart() | FilePart() | OpaquePart():
                    weights.append((0, sum(blocks.get(part.id, ()))))
                case ReasoningPart(metadata=metadata):
                    hidden = metadata.get("opaqueChars")
                    size = hidden // 4 if isinstance(hidden, int) else 0
                    weights.append(
                        (0, max(size, sum(blocks.get(part.id, ())), self._count(part.text)))
                    )
                case ToolPart():
                    call, *result = blocks.get(part.id, [0])
                    weights.append((call, sum(result)))
                case _:
                    pass
        return weights

    def _factor(self) -> float:
        # The median growth of the prompt per raw token shows the provider's tokens.
        until = self._compacted[0] if self._compacted else len(self._requests)
        seen = []
        for before, now in zip(self._requests[:until], self._requests[1:until], strict=False):
            if before.usage is None or now.usage is None:
                continue
            raw = sum(c + r for c, r in self._raw[before.end : now.end])
            grown = now.usage.prompt - before.usage.prompt
            if raw >= 200 and grown > 0:
                seen.append((grown / raw, raw))
        if len(seen) < 3:
            return USUAL_FACTOR
        return min(2.0, max(0.7, median(ratio for ratio, _ in seen)))

    def _static(self, tokens: Sequence[int]) -> int:
        # The first prompt's tokens beyond its messages are system text and tools.
        first = self._requests[0] if self._requests else None
        if first is None or first.usage is None:
            return STATIC
        return max(STATIC_LEAST, first.usage.prompt - sum(tokens[: first.end]))


def _without_bytes(message: Message) -> Message:
    return replace(message, parts=tuple(map(_part_without_bytes, message.parts)))


def _part_without_bytes(part: Part) -> Part:
    match part:
        case FilePart(media=Media() as media):
            return replace(part, media=replace(media, data=""))
        case ToolPart(state=ToolCompleted(output=Output(media=media) as output) as done) if media:
            empty = tuple(replace(one, data="") for one in media)
            return replace(part, state=replace(done, output=replace(output, media=empty)))
        case _:
            return part


def listen(
    messages: Iterable[Message | None], count: Count, name: str, kind: str, cwd: str = ""
) -> Conversation:
    """`None` marks a recorded compaction."""
    listener = Listener(count)
    for message in messages:
        if message is None:
            listener.compacted()
        else:
            listener.hear(message)
    return listener.conversation(name, kind, cwd)
