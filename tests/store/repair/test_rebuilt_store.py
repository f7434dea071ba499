"""Whatever is damaged: what is readable is in a new store, the damaged file is kept aside."""

import random
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from sidecar.core.errors import StorageFailed, UnknownSession
from sidecar.core.parts import Message, MessageId, Part, PartId, SessionId, TextPart, TurnId
from sidecar.store.format.values import (
    AppendRecord,
    PutFacts,
    PutFold,
    PutMessage,
    PutPart,
    PutSession,
    Record,
    SessionRow,
    StoreChange,
    Stored,
)
from sidecar.store.repair.rebuilt_store import Headless, Repaired, Revive, repair
from tests.core.stated import stated
from tests.store.connection.test_processes import child, line
from tests.store.contents import blob
from tests.store.holders import hold
from tests.store.on_disk import (
    behind,
    copy_as_killed,
    newest_pages,
    opened_beside,
    put_aside,
    store_file,
)
from tests.store.samples import NOW, open_store, session, tool

pytestmark = pytest.mark.long

SESSIONS = tuple(SessionId(f"ses_{n}") for n in range(4))
PAGE = 4096


def revive(lost: Headless) -> SessionRow:
    last = max((r.revision for r in lost.records), default=0)
    return replace(session(lost.id, updated=lost.updated, cwd=lost.cwd), revision=last, title="new")


def behead(name: MessageId, parts: tuple[Part, ...], left: Headless) -> Message:
    return Message(name, TurnId("turn_0"), "assistant", (), NOW)


REVIVE = Revive(revive, behead)


def log_of(name: SessionId, turns: int = 12) -> Iterator[tuple[StoreChange, ...]]:
    """Units as a session would write them; some texts are long enough for blobs."""
    for turn in range(1, turns + 1):
        message = MessageId(f"msg_{name}_{turn:02}")
        whole = f"line of {name} {turn}\n".encode() * 900
        texts = (f"{name} says {turn}. " * (120 if turn % 3 else 2), f"short {turn}")
        parts = [
            *(TextPart(PartId(f"{message}_{at}"), text, "model") for at, text in enumerate(texts)),
            tool(f"{message}_2", f"output {turn} " * 40, whole),
        ]
        body = {"n": turn, "name": name, "why": "because " * turn}
        yield (
            PutSession(replace(session(name), revision=turn, turns=turn)),
            PutMessage(name, Message(message, TurnId(f"turn_{turn}"), "assistant", (), NOW)),
            blob(whole),
            *(PutPart(name, message, at, part) for at, part in enumerate(parts)),
            AppendRecord(name, Record(turn, "step", NOW, body)),
        )


async def fill(folder: Path) -> dict[SessionId, Stored]:
    """Fill a store and close it; gives what is in it."""
    store = open_store(folder)
    for name in SESSIONS:
        for unit in log_of(name):
            await store.write(*unit)
        fact = stated(f"{name} uses tabs", "learning", NOW)
        await store.write(PutFacts(name, "/home/dev/app", (fact,)))
    whole = {name: await store.logs.load(name) for name in SESSIONS}
    await store.close()
    return whole


async def look(folder: Path, before: dict[SessionId, Stored]) -> tuple[int, int]:
    """See that the store is sound and holds nothing but what was there; count what is kept."""
    store = open_store(folder)
    report = await store.verify()
    assert report.problems == ()
    kept_parts = kept_records = 0
    for name in SESSIONS:
        try:
            now = await store.logs.load(name)
        except UnknownSession:
            continue
        assert now.problems == ()
        assert now.session.cwd in ("/home/dev/app", "")
        known = {m.id: m for m in before[name].messages}
        for message in now.messages:
            parts = {p.id: p for p in known[message.id].parts}
            for part in message.parts:
                same = parts[part.id]
                assert part in (same, _without_whole(same))
            kept_parts += len(message.parts)
        assert all(record in before[name].records for record in now.records)
        kept_records += len(now.records)
        # It goes on.
        more = Record(now.session.revision + 1, "more", NOW, {})
        await store.write(
            PutSession(replace(now.session, revision=more.revision)), AppendRecord(name, more)
        )
    assert (await store.verify()).problems == ()
    await store.close()
    return kept_parts, kept_records


def _without_whole(part: object) -> object:
    match part:
        case tool if hasattr(tool, "state") and hasattr(tool.state, "output"):
            output = replace(tool.state.output, whole=None)
            return replace(tool, state=replace(tool.state, output=output))
    return part


def mend(folder: Path) -> Repaired:
    made = repair(folder, NOW, REVIVE)
    assert made.aside.parent == put_aside(folder)
    assert made.kept.problems == ()
    return made


