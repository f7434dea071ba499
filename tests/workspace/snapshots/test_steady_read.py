"""A folder becomes a link between the look at what is in it and the reading: nothing comes in."""

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from sidecar.config import SnapshotSizes
from sidecar.core.files.tree import Loss, SeenEntry
from sidecar.workspace import unlinked_open
from sidecar.workspace.snapshots.known_paths import same_stat, unread_of
from sidecar.workspace.snapshots.pre_images import pre_image, read_batch
from sidecar.workspace.snapshots.steady_read import (
    USUAL,
    Limits,
    Looked,
    SnapshotBudget,
    look,
    read,
    standing,
)
from sidecar.workspace.unlinked_open import open_straight, stat_straight
from sidecar.workspace.unlinked_path import PathMoved
from tests.workspace.opening import OPENING

LIMIT = 1000
LARGE = b"x" * (LIMIT + 1)


def now() -> int:
    return time.time_ns() // 1_000_000


def is_ours(got: tuple[os.stat_result, bytes | Loss] | None, found: os.stat_result) -> bool:
    """Whether it is our text with this stat, but for the time of the last access: that is now."""
    return got is not None and same_stat(got[0], found) and got[1] == b"ours"


def first_seen(stats: dict[bytes, os.stat_result]) -> dict[bytes, SeenEntry]:
    return {path: unread_of(found, now()) for path, found in stats.items()}


class Place:
    """A workspace with a folder that can become a link to one outside, with the same names."""

    def __init__(self, top: Path) -> None:
        self.root = top / "work"
        self.outside = top / "outside"
        for folder, what in ((self.root / "folder", b"ours"), (self.outside, b"hers")):
            (folder / "inner").mkdir(parents=True)
            (folder / "file").write_bytes(what)
            (folder / "link").symlink_to(os.fsdecode(what))
            (folder / "large").write_bytes(LARGE)
        (self.outside / "new").write_bytes(b"hers")
        (self.outside / "folder").mkdir()
        self.base = os.fsencode(self.root)

    def swap(self) -> None:
        (self.root / "folder").rename(self.root / "aside")
        (self.root / "folder").symlink_to(self.outside)

    def swap_back(self) -> None:
        (self.root / "folder").unlink()
        (self.root / "aside").rename(self.root / "folder")

    def stats(self, *names: bytes) -> dict[bytes, os.stat_result]:
        """Look by path, as a scan does."""
        paths = [b"folder/" + name for name in names]
        return {path: os.lstat(self.base + b"/" + path) for path in paths}

    def look(self, stats: dict[bytes, os.stat_result], room: int = 10_000) -> Looked:
        budget = SnapshotBudget(room, 10_000)
        return look(self.base, stats, lambda _: None, lambda *_: LIMIT, budget, now, now())


