"""Checkpoints of real sessions: when they are written, what stands in them, what never harms."""

import asyncio
import json
import logging
import os
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sidecar.core.errors import StorageFailed
from sidecar.core.ledger.ledger import Ledger, read_ledger
from sidecar.core.ledger.milestone import Milestone
from sidecar.core.parts import SessionId, ToolPart
from sidecar.core.text.digest import bytes_hash
from sidecar.session.compaction import milestones
from sidecar.session.compaction.milestones import (
    MilestoneMark,
    OwnState,
    drifted,
    due,
    read,
    remove,
    write,
)
from sidecar.session.lifecycle.session import Session
from tests.fakes.scripted_model import calls, says
from tests.session import inside
from tests.session.conftest import Desk, World


def state_file(session: Session, name: str = "state.json") -> Path:
    return inside.environment(session).store.folder / "checkpoints" / session.id / name


def settled(folder: Path) -> list[str]:
    """The folder's names, without files that are being written."""
    return sorted(name for name in os.listdir(folder) if not name.endswith(".tmp"))


def stored(session: Session) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(state_file(session).read_text())
    return found


async def work(desk: Desk, session: Session, *tools: tuple[str, str, object]) -> None:
    desk.script(*(calls(tool) for tool in tools), says("Done."))
    await desk.ask(session, "Do the next thing.")


def todo(*items: tuple[str, str]) -> tuple[str, str, object]:
    listed = [{"content": content, "status": status} for content, status in items]
    return ("t", "todo", {"items": listed})


def written(path: str, content: str = "text\n") -> tuple[str, str, object]:
    return ("w", "write_file", {"path": path, "content": content})


NOTHING = MilestoneMark()
SAME = MilestoneMark(5, frozenset({"a"}), 3, 0.5)


@pytest.mark.parametrize(
    ("moment", "now", "why"),
    [
        ("step", SAME, None),
        ("turn", SAME, None),
        ("close", SAME, None),
        ("compaction", SAME, "compaction"),
        ("close", replace(SAME, revision=6), "close"),
        ("step", replace(SAME, changed=4), None),
        ("turn", replace(SAME, changed=4), "files changed"),
        ("step", replace(SAME, done=frozenset({"a", "b"})), "todo done"),
        ("step", replace(SAME, done=frozenset()), None),
        ("turn", replace(SAME, done=frozenset({"b"})), "todo done"),
        ("step", replace(SAME, used=0.85), "85 per cent"),
        ("step", replace(SAME, used=0.84), None),
        ("turn", replace(SAME, used=0.99), "85 per cent"),
    ],
)
def test_it_is_due_at_milestones_and_under_pressure(moment, now, why) -> None:
    assert due(moment, SAME, now) == why


def test_pressure_is_told_once_for_each_crossing() -> None:
    high = replace(SAME, used=0.9)
    assert due("step", high, replace(high, used=0.95)) is None
    assert due("step", NOTHING, MilestoneMark(0)) is None


async def test_a_session_without_a_message_has_no_checkpoint(desk: Desk) -> None:
    session = await desk.open()
    assert not await inside.milestones(session).at("close")
    assert not state_file(session).exists()


async def test_a_turn_that_changed_files_is_a_milestone(desk: Desk) -> None:
    session = await desk.open()
    kept = inside.milestones(session)
    await work(desk, session)
    assert not await kept.at("turn")
    git = desk.workspace / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    await work(desk, session, written("a.py"))
    assert await kept.at("turn")
    told = stored(session)
    assert (told["why"], told["branch"]) == ("files changed", "main")
    assert told["goal"]["text"] == "Do the next thing."
    [file] = told["files"]
    assert (file["path"], file["state"]) == ("a.py", "created")
    assert file["hash"] == bytes_hash((desk.workspace / "a.py").read_bytes())
    assert told["stateVersion"] == inside.row(session).revision
    assert "- a.py (created)" in state_file(session, "state.md").read_text()
    assert not await kept.at("turn")
    assert settled(state_file(session).parent) == ["state.json", "state.md"]


