"""A replay of a session's log makes the plans that the session made, and sends what it sent.

Both are given the same meter: the provider counts exactly what the raw estimate says.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from sidecar.core.conversation.stream import ResponseFinished, ResponseStarted, StreamEvent
from sidecar.core.parts import StepFinishPart, Usage
from sidecar.core.plans.plan import Plan, Situation
from sidecar.core.policies import policies
from sidecar.core.prompt.prompt import ModelRequest, ToolSpec, flat
from sidecar.core.prompt.tokens import CALL_FRAMING, FRAMING, count_block, count_tool
from sidecar.core.summaries.extractive import extract
from sidecar.core.summaries.model_summary import (
    left_out,
    read_summary,
    summary_before,
    with_summary,
)
from sidecar.replay.conversation import Listener
from sidecar.replay.simulate import SimulatedRun, simulate
from sidecar.session.compaction import planner
from sidecar.session.lifecycle.session import Session
from sidecar.session.meter.gauge import rates
from tests.core.policies.situations import is_note
from tests.e2e.recorded import RECORDED, catalogue, script
from tests.e2e.recorded import Script as Recording
from tests.fakes.scripted_model import SUMMARY, ScriptedModel, call, started, stop, text, thought
from tests.session import inside
from tests.session.conftest import Desk, World, prompt_of

pytestmark = pytest.mark.long

SYSTEM = "You help people with their software, and say what you could not do.\n" * 60
TOOLS = tuple(
    ToolSpec(name, f"To {name} a file.", {"type": "object"}, kind, origin="client")  # type: ignore[arg-type]
    for name, kind in (("look", "read"), ("change", "edit"), ("find", "search"))
)
PRESETS = sorted(policies().keys() - {"manual"})


PATIENCE = 120.0
"""Seconds for a turn: recorded ones have many steps."""


def count(words: str) -> int:
    """Count as the desk's sessions do."""
    return len(words) // 4


class Exactly(Listener):
    """Knows that the provider counts as the raw estimate does, whatever rewrites took away."""

    def _factor(self) -> float:
        return 1.0


