"""Open documents by resolved path, and one writer for each file."""

import asyncio
from pathlib import Path

from sidecar.workspace.buffers import Buffers


def test_a_document_is_found_through_any_link(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("disk")
    (tmp_path / "link").symlink_to("a")
    buffers = Buffers()
    buffers.set(tmp_path / "link", "unsaved", 3)
    found = buffers.get(tmp_path / "a")
    assert found is not None
    assert (found.text, found.version, found.path) == ("unsaved", 3, tmp_path / "a")
    assert buffers.open_paths() == (tmp_path / "a",)
    buffers.close(tmp_path / "link")
    buffers.close(tmp_path / "link")
    assert buffers.get(tmp_path / "a") is None
    assert buffers.open_paths() == ()


def test_of_several_windows_the_last_change_counts_until_its_window_goes(tmp_path: Path) -> None:
    buffers = Buffers()

    def text() -> str | None:
        found = buffers.get(tmp_path / "a")
        return None if found is None else found.text

    buffers.set(tmp_path / "a", "first", 1, "one")
    buffers.set(tmp_path / "a", "second", 1, "two")
    buffers.set(tmp_path / "b", "other", 1, "two")
    assert text() == "second"
    buffers.set(tmp_path / "a", "third", 2, "one")
    assert text() == "third"
    buffers.close(tmp_path / "a", "one")
    assert text() == "second"
    buffers.close_of("two")
    assert text() is None
    assert buffers.open_paths() == ()


async def test_one_writer_for_each_file(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("a")
    buffers = Buffers()
    async with buffers.writing(tmp_path / "a"):
        assert buffers.writing(tmp_path / "link").locked()
        assert not buffers.writing(tmp_path / "b").locked()
    async with asyncio.timeout(1), buffers.writing(tmp_path / "link"):
        pass
