"""The lists of calls in `docs/inside/three-ways.md`: a prompt, a rewrite and a restore go so."""

import itertools
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from sidecar.session.interface import Wish
from tests.fakes.scripted_model import calls, says, write
from tests.polling import until
from tests.session import inside
from tests.session.conftest import Desk, World
from tests.session.recorder import Entered, entered

pytestmark = pytest.mark.usefixtures("following")

PAGE = Path(__file__).parents[2] / "docs" / "inside" / "three-ways.md"
READ = ("r", "read_file", {"path": "notes.txt"})
SMALL = {"window": 30_000, "max_tokens": 4_000}
LAST = "session/meter/pings.Pings.work"
"""What is begun last of all that follows an answer."""
AHEAD = "workspace/variables.naming"
"""What is asked last of the folders around, once a session is open."""
MOST = {True: (423, 492), False: (576, 627)}
"""Functions to a first answer, and with what follows: where the folder had been looked at, and at
once after opening. Five more than were seen; at once twenty, for what falls together differs."""
MOST_TURNS = 10


def listed(heading: str) -> list[str]:
    """Give the calls of a numbered list of the page."""
    text = PAGE.read_text(encoding="utf-8")
    _, found, rest = text.partition(f"\n## {heading}\n")
    assert found, f"{PAGE.name} has no list of {heading!r}"
    return re.findall(r"^\d+\. `([^`]+)`", rest.partition("\n## ")[0], re.MULTILINE)


def problems(names: list[str], seen: Entered) -> list[str]:
    """Say what of a list is not so: what was not entered, or was before the call above it."""
    at = {name: place for place, name in enumerate(seen.names)}
    gone = [f"{name} is not entered" for name in names if name not in at]
    known = [name for name in names if name in at]
    pairs = itertools.pairwise(known)
    return gone + [f"{b} is entered before {a}" for a, b in pairs if at[a] > at[b]]


async def prompted(desk: Desk) -> Entered:
    session = await desk.open()
    desk.script(calls(READ), calls(READ), says("done"))
    with entered() as seen:
        result = await desk.ask(session, "look twice")
    assert result.stop_reason == "end_turn"
    return seen


async def first_prompt(world: World, *, looked_at: bool) -> tuple[int, int]:
    """Count functions in all threads, to the answer of two reads, and with what follows it.

    At once after a session was opened, or in a folder that has been looked at since.
    """
    with entered() as seen:
        async with world.daemon() as desk:
            session = await desk.open()
            if looked_at:
                made, _ = await inside.tracking(session).since()
                await made.ready()
                await until(lambda: seen.times[AHEAD])
            seen.forget()
            desk.script(calls(READ), calls(READ), says("done"))
            await desk.ask(session, "look twice")
            answered = len(seen.names)
            await until(lambda: seen.times[LAST])
            return answered, len(seen.names)


async def rewritten(desk: Desk) -> Entered:
    """Work until the policy has a summary written and leaves the rest out."""
    worker = await desk.worker(policy="opencode", **SMALL)
    for _ in range(MOST_TURNS):
        with entered() as seen:
            await worker.turns(1, 5)
        if desk.model.summaries:
            return seen
    raise AssertionError(f"no summary was asked for in {MOST_TURNS} turns")


async def restored(desk: Desk) -> Entered:
    session = await desk.open()
    desk.script(calls(write("notes.txt", "beta\n")), says("done"))
    turn = await desk.ask(session, "change it")
    with entered() as seen:
        await session.rollback.restore(Wish("both", before_message_id=turn.message_id))
    assert (desk.workspace / "notes.txt").read_text() == "alpha\n"
    assert inside.conversation(session) == []
    return seen


WAYS: dict[str, Callable[[Desk], Awaitable[Entered]]] = {
    "A prompt": prompted,
    "A rewrite": rewritten,
    "A restore": restored,
}


@pytest.mark.parametrize("way", WAYS)
async def test_a_way_goes_as_its_list_says(desk: Desk, way: str) -> None:
    names = listed(way)
    assert 12 <= len(names) <= 20
    assert problems(names, await WAYS[way](desk)) == []


@pytest.mark.parametrize("looked_at", [False, True])
async def test_a_first_prompt_enters_no_more_functions_than_it_did(
    world: World, looked_at: bool
) -> None:
    found = await first_prompt(world, looked_at=looked_at)
    assert all(now <= most for now, most in zip(found, MOST[looked_at], strict=True)), found


async def test_a_prompt_is_built_once_for_each_request_and_once_for_the_meter(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sidecar.session.lifecycle.session.METER_EVERY", float("inf"))
    seen = await prompted(desk)
    assert len(desk.model.requests) == 3
    assert seen.times["session/view/model_view.ModelView._build"] == 4
    # What is typed is counted once, as it stands in the log.
    assert not seen.times["session/view/rendering.Rendering.weigh"]


def test_a_list_that_is_wrong_is_found() -> None:
    seen = Entered(names=["one.first", "one.second", "two.third"])
    assert problems(["one.first", "two.third"], seen) == []
    assert problems(["one.first", "one.gone"], seen) == ["one.gone is not entered"]
    assert problems(["two.third", "one.second"], seen) == ["one.second is entered before two.third"]