async def test_a_sound_store_loses_nothing(tmp_path: Path) -> None:
    before = await fill(tmp_path)
    stood = store_file(tmp_path).read_bytes()
    done = mend(tmp_path)
    assert done.lost == ()
    assert store_file(done.aside).read_bytes() == stood
    assert oct(store_file(tmp_path).stat().st_mode)[-3:] == "600"
    assert oct(done.aside.stat().st_mode)[-3:] == "700"
    assert await look(tmp_path, before) == (4 * 36, 4 * 12)
    store = open_store(tmp_path)
    assert len(await store.facts.find(limit=9)) == 4
    await store.close()


@pytest.mark.parametrize("how", ["noise", "zeros", "another page"])
async def test_any_page_may_be_damaged(tmp_path: Path, how: str) -> None:
    """Each page of the file in turn: what is lost is told, and little is."""
    before = await fill(tmp_path / "good")
    good = store_file(tmp_path / "good").read_bytes()
    dice = random.Random(how)
    count = len(good) // PAGE
    told, kept, tried = 0, 0, 0
    for number in range(0, count, 3 if how == "noise" else 9):
        other = dice.randrange(count) * PAGE
        page = {"noise": dice.randbytes(PAGE), "zeros": bytes(PAGE)}.get(
            how, good[other : other + PAGE]
        )
        folder = tmp_path / f"bad{number}"
        folder.mkdir()
        damaged = good[: number * PAGE] + page + good[(number + 1) * PAGE :]
        store_file(folder).write_bytes(damaged)
        done = mend(folder)
        assert store_file(done.aside).read_bytes() == damaged
        parts, records = await look(folder, before)
        tried, kept, told = tried + 1, kept + parts, told + bool(done.lost)
        if (parts, records) < (4 * 36, 4 * 12):
            assert done.lost, number
        shutil.rmtree(folder)
    assert told
    print(f"{how}: {tried} pages, {kept / tried / 36 / 4:.4f} of the parts are kept")
    assert kept > 0.95 * tried * 4 * 36


async def unclosed(folder: Path) -> tuple[dict[SessionId, Stored], bytes, bytes]:
    """Fill a store; gives what is in it, its file and its log, with nothing folded in yet."""
    keep = open_store(folder)
    before = await fill(folder)
    file, wal = (
        store_file(folder).read_bytes(),
        newest_pages(folder).read_bytes(),
    )
    await keep.close()
    return before, file, wal


