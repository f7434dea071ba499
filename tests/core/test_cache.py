"""Where breakpoints go."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.cache import MOST, place, positions
from sidecar.core.prompt import Breakpoint, Prompt
from sidecar.core.render import (
    Block,
    CallBlock,
    ReasoningBlock,
    Rendered,
    ResultBlock,
    TextBlock,
)

KINDS = {
    "t": (TextBlock("x"), "user"),
    "e": (TextBlock(""), "user"),
    "k": (ReasoningBlock("x", {"signature": "s"}), "reasoning"),
    "c": (CallBlock("a", "tool", {}), "assistant"),
    "r": (ResultBlock("a", "x"), "toolResults"),
}


def prompt(*messages: str, system: str = "s") -> Prompt:
    """Messages as strings of block letters, roles alternating."""
    rendered = tuple(
        Rendered("user" if i % 2 == 0 else "assistant", tuple(Block(*KINDS[c]) for c in letters))
        for i, letters in enumerate(messages)
    )
    static = (Block(TextBlock(system), "system"),) if system else ()
    return Prompt((), static, rendered)


def check(expected: str, *messages: str, sent_before: int = 0) -> None:
    """Compare places written as `s m0.1`: system, then message.block."""
    found = place(prompt(*messages), sent_before)
    assert (
        " ".join("s" if b.message is None else f"m{b.message}.{b.block}" for b in found) == expected
    )


def test_first_request_marks_the_static_part_and_its_end() -> None:
    check("s m0.1", "tt")


def test_a_step_marks_where_the_last_request_ended() -> None:
    check("s m0.0 m2.1", "t", "tc", "rt", sent_before=1)


def test_thinking_and_empty_text_are_never_marked() -> None:
    check("s m0.0", "t", "k")
    check("s m0.0", "te")


def test_long_stretches_get_one_more() -> None:
    messages = ["t", *(["t", "t"] * 10)]
    check("s m0.0 m5.0 m20.0", *messages, sent_before=1)


def test_parallel_calls_are_one_position() -> None:
    blocks = [Block(*KINDS[c]) for c in "tcccrrrt"]
    assert positions(blocks) == [0, 1, 1, 1, 2, 2, 2, 3]


def test_nothing_to_mark() -> None:
    assert place(prompt("e", system=""), 0) == ()


@given(
    st.lists(st.text(alphabet="teckr", min_size=1, max_size=6), min_size=1, max_size=40),
    st.integers(0, 300),
)
def test_at_most_four_in_order_and_on_markable_blocks(messages: list[str], before: int) -> None:
    built = prompt(*messages)
    found = place(built, before)
    assert len(found) <= MOST
    spots = [(-1 if b.message is None else b.message, b.block) for b in found]
    assert spots == sorted(set(spots))
    for mark in found:
        if mark.message is not None:
            letter = messages[mark.message][mark.block]
            assert letter not in "ek"


@pytest.mark.parametrize("grown", [1, 5, 30])
def test_the_previous_end_stays_marked_as_the_prompt_grows(grown: int) -> None:
    first = prompt("tt")
    newest = place(first, 0)[-1]
    longer = prompt("tt", *(["c", "r"] * grown))
    assert Breakpoint(newest.message, newest.block) in place(longer, 2)
