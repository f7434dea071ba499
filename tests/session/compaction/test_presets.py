"""Each preset runs its own policy and sends legal prompts; what is too long is not sent."""

import pytest

from sidecar.core.parts import StepFinishPart
from sidecar.core.policies import policies
from sidecar.model.messages.encode import encode
from tests.fakes.scripted_model import says
from tests.session import inside
from tests.session.conftest import Desk
from tests.session.work import Worker, looked

pytestmark = pytest.mark.long

PRESETS = sorted(policies().keys() - {"manual"})
WINDOW = {"window": 60_000, "max_tokens": 4_000}
WIDE = {"window": 900_000, "max_tokens": 4_000}
"""Some count messages, or look at single results, and pass a small window."""


@pytest.mark.parametrize("policy", PRESETS)
async def test_a_preset_runs_its_own_policy(desk: Desk, policy: str) -> None:
    if policy == "open-interpreter":
        desk.editor.tools["look"] = lambda given: 3 * looked(given)
    counting = policy in ("open-interpreter", "openmanus", "temporal", "dyad")
    worker = await desk.worker(policy=policy, **(WIDE if counting else WINDOW))
    for _ in range(14):
        result = await worker.turn(10 if policy == "temporal" else 4)
        assert result.stop_reason == "end_turn", result.error
        # `dyad` goes by age, others by the cold cache.
        desk.world.time += 86_400_000 if policy == "dyad" else 600_000
    made = inside.rewrites(worker.session)
    limit = 896_000 if counting else 56_000
    own = {one.policy for one in made if one.tokens_before <= limit}
    assert own == {policy}, made


TOKENS = {
    "claude-code": 27_000,
    "codex": 54_000,
    "gemini": 30_000,
    "opencode": 40_000,
} | {name: 50_400 for name in PRESETS if name.startswith("evict-")}
"""The prompt in tokens at which each rewrites in a window of 60,000."""
MESSAGES = {"openmanus": 111, "picoclaw": 21, "temporal": 250}
"""The messages at which each does.

`openmanus` asks above 100, but its note is longer than the first few messages that it leaves out.
"""
DAY = 86_400_000


async def until_rewritten(worker: Worker, pause: int = 1_000) -> int:
    """Run turns of four steps until something is rewritten; give how many were over by then."""
    for over in range(40):
        result = await worker.turn(4)
        assert result.stop_reason == "end_turn", result.error
        if inside.rewrites(worker.session):
            return over
        worker.desk.world.time += pause
    raise AssertionError("nothing was rewritten")


@pytest.mark.parametrize(("policy", "at"), TOKENS.items())
async def test_a_share_of_the_window_brings_the_rewrite(desk: Desk, policy: str, at: int) -> None:
    worker = await desk.worker(policy=policy, **WINDOW)
    await until_rewritten(worker)
    first = inside.rewrites(worker.session)[0]
    parts = (part for message in desk.messages(worker.session) for part in message.parts)
    sent = [part.usage.prompt for part in parts if isinstance(part, StepFinishPart)][: first.steps]
    assert max(sent) < at <= first.tokens_before
    assert first.policy == policy


@pytest.mark.parametrize(("policy", "at"), MESSAGES.items())
async def test_a_number_of_messages_brings_the_rewrite(desk: Desk, policy: str, at: int) -> None:
    worker = await desk.worker(policy=policy, **WIDE)
    await until_rewritten(worker)
    first = inside.rewrites(worker.session)[0]
    sent = [len(encode(one)["messages"]) for one in desk.model.requests[: first.steps]]
    # Each step adds two: a call and its results, or an answer and what is typed next.
    assert sent[-1] < at <= sent[-1] + 2
    assert first.policy == policy


async def test_three_turns_bring_the_rewrite_of_adk(desk: Desk) -> None:
    worker = await desk.worker(policy="adk", **WIDE)
    desk.editor.tools["look"] = lambda given: looked(given)[:4_000]
    assert await until_rewritten(worker) == 3
    assert "3 new turns" in inside.rewrites(worker.session)[0].reason


async def test_85_per_cent_bring_the_rewrite_of_aircher(desk: Desk) -> None:
    worker = await desk.worker(policy="aircher", **WINDOW)
    # Longer ones are cut as they come.
    desk.editor.tools["look"] = lambda given: looked(given)[:3_000]
    await until_rewritten(worker)
    first = inside.rewrites(worker.session)[0]
    assert first.policy == "aircher"
    assert 51_000 <= first.tokens_before < 53_000


async def test_ten_requests_bring_the_rewrite_of_mask_10(desk: Desk) -> None:
    worker = await desk.worker(policy="mask-10", **WIDE)
    await until_rewritten(worker)
    first = inside.rewrites(worker.session)[0]
    # Of eleven requests the first one's results are older than ten steps.
    assert (first.policy, first.steps) == ("mask-10", 11)
    assert "1 results older than 10 steps" in first.reason


async def test_seven_days_bring_the_rewrite_of_dyad(desk: Desk) -> None:
    worker = await desk.worker(policy="dyad", **WIDE)
    assert await until_rewritten(worker, DAY) == 7


@pytest.mark.parametrize(("tokens", "cut"), [(2_700, 0), (2_900, 1)])
async def test_a_long_result_brings_the_rewrite_of_open_interpreter(
    desk: Desk, tokens: int, cut: int
) -> None:
    worker = await desk.worker(policy="open-interpreter", **WIDE)
    desk.editor.tools["look"] = lambda given: "word" * tokens
    await worker.turn(1)
    assert len(inside.rewrites(worker.session)) == cut


@pytest.mark.parametrize("policy", ["adk", "open-interpreter", "openmanus"])
async def test_nothing_to_do_is_not_refused(desk: Desk, policy: str) -> None:
    """Within the limit nothing else rewrites in the place of a preset that leaves it alone."""
    worker = await desk.worker(policy=policy)
    await worker.turns(6, 6)
    made = inside.rewrites(worker.session)
    assert {one.policy for one in made} <= {policy}
    assert not inside.records(worker.session, "refused")


@pytest.mark.parametrize("given", [{"policy": "manual"}, {"policy": "economic"}])
async def test_a_prompt_that_is_too_long_is_not_sent(desk: Desk, given: dict[str, str]) -> None:
    worker = await desk.worker(**given, **WINDOW)
    await worker.session.set_option("autoCompact", given["policy"] == "manual")
    while (result := await worker.turn(3)).stop_reason == "end_turn":
        pass
    asked = len(desk.model.requests)
    assert result.error is not None
    assert result.error["kind"] == "context_overflow"
    assert "context/compact" in result.error["message"]
    assert given["policy"] in result.error["message"] or "autoCompact" in result.error["message"]
    desk.model.responses.clear()
    await worker.session.rewriting.compact(None, None, dry_run=False)
    desk.script(says("Fine."))
    assert (await desk.ask(worker.session, "go on")).stop_reason == "end_turn"
    assert len(desk.model.requests) == asked + 1
