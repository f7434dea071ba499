"""A log that another session begins with: whole, shared, and each deleted without the other."""

from dataclasses import replace
from pathlib import Path

import pytest

from sidecar.core.errors import UnknownSession
from sidecar.core.parts import MessageId, Millis, PartId, SessionId
from sidecar.store.format.values import (
    AppendRecord,
    CopyLog,
    PutMessage,
    PutPart,
    PutSession,
    Record,
    StoreChange,
)
from sidecar.store.journal import Store
from tests.core.stated import stated
from tests.store.contents import blob, kept
from tests.store.on_disk import opened_beside
from tests.store.samples import NOW, message, open_store, session, text, tool

SES, FORK = SessionId("ses_1"), SessionId("ses_2")
LONG = "a long text that is stored once " * 100
WHOLE = b"the whole output " * 1000
MESSAGES = tuple(MessageId(f"msg_{n}") for n in range(3))


def story() -> list[StoreChange]:
    """Three messages, each with a part that has blobs, and three records."""
    changes: list[StoreChange] = [PutSession(session())]
    for n, name in enumerate(MESSAGES):
        whole = WHOLE + str(n).encode()
        part = tool(f"part_{n}", LONG + str(n), whole)
        changes += [
            PutMessage(SES, message(name)),
            blob(whole),
            PutPart(SES, name, 0, text(f"text_{n}", f"words {n}")),
            PutPart(SES, name, 1, part),
            AppendRecord(SES, Record(n + 1, "step", NOW, {"text": LONG + f"record {n}"})),
        ]
    return changes


def fork(until: int = 2, before: Millis | None = None, count: int = 2) -> tuple[StoreChange, ...]:
    record = Record(until + 1, "forked", NOW, {"from": SES})
    return (
        PutSession(replace(session(FORK), revision=until + 1)),
        CopyLog(SES, FORK, MESSAGES[:count], until, before),
        AppendRecord(FORK, record),
    )


def blobs(folder: Path) -> int:
    with opened_beside(folder) as con:
        (count,) = con.execute("SELECT count(*) FROM blob").fetchone()
        return int(count)


async def test_a_fork_has_the_same_log_up_to_a_place(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.write(*story())
    await store.write(*fork())
    parent, made = await store.logs.load(SES), await store.logs.load(FORK)
    assert made.messages == parent.messages[:2]
    assert made.records[:2] == parent.records[:2]
    assert made.records[2].kind == "forked"
    assert made.problems == ()
    assert (await store.verify()).problems == ()
    await store.close()


async def test_nothing_long_is_there_twice(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.write(*story())
    before = blobs(tmp_path)
    await store.write(*fork())
    assert blobs(tmp_path) == before
    await store.close()


@pytest.mark.parametrize(("gone", "left", "count"), [(SES, FORK, 2), (FORK, SES, 3)])
async def test_either_is_deleted_without_the_other(
    tmp_path: Path, gone: SessionId, left: SessionId, count: int
) -> None:
    store = open_store(tmp_path)
    await store.write(*story())
    await store.write(*fork())
    before = await store.logs.load(left)
    await store.delete(gone)
    assert await store.logs.load(left) == before
    assert (await store.verify()).problems == ()
    for n in range(count):
        assert await kept(store, WHOLE + str(n).encode()) is not None
    await store.delete(left)
    assert blobs(tmp_path) == 0
    await store.close()


async def test_each_goes_its_own_way(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.write(*story())
    await store.write(*fork())
    await store.write(PutPart(FORK, MESSAGES[0], 0, text("text_0", LONG + "otherwise")))
    await store.write(
        PutMessage(SES, message("msg_9")), PutPart(SES, MessageId("msg_9"), 0, text("text_9"))
    )
    assert await store.logs.part(SES, PartId("text_0")) == text("text_0", "words 0")
    assert await store.logs.part(FORK, PartId("text_9")) is None
    assert (await store.verify()).problems == ()
    await store.close()


async def test_facts_of_before_go_along(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.write(*story())
    facts = [stated(f"we chose option{n}", at=NOW + n, who="model") for n in range(3)]
    await store.facts.add(SES, "/home/dev/app", facts)
    await store.write(*fork(before=NOW + 2))

    async def known(session_id: SessionId, query: str | None = None) -> list[str]:
        found = await store.facts.find(session_id=session_id, query=query, limit=9)
        return [one.fact.content for one in found]

    assert await known(FORK) == ["we chose option1", "we chose option0"]
    assert await known(FORK, "option1") == ["we chose option1"]
    await store.delete(SES)
    assert await known(FORK, "option0") == ["we chose option0"]
    assert (await store.verify()).problems == ()
    await store.close()


async def test_all_facts_go_along_with_the_whole_log(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.write(*story())
    await store.facts.add(SES, "/a", [stated("we chose", at=NOW, who="model")])
    await store.write(*fork())
    assert len(await store.facts.find(session_id=FORK, limit=9)) == 1
    await store.close()


async def test_a_log_that_is_gone_makes_no_fork(tmp_path: Path) -> None:
    store: Store = open_store(tmp_path)
    await store.write(*story())
    await store.delete(SES)
    with pytest.raises(UnknownSession):
        await store.write(*fork())
    with pytest.raises(UnknownSession):
        await store.logs.load(FORK)
    assert (await store.verify()).problems == ()
    await store.close()


async def test_a_session_without_messages_is_forked(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.write(*story())
    await store.write(*fork(until=0, count=0))
    made = await store.logs.load(FORK)
    assert (made.messages, [r.kind for r in made.records]) == ((), ["forked"])
    await store.close()
