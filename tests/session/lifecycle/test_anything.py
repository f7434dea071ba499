"""Whatever people do in whatever order: legal prompts, sums that add up, previews that hold."""

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from sidecar.core.errors import BadRequest, ModelFailed, NothingToDo
from sidecar.core.parts import ToolPart
from sidecar.core.policies import policies
from sidecar.session.log.events import EpochChanged
from tests.fakes.scripted_model import Hold, says
from tests.session import inside
from tests.session.conftest import Desk, World
from tests.session.work import Worker

POLICIES = tuple(policies())
ACTS = 24
TOO_LONG = ModelFailed("too long", kind="context_overflow", status=400)


@dataclass
class Chaos:
    """Acts at random in one session, through restarts, and checks after every act."""

    world: World
    dice: random.Random
    worker: Worker | None = None
    made: list[str] = field(default_factory=list)
    undone: set[str] = field(default_factory=set)
    done: list[str] = field(default_factory=list)

    async def live(self, desk: Desk, kept: Worker | None) -> None:
        """Act for a while within the life of one daemon."""
        if kept is None:
            window = self.dice.choice([40_000, 80_000, None])
            policy = self.dice.choice(["economic", "manual", "evict-hybrid", "opencode"])
            self.worker = await desk.worker(policy=policy, window=window, max_tokens=4_000)
        else:
            desk.model.cache = kept.desk.model.cache
            session = await desk.sessions.get(kept.session.id)
            session.audience.attach(desk.watch, desk.editor)
            self.worker = Worker(desk, session, kept.done)
        for _ in range(ACTS // 2):
            act = self.dice.choice(self.acts)
            self.done.append(act.__name__)
            await act()
            await self.check()

    @property
    def acts(self) -> list[Callable[[], Awaitable[None]]]:
        often = [self.turn, self.turn, self.turn, self.compact, self.undo, self.meanwhile]
        return [*often, self.pin, self.wait, self.option, self.overflow, self.look]

    @property
    def rewriting(self) -> Any:
        assert self.worker is not None
        return self.worker.session.rewriting

    async def turn(self) -> None:
        assert self.worker is not None
        words = f"Turn {self.dice.randrange(10**6)}: " + "go on, please. " * self.dice.randrange(90)
        expected = (await self.rewriting.preview(({"type": "text", "text": words},))).body
        model = self.worker.desk.model
        requests = model.requests
        at, asked = len(requests), len(model.summaries)
        result = await self.worker.turn(self.dice.randrange(1, 9), words)
        if result.error is not None and "not sent: " in result.error["message"]:
            # Too long, and nothing is compacted by itself: it is from now on.
            assert result.meter.percent > 97
            model.responses.clear()
            await self.worker.session.set_option("policy", "economic")
            return
        assert result.stop_reason == "end_turn", result.error
        assert result.meter.used == sum(result.meter.regions.values())
        # What a model will write of what goes, nobody can foresee.
        if len(model.summaries) == asked:
            assert json.dumps(model.body(requests[at])) == json.dumps(expected)

    async def compact(self) -> None:
        assert self.worker is not None
        strategy = self.dice.choice([None, *POLICIES])
        desk = self.worker.desk
        busy, asked = self.worker.session.prompts.busy, len(desk.model.summaries)
        try:
            planned = await self.rewriting.compact(strategy, None, dry_run=True)
            done = await self.rewriting.compact(strategy, None, dry_run=False)
        except NothingToDo:
            return
        assert done["tokensAfter"] < done["tokensBefore"]
        if not busy:
            assert len(desk.model.summaries) > asked or done == {
                **planned,
                "compactionId": done["compactionId"],
            }
            assert self.worker.session.meter().used == done["tokensAfter"]
        self.made.append(done["compactionId"])

    async def undo(self) -> None:
        assert self.worker is not None
        events = self.worker.desk.of(EpochChanged)
        known = {e.compaction_id for e in events if e.status == "completed" and e.cause != "model"}
        able = sorted({*known, *self.made} - self.undone)
        if not able:
            return
        chosen = self.dice.choice(able)
        await self.rewriting.undo(chosen)
        self.undone.add(chosen)
        with pytest.raises(NothingToDo):
            await self.rewriting.undo(chosen)

    async def pin(self) -> None:
        assert self.worker is not None
        log = inside.log(self.worker.session)
        calls = [p for m in log for p in m.parts if isinstance(p, ToolPart)]
        if calls:
            await self.rewriting.pin(self.dice.choice(calls).id, pinned=self.dice.random() < 0.7)

    async def wait(self) -> None:
        self.world.time += self.dice.choice([60_000, 400_000, 4_000_000])

    async def option(self) -> None:
        assert self.worker is not None
        name, value = self.dice.choice(
            [("policy", p) for p in POLICIES[:6]]
            + [("model", "other"), ("model", "scripted"), ("autoCompact", "off")]
            + [("autoCompact", "on"), ("effort", "high"), ("effort", "default")]
        )
        await self.worker.session.set_option(name, value)

    async def overflow(self) -> None:
        assert self.worker is not None
        script = self.worker.desk.script
        script([TOO_LONG], says("It fits."))
        await self.worker.desk.ask(self.worker.session, "And now?")
        self.worker.desk.model.responses.clear()

    async def meanwhile(self) -> None:
        """Act while an answer streams, which is then gone on with or stopped."""
        assert self.worker is not None
        desk, session = self.worker.desk, self.worker.session
        hold = Hold()
        desk.script(
            self.worker.step(hold=hold, first=self.dice.random() < 0.5),
            self.worker.step(),
            says("Done."),
        )
        async with asyncio.timeout(10), asyncio.TaskGroup() as group:
            asked = group.create_task(desk.ask(session, "Go on meanwhile."))
            reached = group.create_task(hold.reached.wait())
            await asyncio.wait((asked, reached), return_when=asyncio.FIRST_COMPLETED)
            if not hold.reached.is_set():
                # What is known to be too long is not sent where nothing may be compacted.
                error = asked.result().error
                assert error is not None
                assert error["kind"] == "context_overflow"
                reached.cancel()
                desk.model.responses.clear()
                return
            acts = self.dice.sample([self.compact, self.undo, self.pin, self.steer, self.stop], 2)
            self.done += [act.__name__ for act in acts]
            acting = [group.create_task(act()) for act in acts]
            await asyncio.sleep(0)
            hold.released.set()
            await asyncio.gather(asked, *acting)
        desk.model.responses.clear()

    async def steer(self) -> None:
        assert self.worker is not None
        await self.worker.desk.ask(self.worker.session, "Rather so.", steer=True)

    async def stop(self) -> None:
        assert self.worker is not None
        self.worker.session.prompts.cancel()

    async def look(self) -> None:
        assert self.worker is not None
        for compaction_id in self.made:
            listed = await self.worker.session.recall(compaction_id, 0, None, None)
            assert listed.total_bytes
        with pytest.raises(BadRequest):
            await self.worker.session.recall("cmp_none", 0, None, None)

    async def check(self) -> None:
        assert self.worker is not None
        revision = self.worker.session.opened().revision
        meter, segments = await self.rewriting.breakdown()
        assert sum(s["tokens"] for s in segments) == meter.used == sum(meter.regions.values())
        assert self.worker.session.meter().used == meter.used
        assert self.worker.session.opened().revision == revision


@pytest.mark.parametrize("seed", range(8))
async def test_a_session_is_whole_whatever_it_lived_through(world: World, seed: int) -> None:
    chaos = Chaos(world, random.Random(seed))
    try:
        async with world.daemon(kill=seed % 2 == 0) as desk:
            await chaos.live(desk, None)
            worker = chaos.worker
            assert worker is not None
            before = (await chaos.rewriting.preview(())).body
        async with world.daemon() as desk:
            session = await desk.sessions.get(worker.session.id)
            now = (await session.rewriting.preview(())).body
            assert now == before
            await chaos.live(desk, worker)
    except BaseException:
        print(chaos.done)
        raise
