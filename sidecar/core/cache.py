"""The provider's prompt cache: where to put breakpoints.

A write happens only at a breakpoint; a read walks back at most `LOOKBACK` positions from one,
looking for an earlier write. A run of tool calls, or of tool results, is one position.
Source: Anthropic, "Prompt caching", read 2026-11.
"""

from collections.abc import Sequence

from sidecar.core.prompt import Breakpoint, Prompt
from sidecar.core.render import Block, CallBlock, MediaBlock, ReasoningBlock, ResultBlock, TextBlock

MOST = 4
LOOKBACK = 20
STRIDE = 15
"""A long stretch gets a breakpoint this often: well inside the lookback."""


def place(prompt: Prompt, sent_before: int) -> tuple[Breakpoint, ...]:
    """Choose at most four breakpoints, in prompt order.

    The end of the static system text; the last block of the previous request, so that its write
    is found however far the prompt has grown since (`sent_before` is how many message blocks
    that request had, 0 if there was none); the newest block; and in a long stretch between
    those two, one more.
    """
    blocks = [block for message in prompt.messages for block in message.blocks]
    places = [
        (m, b) for m, message in enumerate(prompt.messages) for b in range(len(message.blocks))
    ]
    chosen: set[int] = set()
    newest = _markable_at_or_before(blocks, len(blocks) - 1)
    if newest is not None:
        chosen.add(newest)
        before = _markable_at_or_before(blocks, min(sent_before, len(blocks)) - 1)
        start = 0 if before is None else before
        if before is not None:
            chosen.add(before)
        between = _stride(blocks, start, newest)
        if between is not None:
            chosen.add(between)
    marks = [Breakpoint(*places[index]) for index in sorted(chosen)]
    static = _markable_at_or_before(prompt.system, len(prompt.system) - 1)
    if static is not None:
        marks.insert(0, Breakpoint(None, static))
    return tuple(marks[:1] + marks[1:][-(MOST - 1) :]) if static is not None else tuple(marks)


def positions(blocks: Sequence[Block]) -> list[int]:
    """Number the blocks by position: neighbours in a run of calls or of results share one."""
    numbers: list[int] = []
    number = -1
    previous: type | None = None
    for block in blocks:
        kind = type(block.content)
        if kind is not previous or kind not in (CallBlock, ResultBlock):
            number += 1
        numbers.append(number)
        previous = kind
    return numbers


def _stride(blocks: Sequence[Block], start: int, end: int) -> int | None:
    numbers = positions(blocks)
    if numbers[end] - numbers[start] <= STRIDE:
        return None
    # The latest place from which the end is still a stride away: the next request's newest
    # breakpoint then finds this one even when nothing is known of the request before.
    reach = numbers[end] - STRIDE
    candidate = max(i for i in range(start, end) if numbers[i] <= reach)
    found = _markable_at_or_before(blocks, candidate)
    return found if found is not None and found > start else None


def _markable_at_or_before(blocks: Sequence[Block], index: int) -> int | None:
    while index >= 0:
        if can_mark(blocks[index]):
            return index
        index -= 1
    return None


def can_mark(block: Block) -> bool:
    """Whether the provider takes a breakpoint here: not on thinking, not on empty text."""
    match block.content:
        case ReasoningBlock():
            return False
        case TextBlock(text=text):
            return bool(text)
        case MediaBlock() | CallBlock() | ResultBlock():
            return True
        case _:
            return False
