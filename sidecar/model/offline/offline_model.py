"""The offline model: no key, no network, real calls, simulated cache."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import replace

from sidecar.core.conversation.stream import (
    BlockDelta,
    BlockFinished,
    BlockMetadata,
    BlockStarted,
    ResponseFinished,
    ResponseStarted,
    StreamEvent,
)
from sidecar.core.dataclass import dataclass
from sidecar.core.parts import JsonObject, Usage
from sidecar.core.prompt.prompt import ModelRequest, Prompt, flat
from sidecar.core.prompt.render import Block, CallBlock, ResultBlock, TextBlock
from sidecar.core.prompt.tokens import Count, count_block, count_tool
from sidecar.model.messages.encode import encode
from sidecar.model.offline.offline_rules import Call, OfflineStep, plan
from sidecar.model.offline.offline_summary import summarise

PIECE = 12
"""Characters of a delta, as from fast models."""

HELP = """\
I am Sidecar's offline model: not a language model, but a few rules that call the real tools.
Try: "read README.md and main.py", "search for TODO in src", "list files", \
"create notes.txt with `hello`", "replace `a` with `b` in main.py", "run `ls -l`", \
"todo: one; two", or several joined by "then"."""


@dataclass(frozen=True, slots=True)
class _Turn:
    text: str
    calls: tuple[CallBlock, ...]
    results: tuple[ResultBlock, ...]
    calls_before: int
    first: bool


class OfflineModel:
    """Answers by rules; `pace`: seconds between deltas."""

    def __init__(self, count: Count, pace: float = 0.0) -> None:
        self._count = count
        self._pace = pace
        self._cached: dict[str, list[Block]] = {}

    def body(self, request: ModelRequest) -> JsonObject:
        return encode(request)

    async def stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        if request.purpose == "summary":
            async for event in self._summarising(request.prompt):
                yield event
            return
        turn = _read(request.prompt)
        steps = plan(turn.text, [tool.name for tool in request.prompt.tools])
        usage = self._usage(request.prompt)
        yield ResponseStarted("offline", usage)
        step = _next(steps, turn)
        output = 0
        if step:
            async for event in self._acting(turn, step, steps):
                output += isinstance(event, BlockDelta)
                yield event
        else:
            async for event in self._saying(0, _closing(turn, steps)):
                output += isinstance(event, BlockDelta)
                yield event
        final = Usage(
            input=usage.input,
            cache_read=usage.cache_read,
            cache_write_5m=usage.cache_write_5m,
            output=output * 4,
        )
        yield ResponseFinished("tool_use" if step else "end_turn", final)

    async def _summarising(self, prompt: Prompt) -> AsyncIterator[StreamEvent]:
        # Not cached, since no request repeats the prompt.
        usage = self._usage(prompt, keep=False)
        yield ResponseStarted("offline", usage)
        text = summarise(prompt)
        async for event in self._saying(0, text):
            yield event
        yield ResponseFinished("end_turn", replace(usage, output=self._count(text)))

    async def ping(self, request: ModelRequest) -> Usage:  # noqa: ARG002 - the contract's
        """Costs nothing: the simulated cache never expires."""
        return Usage()

    async def _acting(
        self, turn: _Turn, step: OfflineStep, steps: tuple[OfflineStep, ...]
    ) -> AsyncIterator[StreamEvent]:
        index = 0
        if not turn.calls:
            yield BlockStarted(index, "reasoning")
            number = "one step" if len(steps) == 1 else f"{len(steps)} steps"
            async for event in self._pieces(index, f"My rules read this as {number}."):
                yield event
            yield BlockMetadata(index, {"signature": "offline"})
            yield BlockFinished(index)
            index += 1
            who = "I am not a language model; I follow simple rules. " if turn.first else ""
            will = " and ".join(map(_named, step))
            async for event in self._saying(index, f"{who}I will {will}."):
                yield event
            index += 1
        for made, call in enumerate(step, turn.calls_before + len(turn.calls) + 1):
            yield BlockStarted(index, "tool", f"offline_{made}", call.name)
            async for event in self._pieces(index, json.dumps(call.input, ensure_ascii=False)):
                yield event
            yield BlockFinished(index, call.input)
            index += 1

    async def _saying(self, index: int, text: str) -> AsyncIterator[StreamEvent]:
        yield BlockStarted(index, "text")
        async for event in self._pieces(index, text):
            yield event
        yield BlockFinished(index)

    async def _pieces(self, index: int, text: str) -> AsyncIterator[StreamEvent]:
        for start in range(0, len(text), PIECE):
            await asyncio.sleep(self._pace)
            yield BlockDelta(index, text[start : start + PIECE])

    def _usage(self, prompt: Prompt, *, keep: bool = True) -> Usage:
        """Counts usage as if the conversation's last kept prompt were cached.

        `keep`: cache this prompt; otherwise the rest is plain input.
        """
        static = sum(count_tool(tool, self._count) for tool in prompt.tools)
        static += sum(count_block(block, self._count) for block in prompt.system)
        blocks = list(flat(prompt))
        # The first block identifies a conversation; another begins with an empty cache.
        name = repr(blocks[0].part_id) if blocks else ""
        before = self._cached.get(name, [])
        same = 0
        while same < min(len(before), len(blocks)) and before[same] == blocks[same]:
            same += 1
        sizes = [count_block(block, self._count) for block in blocks]
        read = static + sum(sizes[:same]) if before else 0
        if not keep:
            return Usage(input=static + sum(sizes) - read, cache_read=read)
        self._cached = {name: blocks}
        return Usage(cache_read=read, cache_write_5m=static + sum(sizes) - read)


def _read(prompt: Prompt) -> _Turn:
    blocks = flat(prompt)
    typed = [
        index
        for index, block in enumerate(blocks)
        if block.region == "user" and isinstance(block.content, TextBlock)
    ]
    start = typed[-1] if typed else 0
    content = blocks[start].content if typed else None
    after = blocks[start + 1 :]
    said = any(block.region == "assistant" for block in blocks[:start])
    return _Turn(
        text=content.text if isinstance(content, TextBlock) else "",
        calls=tuple(b.content for b in after if isinstance(b.content, CallBlock)),
        results=tuple(b.content for b in after if isinstance(b.content, ResultBlock)),
        calls_before=sum(isinstance(b.content, CallBlock) for b in blocks[:start]),
        first=not said,
    )


def _next(steps: tuple[OfflineStep, ...], turn: _Turn) -> OfflineStep:
    made = 0
    for step in steps:
        if made >= len(turn.calls):
            return step
        made += len(step)
    return ()


def _named(call: Call) -> str:
    given = call.input if isinstance(call.input, dict) else {}
    first = next((str(value) for value in given.values() if isinstance(value, str)), "")
    return f"call {call.name} on {first[:60]}" if first else f"call {call.name}"


def _closing(turn: _Turn, steps: tuple[OfflineStep, ...]) -> str:
    if not steps:
        return f"{HELP}\n\nYour message had {len(turn.text)} characters, and none of my rules fits."
    names = {call.call_id: call.name for call in turn.calls}
    lines = []
    for result in turn.results:
        first = result.text.strip().splitlines()[0][:120] if result.text.strip() else "(nothing)"
        failed = "failed: " if result.is_error else ""
        lines.append(f"- {names.get(result.call_id, 'tool')}: {failed}{first}")
    return "Done. What the tools said:\n" + "\n".join(lines)
