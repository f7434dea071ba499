"""Chains of snapshots in the store: appended whole, held, swept, and shared by processes."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from sidecar.core.errors import StorageFailed
from sidecar.core.files.tree import SeenEntry, TreeChange, TreeEntry
from sidecar.core.parts import SessionId
from sidecar.store.content.blobs import MOST_RECENT, PressedBlob, press
from sidecar.store.content.chains import Addition, Appended, ChainMoved, Workspace
from sidecar.store.content.deltas import pack_delta, unpack_delta
from sidecar.store.format.fields import BodyBroken
from sidecar.store.format.values import PutMessage, PutPart, PutSession
from sidecar.store.journal import Store
from tests.core.trees import holding
from tests.store.contents import added, blob, kept, seen
from tests.store.on_disk import opened_beside
from tests.store.samples import base, message, open_store, put_text, session, tool

ROOT = b"/home/dev/caf\xe9"
FILE = 0o100644


def removed(path: bytes, data: bytes) -> Addition:
    return Addition((TreeChange(path, holding(data), None),), [], [(path, None)])


async def begun(store: Store) -> Workspace:
    return await store.snapshots.begin(ROOT, 5)


async def appended(store: Store, space: Workspace, *additions: Addition) -> list[Appended]:
    head, done = space.head, []
    for addition in additions:
        one = await store.snapshots.append(space.id, head, addition, 6)
        assert isinstance(one, Appended)
        done.append(one)
        head = one.id
    return done


async def test_a_chain_is_read_as_it_was_written(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    assert await store.snapshots.load(ROOT) is None
    space = await begun(store)
    name = b"non-utf8 \xff\xfe"
    one, two, three = await appended(
        store, space, added(b"a", b"1" * 900), added(name, b""), removed(b"a", b"1" * 900)
    )
    await store.close()
    again = open_store(tmp_path)
    loaded = await again.snapshots.load(ROOT)
    assert loaded is not None
    assert (loaded.head, loaded.complete) == (three.id, False)
    assert loaded.tree == {name: seen(b"")}
    deltas = await again.snapshots.deltas(loaded.id, one.id, three.id)
    assert deltas == (added(name, b"").delta, removed(b"a", b"1" * 900).delta)
    assert await again.snapshots.deltas(loaded.id, two.id, two.id) == ()
    assert await again.snapshots.deltas(loaded.id, three.id, one.id) is None
    assert await kept(again, b"1" * 900) == b"1" * 900
    assert await again.snapshots.ids(loaded.id) == (space.head, one.id, two.id, three.id)
    assert (await again.verify()).problems == ()
    await again.close()


async def test_equal_content_is_stored_once(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    space = await begun(store)
    one, two = await appended(store, space, added(b"a", b"same" * 99), added(b"b", b"same" * 99))
    assert one.held == two.held == len(press(b"same" * 99).data)
    await store.close()


def where(folder: Path) -> tuple[int, int]:
    """Count the blobs in the large table, and those in the one where they come first."""
    with opened_beside(folder) as con:
        counts = [con.execute(f"SELECT count(*) FROM {name}") for name in ("blob", "recent")]
        large, recent = [count.fetchone()[0] for count in counts]
    return large, recent


async def test_blobs_come_to_a_small_table_and_go_on_once_they_are_many(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    space = await begun(store)
    texts = [b"%d" % number for number in range(MOST_RECENT + 1)]
    several = [added(b"a", text) for text in texts]
    *_, last = await appended(store, space, *several)
    assert where(tmp_path) == (0, len(texts))
    assert (await store.verify()).blobs == len(texts)
    await store.snapshots.fill(space.id, last.id, Addition((), [], []))
    assert where(tmp_path) == (len(texts), 0)
    (again,) = await appended(store, replace(space, head=last.id), added(b"b", texts[0]))
    assert where(tmp_path) == (len(texts), 0)
    assert again.held == last.held
    assert [await kept(store, text) for text in texts] == texts
    assert (await store.verify()).problems == ()
    await store.close()


async def test_many_blobs_at_once_come_to_the_large_table(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    space = await begun(store)
    texts = [b"%d" % number for number in range(MOST_RECENT + 1)]
    changes = [TreeChange(b"f" + text, None, holding(text)) for text in texts]
    many = Addition(tuple(changes), [press(text) for text in texts], [])
    few, all_ = await appended(store, space, added(b"a", texts[0]), many)
    assert where(tmp_path) == (len(texts) - 1, 1)
    assert all_.held == few.held + sum(map(len, texts[1:]))
    assert (await store.verify()).problems == ()
    await store.close()


async def test_recent_blobs_go_with_the_last_snapshot_that_holds_them(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    space = await begun(store)
    *_, last = await appended(
        store, space, added(b"a", b"1"), removed(b"a", b"1"), added(b"a", b"2")
    )
    assert where(tmp_path) == (0, 2)
    while (swept := await store.snapshots.sweep(space.id, last.id, 10)).looked:
        pass
    assert (where(tmp_path), swept.held) == ((0, 1), 1)
    assert (await store.verify()).problems == ()
    await store.close()


async def test_what_a_session_says_too_is_in_the_large_table(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    space = await begun(store)
    said = b"the whole output"
    (one,) = await appended(store, space, added(b"a", said))
    await store.write(blob(said))
    assert where(tmp_path) == (1, 1)
    several = [added(b"a", b"%d" % number) for number in range(MOST_RECENT)]
    *_, last = await appended(store, replace(space, head=one.id), *several)
    await store.snapshots.fill(space.id, last.id, Addition((), [], []))
    assert where(tmp_path) == (MOST_RECENT + 1, 0)
    assert await kept(store, said) == said
    await store.close()


async def test_who_does_not_know_the_head_is_told_and_nothing_is_stored(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    space = await begun(store)
    (one,) = await appended(store, space, added(b"a", b"1"))
    late = await store.snapshots.append(space.id, space.head, added(b"b", b"2"), 7)
    assert late == ChainMoved(one.id)
    assert await kept(store, b"2") is None
    assert await store.snapshots.tree(space.id, [b"a", b"b"]) == {b"a": seen(b"1")}
    await store.close()


async def test_a_snapshot_is_stored_whole_or_not_at_all(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    space = await begun(store)
    good = added(b"a", b"1")
    too_large = SeenEntry(holding(b"1"), 2**70, 2, 3)
    bad = Addition(good.delta, good.blobs, [(b"a", too_large)])
    with pytest.raises(StorageFailed):
        await store.snapshots.append(space.id, space.head, bad, 6)
    assert await kept(store, b"1") is None
    loaded = await store.snapshots.load(ROOT)
    assert loaded is not None
    assert (loaded.head, loaded.tree) == (space.head, {})
    await store.close()


async def test_content_of_a_beginning_is_told_later(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    space = await begun(store)
    first = Addition((), [press(b"1")], [(b"a", seen(b"1"))])
    assert await store.snapshots.fill(space.id, space.head, first) == Appended(space.head, 1)
    done = await store.snapshots.fill(space.id, space.head, Addition((), [], []), complete=True)
    assert done == Appended(space.head, 1)
    loaded = await store.snapshots.load(ROOT)
    assert loaded is not None
    assert loaded.complete
    assert loaded.tree == {b"a": seen(b"1")}
    anew = await begun(store)
    assert await store.snapshots.fill(space.id, space.head, first) == ChainMoved(anew.head)
    assert anew.tree == {}
    assert await store.snapshots.deltas(space.id, space.head, anew.head) is None
    await store.close()


async def test_a_sweep_lets_go_of_what_only_old_snapshots_held(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    space = await begun(store)
    fill = Addition((), [press(b"kept"), press(b"gone")], [(b"k", seen(b"kept"))])
    await store.snapshots.fill(space.id, space.head, fill)
    session = added(b"s", b"hello" * 300)
    _, _, three, four = await appended(
        store,
        space,
        session,
        added(b"e", b"version 1"),
        added(b"e", b"version 2", b"version 1"),
        added(b"e", b"version 3", b"version 2"),
    )
    await store.write(*base(), put_text("part_1", "hello" * 300))
    steps = 0
    while (await store.snapshots.sweep(space.id, four.id, 1)).looked:
        steps += 1
    assert steps > 3
    assert await store.snapshots.ids(space.id) == (four.id,)
    held = {b"kept": True, b"gone": False, b"version 1": False, b"version 2": True}
    for data, expected in {**held, b"version 3": True, b"hello" * 300: True}.items():
        assert (await kept(store, data) is not None) == expected, data
    assert await store.snapshots.deltas(space.id, three.id, four.id) is not None
    assert await store.snapshots.deltas(space.id, space.head, four.id) is None
    (row,) = await store.snapshots.held()
    assert (row.root, row.snapshots, row.oldest) == (ROOT, 1, 6)
    assert row.held == sum(
        len(press(data).data) for data in (b"kept", b"version 2", b"version 3", b"hello" * 300)
    )
    assert (await store.verify()).problems == ()
    await store.close()


async def test_a_deleted_session_leaves_what_a_snapshot_holds(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    space = await begun(store)
    await store.write(*base(), put_text("part_1", "hello" * 300))
    await appended(store, space, added(b"s", b"hello" * 300))
    await store.delete(base()[0].row.id)  # type: ignore[union-attr]
    assert await kept(store, b"hello" * 300) == b"hello" * 300
    await store.close()


async def test_a_state_follows_the_deltas_whose_stats_were_never_told(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    space = await begun(store)
    names = (b"same", b"edited", b"gone", b"hidden")
    rows = [(name, seen(b"1")._replace(followed=name == b"edited")) for name in names]
    await store.snapshots.fill(space.id, space.head, Addition((), [press(b"1")], rows))
    out = TreeEntry(FILE, "", 1, "ignored")
    changes = (
        TreeChange(b"edited", holding(b"1"), holding(b"2")),
        TreeChange(b"gone", holding(b"1"), None),
        TreeChange(b"hidden", holding(b"1"), out),
        TreeChange(b"new", None, holding(b"3")),
    )
    (one,) = await appended(store, space, Addition(changes, [press(b"2"), press(b"3")], []))
    untold = SeenEntry(holding(b"3"), 0, 0, 0, racy=True)
    expected = {
        b"same": seen(b"1"),
        b"edited": untold._replace(entry=holding(b"2"), followed=True),
        b"new": untold,
    }
    loaded = await store.snapshots.load(ROOT)
    assert loaded is not None
    assert (loaded.head, loaded.tree) == (one.id, expected)
    assert await store.snapshots.tree(space.id, [b"new", b"gone"]) == {b"new": untold}
    told = Addition((), [], [(b"new", seen(b"3"))])
    await store.snapshots.fill(space.id, one.id, told)
    loaded = await store.snapshots.load(ROOT)
    assert loaded is not None
    assert loaded.tree == {**expected, b"new": seen(b"3")}
    assert (await store.verify()).problems == ()
    await store.close()


async def test_a_chain_with_a_damaged_end_is_no_state_to_go_on_from(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    space = await begun(store)
    await store.snapshots.fill(space.id, space.head, Addition((), [], []), complete=True)
    one, two = await appended(
        store, space, added(b"a", b"1"), Addition(added(b"a", b"2", b"1").delta, [press(b"2")], [])
    )
    with opened_beside(tmp_path) as con:
        con.execute("UPDATE snapshot SET body = x'00' WHERE id = ?", (one.id,))
    for _ in range(2):
        loaded = await store.snapshots.load(ROOT)
        assert loaded is not None
        assert (loaded.head, loaded.complete) == (two.id, False)
        await store.snapshots.fill(space.id, two.id, Addition((), [], []))
    await store.close()


async def test_damaged_snapshots_are_told(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    space = await begun(store)
    one, _ = await appended(store, space, added(b"a", b"1"), added(b"b", b"2"))
    await store.close()
    with opened_beside(tmp_path) as con:
        con.execute("UPDATE snapshot SET body = x'00' WHERE id = ?", (one.id,))
        con.execute("DELETE FROM recent WHERE hash = ?", (blob(b"2").hash,))
    again = open_store(tmp_path)
    problems = (await again.verify()).problems
    assert len(problems) == 2
    assert f"snapshot {one.id}" in problems[0]
    assert blob(b"2").hash in problems[1]
    with pytest.raises(StorageFailed):
        await again.snapshots.deltas(space.id, space.head, one.id)
    await again.close()


def test_a_damaged_delta_is_noticed() -> None:
    names = sorted(range(50), key=str)
    delta = tuple(TreeChange(b"a%d" % n, None, holding(b"%d" % n)) for n in names)
    body = pack_delta(delta)
    assert unpack_delta(body) == delta
    unnoticed = 0
    for at in range(len(body)):
        broken = body[:at] + bytes([body[at] ^ 0x40]) + body[at + 1 :]
        try:
            assert unpack_delta(broken) == delta
            unnoticed += 1
        except BodyBroken:
            continue
    assert unnoticed < 3, "a zstd frame has a few bits that mean nothing"
    with pytest.raises(BodyBroken):
        unpack_delta(body[:20])


async def test_a_delta_is_small(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    space = await begun(store)
    await appended(
        store, space, *(added(b"some/folder/file%d.py" % n, b"%d" % n) for n in range(300))
    )
    await store.close()
    with opened_beside(tmp_path) as con:
        (size,) = con.execute(
            "SELECT sum(pgsize) FROM dbstat WHERE name LIKE '%hold%' OR name LIKE '%snap%' "
            "OR name LIKE '%tree%' OR name LIKE '%blob%'"
        ).fetchone()
    assert size / 300 < 1024


def test_a_pressed_blob_knows_its_content() -> None:
    assert press(b"x" * 5000).encoding == "zstd"
    assert press(b"x") == PressedBlob(blob(b"x").hash, 1, "raw", b"x")


@pytest.mark.parametrize("seed", range(6))
async def test_in_any_order_what_snapshots_and_sessions_hold_can_be_read(
    tmp_path: Path, seed: int
) -> None:
    dice = random.Random(seed)
    store = open_store(tmp_path)
    space = await begun(store)
    head, held = space.head, [(space.head, b"")]
    sessions: dict[SessionId, bytes] = {}
    for number in range(40):
        match dice.choice(("file", "file", "many", "told", "swept", "said", "unsaid")):
            case "file":
                texts = {b"text %d " % dice.randrange(40) * 50 for _ in range(dice.randrange(1, 9))}
            case "many":
                texts = {b"%d %d" % (number, n) for n in range(dice.choice((200, 300)))}
            case "told":
                await store.snapshots.fill(space.id, head, Addition((), [], []))
                continue
            case "swept":
                oldest = dice.choice(held)[0]
                while (await store.snapshots.sweep(space.id, oldest, 50)).looked:
                    pass
                held = [(one, text) for one, text in held if one >= oldest]
                continue
            case "said":
                name, text = SessionId(f"ses_{number}"), b"text %d " % dice.randrange(40) * 50
                sessions[name] = text
                whole = PutPart(name, message().id, 0, tool("p", "cut", text))
                said = PutSession(session(name)), PutMessage(name, message())
                await store.write(*said, blob(text), whole)
                continue
            case _:
                if sessions:
                    await store.delete(sessions.popitem()[0])
                continue
        changes = tuple(TreeChange(b"f%d" % n, None, holding(text)) for n, text in enumerate(texts))
        done = await store.snapshots.append(
            space.id, head, Addition(changes, [press(text) for text in texts], []), 6
        )
        assert isinstance(done, Appended)
        head = done.id
        held += [(head, text) for text in texts]
    for text in (*(text for one, text in held if one != space.head), *sessions.values()):
        assert await kept(store, text) == text
    assert (await store.verify()).problems == ()
    await store.close()
