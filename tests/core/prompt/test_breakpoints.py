"""Where breakpoints go."""

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.prompt.breakpoints import can_mark, joins, place
from sidecar.core.prompt.cache.warmth import Warm, follow, foresee
from sidecar.core.prompt.cache_rules import MARKED
from sidecar.core.prompt.prefix import Chain, link
from sidecar.core.prompt.prompt import Breakpoint, Prompt, flat
from tests.core.prompts import answering, calling, model, system, thinking, user

KINDS = {
    "t": "x",
    "e": "",
    "k": thinking("x", {"signature": "s"}),
    "c": calling("a"),
    "r": answering("a"),
}


def prompt(*messages: str, begin: str = "s") -> Prompt:
    """Messages as strings of block letters, roles alternating."""
    said = [[KINDS[c] for c in letters] for letters in messages]
    rendered = tuple(model(*one) if i % 2 else user(*one) for i, one in enumerate(said))
    return Prompt((), system(begin) if begin else (), rendered)


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
    blocks = flat(prompt("tcccrrrt"))
    joined = [joins(before, now) for before, now in pairwise(blocks)]
    assert joined == [False, True, True, False, True, True, False]


def test_a_prompt_without_words_is_not_marked() -> None:
    assert place(prompt("e", begin=""), 0) == ()


@given(
    st.lists(st.text(alphabet="teckr", min_size=1, max_size=6), min_size=1, max_size=40),
    st.integers(0, 300),
)
def test_at_most_four_in_order_and_on_markable_blocks(messages: list[str], before: int) -> None:
    built = prompt(*messages)
    found = place(built, before)
    assert len(found) <= MARKED.marks
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


def placed(*messages: str, **how: Any) -> str:
    found = place(prompt(*messages), how.pop("sent_before", 0), **how)
    return " ".join(
        ("s" if b.message is None else f"m{b.message}.{b.block}") + ("!" if b.ttl == "1h" else "")
        for b in found
    )


def test_strides_take_what_is_left() -> None:
    assert placed(*"t" * 60) == "s m29.0 m44.0 m59.0"
    assert placed(*"t" * 16) == "s m15.0"
    assert placed(*"t" * 17) == "s m1.0 m16.0"
    assert placed(*"t" * 60, sent_before=10) == "s m9.0 m44.0 m59.0"
    assert placed(*"t" * 60, sent_before=10, anchor=5) == "s m4.0 m9.0 m59.0"


def test_strides_count_positions_and_pass_over_what_cannot_be_marked() -> None:
    steps = ["ccc", "rrr"] * 10
    assert placed("t", *steps) == "s m5.2 m20.2"
    assert placed(*"t" * 20, *"kk", *"t" * 14) == "s m4.0 m19.0 m35.0"


def test_the_end_of_what_a_rewrite_rebuilt_is_marked() -> None:
    assert placed("tt", "t", "t", sent_before=3, anchor=2) == "s m0.1 m1.0 m2.0"
    assert placed("tt", "t", sent_before=2, anchor=99) == "s m0.1 m1.0"


def test_an_hour_comes_before_five_minutes() -> None:
    assert placed("t", "t", sent_before=1, static_ttl="1h") == "s! m0.0 m1.0"


def test_what_is_below_the_minimum_is_not_marked() -> None:
    sizes = [100, 200, 300, 512, 700]
    assert placed("t", "t", "t", sent_before=2, sizes=sizes, minimum=512) == "m1.0 m2.0"
    assert placed("t", "t", "t", sent_before=1, sizes=sizes, minimum=200) == "s m0.0 m2.0"
    assert placed("t", "t", "t", sizes=sizes, minimum=701) == ""


def test_without_a_static_part_the_history_has_all_four() -> None:
    found = place(prompt(*"t" * 60, begin=""), 0)
    assert [mark.message for mark in found] == [14, 29, 44, 59]


@dataclass
class Cached:
    """A growing prompt and the provider's cache; all pieces have 100 tokens."""

    history: str = ""
    sent: int = 0
    chain: Chain = field(default_factory=Chain)
    warm: Warm = field(default_factory=dict)

    def ask(self, added: str, minimum: int = 1, **how: Any) -> tuple[int, int]:
        """Give the tokens read, and those up to the newest block that can be marked."""
        self.history += added
        made = prompt(self.history)
        made = replace(made, breakpoints=place(made, self.sent, **how))
        self.chain = link("m", made, lambda _: 100, self.chain)
        parallel = self.chain.hashes, self.chain.sizes, self.chain.places
        found = foresee(self.warm, *parallel, self.chain.marks, 0, replace(MARKED, minimum=minimum))
        self.warm = follow(self.warm, found)
        blocks = flat(made)
        self.sent = len(blocks)
        newest = max((i for i, block in enumerate(blocks) if can_mark(block)), default=None)
        return found.read, 0 if newest is None else (2 + newest + 1) * 100


ADDED = st.one_of(
    st.text(alphabet="teckr", min_size=1, max_size=60),
    st.builds(lambda n: "t" * n, st.integers(1, 90)),
    st.builds(lambda n: "cr" * n, st.integers(1, 40)),
    st.builds(lambda n: "k" * n, st.integers(1, 30)),
)


@given(st.lists(ADDED, min_size=1, max_size=8), st.integers(1, 6_000), st.integers(0, 40))
def test_each_request_reads_all_that_the_one_before_it_could_leave(
    added: list[str], minimum: int, anchor: int
) -> None:
    cached, left = Cached(), 0
    for more in added:
        read, end = cached.ask(more, minimum, anchor=anchor)
        if left >= minimum:
            assert read == left
        left = end


@given(st.lists(ADDED, min_size=1, max_size=4), ADDED, ADDED)
def test_what_a_rewrite_rebuilt_survives_the_next_rewrite_of_what_follows(
    added: list[str], later: str, other: str
) -> None:
    cached, end = Cached(), 0
    for more in added:
        _, end = cached.ask(more)
    rebuilt, anchor = cached.history, cached.sent
    cached.ask(later, anchor=anchor)
    cached.history = rebuilt
    read, _ = cached.ask("c" + other, anchor=anchor)
    assert read >= end


def test_with_a_chain_s_sizes_nothing_is_marked_that_would_not_be_written() -> None:
    made = prompt(*"t" * 8)
    chain = link("m", made, lambda _: 100, Chain())
    found = place(made, 3, sizes=chain.sizes, minimum=600)
    assert [mark.message for mark in found] == [7]
