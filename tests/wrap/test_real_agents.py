"""Real agents, wrapped: the official Python SDK drives them against a model on loopback.

What works with which is a table of docs/how-to/wrap.md; `SIDECAR_WRITE_DOCS=1` writes it anew.
"""

import asyncio
import os
import random
import re
import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

acp = pytest.importorskip("acp", reason="the agent-client-protocol package is not installed")
from sidecar.wrap.stream_words import COMMANDS  # noqa: E402 - only where it is installed
from tests.benchmarks.turn_script import Edit, Read, Say, Shell  # noqa: E402 - only where it is installed
from tests.wrap.model_api import Act, Asked, Hold, ModelApi  # noqa: E402 - only where it is installed
from tests.wrap.real_agents import AGENTS, LIMIT, Desk, Place, RealAgent, started  # noqa: E402 - only where it is installed

KILLS = 5
"""In a row, of one session."""
PAGE = Path(__file__).parents[2] / "docs/how-to/wrap.md"
WRITES = "SIDECAR_WRITE_DOCS"
DIFFERS = re.compile(
    rb"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|user_[0-9a-f]{64}"
    rb"|Process Group PGID: \d+|Wall time: [\d.]+|Chunk ID: [0-9a-f]+"
)
"""Names and times of an agent's own: of its session, installation and processes."""

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("home")]


@pytest.fixture(params=AGENTS, ids=lambda one: one.program)
def agent(request: pytest.FixtureRequest) -> RealAgent:
    found: RealAgent = request.param
    if found.path is None:
        pytest.skip(f"there is no {found.program} on PATH or in SIDECAR_AGENTS")
    return found


@pytest.fixture
def api() -> Iterator[ModelApi]:
    with ModelApi() as made:
        yield made


@pytest.fixture
def place(tmp_path: Path, agent: RealAgent, api: ModelApi) -> Place:
    return Place(tmp_path, agent, api)


@dataclass
class Turns:
    """What came of a task, a turn that was stopped, and one more."""

    session: str
    asked: list[Asked]
    stopped: str


async def played(desk: Desk, place: Place) -> Turns:
    session, api, path = await desk.opened(place), place.api, str(place.file)
    api.acts.extend(task(path))
    assert (await desk.say(session, "edit a.txt")).stop_reason == "end_turn"
    assert place.file.read_text() == "one\nTWO\n"
    assert (place.folder / "b.txt").read_text() == "made\n"
    await desk.recording(session)
    (place.folder / "mine.txt").write_text("mine\n")
    api.acts.extend([Edit(path, "one", "ONE"), Hold()])
    turn, before = asyncio.ensure_future(desk.say(session, "edit once more")), len(api.heard)
    await asyncio.to_thread(api.wait_for, before + 2)
    await desk.agent.cancel(session_id=session)
    stopped = (await turn).stop_reason
    assert place.file.read_text() == "ONE\nTWO\n"
    api.acts.append(Say("Yes."))
    assert (await desk.say(session, "go on")).stop_reason == "end_turn"
    heard, api.heard = api.heard, []
    return Turns(session, heard, stopped)


def task(path: str) -> list[Act]:
    return [Read(path), Edit(path, "two", "TWO"), Shell("echo made > b.txt"), Say("Done.")]


async def test_a_task_is_done_stopped_and_taken_back(place: Place) -> None:
    """The model hears the same without us and with us; then the files go back and forth."""
    async with started(place, wrapped=False) as desk:
        bare = await played(desk, place)
    place.again()
    async with started(place) as desk:
        turns = await played(desk, place)
        told = [f"{place.agent.name} {desk.about.agent_info.version}", f"`{place.agent.package}`"]
        told.append(yes(len(desk.window.asked) == 3))
        told.append(yes(turns.stopped == bare.stopped == "cancelled"))
        told += await went_back(desk, place, turns.session)
        assert_same(bare.asked, turns.asked)
    async with started(place) as desk:
        await desk.loaded(place, turns.session)
        told.append(yes("edit a.txt" in await desk.command(turns.session, "/checkpoints")))
    assert (place.folder / "mine.txt").read_text() == "mine\n"
    assert_told(place.agent, told)


async def went_back(desk: Desk, place: Place, session: str) -> list[str]:
    """The middle of the table's row."""
    shown, made = await desk.command(session, "/diff 3"), place.folder / "b.txt"
    await desk.command(session, "/rollback 3")
    back = place.file.read_text() == "one\ntwo\n" and not made.exists()
    await desk.command(session, "/redo")
    forth = place.file.read_text() == "ONE\nTWO\n" and made.exists()
    await desk.command(session, "/rollback 3")
    place.api.acts.append(Say("Yes."))
    await desk.say(session, "and on")
    heard = place.api.heard[-1].content
    knows = b"I rolled back: these files are as they were before" in heard
    assert b"/rollback" not in heard
    lists = desk.window.of("available_commands_update")
    assert COMMANDS.keys() <= {one.name for update in lists for one in update.available_commands}
    reported = "as the agent reports" in await desk.command(session, "/meter")
    return [
        yes("`a.txt` (+2 -2, tool)" in shown and "`b.txt` (+1 -0, shell)" in shown),
        yes(back and forth and knows),
        "the agent" if reported else "an estimate",
    ]


