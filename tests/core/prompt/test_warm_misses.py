"""Why the provider's cache served less than it had: the segment, the byte, the cause."""

from dataclasses import replace
from typing import Any

import pytest

from sidecar.core.parts import Media, Usage
from sidecar.core.prompt.breakpoints import place
from sidecar.core.prompt.cache.misses import AnsweredRequest, Miss, find_miss
from sidecar.core.prompt.cache.warmth import Warm, follow, foresee
from sidecar.core.prompt.cache_rules import MARKED
from sidecar.core.prompt.prefix import Chain, link
from sidecar.core.prompt.prompt import Prompt, ToolSpec, flat
from tests.core.prompts import answering, calling, model, system, user

RULES = replace(MARKED, minimum=512)
TOOLS = (ToolSpec("bash", "Runs.", {}), ToolSpec("read", "Reads.", {}))
SYSTEM = system("You work.")
MINUTE = 60_000


def step(name: str) -> tuple[Any, Any]:
    return model(calling(name, "bash", {"command": name})), user(answering(name, f"did {name}"))


FIRST = Prompt(TOOLS, SYSTEM, (user("hi", "there"), *step("a"), *step("b")))
NEXT = replace(FIRST, messages=(*FIRST.messages, *step("c")))


class Session:
    """Consecutive requests; every segment has 1,000 tokens by estimate, `scale` times as many."""

    def __init__(self, scale: float = 1.0) -> None:
        self.scale = scale
        self.warm: Warm = {}
        self.last: AnsweredRequest | None = None
        self.before = 0

    def ask(
        self,
        prompt: Prompt,
        at: int = 0,
        *,
        lost: int = 0,
        read: int | None = None,
        model: str = "m",
        settings: str = "",
        marks: bool = True,
        hour: bool = False,
    ) -> Miss | None:
        """Answer as foreseen, but for `lost` tokens or with just `read` from the cache."""
        placed = place(prompt, self.before)
        if hour:
            placed = tuple(replace(mark, ttl="1h") for mark in placed)
        prompt = replace(prompt, breakpoints=placed if marks else placed[-1:])
        before = Chain() if self.last is None else self.last.chain
        chain = link(model, prompt, lambda _: 1_000, before, settings)
        foreseen = foresee(
            self.warm, chain.hashes, chain.sizes, chain.places, chain.marks, at, RULES,
            scale=self.scale,
        )  # fmt: skip
        real = foreseen.read - lost if read is None else read
        total = foreseen.cached + foreseen.uncached
        usage = Usage(
            input=foreseen.uncached,
            cache_read=real,
            cache_write_5m=total - real - foreseen.uncached,
        )
        self.warm = follow(self.warm, foreseen, usage=usage)
        now = AnsweredRequest(chain, at, foreseen, usage)
        miss = find_miss(self.last, now, usage.cache_read)
        self.last, self.before = now, len(flat(prompt))
        return miss


def after_first(
    now: Prompt, at: int = MINUTE, *, marks: bool = True, hour: bool = False
) -> Miss | None:
    session = Session()
    assert session.ask(FIRST, hour=hour) is None
    return session.ask(now, at, marks=marks, hour=hour)


def edited(message: int, block: int, text: str) -> Prompt:
    messages = list(NEXT.messages)
    blocks = list(messages[message].blocks)
    old = blocks[block]
    blocks[block] = replace(old, content=replace(old.content, text=text))  # type: ignore[call-arg]
    messages[message] = replace(messages[message], blocks=tuple(blocks))
    return replace(NEXT, messages=tuple(messages))


@pytest.mark.parametrize("scale", [0.5, 1.0, 1.7])
def test_nothing_is_missed_while_the_prompt_only_grows(scale: float) -> None:
    session = Session(scale)
    prompt = FIRST
    for number in range(40):
        assert session.ask(prompt, number * 5 * MINUTE) is None
        prompt = replace(prompt, messages=(*prompt.messages, *step(str(number))))


