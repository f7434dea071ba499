"""What a turn takes in a long session, as calls of functions, which other programs do not slow."""

import asyncio
import os
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import sidecar
from sidecar.workspace.paths import linked_names
from sidecar.workspace.snapshots.time_stamps import FINE_NS
from tests.fakes.scripted_model import calls, says
from tests.polling import until
from tests.session.conftest import LIMIT, Desk, World
from tests.session.recorder import entered
from tests.session.work import Worker

PRODUCT = str(Path(sidecar.__file__).parent)
CONCLUDES = "session/lifecycle/session.Session._conclude"
STEPS = 3
FOR_EACH = 2
"""Calls for each older message and request: what tells how much prompts have cost since a rewrite,
and what looks for open messages as a turn ends."""


def is_ours(frame: FrameType) -> bool:
    """Whether the product calls it, and not what stands for the provider or checks its prompts."""
    if not frame.f_code.co_filename.startswith(PRODUCT):
        return False
    before = frame.f_back
    while before is not None:
        code = before.f_code
        stands = code.co_name in ("stream", "_check") or "fakes" in code.co_filename
        if stands and not code.co_filename.startswith(PRODUCT):
            return False
        before = before.f_back
    return True


async def calls_of_a_turn(worker: Worker) -> int:
    """Have a turn of some steps; gives how many functions are entered."""
    seen: Counter[str] = Counter()

    def look(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and is_ours(frame):
            seen[frame.f_code.co_qualname] += 1

    sys.setprofile(look)
    try:
        await worker.turn(STEPS)
    finally:
        sys.setprofile(None)
    return seen.total()


@pytest.mark.long
async def test_a_turn_of_a_long_session_takes_hardly_more_than_one_of_a_short_one(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    # How many meters are told in between depends on the time.
    monkeypatch.setattr("sidecar.session.lifecycle.session.monotonic", lambda: 0.0)
    desk.editor.tools["look"] = lambda given: f"{given['path']} is short"
    worker = await desk.worker(policy="manual")
    await worker.turns(6, STEPS)
    short, before = await calls_of_a_turn(worker), len(desk.messages(worker.session))
    await worker.turns(12, STEPS)
    long, after = await calls_of_a_turn(worker), len(desk.messages(worker.session))
    grown = (long - short) / ((after - before) * (STEPS + 1))
    assert short > 1_000
    assert grown < FOR_EACH, f"{short} and {long} calls"


@pytest.mark.parametrize(
    ("allow", "trusted", "questions"),
    [(("write_file",), True, 0), ((), True, 1), (("write_file",), None, 1)],
)
async def test_links_to_an_edited_file_are_looked_for_twice_whether_or_not_anybody_is_asked(
    world: World,
    monkeypatch: pytest.MonkeyPatch,
    allow: tuple[str, ...],
    trusted: bool | None,
    questions: int,
) -> None:
    """Before the decision, and right before the change."""
    permissions = replace(world.config.permissions, allow=allow)
    world.config = replace(world.config, workspace_trusted=trusted, permissions=permissions)
    looked: list[Any] = []

    def look(given: Any, *rest: Any) -> tuple[str, ...]:
        looked.append(given)
        return linked_names(given, *rest)

    monkeypatch.setattr("sidecar.tools.access.linked_names", look)
    async with world.daemon() as desk:
        desk.editor.permission = "trust_once" if trusted is None else "allow_once"
        session = await desk.open()
        desk.script(calls(("a", "write_file", {"path": "made.py", "content": "x"})), says("Done."))
        await desk.ask(session)
        assert len(desk.editor.asked) == questions
    assert (world.workspace / "made.py").read_text() == "x"
    assert looked.count(("made.py",)) == 2


async def test_an_answer_goes_out_before_the_turn_is_concluded(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sidecar.session.lifecycle.session.ANSWER_FIRST", 0.2)
    session = await desk.open()
    desk.script(says("Done."))
    with entered() as seen:
        await desk.ask(session)
        for _ in range(8):
            # The answer takes some rounds of the loop to the client.
            await asyncio.sleep(0)
        assert not seen.times[CONCLUDES]
        await until(lambda: seen.times[CONCLUDES])


async def test_what_a_first_edit_asks_of_the_home_folder_is_known_before_the_prompt(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = world.workspace.parent / "home"
    monkeypatch.setenv("HOME", str(home))
    (home / ".config" / "tool").mkdir(parents=True)
    # Fresh time stamps prove nothing.
    await asyncio.sleep(FINE_NS / 1e9)
    listed: list[Path] = []
    ahead, loop, scan = asyncio.Event(), asyncio.get_running_loop(), os.scandir

    def look(folder: str) -> Any:
        listed.append(Path(folder))
        if listed[-1] == home / ".config" / "tool":
            loop.call_soon_threadsafe(ahead.set)
        return scan(folder)

    monkeypatch.setattr(os, "scandir", look)
    async with world.daemon() as desk:
        session = await desk.open()
        async with asyncio.timeout(LIMIT):
            await ahead.wait()
        listed.clear()
        desk.script(calls(("a", "write_file", {"path": "made.py", "content": "x"})), says("Done."))
        await desk.ask(session)
    assert (world.workspace / "made.py").read_text() == "x"
    assert not [folder for folder in listed if folder.is_relative_to(home)]
