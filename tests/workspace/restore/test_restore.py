"""Plans carried out: everything as it was before, or nothing touched."""

import os
import sqlite3
import stat
import threading
from collections.abc import Callable, Iterable, Sequence

import pytest

from sidecar.core.files.restore_plan import Action
from sidecar.store.content import restores
from sidecar.workspace.restore import restore as carrying_out
from sidecar.workspace.restore.expectations import HOLDS_OTHERS, Checked, Conflict
from sidecar.workspace.restore.restore_outcome import FilesRestored, RestoreRefused
from tests.workspace.restore.site import Site, Tree, plan


async def upheaval(site: Site) -> tuple[Tree, Tree]:
    """Give two states that differ in every way, the second of which the files have."""
    site.write("same.txt", b"same")
    site.write("edited.txt", b"one" * 100)
    site.write("mode.sh", b"#!/bin/sh\n", 0o755)
    site.write("closed", b"secret", 0o400)
    site.write("deleted/inner/a.txt", b"a")
    (site.root / "deleted/empty").mkdir(mode=0o750)
    site.write("becomes_folder", b"file")
    site.write("becomes_file/x/y", b"y")
    site.write("becomes_link", b"file")
    (site.root / "link").symlink_to("edited.txt")
    (site.root / "turned").symlink_to("nowhere")
    site.write(b"caf\xe9/\xff\xfe", b"not utf-8")
    site.write("empty", b"")
    (site.root / "folder_mode").mkdir(mode=0o755)
    before = await site.remember()
    site.write("edited.txt", b"two")
    (site.root / "mode.sh").chmod(0o4640)
    (site.root / "closed").unlink()
    for path in ("deleted/inner/a.txt", "becomes_folder", "becomes_file/x/y", "becomes_link"):
        (site.root / path).unlink()
    for path in ("deleted/inner", "deleted/empty", "deleted", "becomes_file/x", "becomes_file"):
        (site.root / path).rmdir()
    site.write("becomes_folder/new/b", b"b")
    site.write("becomes_file", b"file now")
    (site.root / "becomes_link").symlink_to(b"\xff")
    (site.root / "link").unlink()
    (site.root / "link").symlink_to("same.txt")
    (site.root / "turned").unlink()
    site.write("turned", b"a file now")
    (site.root / os.fsdecode(b"caf\xe9/\xff\xfe")).unlink()
    site.write(b"caf\xe9/\xfe", b"another")
    site.write("empty", b"no more")
    (site.root / "folder_mode").chmod(0o711)
    site.write("created/deep/er/c", b"c" * 5000, 0o600)
    (site.root / "created/void").mkdir()
    return before, await site.remember()


async def test_everything_is_as_it_was_undone_redone_and_undone(site: Site) -> None:
    before, after = await upheaval(site)
    assert before != after
    for now, then in ((after, before), (before, after), (after, before), (before, after)):
        assert await site.go(now, then) == FilesRestored()
        assert site.tree() == then
    assert await site.store.restores.roots() == ()
    assert stat.S_IMODE((site.root / "mode.sh").stat().st_mode) == 0o4640


async def test_a_file_with_several_names_goes_back_under_each_of_them(site: Site) -> None:
    site.write("one", b"before")
    os.link(site.root / "one", site.root / "two")
    before = await site.remember()
    (site.root / "one").write_bytes(b"after")
    after = await site.remember()
    assert after[b"two"] == after[b"one"]
    assert await site.go(after, before) == FilesRestored()
    assert site.tree() == before


async def test_what_no_action_names_is_not_touched(site: Site) -> None:
    before, after = await upheaval(site)
    held = (site.root / "same.txt").stat()
    assert await site.go(after, before) == FilesRestored()
    assert (site.root / "same.txt").stat() == held


async def test_a_folder_with_files_of_the_users_is_never_replaced(site: Site) -> None:
    before, after = await upheaval(site)
    site.write("becomes_folder/mine.txt", b"mine")
    there = site.tree()
    assert await site.go(after, before) == RestoreRefused(
        (Conflict(b"becomes_folder", HOLDS_OTHERS),)
    )
    assert site.tree() == there


async def test_a_folder_that_holds_something_else_is_kept(site: Site) -> None:
    before = await site.remember()
    site.write("new/a", b"a")
    after = await site.remember()
    site.write("new/mine", b"mine")
    assert await site.go(after, before) == FilesRestored((b"new",))
    assert (site.root / "new/mine").read_bytes() == b"mine"
    assert not (site.root / "new/a").exists()


async def test_a_single_mode_is_set_without_another_file(site: Site) -> None:
    path = site.write("a", b"x", 0o644)
    before = await site.remember()
    path.chmod(0o755)
    after = await site.remember()
    (inode,) = (path.stat().st_ino,)
    assert await site.go(after, before) == FilesRestored()
    assert (path.stat().st_ino, path.stat().st_mode & 0o7777) == (inode, 0o644)


async def test_missing_folders_on_the_way_are_made(site: Site) -> None:
    site.write("a/b/c", b"c")
    before = await site.remember()
    (site.root / "a/b/c").unlink()
    after = await site.remember()
    (site.root / "a/b").rmdir()
    (site.root / "a").rmdir()
    assert plan(after, before)[0].path == b"a/b/c"
    assert await site.go(after, before) == FilesRestored()
    assert site.tree().keys() == before.keys()


async def test_only_few_files_are_forgotten_on_the_event_loop(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[int] = []
    really = restores.drop_unreferenced

    def dropped(con: sqlite3.Connection, names: Iterable[str]) -> None:
        threads.append(threading.get_ident())
        really(con, names)

    # The last that forgetting a restore does.
    monkeypatch.setattr(restores, "drop_unreferenced", dropped)
    monkeypatch.setattr(carrying_out, "INLINE_PATHS", 2)
    for count in (2, 3):
        before = await site.remember()
        for number in range(count):
            site.write(f"{count}/{number}")
        after = await site.remember()
        files = {path: entry for path, entry in after.items() if not entry.is_folder}
        known = {path: entry for path, entry in before.items() if not entry.is_folder}
        assert isinstance(await site.go(files, known), FilesRestored)
    here = threading.get_ident()
    assert [thread == here for thread in threads] == [True, False]


@pytest.mark.parametrize(
    ("paths", "size", "inline"), [(2, 100, True), (3, 10, False), (2, 101, False)]
)
async def test_only_a_few_small_files_are_looked_at_on_the_event_loop(
    site: Site, monkeypatch: pytest.MonkeyPatch, paths: int, size: int, inline: bool
) -> None:
    threads: list[int] = []
    really = carrying_out.check

    def check(
        base: bytes, actions: Sequence[Action], stopped: Callable[[], bool]
    ) -> tuple[list[Checked], list[Conflict]]:
        threads.append(threading.get_ident())
        return really(base, actions, stopped)

    monkeypatch.setattr(carrying_out, "check", check)
    monkeypatch.setattr(carrying_out, "INLINE_PATHS", 2)
    monkeypatch.setattr(carrying_out, "INLINE_BYTES", 200)
    for number in range(paths):
        site.write(str(number), b"before")
    before = await site.remember()
    for number in range(paths):
        site.write(str(number), b"x" * size)
    assert await site.go(await site.remember(), before) == FilesRestored()
    here = threading.get_ident()
    assert [thread == here for thread in threads] == [inline and site.quick]
