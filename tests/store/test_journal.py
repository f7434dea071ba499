"""The store as its users see it: on real files, through its public methods."""

import asyncio
import sqlite3
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import cast

import pytest

from sidecar.core.errors import BadRequest, StorageFailed, UnknownSession
from sidecar.core.parts import Message, MessageId, PartId, SessionId, TextPart
from sidecar.store.connection import writer
from sidecar.store.format.values import (
    AppendRecord,
    DeleteSession,
    PutBlob,
    PutMessage,
    PutPart,
    PutSession,
    Record,
)
from sidecar.store.journal import Store
from tests.store.contents import blob
from tests.store.on_disk import behind
from tests.store.samples import NOW, base, message, open_store, put_text, session, text, tool

SES = SessionId("ses_1")
MSG = MessageId("msg_1")
BIG = "a long line of output\n" * 500


async def test_a_session_comes_back_after_a_restart(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    second = replace(message("msg_0"), role="assistant", model="m")
    records = (Record(1, "created", NOW, {}), Record(3, "turn", NOW + 1, {"why": BIG}))
    await store.write(*base(), put_text("part_1", "two", at=1), put_text("part_2", BIG, at=0))
    await store.write(PutMessage(SES, second), *(AppendRecord(SES, r) for r in records))
    await store.write(PutMessage(SES, replace(message(), status="cut")))
    await store.close()

    store = open_store(tmp_path)
    stored = await store.logs.load(SES)
    first = replace(message(), status="cut", parts=(text("part_2", BIG), text("part_1", "two")))
    assert stored.session == session()
    # Order is that of the first writing, whatever the ids and whatever was written anew.
    assert stored.messages == (first, second)
    assert stored.records == records
    assert stored.problems == ()
    await store.close()


async def test_unknown_sessions_are_told(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    for name in ("ses_0", "\ud800", "\0"):
        with pytest.raises(UnknownSession):
            await store.logs.load(SessionId(name))
    assert await store.logs.part(SES, PartId("\ud800")) is None
    assert await store.outputs.read("b2:nothing") is None
    await store.close()


async def test_one_part_is_read_alone_and_may_move_on(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.write(*base(), put_text("part_1", "one"))
    assert await store.logs.part(SES, PartId("part_1")) == text("part_1", "one")
    await store.write(put_text("part_1", BIG))
    assert await store.logs.part(SES, PartId("part_1")) == text("part_1", BIG)
    assert await store.logs.part(SES, PartId("part_9")) is None
    await store.close()


async def test_sessions_are_listed_newest_first_page_by_page(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    rows = [session(f"ses_{n}", updated=NOW + n // 2, cwd=f"/w{n % 2}") for n in range(7)]
    await store.write(*(PutSession(row) for row in rows))
    seen: list[str] = []
    cursor = None
    while True:
        page = await store.sessions.page(cwd=None, before=cursor, limit=3)
        seen += [row.id for row in page.rows]
        cursor = page.next
        if cursor is None:
            break
    assert seen == [f"ses_{n}" for n in range(6, -1, -1)]
    odd = await store.sessions.page(cwd="/w1", before=None, limit=3)
    assert ([row.id for row in odd.rows], odd.next) == (["ses_5", "ses_3", "ses_1"], None)
    assert (await store.sessions.page(cwd="/w", before=None, limit=3)).rows == ()
    for nonsense in ("", "x", "1", "1.", "-1.x", "9" * 40 + ".x", "٣.x", "1.\udc80"):
        with pytest.raises(BadRequest):
            await store.sessions.page(cwd=None, before=nonsense, limit=3)
    await store.close()


async def test_paths_need_not_be_text(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    odd = session(cwd="/caf\udce9")
    await store.write(PutSession(odd))
    assert (await store.sessions.page(cwd="/caf\udce9", before=None, limit=1)).rows == (odd,)
    await store.close()


async def test_equal_content_is_stored_once_and_goes_with_its_last_holder(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    whole = BIG * 20
    name = blob(whole.encode()).hash
    for ses in ("ses_1", "ses_2"):
        await store.write(
            *base(ses),
            PutBlob(name, whole.encode()),
            PutPart(SessionId(ses), MSG, 0, tool("part_1", BIG, whole.encode())),
            PutPart(SessionId(ses), MSG, 1, text("part_2", BIG)),
            PutPart(SessionId(ses), MSG, 2, text("part_3", BIG + ses)),
        )
    assert (await store.verify()).blobs == 4
    await store.delete(SES)
    report = await store.verify()
    assert (report.sessions, report.messages, report.parts, report.blobs) == (1, 1, 3, 3)
    assert report.problems == ()
    assert await store.outputs.read(name) == whole.encode()
    await store.delete(SessionId("ses_2"))
    assert (await store.verify()).blobs == 0
    assert await store.outputs.read(name) is None
    await store.delete(SES)
    await store.close()


async def test_a_part_that_lets_go_of_content_frees_it(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.write(*base(), put_text("part_1", BIG), put_text("part_2", BIG, at=1))
    await store.write(put_text("part_1", "short"))
    assert (await store.verify()).blobs == 1
    await store.write(put_text("part_2", "short", at=1))
    report = await store.verify()
    assert (report.blobs, report.problems) == (0, ())
    await store.close()


async def test_growing_parts_leave_no_blobs_behind(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.write(*base())
    for n in range(1, 6):
        store.save(put_text("part_1", BIG * n, final=False))
        await store.write()
    assert (await store.verify()).blobs == 0
    assert await store.logs.part(SES, PartId("part_1")) == text("part_1", BIG * 5)
    await store.write(put_text("part_1", BIG * 6))
    assert (await store.verify()).blobs == 1
    await store.close()


async def test_the_newest_of_a_part_wins_however_it_was_written(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.write(*base())
    waiting = []
    for n in range(200):
        store.save(put_text("part_1", f"saved {n}", final=False))
        if n % 10 == 5:
            waiting.append(store.write(put_text("part_1", f"written {n}")))
    await asyncio.gather(*waiting, store.write())
    assert await store.logs.part(SES, PartId("part_1")) == text("part_1", "saved 199")
    store.save(put_text("part_1", "stale", final=False))
    await store.write(put_text("part_1", "final"))
    await store.write()
    assert await store.logs.part(SES, PartId("part_1")) == text("part_1", "final")
    store.save(put_text("part_2", "of a session that goes", final=False))
    await store.delete(SES)
    report = await store.verify()
    assert (report.parts, report.problems) == (0, ())
    await store.close()


async def test_only_the_newest_save_of_a_part_waits_for_the_disk(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "QUEUE_BYTES", 1_000_000)
    store = open_store(tmp_path)
    await store.write(*base())
    busy, go_on = Event(), Event()

    def hold(_: sqlite3.Connection) -> bool:
        busy.set()
        return go_on.wait(10)

    held = behind(store, hold)
    await asyncio.to_thread(busy.wait, 10)
    for n in range(100):
        store.save(put_text("part_1", f"{n:06}" * 15_000, final=False))
    go_on.set()
    assert await held
    await store.write()
    assert await store.logs.part(SES, PartId("part_1")) == text("part_1", "000099" * 15_000)
    await store.close()


async def test_a_bad_unit_fails_alone_and_whole(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    unstorable = TextPart(PartId("part_6"), cast("str", object()), "typed")
    good = [store.write(*base())]
    bad = [
        store.write(put_text("part_1"), PutPart(SES, MessageId("nobody"), 0, text("part_2"))),
        store.write(put_text("part_3"), PutBlob("b2:wrong", b"content")),
        store.write(put_text("part_4"), AppendRecord(SessionId("ses_9"), Record(1, "x", 1, {}))),
        store.write(put_text("part_5", "\ud800"), PutSession(session("ses_\ud800"))),
        store.write(put_text("part_6"), PutPart(SES, MSG, 0, unstorable)),
        store.write(put_text("part_7"), PutSession(replace(session("ses_2"), turns=2**70))),
    ]
    good.append(store.write(put_text("part_8")))
    store.save(PutPart(SES, MessageId("nobody"), 0, text("part_9"), final=False))
    await asyncio.gather(*good)
    for failed in bad:
        with pytest.raises(StorageFailed) as caught:
            await failed
        assert caught.value.kind == "io"
    stored = await store.logs.load(SES)
    assert [part.id for part in stored.messages[0].parts] == ["part_8"]
    await store.close()


async def test_the_log_only_grows(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.write(*base(), AppendRecord(SES, Record(5, "a", NOW, {})))
    for revision in (5, 4):
        with pytest.raises(StorageFailed, match="another process"):
            await store.write(AppendRecord(SES, Record(revision, "b", NOW, {})))
    await store.write(AppendRecord(SES, Record(6, "c", NOW, {})))
    assert [r.kind for r in (await store.logs.load(SES)).records] == ["a", "c"]
    await store.close()


async def test_closing_writes_what_waits(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    written = store.write(*base())
    store.save(put_text("part_1", final=False))
    await store.close()
    assert written.done()
    await store.close()
    for refused in (store.write(*base()), store.logs.load(SES)):
        with pytest.raises(StorageFailed, match="closed"):
            await refused
    store.save(put_text("part_2", final=False))
    store = open_store(tmp_path)
    stored: tuple[Message, ...] = (await store.logs.load(SES)).messages
    assert stored == (replace(message(), parts=(text("part_1"),)),)
    await store.close()


async def test_a_cancelled_wait_does_not_stop_the_write(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.write(*base()).cancel()
    await store.write()
    assert (await store.logs.load(SES)).session == session()
    await store.close()


def test_a_closed_loop_is_no_problem_for_the_others(tmp_path: Path) -> None:
    async def leave(store: Store) -> None:
        store.write(*base())

    async def stay(store: Store) -> None:
        await store.write(put_text("part_1"))
        await store.close()

    store = open_store(tmp_path)
    asyncio.run(leave(store))
    asyncio.run(stay(store))
    assert store.size() > 0


async def test_damaged_rows_are_left_out_and_told(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.write(*base(), put_text("part_1", BIG), put_text("part_2", "two", at=1))
    await store.write(PutMessage(SES, message("msg_2")))
    await behind(
        store,
        lambda con: [
            con.execute("DELETE FROM blob WHERE hash IN (SELECT hash FROM reference)"),
            con.execute("UPDATE message SET body = x'6d70373a' WHERE id = 'msg_2'"),
        ],
    )
    stored = await store.logs.load(SES)
    assert stored.messages == (replace(message(), parts=(text("part_2", "two"),)),)
    told = "\n".join(stored.problems)
    assert "part part_1 of message msg_1 is left out" in told
    assert "message msg_2 is left out" in told
    with pytest.raises(StorageFailed) as caught:
        await store.logs.part(SES, PartId("part_1"))
    assert caught.value.kind == "corrupt"
    await store.close()


async def test_deleting_twice_in_a_unit_with_other_changes_is_fine(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.write(*base(), put_text("part_1", BIG), DeleteSession(SES), *base())
    assert (await store.logs.load(SES)).messages == (message(),)
    await store.close()


async def test_who_only_looks_makes_nothing_and_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match=r"no sessions in .* yet"):
        Store.look(tmp_path / "none", now=lambda: NOW)
    assert not (tmp_path / "none").exists()
    store = open_store(tmp_path)
    await store.write(*base())
    looking = Store.look(tmp_path, now=lambda: NOW)
    assert (await looking.logs.load(SES)).session == session()
    with pytest.raises(StorageFailed, match="read"):
        await looking.delete(SES)
    # What is written meanwhile is seen.
    await store.write(PutSession(replace(session(), title="later")))
    assert (await looking.sessions.row(SES)).title == "later"
    await looking.close()
    await store.close()


async def test_sessions_are_named_by_how_their_ids_begin(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    for number, name in enumerate(("ses_a1", "ses_a2", "ses_b1", "ses_%")):
        row = replace(session(), id=SessionId(name), updated=NOW + number)
        await store.write(PutSession(row))
    assert [row.id for row in await store.sessions.named("ses_a", 9)] == ["ses_a2", "ses_a1"]
    assert [row.id for row in await store.sessions.named("ses_", 2)] == ["ses_%", "ses_b1"]
    assert await store.sessions.named("ses_A", 9) == ()
    assert await store.sessions.named("\ud800", 9) == ()
    await store.close()
