"""Whatever is wrong in a store is found, and nothing else."""

from dataclasses import replace
from pathlib import Path

import pytest

from sidecar.core.parts import MessageId, SessionId
from sidecar.store.format.values import AppendRecord, PutPart, PutSession, Record
from sidecar.store.journal import Store
from tests.store.contents import blob
from tests.store.on_disk import behind, opened_beside
from tests.store.samples import NOW, base, open_store, put_text, session, tool

SES = SessionId("ses_1")
BIG = "a long line of output\n" * 500
WHOLE = BIG.encode() * 3


async def filled(folder: Path) -> Store:
    store = open_store(folder)
    row = replace(session(), settings={"system": "You are … " * 500})
    part = tool("part_2", BIG, WHOLE)
    await store.write(
        *base(),
        PutSession(row),
        put_text("part_1", BIG),
        blob(WHOLE),
        PutPart(SES, MessageId("msg_1"), 1, part),
        *(AppendRecord(SES, Record(n, "turn", NOW, {"n": n, "why": BIG * n})) for n in (1, 2, 4)),
    )
    return store


async def test_a_sound_store_has_no_problems(tmp_path: Path) -> None:
    store = await filled(tmp_path)
    report = await store.verify()
    assert (report.sessions, report.messages, report.parts, report.records) == (1, 1, 2, 3)
    assert (report.blobs, report.problems) == (6, ())
    await store.close()


TAMPERED = [
    ("UPDATE blob SET data = x'00' WHERE size > 30000", "is damaged"),
    ("UPDATE blob SET size = size + 1", "is damaged"),
    ("UPDATE blob SET encoding = 'raw'", "is damaged"),
    ("UPDATE blob SET encoding = 'brotli'", "unknown encoding 'brotli'"),
    ("DELETE FROM blob WHERE size = 33000", "part part_2 of session ses_1 refers to blob"),
    ("DELETE FROM blob", "part part_1 of session ses_1 cannot be read"),
    ("UPDATE session SET body = x'00'", "session ses_1 is damaged"),
    ("UPDATE session SET hash = 'b2:00'", "session ses_1 is damaged"),
    ("UPDATE message SET hash = 'b2:00'", "message msg_1 of session ses_1 is damaged"),
    ("UPDATE message SET body = x'6d70313a80'", "message msg_1 of session ses_1 cannot be read"),
    ("UPDATE part SET hash = 'b2:00' WHERE id = 'part_1'", "part part_1 of session ses_1 is dam"),
    ("UPDATE part SET position = 9 WHERE id = 'part_1'", "part part_1 of session ses_1 is dam"),
    ("UPDATE part SET id = 'part_9' WHERE id = 'part_1'", "has the body of part:part_1"),
    ("UPDATE part SET message_id = 'gone'", "of table part belongs to no row of table message"),
    ("DELETE FROM record WHERE revision = 1", "record 2 of session ses_1 is damaged"),
    ("UPDATE record SET hash = 'b2:00' WHERE revision = 2", "record 4 of session ses_1 is dam"),
    ("UPDATE record SET revision = 3 WHERE revision = 2", "has the body of record:2"),
    ("DELETE FROM reference WHERE holder = 'part:part_1'", "without a reference to it"),
    ("INSERT INTO reference VALUES ('ses_1', 'part:x', 'b2:1')", "which is missing"),
    (
        "INSERT INTO reference SELECT 'ses_1', 'part:x', hash FROM blob LIMIT 1",
        "has a reference to blob",
    ),
    ("DROP INDEX reference_by_hash; DROP TABLE blob", "broke off"),
    ("DROP INDEX session_by_cwd", "the schema is damaged"),
    ("UPDATE reference SET hash = x'00' WHERE holder = 'part:part_1'", "which is missing"),
    ("UPDATE reference SET holder = x'00' WHERE holder = 'part:part_1'", "has a reference to blob"),
]


@pytest.mark.parametrize(("statements", "problem"), TAMPERED)
async def test_what_is_wrong_is_found(tmp_path: Path, statements: str, problem: str) -> None:
    store = await filled(tmp_path)
    with opened_beside(tmp_path) as con:
        for statement in statements.split(";"):
            con.execute(statement)
    assert problem in "\n".join((await store.verify()).problems)
    await store.close()


@pytest.mark.parametrize("value", ["x'00'", "5", "'é'"])
async def test_a_record_after_a_hash_that_is_none_is_still_read(tmp_path: Path, value: str) -> None:
    store = await filled(tmp_path)
    change = f"UPDATE record SET hash = {value} WHERE revision = 1"
    await behind(store, lambda con: con.execute(change))
    stored = await store.logs.load(SES)
    assert [record.revision for record in stored.records] == [1, 2, 4]
    assert len(stored.problems) == 2
    await store.close()
