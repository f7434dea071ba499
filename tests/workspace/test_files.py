"""Reading and writing: bytes are kept, binaries refused, a write is whole or not at all."""

import os
import resource
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from sidecar.core.errors import BadRequest
from sidecar.workspace import files
from sidecar.workspace.files import legible, newline, read_lines, read_text, write_atomically


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"a\n",
        b"a",
        b"a\r\nb\r\n",
        "\ufeffé漢😀\n".encode(),
        b"caf\xe9 au lait\n",
        b"\x1b[0m\n",
    ],
)
def test_what_is_read_is_written_back_byte_for_byte(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "a"
    path.write_bytes(data)
    write_atomically(path, read_text(path))
    assert path.read_bytes() == data


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0\0", "binary"),
        (bytes(range(128, 256)) * 3, "binary"),
        ("text".encode("utf-16"), "UTF-16"),
    ],
)
def test_what_is_no_text_is_refused(tmp_path: Path, data: bytes, word: str) -> None:
    (tmp_path / "a").write_bytes(data)
    with pytest.raises(BadRequest, match=word):
        read_text(tmp_path / "a")
    with pytest.raises(BadRequest, match=word):
        read_lines(tmp_path / "a", 1, 1)


def test_a_large_file_is_read_in_lines(tmp_path: Path) -> None:
    path = tmp_path / "a"
    with path.open("wb") as file:
        file.write(b"first\n")
        for _ in range(20):
            file.write(b"x" * 1024 * 1024 + b"\n")
        file.write(b"last\n")
    with pytest.raises(BadRequest, match="offset and limit"):
        read_text(path)
    assert read_lines(path, 1, 1) == files.FileLines("first\n", more=True)
    assert read_lines(path, 22, None) == files.FileLines("last\n", more=False)
    most = read_lines(path, 1, None)
    assert most.more
    assert len(most.text) == files.MAX_FILE


def test_so_many_lines_of_a_file_are_read_at_once(tmp_path: Path) -> None:
    """Of sixteen million empty ones each took memory of its own."""
    path = tmp_path / "a"
    path.write_bytes(b"\n" * 300_000)
    most = files.MOST_LINES
    assert read_lines(path, 1, None) == files.FileLines("\n" * most, more=True)
    assert read_lines(path, most, 10**9) == files.FileLines("\n" * (300_001 - most), more=False)


@pytest.mark.parametrize("lines", [1, 2, 65_535, 65_536, 65_537, 199_999, 200_000, 200_001])
def test_lines_before_are_passed_over_by_blocks(tmp_path: Path, lines: int) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"".join(b"%d\n" % number for number in range(1, 200_001)))
    expected = f"{lines}\n" if lines <= 200_000 else ""
    assert read_lines(path, lines, 1) == files.FileLines(expected, more=lines < 200_000)


def test_lines_of_a_file_are_read_and_whether_more_follow_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("1\n2\n3")
    assert read_lines(path, 1, 2) == files.FileLines("1\n2\n", more=True)
    assert read_lines(path, 2, 2) == files.FileLines("2\n3", more=False)
    assert read_lines(path, 3, None) == files.FileLines("3", more=False)
    assert read_lines(path, 4, 1) == files.FileLines("", more=False)


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(BadRequest, match="no regular file"):
        read_text(tmp_path / "pipe")
    with pytest.raises(IsADirectoryError):
        read_text(tmp_path)
    with pytest.raises(BadRequest, match="no regular file"):
        read_text(Path("/dev/zero"))


def test_a_link_in_place_of_a_resolved_path_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out/a").write_text("secret")
    (tmp_path / "in/a").symlink_to("../out/a")
    (tmp_path / "in/folder").symlink_to("../out")
    for path in (tmp_path / "in/a", tmp_path / "in/folder/a"):
        with pytest.raises(OSError, match=r"symbolic links|moved"):
            read_text(path)
    with pytest.raises(OSError, match=r"Not a directory|symbolic links|moved"):
        write_atomically(tmp_path / "in/folder/b", "x")
    assert sorted(os.listdir(tmp_path / "out")) == ["a"]


def test_writing_replaces_a_link_rather_than_follow_it(tmp_path: Path) -> None:
    (tmp_path / "target").write_text("theirs")
    (tmp_path / "a").symlink_to("target")
    with pytest.raises(BadRequest):
        write_atomically(tmp_path / "a", "x")
    assert (tmp_path / "target").read_text() == "theirs"


def test_the_mode_stays_and_a_new_file_follows_the_umask(
    tmp_path: Path, umask: Callable[[int], None]
) -> None:
    umask(0o027)
    script = tmp_path / "run.sh"
    script.write_text("old")
    script.chmod(0o755)
    write_atomically(script, "new")
    assert stat.S_IMODE(script.stat().st_mode) == 0o755
    write_atomically(tmp_path / "deep/er/new", "x")
    assert stat.S_IMODE((tmp_path / "deep/er/new").stat().st_mode) == 0o640


@pytest.fixture
def umask(request: pytest.FixtureRequest) -> Callable[[int], None]:
    def change(mask: int) -> None:
        before = os.umask(mask)
        request.addfinalizer(lambda: os.umask(before))

    return change


def test_a_failed_write_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(tmp_path / "a", "\ud800")
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError):
        write_atomically(tmp_path / "folder", "x")
    assert sorted(os.listdir(tmp_path)) == ["a", "folder"]
    assert (tmp_path / "a").read_text() == "old"


def test_a_disk_that_takes_no_more_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            write_atomically(tmp_path / "a", "x" * 5000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert os.listdir(tmp_path) == ["a"]
    assert (tmp_path / "a").read_text() == "old"


def test_a_file_in_place_of_a_folder(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("old")
    with pytest.raises((FileExistsError, NotADirectoryError)):
        write_atomically(tmp_path / "a/b", "x")


def test_line_endings_and_legible_text() -> None:
    assert newline("a\r\nb\r\nc\n") == "\r\n"
    assert newline("a\r\nb\n") == "\n"
    assert newline("a") == "\n"
    assert legible("\ufeffa\r\nb\rc") == "a\nb\rc"
    assert legible("caf\udce9") == "caf\ufffd"