async def test_a_torn_log_is_read_up_to_its_last_whole_commit(tmp_path: Path) -> None:
    before, file, wal = await unclosed(tmp_path / "good")
    dice = random.Random(5)
    last = 0
    for at in sorted(dice.randrange(len(wal) // 3, len(wal)) for _ in range(8)):
        folder = tmp_path / f"bad{at}"
        folder.mkdir()
        store_file(folder).write_bytes(file)
        newest_pages(folder).write_bytes(wal[:at] + dice.randbytes(5000))
        done = mend(folder)
        assert newest_pages(done.aside).stat().st_size == at + 5000
        parts, records = await look(folder, before)
        assert (parts, records) == (3 * records, records)
        assert records >= last
        last = records
    assert last > 12


async def test_a_blob_that_is_missing_costs_only_what_was_in_it(tmp_path: Path) -> None:
    before = await fill(tmp_path)
    store = open_store(tmp_path)
    await behind(store, lambda con: con.execute("DELETE FROM blob WHERE size > 10000"))
    assert (await store.verify()).problems
    await store.close()
    done = mend(tmp_path)
    assert len(done.lost) == 48
    assert all("what the model saw of it is kept" in line for line in done.lost)
    assert await look(tmp_path, before) == (4 * 36, 4 * 12)


async def test_a_session_without_its_own_row_gets_one(tmp_path: Path) -> None:
    before = await fill(tmp_path)
    store = open_store(tmp_path)
    await behind(store, lambda con: con.execute("UPDATE session SET body = x'00'"))
    await store.close()
    done = mend(tmp_path)
    assert len([line for line in done.lost if "what was said in it is kept" in line]) == 4
    store = open_store(tmp_path)
    rows = (await store.sessions.page(cwd="/home/dev/app", before=None, limit=9)).rows
    assert {row.id for row in rows} == set(SESSIONS)
    await store.close()
    assert await look(tmp_path, before) == (4 * 36, 4 * 12)


async def test_a_session_that_was_leaving_does_not_come_back(tmp_path: Path) -> None:
    """What is left of an archived one would pass for the session, and its bundle be let go."""
    before = await fill(tmp_path)
    store = open_store(tmp_path)
    for statement in (
        "INSERT INTO erasing (session_id, at) VALUES ('ses_1', 7)",
        "DELETE FROM part WHERE session_id = 'ses_1' AND position > 0",
        "UPDATE part SET body = x'00' WHERE session_id = 'ses_2' AND position = 2",
    ):
        await behind(store, lambda con, run=statement: con.execute(run))
    await store.close()
    mend(tmp_path)
    store = open_store(tmp_path)
    with pytest.raises(UnknownSession):
        await store.logs.load(SESSIONS[1])
    assert await store.leaving.unfinished() == {SESSIONS[1]: 7}
    assert (await store.leaving.remove_some(SESSIONS[1])).done
    assert await store.logs.load(SESSIONS[3]) == before[SESSIONS[3]]
    assert (await store.verify()).problems == ()
    await store.close()


async def test_pages_that_the_log_cut_off_are_not_read(tmp_path: Path) -> None:
    """After a kill they stand in the file still, with rows that are elsewhere by now, or gone."""
    alive, killed = tmp_path / "alive", tmp_path / "killed"
    before = await fill(alive)
    store = open_store(alive)
    await hold(store, SESSIONS[1], "token")
    left = await store.leaving.leave(await store.sessions.row(SESSIONS[1]), "token")
    while not left.done:
        left = await store.leaving.remove_some(SESSIONS[1])
    while (await store.pages.space()).free:
        await store.pages.shrink()
    copy_as_killed(alive, killed)
    assert store_file(killed).stat().st_size > (await store.pages.space()).size
    await store.close()
    assert mend(killed).lost == ()
    store = open_store(killed)
    for name in set(SESSIONS) - {SESSIONS[1]}:
        assert await store.logs.load(name) == before[name]
    await store.close()


async def killed_with_a_log(folder: Path) -> None:
    """A store of which the newest commits stand in its log alone."""
    alive = folder.with_name("alive")
    await fill(alive)
    store = open_store(alive)
    await store.write(PutSession(replace(session("ses_9"), title="the newest")))
    copy_as_killed(alive, folder)
    await store.close()


async def newest_title(folder: Path) -> str:
    store = open_store(folder)
    try:
        return (await store.sessions.row(SessionId("ses_9"))).title
    finally:
        await store.close()


async def test_a_repair_that_was_killed_at_its_end_loses_no_commit(tmp_path: Path) -> None:
    """Between two steps of putting aside, the log stands beside the damaged file no more."""
    folder = tmp_path / "killed"
    await killed_with_a_log(folder)
    aside = put_aside(folder) / "1"
    aside.mkdir(parents=True)
    for file in (store_file, newest_pages):
        file(aside).hardlink_to(file(folder))
    newest_pages(folder).unlink()
    mend(folder)
    assert await newest_title(folder) == "the newest"


async def test_a_repair_that_cannot_put_the_new_store_in_place_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "killed"
    await killed_with_a_log(folder)

    def full(_: Path, __: Path) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", full)
        with pytest.raises(StorageFailed):
            repair(folder, NOW, REVIVE)
    assert await newest_title(folder) == "the newest"


async def test_damage_of_what_is_made_anew_is_no_loss(tmp_path: Path) -> None:
    before = await fill(tmp_path)
    store = open_store(tmp_path)
    name = SESSIONS[0]
    newest = before[name].messages[-1].id
    body = random.Random(1).randbytes(9_000)
    await store.write(PutFold(name, before[name].session.revision, newest, "a version", body))
    await store.close()
    with opened_beside(tmp_path) as con:
        (root,) = con.execute("SELECT rootpage FROM sqlite_master WHERE name = 'fold'").fetchone()
    with store_file(tmp_path).open("r+b") as file:
        file.seek((root - 1) * PAGE)
        file.write(bytes(PAGE))
    done = mend(tmp_path)
    assert done.lost == ()
    assert await look(tmp_path, before) == (4 * 36, 4 * 12)


async def test_a_store_in_use_is_left_alone(tmp_path: Path) -> None:
    with child("lease", tmp_path, "ses_1", "token") as other:
        assert line(other) == "ours"
        with pytest.raises(StorageFailed, match="Close every editor"):
            repair(tmp_path, NOW, REVIVE)
    assert not (put_aside(tmp_path)).exists()
    repair(tmp_path, NOW, REVIVE)


def test_nothing_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(StorageFailed, match="nothing to repair"):
        repair(tmp_path, NOW, REVIVE)
    assert list(tmp_path.iterdir()) == []
