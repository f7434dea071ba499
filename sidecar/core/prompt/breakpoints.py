"""Places breakpoints for a provider's prompt cache, where its rules have any.

Neighbouring calls, or results, share a position, by which lookback counts.
"""

from bisect import bisect_right
from collections.abc import Sequence

from sidecar.core.prompt.cache_rules import MARKED, CacheRules
from sidecar.core.prompt.prompt import Breakpoint, Prompt, Spread, Ttl, spread
from sidecar.core.prompt.render import (
    Block,
    CallBlock,
    MediaBlock,
    ReasoningBlock,
    ResultBlock,
    TextBlock,
)

STRIDE = 15
"""A long stretch gets a breakpoint this often: well inside any lookback."""


def place(
    prompt: Prompt,
    sent_before: int,
    *,
    anchor: int = 0,
    static_ttl: Ttl = "5m",
    sizes: Sequence[int] = (),
    minimum: int = 0,
    laid: Spread | None = None,
    rules: CacheRules = MARKED,
) -> tuple[Breakpoint, ...]:
    """Returns at most as many breakpoints as `rules` have, in prompt order.

    They stand after the static system text, the newest block, the previous request's last block
    (`sent_before` message blocks, 0 for none) and the last rewrite (`anchor` message blocks). Spare
    ones follow every `STRIDE` positions back from the newest, if lookback has an end. The newest
    block is left to a provider that marks it itself.
    `sizes`: cumulative tokens of all tools, each system block, each message block; nothing below
    `minimum` is marked. Only the static text may live for an hour. `laid`: the prompt's blocks, if
    known.
    """
    if rules.by != "marks" or rules.marks <= rules.implicit:
        return ()
    laid = laid or spread(prompt)
    blocks = laid.blocks
    head = 1 + len(prompt.system)

    def enough(segment: int) -> bool:
        return not sizes or sizes[segment] >= minimum

    static = _markable(prompt.system, len(prompt.system) - 1, rules)
    if static is not None and not enough(1 + static):
        static = None
    room = rules.marks - (static is not None) - rules.implicit
    chosen: set[int] = set()
    newest = _markable(blocks, len(blocks) - 1, rules)
    if newest is not None and enough(head + newest):
        before = _markable(blocks, min(sent_before, len(blocks)) - 1, rules)
        rebuilt = _markable(blocks, min(anchor, len(blocks)) - 1, rules)
        if rules.implicit:
            before, rebuilt = (None if i == newest else i for i in (before, rebuilt))
        own = None if rules.implicit else newest
        wanted = [i for i in (own, before, rebuilt) if i is not None and enough(head + i)]
        chosen.update(wanted[:room])
        if rules.lookback is not None:
            start = 0 if before is None else before
            between = _strides(blocks, start, newest, room - len(chosen))
            chosen.update(i for i in between if enough(head + i))
    numbers = {index: bisect_right(laid.firsts, index) - 1 for index in sorted(chosen)}
    marks = [Breakpoint(at, index - laid.firsts[at]) for index, at in numbers.items()]
    if static is not None:
        marks.insert(0, Breakpoint(None, static, static_ttl))
    return tuple(marks)


def joins(previous: object, now: object) -> bool:
    """Whether neighbouring blocks share a cache position."""
    if not isinstance(previous, Block) or not isinstance(now, Block):
        return False
    kind = type(now.content)
    return kind in (CallBlock, ResultBlock) and type(previous.content) is kind


def _strides(blocks: Sequence[Block], start: int, end: int, most: int) -> list[int]:
    found: list[int] = []
    back = 0
    for index in range(end - 1, start, -1):
        if len(found) >= most:
            break
        if not joins(blocks[index], blocks[index + 1]):
            back += 1
        if back >= STRIDE and can_mark(blocks[index]):
            found.append(index)
            back = 0
    return found


def _markable(blocks: Sequence[Block], index: int, rules: CacheRules) -> int | None:
    while index >= 0:
        own = rules.marks_answers or blocks[index].region != "assistant"
        if own and can_mark(blocks[index]):
            return index
        index -= 1
    return None


def can_mark(block: Block) -> bool:
    """Whether a block may have a breakpoint: not thinking, nor empty text."""
    match block.content:
        case ReasoningBlock():
            return False
        case TextBlock(text=text):
            return bool(text)
        case MediaBlock() | CallBlock() | ResultBlock():
            return True
        case _:
            return False
