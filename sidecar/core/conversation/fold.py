"""Folds streamed events into parts."""

from dataclasses import field, replace

from sidecar.core.conversation.sendable import tool_input, tool_name
from sidecar.core.conversation.stream import (
    AttemptFailed,
    BlockDelta,
    BlockFinished,
    BlockMetadata,
    BlockStarted,
    ResponseFinished,
    ResponseStarted,
    StreamEvent,
)
from sidecar.core.dataclass import dataclass
from sidecar.core.parts import (
    OpaquePart,
    Part,
    PartId,
    ReasoningPart,
    TextPart,
    ToolPart,
    ToolPending,
    Usage,
)
from sidecar.core.text.json_text import kind


@dataclass(frozen=True, slots=True)
class Draft:
    """A model call's parts so far.

    `positions`: index in `parts` by the provider's block. `stop`: empty until complete. `problems`:
    errors in tools' input, by part.
    """

    parts: tuple[Part, ...] = ()
    positions: dict[int, int] = field(default_factory=dict)
    usage: Usage = field(default_factory=Usage)
    stop: str = ""
    problems: dict[PartId, str] = field(default_factory=dict)

    def part_at(self, index: int) -> Part | None:
        position = self.positions.get(index)
        return None if position is None else self.parts[position]


def fold(draft: Draft, event: StreamEvent, part_id: PartId) -> Draft:
    match event:
        case ResponseStarted(usage=usage):
            return replace(draft, usage=usage)
        case BlockStarted():
            return replace(
                draft,
                parts=(*draft.parts, _opened(event, part_id)),
                positions={**draft.positions, event.index: len(draft.parts)},
            )
        case BlockDelta() | BlockMetadata():
            return _changed(draft, event.index, _grown(draft.part_at(event.index), event))
        case BlockFinished():
            return _finished(draft, event)
        case ResponseFinished(stop=stop, usage=usage):
            return replace(draft, stop=stop, usage=usage)
        case AttemptFailed():
            return Draft()


def _opened(event: BlockStarted, part_id: PartId) -> Part:
    match event.kind:
        case "text":
            return TextPart(part_id, "", "model")
        case "reasoning":
            return ReasoningPart(part_id, "", event.block)
        case "tool":
            return ToolPart(part_id, event.call_id, tool_name(event.name), None, ToolPending())
        case "opaque":
            return OpaquePart(part_id, event.block)


def _grown(part: Part | None, event: BlockDelta | BlockMetadata) -> Part | None:
    match part, event:
        case TextPart(), BlockDelta(text=text):
            return replace(part, text=part.text + text)
        case ReasoningPart(), BlockDelta(text=text):
            return replace(part, text=part.text + text)
        case TextPart() | ReasoningPart() | ToolPart(), BlockMetadata(metadata=metadata):
            return replace(part, metadata={**part.metadata, **metadata})
        case ToolPart(state=ToolPending(raw=raw)), BlockDelta(text=text):
            return replace(part, state=ToolPending(raw + text))
        case _:
            return part


def _finished(draft: Draft, event: BlockFinished) -> Draft:
    part = draft.part_at(event.index)
    if not isinstance(part, ToolPart):
        return draft
    problem = event.problem
    if not problem and not isinstance(event.input, dict | None):
        problem = f"it must be an object, not {kind(event.input)}"
    made = None if event.problem else tool_input(event.input)
    done = _changed(draft, event.index, replace(part, input=made))
    return replace(done, problems={**done.problems, part.id: problem}) if problem else done


def _changed(draft: Draft, index: int, part: Part | None) -> Draft:
    if part is None:
        return draft
    position = draft.positions[index]
    return replace(draft, parts=(*draft.parts[:position], part, *draft.parts[position + 1 :]))
