"""The first request of an epoch marks where it ceases to share the prompt before."""

from itertools import accumulate, takewhile

from sidecar.core.prompt.prompt import Prompt, flat
from tests.session.conftest import Desk


def shared(one: Prompt, other: Prompt) -> int:
    """How many blocks, from the first on, are the same."""
    pairs = zip(flat(one), flat(other), strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def marked(prompt: Prompt) -> list[int]:
    """After how many blocks of messages the breakpoints stand."""
    firsts = list(accumulate((len(m.blocks) for m in prompt.messages), initial=0))
    return [firsts[m.message] + m.block + 1 for m in prompt.breakpoints if m.message is not None]


async def test_the_end_of_the_longest_common_prefix_is_marked(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    await worker.turns(6, 5)
    before = desk.prompts()[-1]
    await worker.session.rewriting.compact("evict-fifo", None, dry_run=False)
    await worker.turn(0)
    first = desk.prompts()[-1]
    common = shared(before, first)
    assert 0 < common < len(flat(before)) - 20
    assert common in marked(first)
    await worker.turn(0)
    assert len(flat(first)) in marked(desk.prompts()[-1])