def yes(holds: bool) -> str:
    return "yes" if holds else "no"


def assert_same(bare: list[Asked], wrapped: list[Asked]) -> None:
    assert len(bare) == len(wrapped) >= 7
    for one, other in zip(bare, wrapped, strict=True):
        assert one.path == other.path
        assert unnamed(one.content) == unnamed(other.content)


def unnamed(content: bytes) -> bytes:
    """Without what differs between two runs of an agent on its own."""
    return DIFFERS.sub(b"<differs>", content)


def assert_told(agent: RealAgent, told: list[str]) -> None:
    """Compares, or writes, the agent's row; another version may do the same."""
    row, text = f"| {' | '.join(told)} |", PAGE.read_text("utf-8")
    (known,) = [line for line in text.splitlines() if f"`{agent.package}` |" in line]
    if os.environ.get(WRITES):
        PAGE.write_text(text.replace(known, row), "utf-8")
        return
    cells = [re.sub(r" [\d.]+ \|", " |", one) for one in (known, row)]
    assert cells[0] == cells[1], f"run with {WRITES}=1 and -n0"


CHAINS = int(os.environ.get("SIDECAR_WRAP_KILLS", "5")) // KILLS
"""For each agent."""


@pytest.mark.parametrize("seed", range(CHAINS))
async def test_kills_lose_no_byte_of_the_users(seed: int, place: Place) -> None:
    """Of agent, tap or recorder, in its own process or shared, in turns or in going back."""
    chance = random.Random(seed * 31 + AGENTS.index(place.agent))
    session = ""
    for number in range(KILLS + 1):
        async with started(place) as desk:
            session = await goes_on(desk, place, session)
            if number < KILLS:
                await is_killed(desk, place, session, chance)
        assert place.file.read_text() in ("one\ntwo\n", "one\nTWO\n")
        assert (place.folder / "mine.txt").read_text() == f"mine {min(number, KILLS - 1)}\n"


async def goes_on(desk: Desk, place: Place, session: str) -> str:
    """The session is there again, and what a turn changes goes back alone."""
    known, path, before = False, str(place.file), place.file.read_text()
    if session:
        with suppress(acp.RequestError):
            await desk.loaded(place, session)
            known = "edit a.txt" in await desk.command(session, "/checkpoints")
    # One that was killed before the agent had written its session is a new one.
    session = session if known else await desk.opened(place)
    place.api.acts.clear()
    place.api.acts.extend([Read(path), Edit(path, "one", "ONE"), Say("Yes.")])
    await desk.say(session, "once more")
    assert place.file.read_text() == before.replace("one", "ONE")
    await desk.command(session, "/rollback 1 keep")
    assert place.file.read_text() == before
    return session


async def is_killed(desk: Desk, place: Place, session: str, chance: random.Random) -> None:
    victims = chance.choice([("agent",), ("tap",), ("recorder",), ("recorder", "tap")])
    in_turn = chance.random() < 0.6
    place.file.write_text("one\ntwo\n")
    place.api.acts.extend(task(str(place.file)))
    turn = asyncio.ensure_future(desk.say(session, "edit a.txt"))
    if not in_turn:
        await turn
        await desk.recording(session)
        turn = asyncio.ensure_future(desk.say(session, "/rollback 1 keep"))
    await asyncio.sleep(chance.uniform(0, 1.5 if in_turn else 0.15))
    (place.folder / "mine.txt").write_text(f"mine {place.kills}\n")
    await asyncio.sleep(chance.uniform(0, 0.3))
    kill(desk, victims)
    place.kills += 1
    await asyncio.wait({turn}, timeout=LIMIT if victims == ("recorder",) else 3.0)
    if victims == ("recorder",):
        assert turn.result().stop_reason == "end_turn"
        assert not in_turn or place.file.read_text() == "one\nTWO\n"
    if victims == ("agent",):
        async with asyncio.timeout(LIMIT):
            assert await desk.process.wait() == -signal.SIGKILL
    turn.cancel()


def kill(desk: Desk, victims: tuple[str, ...]) -> None:
    processes = {"agent": desk.agents, "tap": [desk.process.pid], "recorder": desk.recorder}
    for pid in [pid for victim in victims for pid in processes[victim]]:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
