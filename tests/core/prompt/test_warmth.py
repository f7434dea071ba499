"""The model of the provider's cache, held against the simulator that the fakes have."""

import string
from dataclasses import replace
from fractions import Fraction
from functools import cache as remember
from typing import Any
from zlib import crc32

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.core.parts import Role, Usage
from sidecar.core.prompt.breakpoints import can_mark, place
from sidecar.core.prompt.cache.warmth import (
    MOST_KEPT,
    CachedPrefix,
    Warm,
    follow,
    foresee,
    predict,
)
from sidecar.core.prompt.cache_rules import MARKED
from sidecar.core.prompt.prefix import CacheMark, Chain, PrefixPiece, link
from sidecar.core.prompt.prompt import Breakpoint, ModelRequest, Prompt, ToolSpec, flat
from sidecar.core.prompt.render import (
    Block,
    CallBlock,
    ReasoningBlock,
    Rendered,
    ResultBlock,
    TextBlock,
)
from sidecar.model.messages.encode import encode
from tests.fakes.cache_simulator import CacheSimulator
from tests.fakes.validation import Body, in_order, plain

pytestmark = pytest.mark.long

MODEL = "m"
MINIMUM = 900
RULES = replace(MARKED, minimum=MINIMUM)
ANY = replace(MARKED, minimum=1)
TOOLS = tuple(ToolSpec(name, f"Does {name}.", {"type": "object"}) for name in ("read", "edit"))
SYSTEM = (Block(TextBlock("Be brief."), "system"), Block(TextBlock("And kind."), "instructions"))


def count(text: str) -> int:
    """Anything will do that tells texts apart."""
    return 1 + crc32(text.encode()) % 300


@remember
def block(letter: str) -> Block:
    """Lower-case letters are a user's, upper-case ones the model's."""
    match letter:
        case "r" | "s" | "t":
            return Block(ResultBlock("call", f"result {letter}"), "toolResults")
        case "C" | "D" | "E":
            return Block(CallBlock("call", "read", {"path": letter}), "assistant")
        case "K":
            return Block(ReasoningBlock("hm", {"signature": "x"}), "reasoning")
        case _:
            return Block(TextBlock(letter), "user" if letter.islower() else "assistant")


def prompt(history: str, marked: tuple[Breakpoint, ...] = ()) -> Prompt:
    messages: list[Rendered] = []
    for letter in history:
        role: Role = "user" if letter.islower() else "assistant"
        if messages and messages[-1].role == role:
            messages[-1] = Rendered(role, (*messages[-1].blocks, block(letter)))
        else:
            messages.append(Rendered(role, (block(letter),)))
    return Prompt(TOOLS, SYSTEM, tuple(messages), marked)


def body(made: Prompt) -> Body:
    return encode(ModelRequest(MODEL, made, 1))


def weigh(piece: PrefixPiece) -> int:
    made = Prompt(piece, (), ()) if isinstance(piece, tuple) else prompt("")
    if isinstance(piece, Block):
        made = Prompt((), (), (Rendered("user", (piece,)),))
    return sum(count(plain(one)) for one in in_order(body(made)))


def told(usage: dict[str, Any]) -> Usage:
    made = usage["cache_creation"]
    return Usage(
        input=usage["input_tokens"],
        cache_read=usage["cache_read_input_tokens"],
        cache_write_5m=made["ephemeral_5m_input_tokens"],
        cache_write_1h=made["ephemeral_1h_input_tokens"],
    )


class Both:
    """One cache, once as the simulator has it and once as the model has it."""

    def __init__(self, simulator: type[CacheSimulator] = CacheSimulator) -> None:
        self.at = 0
        # As floats, seconds would be off by a hair just where an entry expires.
        self.simulated = simulator(lambda: Fraction(self.at, 1000), MINIMUM, count)
        self.warm: Warm = {}
        self.chain = Chain()

    def ask(self, made: Prompt) -> tuple[Usage, Usage]:
        """Give the usage as simulated and as foreseen."""
        self.chain = link(MODEL, made, weigh, self.chain)
        chain, marks = self.chain, self.chain.marks
        foreseen = foresee(
            self.warm, chain.hashes, chain.sizes, chain.places, marks, self.at, RULES
        )
        self.warm = follow(self.warm, foreseen)
        expected = Usage(
            input=foreseen.uncached,
            cache_read=foreseen.read,
            cache_write_5m=foreseen.write_5m,
            cache_write_1h=foreseen.write_1h,
        )
        return told(self.simulated.request(body(made))), expected


LETTERS = st.text(alphabet=string.ascii_lowercase + "ACDEKB", min_size=1, max_size=30)
LONG_CALLS = st.builds(lambda n: "C" * n + "r" * n, st.integers(1, 30))
GAPS = st.sampled_from([0, 1_000, 20_000, 299_999, 300_000, 300_001, 900_000, 3_600_000, 4_000_000])


