"""Who looks at a session counts no text again, unless what was kept is for another text."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace

import pytest

from sidecar.core.parts import TextPart
from sidecar.observe.report.course import Course
from sidecar.session.desk.store_look import ReadAccess, look
from sidecar.session.view.kept_counts import KEY, SIZE
from sidecar.store.format.migrations import WITH_COUNTED
from sidecar.store.format.values import PutPart
from sidecar.store.journal import Store
from tests.session import inside
from tests.session.conftest import VOCABULARY, Desk, World
from tests.session.work import Worker


async def looked(
    worker: Worker, vocabulary: str = VOCABULARY, store: Store | None = None
) -> tuple[Course, list[str]]:
    """Give the course, and the texts that were counted for it, each some more than by others."""
    around, counted = inside.environment(worker.session), list[str]()

    def count(text: str) -> int:
        counted.append(text)
        return len(text) // 4

    models = replace(around.models, count=count, vocabulary=vocabulary)
    access = ReadAccess(store or around.store, models, around.settings, around.clock)
    course = await look(access, worker.session.id, lambda text: text, sized=False)
    return course, counted


@contextmanager
def stored(world: World) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(world.folder / "store.db", isolation_level=None)) as con:
        yield con


@pytest.fixture
async def worker(desk: Desk) -> Worker:
    """Give one who worked, compacted and worked on."""
    worker = await desk.worker(policy="manual")
    await worker.turns(3)
    await worker.session.rewriting.compact("economic", None, dry_run=False)
    await worker.turns(1)
    # Counts are kept after a turn's answer; a session that ended keeps none later.
    await worker.session.end()
    await worker.session.ended()
    return worker


async def test_nothing_is_counted_that_the_daemon_has_counted(worker: Worker) -> None:
    course, counted = await looked(worker)
    assert counted == []
    assert course == (await looked(worker, "another"))[0]
    assert course.notes


async def test_counts_by_another_vocabulary_are_not_believed(worker: Worker) -> None:
    _, counted = await looked(worker, "another")
    assert len(counted) > 9


async def test_damaged_counts_are_not_believed(worker: Worker, world: World) -> None:
    course, _ = await looked(worker)
    with stored(world) as con:
        (body,) = con.execute("SELECT body FROM counted").fetchone()
        entries = (body[at : at + KEY] for at in range(0, len(body), KEY + SIZE))
        wrong = b"".join(key + (7).to_bytes(SIZE, "big") for key in entries)
        con.execute("UPDATE counted SET body = ?", (wrong,))
    again, counted = await looked(worker)
    assert len(counted) > 9
    assert again == course


async def test_a_text_that_is_another_now_is_counted_anew(worker: Worker) -> None:
    said = next(m for m in reversed(inside.log(worker.session).messages) if m.role == "user")
    typed = said.parts[0]
    assert isinstance(typed, TextPart)
    text = replace(typed, text="other words, " * 40)
    await worker.desk.store.write(PutPart(worker.session.id, said.id, 0, text))
    _, counted = await looked(worker)
    assert counted == ["other words, " * 40]


async def test_an_older_store_has_no_counts(worker: Worker, world: World) -> None:
    course, _ = await looked(worker)
    with stored(world) as con:
        con.execute("DROP TABLE counted")
        con.execute(f"PRAGMA user_version = {WITH_COUNTED - 1}")
    older = Store.look(world.folder, now=world.now)
    again, counted = await looked(worker, store=older)
    await older.close()
    assert len(counted) > 9
    assert again == course


async def test_counts_leave_with_their_session(worker: Worker, desk: Desk, world: World) -> None:
    name = worker.session.id
    with stored(world) as con:
        assert con.execute("SELECT session_id FROM counted").fetchall() == [(name,)]
        await desk.sessions.delete(name)
        assert con.execute("SELECT session_id FROM counted").fetchall() == []
