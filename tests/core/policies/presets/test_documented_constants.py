"""The constants of the named systems, as their sources give them; and when each preset is due."""

import pytest

from sidecar.core.plans.plan import Policy
from sidecar.core.policies import evict, policies
from sidecar.core.policies.presets import (
    adk,
    aircher,
    claude_code,
    codex,
    dyad,
    gemini,
    mask_10,
    open_interpreter,
    opencode,
    openmanus,
    picoclaw,
    temporal,
)
from sidecar.core.summaries import turn_scores
from tests.core.policies.situations import STATIC, standing

NAMES = {
    "adk", "aircher", "claude-code", "codex", "dyad", "evict-fifo",
    "evict-hybrid",
    "evict-lru", "evict-priority", "evict-semantic", "evict-ttl", "gemini",
    "mask-10", "open-interpreter",
    "opencode", "openmanus", "picoclaw", "temporal",
}  # fmt: skip


@pytest.mark.parametrize(
    ("constant", "documented"),
    [
        (adk.INTERVAL, 3),
        (adk.OVERLAP, 1),
        (adk.RETAINED, 5),
        (aircher.TRIGGER, 0.85),
        (turn_scores.ACTIONS, ("keep", "summarise", "reference", "drop")),
        (opencode.RESERVE, 20_000),
        (opencode.TAIL_SHARE, 0.25),
        (opencode.TAIL_LEAST, 2_000),
        (opencode.TAIL_MOST, 15_000),
        (opencode.RESULT_CHARS, 2_000),
        (gemini.TRIGGER, 0.5),
        (gemini.COMPRESSED, 0.7),
        (gemini.CALLS, 2),
        (claude_code.RESERVE, 33_000),
        (claude_code.FILES, 5),
        (claude_code.FILE_TOKENS, 5_000),
        (codex.TRIGGER, 0.9),
        (codex.TYPED_TOKENS, 20_000),
        (openmanus.MESSAGES, 100),
        (open_interpreter.OUTPUT_TOKENS, 2_800),
        (dyad.DAYS, 7),
        (mask_10.SHOWN, 10),
        (mask_10.BATCH, 10),
        (dyad.AGE_MS, 604_800_000),
        (picoclaw.TRIGGER, 0.9),
        (picoclaw.DROPPED, 0.5),
        (picoclaw.MESSAGES, 20),
        (picoclaw.SUMMARISED_AT, 0.75),
        (picoclaw.KEPT_MESSAGES, 4),
        (picoclaw.KEPT_BY_HAND, 2),
        (picoclaw.BATCH, 10),
        (picoclaw.CALLS, 3),
        (temporal.MESSAGES, 250),
        (temporal.SUMMARY_TOKENS, 150),
        (evict.TRIGGER, 0.9),
        (evict.PROTECTED, 40_000),
        (evict.LEAST, 20_000),
        (evict.TURNS, 2),
    ],
)
def test_a_constant_is_the_documented_one(constant: object, documented: object) -> None:
    assert constant == documented


def test_every_preset_can_be_chosen_by_its_name() -> None:
    found = policies()
    assert found.keys() >= NAMES
    assert all(found[name].name == name for name in NAMES)


def policy(name: str) -> Policy:
    return policies()[name]


@pytest.mark.parametrize(
    ("name", "at"),
    [
        ("aircher", 170_000),
        ("opencode", 180_000),
        ("gemini", 100_000),
        ("claude-code", 167_000),
        ("codex", 180_000),
        ("picoclaw", 180_000),
        ("evict-fifo", 172_800),
    ],
)
def test_the_trigger_is_met_to_the_token(name: str, at: int) -> None:
    due = policy(name).due
    assert due(standing(at - 1)) is None
    assert due(standing(at)) == "budget"


@pytest.mark.parametrize(
    "name", ["aircher", "opencode", "gemini", "claude-code", "codex", "picoclaw"]
)
def test_no_trigger_lies_above_what_may_be_sent(name: str) -> None:
    due = policy(name).due
    assert due(standing(100_000, limit=100_000)) == "budget"
    assert due(standing(99_999, limit=100_000)) is None


@pytest.mark.parametrize(
    ("name", "within", "over"), [("openmanus", 100, 101), ("temporal", 249, 250)]
)
def test_messages_are_counted_and_not_tokens(name: str, within: int, over: int) -> None:
    due = policy(name).due
    assert due(standing(190_000, messages=within)) is None
    assert due(standing(20_000, messages=over)) == "budget"


def test_open_interpreter_looks_at_what_is_new_only() -> None:
    due = policy("open-interpreter").due
    assert due(standing(190_000, newest=2_800)) is None
    assert due(standing(20_000, newest=2_801)) == "budget"


@pytest.mark.parametrize(
    ("warm", "opens", "cause"), [(False, True, "cold"), (True, True, None), (False, False, None)]
)
def test_dyad_looks_when_a_turn_opens_on_a_cold_cache(warm, opens, cause) -> None:
    assert policy("dyad").due(standing(50_000, warm=warm, opens_turn=opens)) == cause


@pytest.mark.parametrize(
    ("used", "warm", "requests", "cause"),
    [
        (STATIC + 60_000, False, 1, "cold"),
        (STATIC + 59_999, False, 1, None),
        (STATIC + 60_000, True, 1, None),
        (STATIC + 60_000, False, 0, None),
    ],
)
def test_a_cold_cache_is_used_once_there_is_enough_to_evict(used, warm, requests, cause) -> None:
    assert policy("evict-lru").due(standing(used, warm=warm, requests=requests)) == cause


@pytest.mark.parametrize("name", sorted(NAMES - {"dyad", "open-interpreter"}))
def test_a_refusal_and_a_wish_are_always_reasons(name: str) -> None:
    due = policy(name).due
    assert due(standing(15_000, asked=True)) == "user"
    assert due(standing(15_000, asked=True, overflow=True)) == "overflow"