@dataclass
class Story:
    """A generated session: reads, edits, searches, errors, long typed text, pauses."""

    desk: Desk
    dice: Random
    done: int = 0

    def __post_init__(self) -> None:
        self.outputs: list[int] = []
        for tool in TOOLS:
            self.desk.editor.tools[tool.name] = self._result
        self.desk.model.stream = self._stream  # type: ignore[method-assign]

    async def play(self, session: Session, turns: int) -> None:
        """Have some turns."""
        for number in range(turns):
            for _ in range(self.dice.randint(1, 7)):
                self._answer(self.dice.randint(1, 3))
            self._answer(0)
            typed = f"Part {number}: see to src/module_{number}.py.\n"
            if self.dice.random() < 0.15:
                typed += "".join(f"It was seen at step {n}.\n" for n in range(1_500))
            if not await self._turn(session, typed):
                return
            self.desk.world.time += self.dice.choice((1_000, 60_000, 900_000, 86_400_000))

    async def replay(self, session: Session, script: Recording) -> None:
        """Have the turns of a recording, whose words are said and given again.

        Recorded loops went on, so questions about them are answered that way.
        """
        self.desk.editor.permission = "always"
        calls = (b for t in script.turns for r in t.answers for b in r.blocks if "id" in b)
        given = {json.dumps(b["input"]): script.answer({"callId": b["id"]}) for b in calls}
        for name in script.tools:
            self.desk.editor.tools[name] = lambda asked: given[json.dumps(asked)]
        for turn in script.turns:
            for reply in turn.answers:
                self._say(reply.blocks)
            if not await self._turn(session, turn.words):
                return
            self.desk.world.time += self.dice.choice((1_000, 60_000, 900_000))

    async def _turn(self, session: Session, words: str) -> bool:
        """Have a turn; says if its prompts could all be sent."""
        async with asyncio.timeout(PATIENCE):
            result = await session.prompt(prompt_of(words))
        too_long = result.error is not None and result.error["kind"] == "context_overflow"
        assert result.stop_reason == "end_turn" or too_long, result.error
        return not too_long

    def _say(self, blocks: Sequence[dict[str, Any]]) -> None:
        events: list[Any] = [started()]
        output = 0
        for index, block in enumerate(blocks):
            if block["type"] == "text":
                events += text(block["text"], index)
                output += FRAMING + count(block["text"])
            else:
                events += call(block["id"], block["name"], block["input"], index)
                words = json.dumps(block["input"], ensure_ascii=False)
                output += count(block["name"]) + count(words) + CALL_FRAMING
        ends = any(block["type"] == "tool_use" for block in blocks)
        self.outputs.append(output)
        self.desk.script([*events, stop("tool_use" if ends else "end_turn")])

    def _answer(self, calls: int) -> None:
        self.done += 1
        words = f"Step {self.done} shows that `value_{self.done}` is kept in src/a_{self.done}.py."
        words *= self.dice.choice((1, 1, 12))
        events: list[Any] = [started(), *thought(f"thought {self.done}", f"sig{self.done}")]
        events += text(words, 1)
        output = 2 * FRAMING + count(f"thought {self.done}") + count(words)
        for index in range(calls):
            name = self.dice.choice(TOOLS).name
            given = {
                "path": f"src/a_{self.done}_{index}.py",
                "size": self.dice.choice((3, 60, 400)),
            }
            events += call(f"c{self.done}_{index}", name, given, 2 + index)
            output += count(name) + count(json.dumps(given)) + CALL_FRAMING
        self.outputs.append(output)
        self.desk.script([*events, stop("tool_use" if calls else "end_turn")])

    def _result(self, given: Any) -> Any:
        path, lines = given["path"], given["size"]
        told = "".join(f"def part_{n}_of_{path[4:-3]}(value): ...\n" for n in range(lines))
        failed = self.dice.random() < 0.1
        told = f"Error: {path} has no line {lines}\n{told}" if failed else told
        return {"content": [{"type": "text", "text": told}], "isError": failed}

    async def _stream(self, request: ModelRequest) -> AsyncIterator[StreamEvent]:
        prompt = request.prompt
        blocks = (*prompt.system, *flat(prompt))
        tokens = sum(count_block(b, count) for b in blocks)
        tokens += sum(count_tool(tool, count) for tool in prompt.tools)
        usage = self.billed(request, tokens)
        async for event in ScriptedModel.stream(self.desk.model, request):
            match event:
                case ResponseStarted():
                    yield replace(event, usage=replace(usage, output=0))
                case ResponseFinished():
                    yield replace(event, usage=usage)
                case _:
                    yield event

    def billed(self, request: ModelRequest, tokens: int) -> Usage:
        """What the provider says of a request that comes to so many tokens."""
        output = 100 if request.purpose == "summary" else self.outputs.pop(0)
        return Usage(input=tokens // 10, cache_read=tokens - tokens // 10, output=output)


def told_by_extract(plan: Plan, situation: Situation) -> Plan:
    """Summarise as a session does that asks no model."""
    gone = [item.unit for item in left_out(plan, situation) if not is_note(item)]
    assert plan.summary is not None
    words = extract(gone, summary_before(plan, situation), plan.summary.output_tokens)
    return with_summary(plan, words, "extract")


def told_by_model(plan: Plan, situation: Situation) -> Plan:
    """Summarise in the words that the scripted model has."""
    return with_summary(plan, read_summary(SUMMARY).text, "model")


def replayed(session: Session, summaries: bool) -> SimulatedRun:
    """Play a session's log again, by the policy and in the window that it has."""
    settings = inside.settings(session)
    listener = Exactly(count)
    for message in inside.conversation(session):
        listener.hear(message)
    conversation = listener.conversation("log", "sidecar", inside.log(session).row.cwd)
    policy, tell = policies()[settings.text("policy")], told_by_extract
    return simulate(
        conversation,
        policy,
        settings.room().window,
        rates(settings.info()),
        told_by_model if summaries else tell,
    )


def agree(session: Session, summaries: bool) -> int:
    """Compare a session with the replay of its log; says how many rewrites there were."""
    run = replayed(session, summaries)
    opened = [one for one in inside.rewrites(session) if one.opens]
    made = [
        (one.steps, one.rewrite.cause, one.policy, one.tokens_before, one.tokens_after)
        for one in opened
    ]
    assert [(r.step, r.cause, r.policy, r.before, r.after) for r in run.rewrites] == made
    for ours, theirs in zip(run.rewrites, opened, strict=True):
        assert dict(ours.shown) == dict(theirs.rewrite.shown)
    usages = [part.usage for part in inside.parts(session, StepFinishPart)]
    assert [sent.prompt for sent in run.sent] == [usage.prompt for usage in usages]
    return len(made)


@pytest.fixture(autouse=True)
def files_as_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both know files by the log alone: what stands in a workspace no replay knows."""
    monkeypatch.setattr(planner, "read_present", lambda paths, root, buffers: {})


async def opened(desk: Desk, policy: str, window: int, tools: Sequence[ToolSpec]) -> Session:
    """Open a session in a window of which a replay leaves as much for the answer."""
    given = {"policy": policy, "window": window, "max_tokens": max(4_000, window // 16)}
    return await desk.open(tools=tuple(tools), system=SYSTEM, **given)


def quiet(world: World, *, summaries: bool) -> None:
    """Let nobody's idleness rewrite anything: a replay knows of none."""
    world.config = replace(world.config, idle_compaction=False, summaries=summaries)


@pytest.mark.parametrize("policy", PRESETS)
async def test_a_replay_makes_the_plans_of_a_session(world: World, policy: str) -> None:
    quiet(world, summaries=False)
    async with world.daemon() as desk:
        # New outputs are cut to 50 lines by aircher, which leaves a wide window without need.
        window = 30_000 if policy == "aircher" else 64_000
        session = await opened(desk, policy, window, TOOLS)
        await Story(desk, Random(2)).play(session, 10)
        assert agree(session, summaries=False)


@pytest.mark.parametrize("window", [30_000, 100_000])
@pytest.mark.parametrize("seed", range(3, 7))
async def test_it_does_so_in_any_window_and_with_a_models_summaries(
    world: World, seed: int, window: int
) -> None:
    quiet(world, summaries=True)
    async with world.daemon() as desk:
        policy = ("economic", "claude-code", "opencode", "gemini")[seed % 4]
        session = await opened(desk, policy, window, TOOLS)
        await Story(desk, Random(seed)).play(session, 12)
        assert agree(session, summaries=True)


@pytest.mark.skipif(not RECORDED.is_dir(), reason="no recorded sessions are beside this checkout")
@pytest.mark.parametrize("policy", ["economic", "claude-code", "opencode"])
@pytest.mark.parametrize("path", catalogue(core=True)[:4], ids=lambda path: path.name[:24])
async def test_it_does_so_on_recorded_sessions(world: World, path: Path, policy: str) -> None:
    quiet(world, summaries=False)
    world.config = replace(world.config, max_steps=10_000)
    recording = script(path, 12)
    tools = [ToolSpec(name, name, {"type": "object"}, origin="client") for name in recording.tools]
    async with world.daemon() as desk:
        session = await opened(desk, policy, 30_000, tools)
        story = Story(desk, Random(1))
        await story.replay(session, recording)
        agree(session, summaries=False)
