"""Slices of a log: all of it in the end, each bounded, with what is damaged told."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sidecar.core.errors import UnknownSession
from sidecar.core.parts import Message, MessageId, PartId, SessionId
from sidecar.store.content import slices
from sidecar.store.format.values import (
    AppendRecord,
    PutMessage,
    PutPart,
    PutSession,
    Record,
    StoreChange,
)
from sidecar.store.journal import Store
from tests.store.on_disk import opened_beside
from tests.store.samples import NOW, message, open_store, session, text, tool

SES, OTHER = SessionId("ses_1"), SessionId("ses_2")
COUNT = 40
LONG = "words that stand in a blob of their own " * 100
"""4,000 bytes."""


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    """Two sessions whose messages were written in turns, one after the other."""
    opened = open_store(tmp_path)
    changes: list[StoreChange] = [PutSession(session(SES)), PutSession(session(OTHER))]
    for n in range(COUNT):
        for name in (SES, OTHER):
            at = MessageId(f"msg_{n}_{name}")
            changes += [
                PutMessage(name, message(at)),
                PutPart(name, at, 0, text(f"part_{n}_{name}", f"{n} {LONG}")),
                AppendRecord(name, Record(n + 1, "step", NOW, {"text": f"{n} {LONG}"})),
            ]
    await opened.write(*changes)
    yield opened
    await opened.close()


async def all_messages(store: Store) -> list[tuple[Message, ...]]:
    numbers = await store.logs.numbers(SES, MessageId(f"msg_{COUNT - 1}_{SES}"))
    found, at = [], 0
    while at < len(numbers):
        one = await store.logs.messages(SES, numbers[at:])
        assert one.problems == ()
        assert one.taken == len(one.messages) > 0
        found.append(one.messages)
        at += one.taken
    return found


async def all_records(store: Store) -> list[tuple[Record, ...]]:
    found: list[tuple[Record, ...]] = []
    chain = (0, "")
    while (one := await store.logs.records(SES, *chain, COUNT)).records:
        assert one.problems == ()
        found.append(one.records)
        chain = (one.revision, one.hash)
    return found


@pytest.mark.parametrize(
    ("count", "size", "most"), [(7, 10**6, 7), (10**6, 9_000, 3), (10**6, 1, 1)]
)
async def test_slices_are_the_log_and_bounded_by_rows_and_bytes(
    store: Store, monkeypatch: pytest.MonkeyPatch, count: int, size: int, most: int
) -> None:
    monkeypatch.setattr(slices, "MESSAGES", count)
    monkeypatch.setattr(slices, "RECORDS", count)
    monkeypatch.setattr(slices, "BYTES", size)
    whole = await store.logs.load(SES)
    messages, records = await all_messages(store), await all_records(store)
    assert tuple(m for one in messages for m in one) == whole.messages
    assert tuple(r for one in records for r in one) == whole.records
    assert max(map(len, messages)) == max(map(len, records)) == most


async def test_only_what_is_asked_for_is_read(store: Store) -> None:
    numbers = await store.logs.numbers(SES, MessageId(f"msg_4_{SES}"))
    read = await store.logs.messages(SES, numbers)
    assert [m.id for m in read.messages] == [f"msg_{n}_{SES}" for n in range(5)]
    assert [r.revision for r in (await store.logs.records(SES, 0, "", 3)).records] == [1, 2, 3]
    assert len(await store.logs.numbers(SES, MessageId("msg_unknown"))) == 0


async def test_the_message_of_a_part_is_found(store: Store) -> None:
    found = await store.logs.message_of(SES, PartId(f"part_3_{SES}"))
    assert found is not None
    assert (found.id, found.parts) == (f"msg_3_{SES}", ())
    for name in (f"part_3_{OTHER}", "part_unknown", "half of a character \ud800"):
        assert await store.logs.message_of(SES, PartId(name)) is None


async def test_a_session_that_is_gone_is_unknown(store: Store) -> None:
    numbers = await store.logs.numbers(SES, MessageId(f"msg_4_{SES}"))
    await store.delete(SES)
    for reading in (
        store.logs.numbers(SES, MessageId(f"msg_4_{SES}")),
        store.logs.messages(SES, numbers),
        store.logs.records(SES, 0, "", 9),
    ):
        with pytest.raises(UnknownSession):
            await reading


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE message SET body = x'00' WHERE id = 'msg_3_ses_1'",
        "UPDATE part SET body = 7 WHERE id = 'part_3_ses_1'",
        "DELETE FROM message WHERE id = 'msg_3_ses_1'",
        "UPDATE record SET body = 7 WHERE session_id = 'ses_1' AND revision = 3",
        "DELETE FROM record WHERE session_id = 'ses_1' AND revision = 3",
    ],
)
async def test_what_is_damaged_is_told(store: Store, tmp_path: Path, damage: str) -> None:
    numbers = await store.logs.numbers(SES, MessageId(f"msg_9_{SES}"))
    with opened_beside(tmp_path) as con:
        con.execute("PRAGMA foreign_keys = OFF")
        assert con.execute(damage).rowcount == 1
    messages = await store.logs.messages(SES, numbers)
    records = await store.logs.records(SES, 0, "", 9)
    assert messages.problems or records.problems
    assert messages.taken == 10
    assert records.revision == 9


async def test_a_log_is_read_with_some_kinds_of_parts_and_records_alone(store: Store) -> None:
    at = MessageId(f"msg_0_{SES}")
    await store.write(PutPart(SES, at, 1, tool("part_tool", LONG)))
    whole = await store.logs.load(SES)
    some = await store.logs.load(SES, {"text", "step"})
    assert len(whole.messages[0].parts) == 2
    assert some.messages[0].parts == whole.messages[0].parts[:1]
    assert some.messages[1:] == whole.messages[1:]
    assert (some.records, some.problems) == (whole.records, ())
    assert (await store.logs.load(SES, {"text"})).records == ()
