"""Somebody writes between the last look at a file and the system call that moves it."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sidecar.workspace.restore.expectations import CHANGED, GONE, HOLDS_OTHERS, THERE
from sidecar.workspace.restore.restore_outcome import FilesRestored, RestoreRefused
from tests.workspace.restore.site import SES, Site, plan, record, recording

Deed = Callable[[Path], None]


class Meddling:
    """Does something once, right before a path is moved. It can only be turned off."""

    def __init__(self) -> None:
        self.name = b""
        self.deed: Callable[[], None] = lambda: None
        sys.addaudithook(self._listen)

    @contextmanager
    def when_moved(self, name: bytes, deed: Callable[[], None]) -> Iterator[None]:
        self.name, self.deed = name, deed
        try:
            yield
        finally:
            self.name = b""

    def _listen(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.name and event == "os.rename" and self.name in arguments[:2]:
            self.name = b""
            self.deed()


MEDDLING = Meddling()


def save(path: str) -> Deed:
    def deed(root: Path) -> None:
        (root.parent / "saved").write_bytes(b"mine")
        (root.parent / "saved").replace(root / path)

    return deed


def write(path: str, data: bytes = b"mine!") -> Deed:
    def deed(root: Path) -> None:
        (root / path).write_bytes(data)

    return deed


def remove(path: str) -> Deed:
    def deed(root: Path) -> None:
        (root / path).unlink()

    return deed


@pytest.mark.parametrize(
    ("moved", "deed", "reason"),
    [
        (b"edited", save("edited"), CHANGED),
        (b"edited", write("edited"), CHANGED),
        (b"edited", remove("edited"), GONE),
        (b"created", save("created"), CHANGED),
        (b"created", write("created"), CHANGED),
        (b"deleted", save("deleted"), THERE),
        (b"replaced", write("replaced/mine"), HOLDS_OTHERS),
    ],
)
async def test_it_stays_and_everything_else_goes_back(
    site: Site, moved: bytes, deed: Deed, reason: str
) -> None:
    site.write("a", b"one")
    site.write("edited", b"one")
    site.write("deleted", b"was here")
    site.write("replaced", b"file")
    before = await site.remember()
    site.write("a", b"two")
    site.write("edited", b"two")
    (site.root / "deleted").unlink()
    site.write("created", b"new")
    (site.root / "replaced").unlink()
    (site.root / "replaced").mkdir()
    after = await site.remember()
    await site.store.write(*record(1, "after"))
    with MEDDLING.when_moved(moved, lambda: deed(site.root)):
        outcome = await site.restore(plan(after, before), record=recording(2, "before"))
    assert isinstance(outcome, RestoreRefused)
    assert [(c.path, c.reason) for c in outcome.conflicts] == [(moved, reason)]
    tree = site.tree()
    touched = {moved, b"replaced/mine"}
    assert {p: e for p, e in tree.items() if p not in touched} == {
        p: e for p, e in after.items() if p not in touched
    }
    mine = {p: (site.root / os.fsdecode(p)) for p in touched}
    contents = {p: real.read_bytes() for p, real in mine.items() if real.is_file()}
    if reason == GONE:
        assert contents == {}
    else:
        assert [data[:4] for data in contents.values()] == [b"mine"]
    assert len((await site.store.logs.load(SES)).records) == 1
    assert await site.store.restores.roots() == ()


async def test_a_write_through_a_descriptor_opened_before_is_noticed(site: Site) -> None:
    site.write("a", b"one")
    site.write("b", b"one")
    before = await site.remember()
    site.write("a", b"two")
    site.write("b", b"two")
    after = await site.remember()
    with (site.root / "a").open("r+b", buffering=0) as file:
        with MEDDLING.when_moved(b"b", lambda: file.write(b"mine") and None):
            outcome = await site.go(after, before)
        assert isinstance(outcome, RestoreRefused)
        assert [c.path for c in outcome.conflicts] == [b"a"]
    assert (site.root / "a").read_bytes() == b"mine"
    assert (site.root / "b").read_bytes() == b"two"


async def test_a_folder_that_fills_at_the_last_moment_is_kept(site: Site) -> None:
    before = await site.remember()
    site.write("made/a", b"a")
    after = await site.remember()
    with MEDDLING.when_moved(b"made", lambda: write("made/mine")(site.root)):
        assert await site.go(after, before) == FilesRestored((b"made",))
    assert (site.root / "made/mine").read_bytes() == b"mine!"
    assert not (site.root / "made/a").exists()