def test_a_few_tokens_are_not_a_miss() -> None:
    session = Session()
    session.ask(FIRST)
    assert session.ask(NEXT, lost=100) is None
    session = Session()
    session.ask(FIRST)
    assert session.ask(NEXT, lost=101) is not None


def test_a_changed_text_is_found_to_the_byte() -> None:
    miss = after_first(edited(0, 1, "thäre"))
    assert miss == Miss(
        "changed", "message 0, block 1 (user text)", "changed at byte 2", 6_000, offset=2
    )


def test_a_changed_result_is_named_after_its_tool() -> None:
    miss = after_first(edited(4, 0, "did nothing"))
    assert miss is not None
    assert (miss.cause, miss.segment) == ("changed", "message 4, block 0 (result of bash)")


def test_a_result_that_is_gone_is_named_too() -> None:
    miss = after_first(replace(FIRST, messages=FIRST.messages[:3]))
    assert miss is not None
    assert miss.segment == "message 3, block 0 (call of bash)"
    assert miss.reason == "changed: it is no longer sent"


def test_a_block_that_another_role_says_is_changed() -> None:
    said = tuple(replace(block) for block in NEXT.messages[0].blocks)
    other = replace(NEXT.messages[0], role="assistant", blocks=said)
    miss = after_first(replace(NEXT, messages=(other, *NEXT.messages[1:])))
    assert miss is not None
    assert miss.reason == "changed: it stands in another role"


def test_a_change_after_what_was_cached_is_none_of_its_business() -> None:
    session = Session()
    session.ask(FIRST)
    session.ask(NEXT)
    assert session.ask(FIRST) is not None
    assert session.ask(edited(6, 0, "other")) is None


@pytest.mark.parametrize(
    ("tools", "named"),
    [
        ((TOOLS[0], replace(TOOLS[1], description="Reads files.")), "read"),
        (TOOLS[:1], "read"),
        ((*TOOLS, ToolSpec("edit", "", {})), "edit"),
        (TOOLS[::-1], "read"),
    ],
)
def test_changed_tools_are_named(tools: tuple[ToolSpec, ...], named: str) -> None:
    miss = after_first(replace(NEXT, tools=tools), at=60 * MINUTE)
    assert miss is not None
    assert (miss.cause, miss.segment) == ("tools", "tools")
    assert miss.reason.startswith(f"the tools changed from {named} on, at byte ")


def test_a_changed_system_text_counts_even_where_all_would_have_expired() -> None:
    miss = after_first(replace(NEXT, system=system("You play.")), at=60 * MINUTE)
    assert miss == Miss("changed", "system block 0", "changed at byte 4", 8_000, offset=4)


def test_another_model_is_another_cache() -> None:
    session = Session()
    session.ask(FIRST)
    miss = session.ask(NEXT, model="n")
    assert miss == Miss("model", "everything", "the model changed from m to n", 8_000)


def test_other_settings_keep_the_static_part() -> None:
    session = Session()
    session.ask(FIRST, settings="low")
    miss = session.ask(NEXT, settings="high")
    assert miss == Miss("settings", "messages", "settings changed from 'low' to 'high'", 6_000)


def test_expiry_counts_from_the_start_of_the_last_request() -> None:
    assert after_first(NEXT, 5 * MINUTE) is None
    miss = after_first(NEXT, 5 * MINUTE + 1)
    assert miss == Miss(
        "expired",
        "everything",
        "expired: kept for 5 min, and the last request began 5.0 min before",
        8_000,
    )


@pytest.mark.parametrize(("early", "cause"), [(9_999, "expired"), (10_000, "unknown")])
def test_what_ended_while_a_request_was_under_way_has_expired(early: int, cause: str) -> None:
    session = Session()
    session.ask(FIRST)
    miss = session.ask(NEXT, 5 * MINUTE - early, read=0)
    assert miss is not None
    assert miss.cause == cause


def test_an_hour_that_was_billed_as_five_minutes_expires_after_five() -> None:
    miss = after_first(NEXT, 6 * MINUTE, hour=True)
    assert miss is not None
    assert miss.cause == "expired"