@pytest.fixture(params=["in one call", "folder by folder"])
def place(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Both ways to open; the second is that of a system without the call."""
    if request.param == "folder by folder":
        monkeypatch.setattr(unlinked_open, "_syscall", lambda: None)
    return Place(Path(os.path.realpath(tmp_path)))


@pytest.mark.parametrize("name", [b"file", b"link"])
def test_what_became_a_link_after_the_look_is_not_read(place: Place, name: bytes) -> None:
    ((path, found),) = place.stats(name).items()
    assert is_ours(read(place.base, path, found, LIMIT), found)
    place.swap()
    assert read(place.base, path, found, LIMIT) is None


@pytest.mark.parametrize("name", [b"file", b"link", b"large", b"new"])
def test_what_was_a_link_at_the_look_is_not_read(place: Place, name: bytes) -> None:
    place.swap()
    ((path, found),) = place.stats(name).items()
    assert read(place.base, path, found, LIMIT) is None


@pytest.mark.parametrize("name", [b"file", b"link"])
def test_what_was_a_link_only_at_the_look_is_as_it_is(place: Place, name: bytes) -> None:
    place.swap()
    ((path, found),) = place.stats(name).items()
    place.swap_back()
    after = os.lstat(place.base + b"/" + path)
    assert is_ours(read(place.base, path, found, LIMIT), after)


@pytest.mark.parametrize("name", [b"file", b"link"])
def test_what_is_a_link_at_the_moment_of_the_call_is_not_read(place: Place, name: bytes) -> None:
    ((path, found),) = place.stats(name).items()
    with OPENING.before(1, place.swap):
        assert read(place.base, path, found, LIMIT) is None


def test_what_is_a_link_only_at_the_moment_of_the_call_is_read_again(place: Place) -> None:
    ((path, found),) = place.stats(b"file").items()
    place.swap()
    with OPENING.counted() as once, pytest.raises(PathMoved):
        open_straight(place.base + b"/" + path, os.O_RDONLY)
    with OPENING.before(once.count + 1, place.swap_back):
        assert is_ours(read(place.base, path, found, LIMIT), found)


def test_nothing_of_what_a_link_leads_to_is_taken(place: Place) -> None:
    """Neither contents nor names, sizes and modes."""
    names = (b"file", b"link", b"large", b"new", b"inner", b"folder")
    place.swap()
    stats = place.stats(*names)
    looked = place.look(stats)
    assert looked.blobs == []
    assert looked.seen == dict.fromkeys(stats)
    assert looked.restless == set(stats)
    full = place.look(stats, room=1)
    assert (full.blobs, full.seen) == ([], dict.fromkeys(stats))


def test_what_is_there_is_taken_with_what_it_is(place: Place) -> None:
    stats = place.stats(b"file", b"link", b"large", b"inner")
    looked = place.look(stats)
    seen = {path: s for path, s in looked.seen.items() if s is not None}
    assert {path: (s.entry.lost, s.entry.size) for path, s in seen.items()} == {
        b"folder/file": (None, 4),
        b"folder/link": (None, 4),
        b"folder/large": ("large", len(LARGE)),
        b"folder/inner": (None, 0),
    }
    assert len(looked.blobs) == 2
    assert not looked.restless
    full = place.look({b"folder/file": stats[b"folder/file"]}, room=1).seen[b"folder/file"]
    assert full is not None
    assert full.entry.lost == "full"


def test_a_folder_keeps_the_time_at_which_it_was_listed(place: Place) -> None:
    """What came into it since then is found by its stat being another."""
    stats = place.stats(b"inner")
    (place.root / "folder/inner/late").write_bytes(b"")
    seen = place.look(stats).seen[b"folder/inner"]
    assert seen is not None
    assert seen.ctime == stats[b"folder/inner"].st_ctime_ns


def test_a_file_that_became_a_link_is_read_as_one(place: Place) -> None:
    ((path, found),) = place.stats(b"file").items()
    (place.root / "folder/file").unlink()
    (place.root / "folder/file").symlink_to("elsewhere")
    got = read(place.base, path, found, LIMIT)
    assert got == (os.lstat(place.base + b"/" + path), b"elsewhere")


def test_a_root_that_has_moved_takes_nothing_away(place: Place) -> None:
    """A folder that somebody moved and left a link for is not read, nor said to be empty."""
    stats = place.stats(b"file", b"inner")
    place.root.rename(place.root.parent / "moved")
    place.root.symlink_to("moved")
    looked = place.look(stats)
    assert looked.blobs == []
    seen = looked.seen[b"folder/file"]
    assert seen is not None
    assert seen.entry.lost == "unstable"
    assert looked.seen[b"folder/inner"] is not None
    assert standing(place.base, b"folder/file", stats[b"folder/file"]) is stats[b"folder/file"]


def test_what_was_first_seen_is_not_read_later_through_a_link(place: Place) -> None:
    batch = first_seen(place.stats(b"file", b"link"))

    def read_now() -> Looked:
        return read_batch(place.base, batch, lambda *_: LIMIT, 10_000, now)

    place.swap()
    swapped = read_now()
    assert (swapped.blobs, swapped.seen, swapped.restless) == ([], {}, set(batch))
    place.swap_back()
    assert len(read_now().blobs) == 2
    with OPENING.before(1, place.swap):
        raced = read_now()
    assert (raced.blobs, raced.seen, raced.restless) == ([], {}, set(batch))


def test_a_link_at_the_first_look_gives_no_content_either(place: Place) -> None:
    place.swap()
    batch = first_seen(place.stats(b"file", b"link", b"new"))
    for act in (lambda: None, place.swap_back):
        act()
        looked = read_batch(place.base, batch, lambda *_: LIMIT, 10_000, now)
        assert (looked.blobs, looked.seen, looked.restless) == ([], {}, set(batch))


def test_what_a_tool_is_to_write_is_not_read_through_a_link(place: Place) -> None:
    def image(name: bytes) -> bytes | None:
        found = pre_image(place.base, b"folder/" + name, None, replace(USUAL, tracked=LIMIT), now)
        return None if found is None or found.blob is None else found.blob.data

    assert (image(b"file"), image(b"link")) == (b"ours", b"ours")
    with OPENING.before(1, place.swap):
        assert image(b"file") is None
    assert (image(b"file"), image(b"link"), image(b"new"), image(b"large")) == (None,) * 4


def test_a_pre_image_that_changes_meanwhile_is_not_what_the_newest_snapshot_has(
    place: Place,
) -> None:
    """Else the change would be known, and never told."""
    path, real = b"folder/large", place.root / "folder/large"
    ((_, found),) = place.stats(b"large").items()
    seen = place.look({path: found}).seen[path]
    assert seen is not None
    known = seen._replace(racy=False)

    def change() -> None:
        end = time.monotonic() + 10
        while real.lstat().st_ctime_ns == found.st_ctime_ns and time.monotonic() < end:
            real.write_bytes(LARGE)

    limits = replace(USUAL, tracked=LIMIT)
    image = pre_image(place.base, path, known, limits, now)
    assert image is not None
    assert image.same
    with OPENING.counted() as first:
        stat_straight(os.fsencode(real))
    with OPENING.before(first.count + 1, change):
        image = pre_image(place.base, path, known, limits, now)
    assert image is not None
    assert image.seen.ctime == real.lstat().st_ctime_ns
    assert not image.same


def test_what_is_restorable_is_bounded_as_the_settings_say() -> None:
    mib = 1024 * 1024
    assert USUAL == Limits.of(SnapshotSizes()) == Limits(2 * mib, 16 * mib, 64 * mib, 1024 * mib)
