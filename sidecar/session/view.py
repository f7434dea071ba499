"""What the model sees of a session's log, how large it is, and what of it the provider caches.

Rendering and counting are pure and each message is done once: a step's work is proportional to
what is new, plus one pass over what is sent.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace

from sidecar.core import cache
from sidecar.core.meter import Size
from sidecar.core.parts import Message, MessageId, Millis, StepFinishPart, Usage
from sidecar.core.prompt import Prompt, Static, assemble
from sidecar.core.render import Block, Region, Rendered, render
from sidecar.core.tokens import Calibration, Count, count_block, count_tool, observe

THREAD_CHARS = 200_000
"""Counting runs at some 10 MB/s; more than this is done off the event loop."""
REPLAYED = 20
"""Steps that calibration learns from after a restart; older ones weigh next to nothing."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A message as rendered for one model, with the raw estimate of each of its blocks."""

    message: Message
    model: str
    rendered: tuple[Rendered, ...]
    raw: tuple[int, ...]
    regions: tuple[tuple[Region, int], ...]


@dataclass(frozen=True, slots=True)
class Anchor:
    """The last response whose reported usage still describes the prompt's beginning.

    `blocks` is how many message blocks that request had.
    """

    message_id: MessageId
    usage: Usage
    started: Millis
    blocks: int


class View:
    """The model's view of one session. `since` is when the epoch began."""

    def __init__(self, static: Static, count: Count, factor: float, since: Millis) -> None:
        self._count = count
        self._seen: dict[MessageId, Seen] = {}
        self.rewrite(static, factor, since)

    def rewrite(self, static: Static, factor: float, since: Millis) -> None:
        """Begin an epoch: other static bytes, another model, nothing known of its cache."""
        self.static = static
        self.since = since
        self.calibration = Calibration(factor)
        self.anchor: Anchor | None = None
        raw: dict[Region, int] = {"tools": sum(count_tool(t, self._count) for t in static.tools)}
        for block in static.system:
            raw[block.region] = raw.get(block.region, 0) + count_block(block, self._count)
        self._static_raw = raw

    @property
    def static_tokens(self) -> int:
        """Raw estimate of tools, system text and instructions."""
        return sum(self._static_raw.values())

    async def weigh(self, message: Message) -> int:
        """Estimate one message that is not in the log yet, raw."""
        if _weight(message) > THREAD_CHARS:
            return sum((await asyncio.to_thread(self._look, message)).raw)
        return sum(self._look(message).raw)

    async def refresh(self, messages: Iterable[Message]) -> None:
        """Render and count what is new; large texts are counted in a thread."""
        fresh = [m for m in messages if self._stale(m)]
        if sum(_weight(m) for m in fresh) > THREAD_CHARS:
            for seen in await asyncio.to_thread(lambda: [self._look(m) for m in fresh]):
                self._seen[seen.message.id] = seen
        else:
            self._refresh_now(fresh)

    def prompt(self, messages: Iterable[Message]) -> Prompt:
        """Build the prompt that would be sent now, breakpoints included."""
        seen = self._current(messages)
        prompt = assemble(self.static, (r for s in seen for r in s.rendered))
        sent_before = 0 if self.anchor is None else self.anchor.blocks
        return replace(prompt, breakpoints=cache.place(prompt, sent_before))

    def size(self, messages: Iterable[Message]) -> Size:
        """Measure the prompt that would be sent now.

        The last reported total is trusted for what that request held and what came back;
        only what was added since is estimated.
        """
        seen = self._current(messages)
        raw = dict(self._static_raw)
        for one in seen:
            for region, tokens in one.regions:
                raw[region] = raw.get(region, 0) + tokens
        factor = self.calibration.factor
        if self.anchor is None:
            total = round(sum(raw.values()) * factor)
            return Size(total, raw, "estimated", "no response yet: estimated from the text")
        added = self._added(seen)
        known = self.anchor.usage.prompt + self.anchor.usage.output
        if added == 0:
            return Size(known, raw, "exact", "as the provider reported it")
        reason = f"{known} tokens reported, {round(added * factor)} estimated since"
        return Size(known + round(added * factor), raw, "estimated", reason)

    def observe(self, message: Message, messages: Iterable[Message]) -> None:
        """Learn from a finished step: anchor on its usage, calibrate by what had been added."""
        finish = next((p for p in message.parts if isinstance(p, StepFinishPart)), None)
        if finish is None or not finish.usage.prompt:
            return
        before = [s for s in self._current(messages) if s.message.id != message.id]
        if self.anchor is not None:
            known = self.anchor.usage.prompt + self.anchor.usage.output
            self.calibration = observe(
                self.calibration,
                raw_delta=self._added(before),
                reported_delta=finish.usage.prompt - known,
            )
        else:
            raw = sum(self._static_raw.values()) + sum(sum(s.raw) for s in before)
            self.calibration = observe(
                self.calibration, raw_delta=raw, reported_delta=finish.usage.prompt
            )
        blocks = sum(len(s.raw) for s in before)
        self.anchor = Anchor(message.id, finish.usage, finish.started, blocks)

    def replay(self, messages: Iterable[Message]) -> None:
        """Learn from a log's newest steps as if they had just happened, after a restart."""
        everything = list(messages)
        steps = [
            index
            for index, message in enumerate(everything)
            if message.role == "assistant"
            and message.model == self.static.model
            and message.created >= self.since
        ]
        for index in steps[-REPLAYED:]:
            self.observe(everything[index], everything[: index + 1])

    def _added(self, seen: list[Seen]) -> int:
        """Raw estimate of what was added after the anchor's own answer."""
        assert self.anchor is not None
        added = 0
        past = False
        for one in seen:
            if past:
                added += sum(one.raw)
            elif one.message.id == self.anchor.message_id:
                past = True
                added += sum(n for region, n in one.regions if region == "toolResults")
        return added

    def _current(self, messages: Iterable[Message]) -> list[Seen]:
        current: list[Seen] = []
        for message in messages:
            seen = self._seen.get(message.id)
            if seen is None or seen.message is not message or seen.model != self.static.model:
                seen = self._look(message)
                self._seen[message.id] = seen
            current.append(seen)
        return current

    def _refresh_now(self, fresh: list[Message]) -> None:
        for message in fresh:
            self._seen[message.id] = self._look(message)

    def _stale(self, message: Message) -> bool:
        seen = self._seen.get(message.id)
        return seen is None or seen.message is not message or seen.model != self.static.model

    def _look(self, message: Message) -> Seen:
        model = self.static.model
        rendered = render(message, model)
        blocks = [block for one in rendered for block in one.blocks]
        count = _rough if message.status == "open" else self._count
        raw = tuple(count_block(block, count) for block in blocks)
        return Seen(message, model, rendered, raw, _by_region(blocks, raw))


def _by_region(blocks: list[Block], raw: tuple[int, ...]) -> tuple[tuple[Region, int], ...]:
    sums: dict[Region, int] = {}
    for block, tokens in zip(blocks, raw, strict=True):
        sums[block.region] = sums.get(block.region, 0) + tokens
    return tuple(sums.items())


def _rough(text: str) -> int:
    # A message that still streams is counted again and again; this is good enough for the meter.
    return len(text) // 4


def _weight(message: Message) -> int:
    return sum(len(getattr(part, "text", None) or "") for part in message.parts)
