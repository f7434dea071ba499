"""A repair keeps the snapshots of workspaces, or says that they are lost."""

from pathlib import Path

from sidecar.core.files.tree import TreeChange
from sidecar.store.content.blobs import MOST_RECENT, press
from sidecar.store.content.chains import Addition, Appended, Workspace
from tests.core.trees import holding
from tests.store.contents import blob, kept
from tests.store.on_disk import opened_beside, store_file
from tests.store.repair.test_rebuilt_store import PAGE, mend
from tests.store.samples import NOW, open_store


async def snapshots_of(folder: Path, *contents: bytes) -> Workspace:
    """Take a snapshot for each content of one file; gives the workspace before the first."""
    store = open_store(folder)
    space = await store.snapshots.begin(b"/home/dev/app", NOW)
    head = space.head
    for content in contents:
        change = TreeChange(b"a", None, holding(content))
        addition = Addition((change,), [press(content)], [])
        done = await store.snapshots.append(space.id, head, addition, NOW)
        assert isinstance(done, Appended)
        head = done.id
    await store.snapshots.fill(space.id, head, Addition((), [], []), complete=True)
    await store.close()
    return space


async def test_snapshots_are_kept_with_the_contents_that_came_last(tmp_path: Path) -> None:
    contents = [b"%d" % number for number in range(MOST_RECENT + 1)]
    await snapshots_of(tmp_path, *contents)
    space = await snapshots_of(tmp_path, b"recent", b"more")
    assert mend(tmp_path).lost == ()
    store = open_store(tmp_path)
    loaded = await store.snapshots.load(b"/home/dev/app")
    assert loaded is not None
    assert loaded.tree[b"a"].entry.hash == blob(b"more").hash
    assert await store.snapshots.deltas(space.id, space.head, loaded.head) is not None
    for content in (*contents, b"recent", b"more"):
        assert await kept(store, content) == content
    await store.close()


async def test_a_page_of_recent_contents_is_told(tmp_path: Path) -> None:
    await snapshots_of(tmp_path, b"recent")
    with opened_beside(tmp_path) as con:
        con.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        query = "SELECT rootpage FROM sqlite_master WHERE name = 'recent'"
        (page,) = con.execute(query).fetchone()
    with store_file(tmp_path).open("r+b") as file:
        file.seek((page - 1) * PAGE)
        file.write(b"\xff" * PAGE)
    done = mend(tmp_path)
    assert any("the contents of 1 files are damaged" in line for line in done.lost)
