"""The provider-neutral prompt, which only `assemble` builds."""

from collections.abc import Iterable
from itertools import accumulate, chain, groupby
from operator import attrgetter
from typing import Literal, TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import JsonObject, ToolKind, ToolOrigin
from sidecar.core.prompt.render import Block, CallBlock, Rendered, ResultBlock

Ttl: TypeAlias = Literal["5m", "1h"]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool's definition; `output_limit` is in bytes, `None` for 50 KiB."""

    name: str
    description: str
    input_schema: JsonObject
    kind: ToolKind = "other"
    read_only: bool = False
    output_limit: int | None = None
    protected_from_pruning: bool = False
    origin: ToolOrigin = "builtin"


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """A cache marker after a message's block, or the system text's if `message` is `None`."""

    message: int | None
    block: int
    ttl: Ttl = "5m"


@dataclass(frozen=True, slots=True)
class Prompt:
    """Tools, system text, messages, in the order providers hash."""

    tools: tuple[ToolSpec, ...]
    system: tuple[Block, ...]
    messages: tuple[Rendered, ...]
    breakpoints: tuple[Breakpoint, ...] = ()


Purpose: TypeAlias = Literal["turn", "summary", "compaction", "title", "subtask", "judge"]


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request to a model; `effort` is the provider's word, or empty.

    `compaction` instructs the provider's own summariser.
    """

    model: str
    prompt: Prompt
    max_tokens: int
    effort: str = ""
    purpose: Purpose = "turn"
    compaction: str = ""


@dataclass(frozen=True, slots=True)
class Static:
    """The prompt's part before the history, byte-identical within an epoch."""

    model: str
    tools: tuple[ToolSpec, ...]
    system: tuple[Block, ...]
    renderer: int


def assemble(static: Static, history: Iterable[Rendered]) -> Prompt:
    messages: list[Rendered] = []
    append(messages, history)
    return Prompt(static.tools, static.system, tuple(messages))


def append(messages: list[Rendered], history: Iterable[Rendered]) -> None:
    """Joins neighbouring messages of one role, as local servers demand alternation."""
    for role, neighbours in groupby(history, attrgetter("role")):
        first, *others = neighbours
        if messages and messages[-1].role == role:
            first, others = messages.pop(), [first, *others]
        if others:
            blocks = chain(first.blocks, *(other.blocks for other in others))
            first = Rendered(role, tuple(blocks))
        messages.append(first)


def broken_pairs(prompt: Prompt) -> tuple[str, ...]:
    """Lists calls without a result at the next message's start, which providers refuse."""
    problems: list[str] = []
    asked: list[str] = []
    for index, message in enumerate(prompt.messages):
        answers = [b.content.call_id for b in message.blocks if isinstance(b.content, ResultBlock)]
        opening = [
            block.content.call_id
            for block in message.blocks[: len(answers)]
            if isinstance(block.content, ResultBlock)
        ]
        if answers != opening:
            problems.append(f"message {index}: tool results must come first")
        if sorted(answers) != sorted(asked):
            problems.append(f"message {index}: calls {asked} are answered by {answers}")
        asked = [b.content.call_id for b in message.blocks if isinstance(b.content, CallBlock)]
    if asked:
        problems.append(f"calls {asked} have no result")
    return tuple(problems)


@dataclass(frozen=True, slots=True)
class Spread:
    """A prompt's message blocks in a row; `firsts`: blocks before each message."""

    blocks: list[Block]
    firsts: list[int]


def spread(prompt: Prompt) -> Spread:
    lengths = [len(message.blocks) for message in prompt.messages]
    return Spread([*flat(prompt)], [*accumulate(lengths, initial=0)])


def flat(prompt: Prompt) -> tuple[Block, ...]:
    return tuple(chain.from_iterable([message.blocks for message in prompt.messages]))