async def test_what_could_not_be_stored_leaves_the_ledger_with_the_rest_in_it_once(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await desk.open()
    kept = session.rewriting.checkpoints
    await work(desk, session, written("a.py"))
    before = kept.ledger()
    write = desk.store.write

    def failing(*changes: Any, **given: Any) -> Any:
        # A compaction beside saves the ledger with the message that will be withdrawn.
        kept.ledger()
        failed = asyncio.get_running_loop().create_future()
        failed.set_exception(StorageFailed("full", kind="full"))
        return failed

    monkeypatch.setattr(desk.store, "write", failing)
    with pytest.raises(StorageFailed):
        await desk.ask(session, "Lost words.")
    monkeypatch.setattr(desk.store, "write", write)
    assert kept.ledger() == before


async def test_an_item_that_got_done_is_a_milestone_of_its_step(desk: Desk) -> None:
    session = await desk.open()
    kept = inside.milestones(session)
    await work(desk, session, todo(("a", "in_progress"), ("b", "pending")))
    assert not await kept.at("step")
    await work(desk, session, todo(("a", "completed"), ("b", "in_progress"), ("c", "pending")))
    assert await kept.at("step")
    told = stored(session)
    assert (told["done"], told["in_progress"], told["planned"]) == (["a"], ["b"], ["c"])
    assert not await kept.at("step")


async def test_a_long_turns_calls_are_not_looked_at_with_each_step(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[str] = []

    def look(part: ToolPart) -> bool:
        looked.append(part.id)
        return False

    monkeypatch.setattr(milestones, "may_move_todos", look)
    monkeypatch.setattr(milestones, "MOST_LATE", 2)
    session = await desk.open()
    await work(desk, session, *(written(f"{number}.txt") for number in range(8)))
    assert len(set(looked)) == 8
    assert max(Counter(looked).values()) <= 3


async def test_crossing_85_per_cent_saves_once(desk: Desk) -> None:
    session = await desk.open()
    kept = inside.milestones(session)
    await work(desk, session)
    assert not await kept.at("step")
    size = inside.model_view(session).size(inside.log(session)).total
    inside.configure(session, "maxTokens", 1_000)
    inside.configure(session, "window", round((size + 40) / 0.9) + 1_000)
    assert await kept.at("step")
    assert stored(session)["why"] == "85 per cent"
    assert not await kept.at("step")
    inside.configure(session, "window", 200_000)
    assert not await kept.at("step")
    inside.configure(session, "window", round((size + 40) / 0.9) + 1_000)
    assert await kept.at("step")


async def test_closing_saves_what_has_happened_since(desk: Desk) -> None:
    session = await desk.open()
    kept = inside.milestones(session)
    await work(desk, session)
    assert await kept.at("close")
    assert not await kept.at("close")


async def test_a_compaction_saves_and_names_another_window(desk: Desk) -> None:
    worker = await desk.worker(policy="manual")
    kept = inside.milestones(worker.session)
    await worker.turns(4)
    assert await kept.at("close")
    first = stored(worker.session)
    await worker.session.rewriting.compact("economic", None, dry_run=False)
    assert await kept.at("compaction")
    second = stored(worker.session)
    assert (first["windowId"], second["windowId"]) == (
        f"{worker.session.id}:1",
        f"{worker.session.id}:2",
    )
    assert second["stateVersion"] > first["stateVersion"]
    assert second["goal"] == first["goal"]


async def test_the_ledger_that_grows_is_that_of_the_whole_log(desk: Desk) -> None:
    session = await desk.open()
    kept = inside.milestones(session)
    for number in range(3):
        await work(
            desk, session, written(f"{number}.py"), ("s", "shell", {"command": "sh -c false"})
        )
        assert kept.ledger() == read_ledger(inside.log(session))
    assert len(kept.ledger().failures) == 1


def checkpoint(version: int, **given: Any) -> Milestone:
    return Milestone(SessionId("ses_1"), "ses_1:1", version, 0, Ledger(), **given)


def test_an_older_state_never_replaces_a_newer_one(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert write(tmp_path, checkpoint(5, why="new"))
    with caplog.at_level(logging.WARNING):
        assert not write(tmp_path, checkpoint(4, why="old"))
    assert "state 4 was not written over state 5" in caplog.text
    assert read(tmp_path, SessionId("ses_1")) == checkpoint(5, why="new")
    assert write(tmp_path, checkpoint(5, why="again"))
    assert read(tmp_path, SessionId("ses_1")) == checkpoint(5, why="again")


async def test_whatever_the_order_in_which_they_are_written_the_newest_stays(
    tmp_path: Path,
) -> None:
    versions = [3, 9, 1, 7, 9, 2]
    for version in versions:
        await asyncio.to_thread(write, tmp_path, checkpoint(version))
    found = read(tmp_path, SessionId("ses_1"))
    assert found is not None
    assert found.state_version == 9


def test_only_what_is_still_ones_own_is_not_read_before_it_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, other = OwnState(), OwnState()
    assert write(tmp_path, checkpoint(1), own)
    with monkeypatch.context() as context:
        context.delattr(milestones, "read")
        assert write(tmp_path, checkpoint(2), own)
    assert write(tmp_path, checkpoint(9), other)
    assert not write(tmp_path, checkpoint(3), own)
    assert not write(tmp_path, checkpoint(8), other)
    assert read(tmp_path, SessionId("ses_1")) == checkpoint(9)


@pytest.mark.parametrize("broken", ["", "{", "[]", "{}", "[" * 200_000])
def test_a_checkpoint_that_cannot_be_read_is_none_and_is_replaced(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, broken: str
) -> None:
    assert read(tmp_path, SessionId("ses_1")) is None
    assert not caplog.records
    write(tmp_path, checkpoint(9))
    (tmp_path / "checkpoints/ses_1/state.json").write_text(broken)
    assert read(tmp_path, SessionId("ses_1")) is None
    assert "cannot be read" in caplog.text
    assert write(tmp_path, checkpoint(1))


@pytest.mark.parametrize("name", ["", "..", "../x", "a/b", "a\\b", ".hidden"])
def test_an_id_that_would_lead_elsewhere_is_none(tmp_path: Path, name: str) -> None:
    assert read(tmp_path, SessionId(name)) is None
    remove(tmp_path, SessionId(name))
    with pytest.raises(ValueError, match="no session's id"):
        write(tmp_path, replace(checkpoint(1), session_id=SessionId(name)))


def test_a_checkpoint_goes_with_its_session(tmp_path: Path) -> None:
    write(tmp_path, checkpoint(1))
    remove(tmp_path, SessionId("ses_1"))
    assert os.listdir(tmp_path / "checkpoints") == []
    remove(tmp_path, SessionId("ses_1"))


async def test_what_cannot_be_written_is_a_warning_and_tried_again_at_the_end(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    session = await desk.open()
    kept = inside.milestones(session)
    blocked = state_file(session).parent
    blocked.parent.mkdir(parents=True)
    blocked.write_text("in the way")
    await work(desk, session, written("a.py"))
    with caplog.at_level(logging.WARNING):
        assert not await kept.at("turn")
    assert "no checkpoint" in caplog.text
    assert not await kept.at("turn")
    blocked.unlink()
    assert await kept.at("close")
    assert stored(session)["files"][0]["path"] == "a.py"


async def test_what_half_wrote_a_checkpoint_leaves_the_old_one(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = await desk.open()
    kept = inside.milestones(session)
    await work(desk, session, written("a.py"))
    assert await kept.at("turn")
    before = stored(session)
    real = os.replace

    def fails(source: Any, target: Any, **given: Any) -> None:
        if str(target) == "state.json":
            raise OSError(28, "No space left on device")
        real(source, target, **given)

    monkeypatch.setattr(os, "replace", fails)
    await work(desk, session, written("b.py"))
    assert not await kept.at("turn")
    assert stored(session) == before
    assert settled(state_file(session).parent) == ["state.json", "state.md"]


async def test_who_only_reads_a_session_writes_no_checkpoint(desk: Desk) -> None:
    session = await desk.open()
    await work(desk, session, written("a.py"))
    inside.owned(session).read_only = True
    assert not await inside.milestones(session).at("close")
    inside.owned(session).read_only = False


async def test_what_drifted_since_a_checkpoint_is_told(world: World) -> None:
    git = world.workspace / ".git"
    git.mkdir()
    (git / "HEAD").write_text("ref: refs/heads/main\n")
    async with world.daemon() as desk:
        session = await desk.open()
        await work(desk, session, written("a.py"), written("b.py"), written("c.py"))
        await work(desk, session, ("r", "read_file", {"path": "notes.txt"}))
        assert await inside.milestones(session).at("close")
    async with world.daemon(name="two") as desk:
        again = await desk.sessions.get(session.id)
        found = await asyncio.to_thread(milestones.read, world.config.data_dir, session.id)
        assert found is not None
        assert await drifted(Path(again.row.cwd), inside.state(again).buffers, found) == ()
        (world.workspace / "a.py").write_text("other\n")
        (world.workspace / "b.py").unlink()
        (git / "HEAD").write_text("ref: refs/heads/other\n")
        assert await drifted(Path(again.row.cwd), inside.state(again).buffers, found) == (
            "The git branch was main and is other now.",
            "a.py is not as it was when you changed it: read it again before relying on it.",
            "b.py is gone; it was created before.",
        )