@st.composite
def requests(draw: st.DrawFn) -> list[tuple[str, tuple[Breakpoint, ...], int]]:
    """Histories that grow, are edited, cut and taken up again, with breakpoints anywhere."""
    history, asked = draw(LETTERS), []
    for _ in range(draw(st.integers(1, 12))):
        match draw(st.sampled_from(["append", "append", "append", "calls", "edit", "cut", "same"])):
            case "append":
                history += draw(LETTERS)
            case "calls":
                history += draw(LONG_CALLS)
            case "edit":
                at = draw(st.integers(0, len(history) - 1))
                history = history[:at] + draw(LETTERS) + history[at + 1 :]
            case "cut":
                history = history[: draw(st.integers(1, len(history)))]
        made = prompt(history)
        spots = [(None, i) for i in range(len(SYSTEM))] + [
            (m, b)
            for m, message in enumerate(made.messages)
            for b, one in enumerate(message.blocks)
            if can_mark(one)
        ]
        chosen = sorted(draw(st.sets(st.integers(0, len(spots) - 1), max_size=4)))
        hours = draw(st.integers(0, len(chosen)))
        marks = tuple(
            Breakpoint(*spots[i], "1h" if n < hours else "5m") for n, i in enumerate(chosen)
        )
        asked.append((history, marks, draw(GAPS)))
    return asked


@settings(max_examples=300, deadline=None)
@given(requests())
def test_it_foresees_what_the_simulator_bills(
    asked: list[tuple[str, tuple[Breakpoint, ...], int]],
) -> None:
    both = Both()
    for history, marks, gap in asked:
        both.at += gap
        simulated, foreseen = both.ask(prompt(history, marks))
        assert foreseen == simulated


@settings(max_examples=150, deadline=None)
@given(requests())
def test_as_long_as_nothing_expires_the_plain_simulator_agrees(
    asked: list[tuple[str, tuple[Breakpoint, ...], int]],
) -> None:
    both = Both(CacheSimulator)
    for history, marks, gap in asked:
        both.at += gap % 20_001
        simulated, foreseen = both.ask(prompt(history, marks))
        assert foreseen == simulated


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(LETTERS, LONG_CALLS), min_size=1, max_size=12), st.floats(0.4, 2.5))
def test_reads_are_foreseen_exactly_from_reported_usage_however_bad_the_estimates(
    added: list[str], bad: float
) -> None:
    simulated = CacheSimulator(lambda: 0.0, 1, count)
    warm: Warm = {}
    chain, history, before = Chain(), "", 0
    for more in added:
        history += more
        made = prompt(history)
        made = replace(made, breakpoints=place(made, before, static_ttl="1h"))
        chain = link(MODEL, made, lambda piece: round(weigh(piece) * bad), chain)
        marks = chain.marks
        foreseen = foresee(warm, chain.hashes, chain.sizes, chain.places, marks, 0, ANY)
        usage = told(simulated.request(body(made)))
        assert foreseen.read == usage.cache_read
        warm = follow(warm, foreseen, usage=usage)
        before = len(flat(made))
    static = [entry.size for entry in warm.values() if entry.ttl == MARKED.long]
    assert static == [weigh(TOOLS) + sum(map(weigh, SYSTEM))]


def ask(
    warm: Warm, sizes: list[int], marks: list[CacheMark], at: int = 0, minimum: int = 1
) -> tuple[tuple[int, int, int, int], Warm]:
    """Ask with segments "0", "1", ... of growing sizes, each a position."""
    names = [str(i) for i in range(len(sizes))]
    made, after = predict(
        warm, names, sizes, range(len(sizes)), marks, at, replace(MARKED, minimum=minimum)
    )
    return (made.read, made.write_5m, made.write_1h, made.uncached), after


def test_a_read_renews_for_its_own_lifetime_from_the_start() -> None:
    _, warm = ask({}, [100, 200], [(1, "5m")])
    billed, warm = ask(warm, [100, 200, 300], [(2, "5m")], at=300_000)
    assert billed == (200, 100, 0, 0)
    assert {entry.expires for entry in warm.values()} == {600_000}
    assert ask(warm, [100, 200, 300], [(2, "5m")], at=600_000)[0] == (300, 0, 0, 0)
    assert ask(warm, [100, 200, 300], [(2, "5m")], at=600_001)[0] == (0, 300, 0, 0)


def test_an_hour_is_billed_up_to_its_last_mark_and_five_minutes_after_it() -> None:
    billed, warm = ask({}, [100, 200, 300, 400], [(0, "1h"), (1, "1h"), (2, "5m")])
    assert billed == (0, 100, 200, 100)
    later = MARKED.short + 1
    billed, _ = ask(warm, [100, 200, 300, 400], [(0, "1h"), (1, "1h"), (3, "5m")], at=later)
    assert billed == (200, 200, 0, 0)


