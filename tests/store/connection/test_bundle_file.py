"""Bundles as files: whole or not there, for their user alone, and never more than is taken."""

import errno
import os
import random
import stat
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
import zstandard

from sidecar.core.errors import BadRequest
from sidecar.store.connection import bundle_file
from sidecar.store.format.bundles import lines_of, read_lines
from tests.store.format.test_bundles import sample

LINES = tuple(lines_of(sample()))


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    path = tmp_path / "a.sidecar"
    bundle_file.write(path, LINES, replace=False)
    return path


def test_a_bundle_is_read_back(bundle: Path) -> None:
    assert bundle_file.is_bundle(bundle)
    assert tuple(bundle_file.read(bundle)) == LINES
    assert tuple(bundle_file.read(bundle.read_bytes())) == LINES
    assert read_lines(bundle_file.read(bundle)) == sample()
    assert bundle.stat().st_size < sum(map(len, LINES))


def test_a_bundle_that_was_unpacked_is_read_too(tmp_path: Path) -> None:
    plain = tmp_path / "plain.jsonl"
    plain.write_bytes(b"".join(LINES))
    assert bundle_file.is_bundle(plain)
    assert bundle_file.is_bundle(plain.read_bytes())
    assert tuple(bundle_file.read(plain)) == LINES
    assert not bundle_file.is_bundle(b'{"type":"user"}\n')
    assert not bundle_file.is_bundle(b"")
    assert bundle_file.is_bundle(zstandard.compress(b'{"type":"user"}\n'))


@pytest.mark.parametrize("replace", [False, True])
def test_a_file_is_for_its_user_alone(tmp_path: Path, replace: bool) -> None:
    before = os.umask(0)
    try:
        size = bundle_file.write(tmp_path / "b", LINES, replace=replace)
    finally:
        os.umask(before)
    found = (tmp_path / "b").stat()
    assert (stat.S_IMODE(found.st_mode), found.st_size) == (0o600, size)
    assert [path.name for path in tmp_path.iterdir()] == ["b"]


def test_what_is_there_is_replaced_only_where_that_is_wanted(bundle: Path) -> None:
    before = bundle.read_bytes()
    with pytest.raises(FileExistsError):
        bundle_file.write(bundle, LINES[:3], replace=False)
    assert bundle.read_bytes() == before
    bundle_file.write(bundle, LINES[:3], replace=True)
    assert tuple(bundle_file.read(bundle)) == LINES[:3]


def test_without_links_what_is_there_stays_too(
    bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_links(*_: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    monkeypatch.setattr(os, "link", no_links)
    with pytest.raises(FileExistsError):
        bundle_file.write(bundle, LINES[:3], replace=False)
    other = bundle.with_name("other")
    bundle_file.write(other, LINES, replace=False)
    assert tuple(bundle_file.read(other)) == LINES
    assert {path.name for path in bundle.parent.iterdir()} == {"a.sidecar", "other"}


def test_a_link_is_replaced_and_not_followed(bundle: Path) -> None:
    target = bundle.with_name("target")
    target.write_text("mine")
    link = bundle.with_name("link")
    link.symlink_to(target)
    with pytest.raises(FileExistsError):
        bundle_file.write(link, LINES, replace=False)
    bundle_file.write(link, LINES, replace=True)
    assert (target.read_text(), link.is_symlink()) == ("mine", False)


def test_a_session_that_breaks_off_leaves_no_file(tmp_path: Path) -> None:
    def broken() -> Iterator[bytes]:
        yield LINES[0]
        raise OSError(errno.ENOSPC, "full")

    with pytest.raises(OSError, match="full"):
        bundle_file.write(tmp_path / "b", broken(), replace=False)
    assert list(tmp_path.iterdir()) == []


def test_what_is_too_large_is_neither_written_nor_read(
    bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bundle_file, "MOST_BYTES", 2000)
    with pytest.raises(BadRequest, match="cannot be exported"):
        bundle_file.write(bundle.with_name("b"), LINES, replace=False)
    assert not bundle.with_name("b").exists()
    with pytest.raises(BadRequest, match="cannot be imported"):
        list(bundle_file.read(bundle))
    monkeypatch.setattr(bundle_file, "MOST_BYTES", 100)
    with pytest.raises(BadRequest, match="cannot be imported"):
        list(bundle_file.read(bundle))


def test_a_bomb_is_given_up_early(tmp_path: Path) -> None:
    """Two gigabytes of a line, or of lines, in a file of some kilobytes."""
    for name, line in (("line", b"a" * 2**20), ("lines", b"a" * (2**20 - 1) + b"\n")):
        bomb = tmp_path / name
        press = zstandard.ZstdCompressor(level=1)
        with bomb.open("wb") as file, press.stream_writer(file) as out:
            for _ in range(2**31 // len(line)):
                out.write(line)
        assert bomb.stat().st_size < 2**20
        tracemalloc.start()
        with pytest.raises(BadRequest):
            sum(map(len, bundle_file.read(bomb)))
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 4 * bundle_file.LONGEST_LINE


def test_a_line_as_long_as_the_largest_request_is_read_and_none_much_longer(
    tmp_path: Path,
) -> None:
    fits, too_long = ((LINES[0], b"x" * size + b"\n") for size in (33_000_000, 38_000_000))
    bundle_file.write(tmp_path / "fits", fits, replace=False)
    assert tuple(bundle_file.read(tmp_path / "fits")) == fits
    with pytest.raises(BadRequest, match="cannot be exported"):
        bundle_file.write(tmp_path / "long", too_long, replace=False)
    (tmp_path / "plain").write_bytes(b"".join(too_long))
    with pytest.raises(BadRequest, match="a line is too long"):
        list(bundle_file.read(tmp_path / "plain"))


def test_a_window_that_no_bundle_has_is_refused(tmp_path: Path) -> None:
    parameters = zstandard.ZstdCompressionParameters(window_log=27, compression_level=1)
    press = zstandard.ZstdCompressor(compression_params=parameters)
    path = tmp_path / "wide"
    # Without its size, a frame claims its whole window.
    made = press.compressobj()
    path.write_bytes(made.compress(LINES[0]) + made.flush())
    with pytest.raises(BadRequest, match="memory"):
        list(bundle_file.read(path))


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(BadRequest, match="no file"):
            list(bundle_file.read(path))
    with pytest.raises(OSError, match="directory"):
        list(bundle_file.read(tmp_path))


@pytest.mark.parametrize("seed", range(60))
def test_no_damage_does_more_than_be_refused(bundle: Path, seed: int) -> None:
    chance = random.Random(seed)
    data = bytearray(bundle.read_bytes())
    match seed % 3:
        case 0:
            del data[chance.randrange(len(data)) :]
        case 1:
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        case _:
            data += chance.randbytes(chance.randint(1, 9))
    bundle.write_bytes(data)
    with pytest.raises(BadRequest):
        read_lines(bundle_file.read(bundle))
