"""Sessions that leave in slices: unseen from the first one on, whoever goes on with the rest."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from sidecar.core.errors import StorageFailed, UnknownSession
from sidecar.core.parts import MessageId, PartId, SessionId
from sidecar.store.content import removal
from sidecar.store.content.removal import DELETED, RemovedRows
from sidecar.store.format.values import (
    AppendRecord,
    CopyLog,
    PutMessage,
    PutPart,
    PutSession,
    Record,
)
from tests.store.holders import hold
from tests.store.on_disk import behind
from tests.store.samples import NOW, message, open_store, session, text

SES, OTHER = SessionId("ses_1"), SessionId("ses_2")
PARTS = 100
LONG = "a long text that is kept apart " * 100


async def fill(store: object) -> None:
    """Two sessions that share some of what they say."""
    for name in (SES, OTHER):
        parts = [text(f"part_{n}", f"{n if n % 2 else name} {LONG}") for n in range(PARTS)]
        await store.write(  # type: ignore[attr-defined]
            PutSession(session(name)),
            PutMessage(name, message()),
            *(PutPart(name, MessageId("msg_1"), n, part) for n, part in enumerate(parts)),
            *(AppendRecord(name, Record(n, "step", NOW, {"n": LONG})) for n in range(1, 30)),
        )


@pytest.mark.parametrize("at", [DELETED, NOW])
async def test_it_is_gone_for_everybody_before_its_rows_are(tmp_path: Path, at: int) -> None:
    store = open_store(tmp_path)
    await fill(store)
    before = await store.logs.load(OTHER)

    def leave(con: object) -> RemovedRows:
        return removal.leave(con, SES, at)  # type: ignore[arg-type]

    # The slice within it is cut short, as a long session's is.
    removing_for = removal.SLICE_SECONDS
    removal.remove_some.__defaults__ = (0.0,)
    try:
        first = await behind(store, leave)
    finally:
        removal.remove_some.__defaults__ = (removing_for,)
    assert not first.done
    await store.close()

    store = open_store(tmp_path)
    with pytest.raises(UnknownSession):
        await store.logs.load(SES)
    with pytest.raises(UnknownSession):
        await store.sessions.row(SES)
    page = await store.sessions.page(cwd=None, before=None, limit=9)
    assert [row.id for row in page.rows] == [OTHER]
    assert (await store.verify()).problems == ()
    assert await store.leaving.unfinished() == {SES: at}
    slices, left = 0, first
    while not left.done:
        run = partial(removal.remove_some, session_id=SES, seconds=0.0)
        left = await behind(store, run)
        slices += 1
        report = await store.verify() if slices % 3 == 0 else None
        assert report is None or report.problems == ()
    assert slices > 5
    report = await store.verify()
    assert (report.sessions, report.parts, report.problems) == (1, PARTS, ())
    assert await store.logs.load(OTHER) == before
    # What is beside the store is still to go of a deleted one, of an archived one it stays.
    assert await store.leaving.unfinished() == ({SES: DELETED} if at == DELETED else {})
    await store.close()


async def test_nobody_takes_anything_over_from_one_that_leaves(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await fill(store)
    await behind(store, lambda con: removal.leave(con, SES, DELETED) and None)
    await store.delete(SES)
    with pytest.raises(UnknownSession):
        await store.write(
            PutSession(session("ses_3")),
            CopyLog(SES, SessionId("ses_3"), (MessageId("msg_1"),), 0),
        )
    assert (await store.verify()).sessions == 1
    await store.close()


async def test_one_that_stays_is_never_touched(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await fill(store)
    assert await store.leaving.remove_some(SES) == RemovedRows(0, done=True)
    assert len((await store.logs.load(SES)).messages[0].parts) == PARTS
    await store.close()


async def test_only_what_is_as_it_was_read_leaves(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await fill(store)
    row = await store.sessions.row(SES)
    await hold(store, SES)
    await store.write(PutSession(replace(row, title="other")))
    with pytest.raises(StorageFailed, match="written to meanwhile"):
        await store.leaving.leave(row, "one")
    assert await store.logs.part(SES, PartId("part_1")) is not None
    await store.close()
