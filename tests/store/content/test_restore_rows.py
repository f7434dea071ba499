"""Restores in the store: one for each workspace, whose it is, and what it holds."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import msgpack
import pytest

from sidecar.core.errors import StorageFailed
from sidecar.core.parts import SessionId
from sidecar.store.content.blobs import press
from sidecar.store.content.restores import (
    AT_ONCE,
    Begun,
    FileMark,
    RestoreStep,
    Running,
    Unfinished,
    pack_steps,
    unpack_stages,
    unpack_steps,
)
from sidecar.store.format.fields import BodyBroken
from sidecar.store.format.values import AppendRecord, Record
from sidecar.store.journal import Store
from tests.store.contents import blob
from tests.store.holders import begin, claim
from tests.store.on_disk import opened_beside
from tests.store.samples import base, open_store, put_text

ROOT = b"/home/dev/caf\xe9"
STAGES = (b".sidecar-restore-1", b"mounted/.sidecar-restore-1")
OLD = FileMark(0o100644, 2**63, 1_700_000_000_123_456_789, 3, blob(b"one").hash)
STEPS = (
    RestoreStep("put", b"a\xff", 0, 1, OLD, None),
    RestoreStep("put", b"b", 1, 0, None, OLD),
    RestoreStep("mode", b"c", 0, 0, OLD, OLD._replace(mode=0o100755)),
)


async def begun(
    store: Store,
    token: str,
    stages: tuple[bytes, ...] = (),
    coming: Iterable[str] = (),
    going: Iterable[str] = (),
) -> Begun:
    return await begin(store, claim(ROOT, token), *stages, coming=coming, going=going)


async def test_what_was_intended_is_read_after_a_restart(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    number = (await begun(store, "one", STAGES)).id
    await store.restores.intend(number, "one", STEPS)
    await store.close()
    again = open_store(tmp_path)
    assert await again.restores.roots() == (ROOT,)
    found = await again.restores.adopt(claim(ROOT, "two"))
    assert found == Unfinished(number, "applying", STAGES, STEPS)
    await again.restores.over(number)
    assert await again.restores.adopt(claim(ROOT, "two")) is None
    assert await again.restores.roots() == ()
    await again.close()


async def test_a_workspace_has_one_at_a_time(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    first = (await begun(store, "one", STAGES)).id
    running = Running(claim(ROOT, "one").owner)
    assert await store.restores.begin(claim(ROOT, "two", "one"), ()) == running
    assert await store.restores.adopt(claim(ROOT, "two", "one")) == running
    assert await store.restores.running(ROOT) == running.owner
    other = replace(claim(ROOT, "two", "one"), root=b"/other")
    assert isinstance(await store.restores.begin(other, ()), Begun)
    # Taken over, it is no longer the first one's to go on with.
    assert isinstance(await store.restores.begin(claim(ROOT, "three"), ()), Unfinished)
    with pytest.raises(StorageFailed, match="took so long"):
        await store.restores.intend(first, "one", STEPS)
    with pytest.raises(StorageFailed, match="took so long"):
        await store.restores.finish(first, "one", base())
    assert not await store.restores.finished(first)
    await store.close()


async def test_the_log_and_the_end_are_one_transaction(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.write(*base())
    number = (await begun(store, "one")).id
    record = AppendRecord(SessionId("ses_1"), Record(5, "restore", 1, {}))
    with pytest.raises(StorageFailed):
        await store.restores.finish(number, "one", (record, record))
    assert not await store.restores.finished(number)
    assert (await store.logs.load(SessionId("ses_1"))).records == ()
    store.save(put_text("part_1", "growing", final=False))
    await store.restores.finish(number, "one", (put_text("part_1", "final"), record))
    assert await store.restores.finished(number)
    stored = await store.logs.load(SessionId("ses_1"))
    assert stored.records == (record.record,)
    assert stored.messages[0].parts == (put_text("part_1", "final").part,)
    await store.close()


async def test_blobs_are_held_as_long_as_it_goes_on(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.write(*base(), put_text("part_1", "hello" * 300))
    name, ours = blob(b"hello" * 300).hash, press(b"pre-image")
    names = {name, ours.hash, blob(b"missing").hash}
    given = await begun(store, "one", coming=(name, blob(b"missing").hash), going=(ours.hash,))
    assert given.missing == names - {name}
    assert given.contents == {name: b"hello" * 300}
    number = given.id
    await store.restores.keep(number, [ours])
    await store.delete(SessionId("ses_1"))
    held = {name: b"hello" * 300, ours.hash: b"pre-image"}
    assert await store.restores.contents(names) == held
    assert (await store.verify()).problems == ()
    await store.restores.over(number)
    assert await store.outputs.read(ours.hash) is None
    await store.close()


async def test_much_is_not_read_with_the_beginning(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    large = b"".join(number.to_bytes(4, "big") for number in range(AT_ONCE // 4))
    many = {blob(data).hash: data for data in (b"one", large)}
    await store.write(blob(b"one"), blob(large))
    given = await begun(store, "one", coming=(blob(large).hash,))
    assert given.contents == {blob(large).hash: large}
    await store.restores.over(given.id)
    given = await begun(store, "one", coming=many)
    assert given.contents == {}
    assert given.missing == frozenset()
    assert await store.restores.contents(many) == many
    await store.close()


@pytest.mark.parametrize("damage", ["size = 'x'", "size = 2", "data = x'00'", "data = 'one'"])
async def test_a_damaged_content_is_said_to_be_so_and_nothing_begins(
    tmp_path: Path, damage: str
) -> None:
    store = open_store(tmp_path)
    await store.write(blob(b"one"))
    with opened_beside(tmp_path) as con:
        con.execute(f"UPDATE blob SET {damage}")
    with pytest.raises(StorageFailed) as failed:
        await begun(store, "one", STAGES, coming=(blob(b"one").hash,))
    assert failed.value.failure == "corrupt"
    assert await store.restores.roots() == ()
    await store.close()


async def test_damage_is_told(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.write(blob(b"one"))
    number = (await begun(store, "one", coming=(blob(b"one").hash,))).id
    await store.close()
    with opened_beside(tmp_path) as con:
        con.execute("UPDATE restore SET steps = x'00'")
        con.execute("DELETE FROM blob")
    again = open_store(tmp_path)
    problems = (await again.verify()).problems
    assert [problem.split(" ", 2)[:2] for problem in problems] == [["restore", str(number)]] * 2
    with pytest.raises(StorageFailed):
        await again.restores.adopt(claim(ROOT, "two"))
    await again.close()


def test_damaged_steps_are_noticed() -> None:
    body = pack_steps(STEPS * 20)
    assert unpack_steps(body) == STEPS * 20
    for at in range(0, len(body), 3):
        broken = body[:at] + bytes([body[at] ^ 0x40]) + body[at + 1 :]
        try:
            assert unpack_steps(broken) == STEPS * 20
        except BodyBroken:
            continue
    with pytest.raises(BodyBroken):
        unpack_steps(body[:20])


@pytest.mark.parametrize("plain", [[[1]], [["put", b"a", 1, 0, [], None]], 5, {}, [None], [b"a"]])
def test_steps_of_another_shape_are_broken(plain: object) -> None:
    data = msgpack.packb(plain)
    assert data is not None
    blob = press(data)
    head = bytes.fromhex(blob.hash.partition(":")[2]) + blob.size.to_bytes(4, "big")
    body = pack_steps(())[:3] + b"r" + head + data
    if plain == {}:
        assert unpack_steps(body) == ()
        return
    with pytest.raises(BodyBroken, match="no list of steps"):
        unpack_steps(body)


@pytest.mark.parametrize("stages", [b"", b"\xc1", b"\x05", b"\x91\x05", b"\x91\xa1a", b"\x90\x00"])
def test_damaged_folders_are_noticed(stages: bytes) -> None:
    with pytest.raises(BodyBroken, match="a restore's folders"):
        unpack_stages(stages)
