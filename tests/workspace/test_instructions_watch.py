"""A changed file of instructions is noticed: by an event, and where none comes by looking."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import watchfiles

from sidecar.workspace.instructions import Instruction, instruction_folders, read_instructions
from sidecar.workspace.instructions_watch import InstructionsWatch, hashes, name_of
from tests.polling import until

LIMIT = 10.0
NEVER = 3600.0
"""Seconds between looks when a test must not depend on them."""


@dataclass
class Ground:
    """A repository, a user's folder, and what was seen of the instructions."""

    root: Path
    trusted: bool = True
    reads: int = 0
    seen: list[tuple[str, ...]] = field(default_factory=list)
    happened: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def repository(self) -> Path:
        return self.root / "repo"

    def watch(self, every: float) -> InstructionsWatch:
        return InstructionsWatch(self.read, self.root / "user", every)

    def follow(self, watch: InstructionsWatch, cwd: Path | None = None, key: str = "a") -> None:
        watch.follow(key, str(cwd or self.repository), lambda: self.trusted, self.note)

    async def read(self, cwd: str, trusted: bool) -> tuple[Instruction, ...]:
        self.reads += 1
        found = await asyncio.to_thread(read_instructions, Path(cwd), trusted, self.root / "user")
        self.happened.set()
        return found

    def note(self, found: tuple[Instruction, ...]) -> None:
        self.seen.append(tuple(instruction.text for instruction in found))

    async def until(self, reached: Callable[[], bool]) -> None:
        async with asyncio.timeout(LIMIT):
            while not reached():
                self.happened.clear()
                await self.happened.wait()
                # What was read is compared and told right after.
                await asyncio.sleep(0)


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    (tmp_path / "repo/.git").mkdir(parents=True)
    (tmp_path / "repo/sub").mkdir()
    (tmp_path / "user").mkdir()
    return Ground(tmp_path)


@asynccontextmanager
async def running(watch: InstructionsWatch) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as group:
        task = group.create_task(watch.run())
        try:
            yield
        finally:
            task.cancel()
            async with asyncio.timeout(LIMIT):
                await asyncio.wait({task})


