"""Other rules than four marks: automatic prefixes, exact breakpoints, lives of several kinds."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.parts import Usage
from sidecar.core.prompt.breakpoints import place
from sidecar.core.prompt.cache.misses import AnsweredRequest, Miss, find_miss
from sidecar.core.prompt.cache.warmth import (
    MOST_PREFIXES,
    Prediction,
    Warm,
    assume,
    follow,
    foresee,
    predict,
)
from sidecar.core.prompt.cache_rules import MARKED, CacheRules
from sidecar.core.prompt.prefix import Chain, link
from sidecar.core.prompt.prompt import Breakpoint, Prompt
from tests.core.prompts import model, system, user

MINUTE = 60_000
PREFIX = CacheRules(
    by="prefix",
    marks=0,
    lookback=None,
    granularity=128,
    minimum=1_024,
    life="evict",
    short=10 * MINUTE,
    long=0,
    writes_cost=False,
    pings_renew=False,
)
EXACT = CacheRules(
    lookback=None, implicit=True, minimum=1_024, life="evict", short=30 * MINUTE, long=0
)
NOTHING = replace(PREFIX, by="nothing", minimum=0)


def ask(
    warm: Warm, text: str, rules: CacheRules, at: int = 0, marks: tuple[int, ...] = ()
) -> tuple[Prediction, Warm]:
    """Ask with a letter a segment, of 1,000 tokens each."""
    hashes = [text[: n + 1] for n in range(len(text))]
    sizes = [1_000 * (n + 1) for n in range(len(text))]
    return predict(warm, hashes, sizes, range(len(text)), [(m, "5m") for m in marks], at, rules)


def billed(found: Prediction) -> tuple[int, int, int]:
    return found.read, found.write_5m + found.write_1h, found.uncached


def test_a_common_prefix_is_read_in_whole_steps_and_written_for_nothing() -> None:
    first, warm = ask({}, "abc", PREFIX)
    assert (billed(first), first.end) == ((0, 0, 3_000), 2)
    more, warm = ask(warm, "abcd", PREFIX)
    assert billed(more) == (23 * 128, 0, 4_000 - 23 * 128)
    changed, warm = ask(warm, "abXY", PREFIX)
    assert (billed(changed), changed.hit) == ((15 * 128, 0, 4_000 - 15 * 128), 1)


def test_what_was_sent_before_a_rewrite_can_be_read_again() -> None:
    _, warm = ask({}, "abcde", PREFIX)
    _, warm = ask(warm, "aX", PREFIX)
    back, _ = ask(warm, "abcdef", PREFIX)
    assert back.read == 39 * 128


@pytest.mark.parametrize(("marks", "many"), [(4, 2), (1, 0)])
def test_where_none_but_the_providers_own_is_taken_no_breakpoint_is_placed(
    marks: int, many: int
) -> None:
    prompt = Prompt((), system("Be brief."), (user("hello"), model("hi"), user("and?")))
    assert len(place(prompt, 1, rules=replace(EXACT, marks=marks))) == many


def test_a_mark_that_is_not_taken_keeps_nothing_before_another_history() -> None:
    own = replace(EXACT, marks=1)
    _, warm = ask({}, "abc", EXACT, marks=(1,))
    assert ask(warm, "abX", EXACT, marks=(1,))[0].read == 2_000
    _, warm = ask({}, "abc", own, marks=(1,))
    assert ask(warm, "abX", own, marks=(1,))[0].read == 0
    assert ask(warm, "abcd", own)[0].read == 3_000


def test_a_prefix_below_the_minimum_is_not_read() -> None:
    _, warm = ask({}, "a", PREFIX)
    assert warm == {}
    _, warm = ask({}, "ab", PREFIX)
    assert billed(ask(warm, "aX", PREFIX)[0]) == (0, 0, 2_000)
    assert billed(ask(warm, "abX", PREFIX)[0]) == (15 * 128, 0, 3_000 - 15 * 128)


@pytest.mark.parametrize(
    ("life", "reads"),
    [("refresh", True), ("evict", True), ("unknown", True), ("fixed", False)],
)
@pytest.mark.parametrize("rules", [PREFIX, EXACT])
def test_a_read_renews_unless_the_life_is_fixed(life: str, reads: bool, rules: CacheRules) -> None:
    rules = replace(rules, life=life)
    _, warm = ask({}, "abc", rules)
    _, warm = ask(warm, "abc", rules, rules.short)
    assert bool(ask(warm, "abc", rules, rules.short + 1)[0].read) == reads


@pytest.mark.parametrize("rules", [PREFIX, EXACT])
def test_it_is_gone_once_its_life_is_over(rules: CacheRules) -> None:
    _, warm = ask({}, "abc", rules)
    assert ask(warm, "abcd", rules, rules.short)[0].read
    assert not ask(warm, "abcd", rules, rules.short + 1)[0].read


def test_the_last_breakpoint_is_the_provider_s_own_and_lookback_has_no_end() -> None:
    first, warm = ask({}, "abc", EXACT)
    assert billed(first) == (0, 3_000, 0)
    far, warm = ask(warm, "abc" + "d" * 40, EXACT)
    assert billed(far) == (3_000, 40_000, 0)


def test_a_shorter_prefix_without_a_breakpoint_is_not_read() -> None:
    _, warm = ask({}, "abcd", EXACT, marks=(1,))
    assert ask(warm, "abcX", EXACT)[0].read == 2_000
    assert ask(warm, "aX", EXACT)[0].read == 0


def test_where_nothing_is_cached_all_is_billed_as_input() -> None:
    _, warm = ask({}, "abc", NOTHING)
    found, warm = ask(warm, "abcd", NOTHING)
    assert (billed(found), found.end, warm) == ((0, 0, 4_000), None, {})


def test_reported_usage_corrects_how_much_is_common() -> None:
    found, _ = ask({}, "abc", PREFIX)
    warm = follow({}, found, usage=Usage(input=3_700))
    assert ask(warm, "abcd", PREFIX)[0].read == 28 * 128
    # Two of three segments: two thirds of what was reported.
    assert ask(warm, "abX", PREFIX)[0].read == 2_467 // 128 * 128


def test_what_was_evicted_is_no_longer_counted_on() -> None:
    _, warm = ask({}, "abcdef", PREFIX)
    _, warm = ask(warm, "aX", PREFIX)
    names = ["a", "ab", "abc"]
    found = foresee(warm, names, [1_000, 2_000, 3_000], range(3), [], 0, PREFIX)
    assert found.read
    warm = follow(warm, found, usage=Usage(input=3_000))
    assert ask(warm, "abcdef", PREFIX)[0].read == 23 * 128


@given(st.lists(st.text("ab", min_size=1, max_size=8), max_size=30))
def test_few_prompts_are_remembered_and_none_that_a_later_one_begins_with(asked: list[str]) -> None:
    warm: Warm = {}
    for text in asked:
        _, warm = ask(warm, text, replace(PREFIX, minimum=0))
        assert len(warm) <= MOST_PREFIXES
        kept = list(warm)
        assert not any(
            str(later).startswith(str(one)) for n, one in enumerate(kept) for later in kept[n + 1 :]
        )


TALK = Prompt(
    (), system("Static."), tuple(user(str(n)) if n % 2 == 0 else model(str(n)) for n in range(61))
)


def test_nothing_is_marked_where_there_are_no_marks() -> None:
    assert place(TALK, 40, rules=PREFIX) == ()
    assert place(TALK, 40, rules=NOTHING) == ()


def test_the_newest_block_is_left_to_a_provider_that_marks_it() -> None:
    static, before, anchor = Breakpoint(None, 0), Breakpoint(39, 0), Breakpoint(19, 0)
    assert place(TALK, 40, anchor=20, rules=EXACT) == (static, anchor, before)
    assert place(TALK, 61, rules=EXACT) == (static,)
    few = replace(EXACT, marks=3)
    assert place(TALK, 40, anchor=20, rules=few) == (static, before)


def test_what_the_model_said_is_marked_only_where_it_can_be() -> None:
    assert place(TALK, 40, anchor=20, rules=EXACT)[1] == Breakpoint(19, 0)
    theirs = replace(EXACT, marks_answers=False)
    assert place(TALK, 40, anchor=20, rules=theirs)[1:] == (Breakpoint(18, 0), Breakpoint(38, 0))


class Session:
    """Consecutive requests, each segment of 1,000 tokens."""

    def __init__(self, rules: CacheRules) -> None:
        self.rules = rules
        self.warm: Warm = {}
        self.last: AnsweredRequest | None = None

    def ask(self, words: str, read: int, at: int = 0) -> Miss | None:
        prompt = Prompt((), system("Static."), tuple(user(word) for word in words))
        before = Chain() if self.last is None else self.last.chain
        chain = link("m", prompt, lambda _: 1_000, before)
        parallel = chain.hashes, chain.sizes, chain.places
        found = foresee(self.warm, *parallel, chain.marks, at, self.rules)
        usage = Usage(input=chain.sizes[-1] - read, cache_read=read)
        self.warm = follow(self.warm, found, usage=usage)
        now = AnsweredRequest(chain, at, found, usage)
        miss = find_miss(self.last, now, read)
        self.last = now
        return miss


def test_a_read_that_lags_by_a_step_or_two_is_no_miss() -> None:
    session = Session(PREFIX)
    assert session.ask("ab", 0) is None
    assert session.ask("abc", 31 * 128 - 2 * 128) is None
    found = session.ask("abcd", 39 * 128 - 3 * 128)
    assert found is not None
    assert (found.cause, found.lost) == ("unknown", 3 * 128)


def test_a_changed_block_is_named_for_an_automatic_prefix_too() -> None:
    session = Session(PREFIX)
    session.ask("abc", 0)
    found = session.ask("aXc", 23 * 128)
    assert found is not None
    assert (found.cause, found.segment) == ("changed", "message 1, block 0 (user text)")


def test_an_end_that_is_not_known_is_told_as_usual() -> None:
    session = Session(PREFIX)
    session.ask("abc", 0)
    found = session.ask("abcd", 0, 11 * MINUTE)
    assert found is not None
    assert found.reason.startswith("expired: usually kept for 10 min")


def test_without_a_promise_only_our_own_changes_are_misses() -> None:
    session = Session(replace(PREFIX, life="unknown"))
    session.ask("abc", 0)
    assert session.ask("abcd", 0) is None
    assert session.ask("aXcd", 0) is not None
    session = Session(NOTHING)
    session.ask("abc", 0)
    assert session.ask("aXc", 0) is None


def test_a_restart_assumes_the_last_prompt_cached() -> None:
    hashes, sizes = ["a", "ab", "abc"], [1_000, 2_000, 3_000]
    usage = Usage(input=1_000, cache_read=2_600)
    warm = assume(hashes, sizes, (), 0, usage, PREFIX)
    assert ask(warm, "abcd", PREFIX, 10 * MINUTE)[0].read == 28 * 128
    assert not ask(warm, "abcd", PREFIX, 10 * MINUTE + 1)[0].read
    wrote = Usage(cache_write_5m=3_600)
    assert ask(assume(hashes, sizes, (), 0, wrote, EXACT), "abcd", EXACT)[0].read == 3_600
    assert assume(hashes, sizes, (), 0, usage, NOTHING) == {}


def test_only_a_life_that_counts_down_has_an_end() -> None:
    ends = [replace(MARKED, life=life).ends_when_told for life in ("refresh", "fixed", "evict")]
    assert ends == [True, True, False]
    assert not replace(PREFIX, life="unknown").ends_when_told
    assert not replace(NOTHING, life="refresh").ends_when_told