def test_twenty_positions_are_looked_at_and_not_one_more() -> None:
    sizes = list(range(100, 4_100, 100))
    _, warm = ask({}, sizes[:15], [(14, "5m")])
    assert ask(warm, sizes, [(33, "5m")])[0][0] == 1_500
    assert ask(warm, sizes, [(34, "5m")])[0][0] == 0
    assert ask(warm, sizes, [(14, "5m"), (34, "5m")])[0][0] == 1_500


def test_what_is_below_the_minimum_is_not_written() -> None:
    billed, warm = ask({}, [100, 511], [(0, "5m"), (1, "5m")], minimum=512)
    assert billed == (0, 0, 0, 511)
    assert warm == {}
    assert ask({}, [100, 512], [(0, "5m"), (1, "5m")], minimum=512)[0] == (0, 512, 0, 0)


def test_foreseeing_says_how_long_the_longest_prefix_lives() -> None:
    made = foresee({}, ["a", "b"], [100, 200], [0, 1], [(0, "1h")], 1_000, ANY)
    assert (made.hit, made.end, made.expires_at) == (None, 0, 1_000 + MARKED.long)
    made = foresee({}, ["a"], [100], [0], [], 1_000, ANY)
    assert (made.hit, made.end, made.expires_at, made.uncached) == (None, None, None, 100)
    assert foresee({}, [], [], [], [], 0, ANY).uncached == 0


def test_only_so_many_entries_are_remembered_and_an_hour_outlasts_many_writes() -> None:
    warm: Warm = {}
    for number in range(1_000):
        names = ["static", *(f"{number} {i}" for i in range(3))]
        marks: list[CacheMark] = [(0, "1h"), (1, "5m"), (2, "5m"), (3, "5m")]
        made = foresee(warm, names, [10, 20, 30, 40], range(4), marks, number, ANY)
        warm = follow(warm, made)
    assert len(warm) == MOST_KEPT == 256
    assert "static" in warm
    assert foresee(warm, ["static"], [10], [0], [(0, "1h")], 3_600_000, ANY).read == 10


def test_expired_entries_are_forgotten() -> None:
    warm: Warm = {"old": CachedPrefix(10, 99, 300_000), "young": CachedPrefix(10, 100, 300_000)}
    nothing = foresee(warm, ["a"], [1], [0], [], 100, ANY)
    assert set(follow(warm, nothing)) == {"young"}


@pytest.mark.parametrize("read", [0, 300, 449])
def test_an_entry_that_the_provider_had_dropped_is_no_longer_counted_on(read: int) -> None:
    warm: Warm = {
        "s": CachedPrefix(300, 300_000, 300_000),
        "b": CachedPrefix(900, 300_000, 300_000),
    }
    names, sizes, places = ["s", "a", "b", "c"], [300, 600, 900, 1_200], range(4)
    made = foresee(warm, names, sizes, places, [(0, "5m"), (3, "5m")], 1_000, ANY)
    assert (made.read, made.write_5m) == (900, 300)
    reported = Usage(cache_read=read, cache_write_5m=1_200 - read)
    warm = follow(warm, made, usage=reported)
    assert {key: entry.size for key, entry in warm.items()} == {"s": 300, "c": 1_200}


def test_an_entry_is_counted_on_where_half_of_it_was_read() -> None:
    warm: Warm = {"b": CachedPrefix(900, 300_000, 300_000)}
    made = foresee(warm, ["a", "b", "c"], [600, 900, 1_200], range(3), [(2, "5m")], 1_000, ANY)
    warm = follow(warm, made, usage=Usage(cache_read=450, cache_write_5m=750))
    assert set(warm) >= {"b", "c"}


def test_what_was_read_of_a_longer_entry_says_nothing_of_the_one_foreseen() -> None:
    warm: Warm = {"s": CachedPrefix(300, 3_600_000, 3_600_000)}
    names, sizes, places = ["s", "a", "b", "c"], [300, 1_600, 1_800, 2_000], range(4)
    made = foresee(warm, names, sizes, places, [(0, "1h"), (3, "5m")], 1_000, ANY)
    assert (made.read, made.write_5m) == (300, 1_700)
    warm = follow(warm, made, usage=Usage(cache_read=1_800, cache_write_5m=200))
    assert {key: entry.size for key, entry in warm.items()} == {"s": 300, "c": 2_000}


def test_a_provider_that_caches_nothing_is_believed() -> None:
    made = foresee({}, ["a"], [1_000], [0], [(0, "5m")], 0, replace(MARKED, minimum=512))
    assert made.write_5m == 1_000
    assert follow({}, made, usage=Usage(input=1_000)) == {}


def test_an_hour_that_was_cut_short_lives_five_minutes() -> None:
    made = foresee({}, ["a", "b"], [100, 200], [0, 1], [(0, "1h"), (1, "5m")], 0, ANY)
    warm = follow({}, made, usage=Usage(cache_write_5m=200))
    assert {entry.ttl for entry in warm.values()} == {MARKED.short}
