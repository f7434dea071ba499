"""What a hosted model answers, folded into parts and sent back in the next request."""

import asyncio
from collections.abc import Sequence

from sidecar.core.conversation.fold import Draft, fold
from sidecar.core.conversation.stream import BlockStarted, StreamEvent
from sidecar.core.parts import (
    Message,
    MessageId,
    Output,
    PartId,
    ReasoningPart,
    TextPart,
    ToolCompleted,
    ToolPart,
    TurnId,
)
from sidecar.core.prompt.prompt import ModelRequest, Prompt, ToolSpec
from sidecar.model.endpoint import Endpoint
from sidecar.model.hosted import HostedModel
from sidecar.model.retry import Patience
from tests.core.prompts import Rendered, rendered, system, user

KEY = "sk-very-secret-key"
MODEL = "vendor-model"
LOOK = ToolSpec("look", "Looks.", {"type": "object", "properties": {"at": {"type": "string"}}})
GIVEN = {"now": lambda: 1_700_000_000_000, "random": lambda: 1.0}
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
FOUND = Output("found")


def at(url: str = "", key: str = KEY, name: str = "openai") -> Endpoint:
    """The endpoint at an address, of one's own or the provider's."""
    return Endpoint(name, url, key)


def patience(attempts: int = 3) -> Patience:
    return Patience(attempts, 20.0, 120.0)


def asking(*messages: Rendered, effort: str = "", tokens: int = 99) -> ModelRequest:
    prompt = Prompt((LOOK,), system("Be brief.", "Be kind."), messages or (user("hello"),))
    return ModelRequest(MODEL, prompt, tokens, effort)


async def gather(source: HostedModel, asked: ModelRequest | None = None) -> list[StreamEvent]:
    async with asyncio.timeout(30):
        return [event async for event in source.stream(asked or asking())]


def folded(events: Sequence[StreamEvent]) -> Draft:
    draft, number = Draft(), 0
    for event in events:
        number += isinstance(event, BlockStarted)
        draft = fold(draft, event, PartId(f"p{number}"))
    return draft


def shown(draft: Draft) -> list[tuple[object, ...]]:
    """A draft's parts, in short."""
    found: list[tuple[object, ...]] = []
    for part in draft.parts:
        match part:
            case TextPart(text=text):
                found.append(("text", text))
            case ReasoningPart(text=text):
                found.append(("thought", text))
            case ToolPart(call_id=call_id, name=name, input=given):
                found.append(("call", call_id, name, given))
            case _:
                found.append((type(part).__name__,))
    return found


def replied(draft: Draft, result: Output = FOUND, model: str = MODEL) -> list[Rendered]:
    """What the next prompt holds of an answer whose calls all gave `result`."""
    done = ToolCompleted(result, 0, 0)
    parts = tuple(
        ToolPart(p.id, p.call_id, p.name, p.input, done) if isinstance(p, ToolPart) else p
        for p in draft.parts
    )
    said = Message(MessageId("m"), TurnId("t"), "assistant", parts, 0, model=model)
    return rendered([said], MODEL)
