"""What is opened by a resolved path is there, and no link leads to it, in whichever way."""

import ctypes
import errno
import os
import sys
from pathlib import Path

import pytest

from sidecar.workspace import unlinked_open
from sidecar.workspace.unlinked_open import link_straight, open_straight, stat_straight
from sidecar.workspace.unlinked_path import WAY, PathMoved
from tests.workspace.opening import OPENING

READ = os.O_RDONLY | os.O_CLOEXEC


@pytest.fixture(params=["in one call", "folder by folder"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways; the second is that of a system without the call."""
    if request.param == "folder by folder":
        monkeypatch.setattr(unlinked_open, "_syscall", lambda: None)
    return str(request.param)


@pytest.fixture
def top(tmp_path: Path) -> bytes:
    real = Path(os.path.realpath(tmp_path))
    (real / "a/b").mkdir(parents=True)
    (real / "a/b/file").write_bytes(b"ours")
    (real / "a/b/to").symlink_to("file")
    (real / "link").symlink_to("a")
    return os.fsencode(real)


def knows_the_call() -> bool:
    """Ask with arguments that every system refuses which has the call."""
    if sys.platform != "linux":
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.syscall(ctypes.c_long(437), -100, b"/", None, ctypes.c_size_t(0)) == -1
    return ctypes.get_errno() not in (errno.ENOSYS, errno.EPERM)


def content(descriptor: int) -> bytes:
    with open(descriptor, "rb") as file:
        return file.read()


def test_what_is_there_is_opened(top: bytes) -> None:
    assert content(open_straight(top + b"/a/b/file", READ)) == b"ours"
    assert stat_straight(top + b"/a/b/file") == os.lstat(top + b"/a/b/file")
    assert stat_straight(top + b"/a/b/to") == os.lstat(top + b"/a/b/to")
    assert link_straight(top + b"/a/b/to") == (os.lstat(top + b"/a/b/to"), b"file")
    os.close(open_straight(top, WAY))


def test_names_that_are_no_text(top: bytes) -> None:
    odd = top + b"/caf\xe9\xff"
    os.mkdir(odd)
    with open(odd + b"/x", "wb") as file:
        file.write(b"odd")
    assert content(open_straight(odd + b"/x", READ)) == b"odd"


@pytest.mark.parametrize("path", [b"/link/b/file", b"/a/b/to", b"/link/b"])
def test_nothing_is_opened_through_a_link(top: bytes, path: bytes) -> None:
    with pytest.raises(PathMoved, match="moved while it was opened"):
        open_straight(top + path, READ)


@pytest.mark.parametrize("path", [b"/link/b/file", b"/link/b/to", b"/link/b"])
def test_nothing_is_looked_at_through_a_link(top: bytes, path: bytes) -> None:
    with pytest.raises(PathMoved):
        stat_straight(top + path)
    with pytest.raises(PathMoved):
        link_straight(top + path)


def test_what_is_not_there_is_told_apart(top: bytes) -> None:
    for act in (lambda path: open_straight(path, READ), stat_straight, link_straight):
        with pytest.raises(FileNotFoundError):
            act(top + b"/a/missing")
        with pytest.raises(FileNotFoundError):
            act(top + b"/missing/b")
        with pytest.raises(NotADirectoryError):
            act(top + b"/a/b/file/c")


@pytest.mark.usefixtures("modes_hold")
def test_what_is_closed_is_no_link(top: bytes) -> None:
    os.chmod(top + b"/a/b/file", 0)
    with pytest.raises(PermissionError) as caught:
        open_straight(top + b"/a/b/file", READ)
    assert not isinstance(caught.value, PathMoved)


def test_linux_needs_one_call(top: bytes, way: str) -> None:
    """A read must cost no more than it did: folder by folder is three times as dear."""
    if not knows_the_call():
        pytest.skip("this system has no such call, or forbids it")
    with OPENING.counted() as opened:
        os.close(open_straight(top + b"/a/b/file", READ))
    assert opened.count == 1 if way == "in one call" else opened.count > 3