def test_what_an_hour_kept_is_not_among_what_expired() -> None:
    session = Session()
    first = replace(FIRST, breakpoints=place(FIRST, 0, static_ttl="1h"))
    chain = link("m", first, lambda _: 1_000, Chain())
    parallel = chain.hashes, chain.sizes, chain.places
    foreseen = foresee({}, *parallel, chain.marks, 0, RULES)
    usage = Usage(cache_write_1h=2_000, cache_write_5m=6_000)
    session.warm = follow({}, foreseen, usage=usage)
    session.last, session.before = AnsweredRequest(chain, 0, foreseen, usage), 6
    miss = session.ask(NEXT, 10 * MINUTE)
    assert miss is not None
    assert (miss.cause, miss.segment, miss.lost) == (
        "expired", "message 0, block 0 (user text)", 6_000,
    )  # fmt: skip


def test_a_write_out_of_reach_is_found_by_its_distance() -> None:
    far = replace(FIRST, messages=(*FIRST.messages, *(m for n in range(12) for m in step(str(n)))))
    assert after_first(far) is None
    miss = after_first(far, marks=False)
    assert miss is not None
    assert (miss.cause, miss.segment) == ("lookback", "message 4, block 0 (result of bash)")
    assert (
        miss.reason == "the last write is 24 positions before the next breakpoint; lookback is 20"
    )


def test_twenty_positions_are_one_too_many() -> None:
    near = replace(FIRST, messages=(*FIRST.messages, *(user(str(n)) for n in range(19))))
    assert after_first(near, marks=False) is None
    far = replace(FIRST, messages=(*near.messages, user("19")))
    miss = after_first(far, marks=False)
    assert miss is not None
    assert miss.cause == "lookback"


def test_a_short_prompt_is_not_cached_by_this_model() -> None:
    session = Session(scale=0.06)
    session.ask(FIRST)
    miss = session.ask(NEXT)
    assert miss == Miss(
        "below_minimum",
        "everything",
        "below the minimum: 480 tokens, and this model caches none below 512",
        480,
    )
    assert session.ask(replace(NEXT, messages=(*NEXT.messages, *step("d")))) is None


@pytest.mark.parametrize("tokens", [512, 8_000])
def test_a_provider_without_a_cache_misses_nothing(tokens: int) -> None:
    session = Session()
    for _ in range(3):
        chain = link("m", FIRST, lambda _: 1_000, Chain())
        parallel = chain.hashes, chain.sizes, chain.places
        foreseen = foresee(session.warm, *parallel, ((7, "5m"),), 0, RULES)
        usage = Usage(input=tokens)
        session.warm = follow(session.warm, foreseen, usage=usage)
        now = AnsweredRequest(chain, 0, foreseen, usage)
        assert foreseen.read == 0
        assert find_miss(session.last, now, 0) is None
        session.last = now


def test_the_first_image_costs_the_messages() -> None:
    now = replace(NEXT, messages=(*NEXT.messages[:-1], user(Media("image/png", "aGk="))))
    session = Session()
    session.ask(FIRST)
    miss = session.ask(now, read=2_000)
    assert miss is not None
    assert (miss.cause, miss.segment) == ("images", "messages")


def test_what_the_provider_dropped_is_unknown_from_there_on() -> None:
    session = Session(scale=2.0)
    session.ask(FIRST)
    miss = session.ask(NEXT, read=4_000)
    assert miss == Miss(
        "unknown", "message 0, block 0 (user text)", "the provider no longer had it", 12_000
    )
    session = Session()
    session.ask(FIRST)
    miss = session.ask(NEXT, read=0)
    assert miss is not None
    assert miss.segment == "everything"


def test_a_first_request_has_nothing_to_miss() -> None:
    chain = link("m", FIRST, lambda _: 1, Chain())
    made = foresee({}, chain.hashes, chain.sizes, chain.places, (), 0, RULES)
    assert find_miss(None, AnsweredRequest(chain, 0, made, Usage(input=8)), 0) is None