@contextmanager
def without_events(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def refused(*paths: Path, **options: object) -> None:
        raise OSError(28, "no more inotify watches")

    with monkeypatch.context() as patch:
        patch.setattr(watchfiles.main, "RustNotify", refused)
        yield


async def test_what_is_there_is_told_first_and_then_what_an_event_brings(ground: Ground) -> None:
    (ground.repository / "AGENTS.md").write_text("one")
    watch = ground.watch(NEVER)
    ground.follow(watch)
    async with running(watch):
        await ground.until(lambda: ground.seen == [("one",)])
        (ground.repository / "AGENTS.md").write_text("two")
        await ground.until(lambda: ground.seen[-1] == ("two",))
        (ground.repository / "AGENTS.md").unlink()
        await ground.until(lambda: ground.seen[-1] == ())


async def test_a_file_that_is_replaced_as_editors_do_is_noticed(ground: Ground) -> None:
    (ground.repository / "AGENTS.md").write_text("one")
    watch = ground.watch(NEVER)
    ground.follow(watch, ground.repository / "sub")
    async with running(watch):
        await ground.until(lambda: ground.seen == [("one",)])
        (ground.repository / "new").write_text("two")
        (ground.repository / "new").replace(ground.repository / "AGENTS.md")
        await ground.until(lambda: ground.seen[-1] == ("two",))


async def test_where_no_event_comes_it_looks_itself(ground: Ground) -> None:
    (ground.root / "repo/docs").mkdir()
    (ground.root / "repo/docs/agents.md").write_text("one")
    (ground.repository / "AGENTS.md").symlink_to(ground.root / "repo/docs/agents.md")
    watch = ground.watch(0.05)
    ground.follow(watch)
    async with running(watch):
        await ground.until(lambda: ground.seen == [("one",)])
        (ground.root / "repo/docs/agents.md").write_text("two")
        await ground.until(lambda: ground.seen[-1] == ("two",))


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
async def test_a_name_that_is_no_utf_8_ends_the_events_and_nothing_else(ground: Ground) -> None:
    watch = ground.watch(0.05)
    ground.follow(watch)
    async with running(watch):
        await ground.until(lambda: watch.status()["mode"] == "events" and ground.seen == [()])
        (ground.repository / os.fsdecode(b"bad\xff.txt")).write_text("x")
        await ground.until(lambda: watch.status()["mode"] == "polling")
        (ground.repository / "AGENTS.md").write_text("one")
        await ground.until(lambda: ground.seen[-1] == ("one",))


async def test_without_any_watches_it_polls(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = ground.watch(0.05)
    ground.follow(watch)
    with without_events(monkeypatch):
        async with running(watch):
            await ground.until(lambda: watch.status()["mode"] == "polling")
            (ground.repository / "CLAUDE.md").write_text("one")
            await ground.until(lambda: ground.seen[-1] == ("one",))
            assert watch.status() == {"mode": "polling", "folders": 2}


async def test_a_folder_made_later_is_watched_from_then_on(ground: Ground) -> None:
    (ground.root / "user").rmdir()
    watch = ground.watch(0.05)
    ground.follow(watch)
    async with running(watch):
        await ground.until(lambda: watch.status() == {"mode": "events", "folders": 1})
        (ground.root / "user").mkdir()
        await ground.until(lambda: watch.status() == {"mode": "events", "folders": 2})
        (ground.root / "user/AGENTS.md").write_text("mine")
        await ground.until(lambda: ground.seen[-1] == ("mine",))


async def test_trust_decides_what_is_read_at_each_look(ground: Ground) -> None:
    (ground.repository / "AGENTS.md").write_text("one")
    ground.trusted = False
    watch = ground.watch(0.05)
    ground.follow(watch)
    async with running(watch):
        await ground.until(lambda: ground.seen == [()])
        ground.trusted = True
        await ground.until(lambda: ground.seen == [(), ("one",)])


async def test_what_was_told_is_not_told_again(ground: Ground) -> None:
    (ground.repository / "AGENTS.md").write_text("one")
    watch = ground.watch(0.05)
    ground.follow(watch)
    async with running(watch):
        await ground.until(lambda: ground.reads >= 5)
        assert ground.seen == [("one",)]


async def test_two_sessions_of_a_workspace_are_read_for_once(ground: Ground) -> None:
    watch = ground.watch(NEVER)
    ground.follow(watch, key="a")
    ground.follow(watch, key="b")
    async with running(watch):
        await ground.until(lambda: len(ground.seen) == 2)
        assert ground.reads == 1


async def test_who_is_forgotten_hears_nothing_more(ground: Ground) -> None:
    watch = ground.watch(0.05)
    ground.follow(watch, key="a")
    ground.follow(watch, ground.repository / "sub", key="b")
    async with running(watch):
        await ground.until(lambda: ground.seen == [(), ()])
        watch.forget("a")
        (ground.repository / "AGENTS.md").write_text("one")
        await ground.until(lambda: ("one",) in ground.seen)
        before = ground.reads
        await ground.until(lambda: ground.reads >= before + 2)
        assert ground.seen == [(), (), ("one",)]


async def test_it_ends_at_once_while_it_waits_for_events(ground: Ground) -> None:
    watch = ground.watch(NEVER)
    ground.follow(watch)
    async with running(watch):
        await ground.until(lambda: ground.seen == [()])
        assert watch.status()["mode"] == "events"


async def test_with_nobody_to_tell_it_waits(ground: Ground) -> None:
    watch = ground.watch(0.05)
    assert watch.status() == {"mode": "off", "folders": 0}
    async with running(watch):
        await until(lambda: watch.status() == {"mode": "idle", "folders": 0})
        ground.follow(watch)
        await ground.until(lambda: ground.seen == [()])


def test_the_folders_are_those_that_are_read(ground: Ground) -> None:
    inner = ground.repository / "sub"
    user = ground.root / "user"
    assert instruction_folders(inner, user) == (user, ground.repository, inner)
    assert instruction_folders(inner, ground.root / "none") == (ground.repository, inner)


def test_a_hash_is_of_the_content_alone() -> None:
    one, two = Instruction("/a", "text"), Instruction("/b", "text")
    assert hashes([one])["/a"] == hashes([two])["/b"]
    assert hashes([one]) != hashes([Instruction("/a", "text ")])
    assert name_of("/a\udcff") == "/a?"
