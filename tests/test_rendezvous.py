"""Sockets of daemons that were killed hold nobody up."""

import errno
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

from sidecar.config.loading import user_file
from sidecar.daemon import attach, rendezvous
from sidecar.daemon.choice import own_file
from sidecar.daemon.rendezvous import listening, paths_beside, reached, stopping_path


def test_a_new_socket_takes_the_place_of_dead_ones_and_of_no_living(tmp_path: Path) -> None:
    path = str(tmp_path / "0123abcd.sock")
    dead, other = str(tmp_path / "0123abcd.1.sock"), str(tmp_path / "4567abcd.1.sock")
    for old in (path, dead, other):
        listening(old).close()
    with listening(path) as leaving:
        # Only its own kind is looked at.
        assert paths_beside(path) == [path]
        assert os.path.lexists(other)
        os.rename(path, stopping_path(path))
        with listening(path):
            assert paths_beside(path) == [path, stopping_path(path)]
            connection = reached(stopping_path(path))
            assert connection is not None
            connection.close()
            assert leaving.fileno() != -1


def test_a_daemon_that_answers_nothing_is_waited_for_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As one that is stopped by SIGSTOP."""
    path = str(tmp_path / "0123abcd.sock")
    monkeypatch.setattr(attach, "GREETING", 0.1)
    monkeypatch.setattr(attach, "socket_path", lambda *_: path)
    with listening(path) as hanging:
        assert attach.attach() == 1
        assert capsys.readouterr().err == (
            f"sidecar: no shared daemon: that on {path} does not answer\n"
        )
        hanging.setblocking(False)
        hanging.accept()[0].close()
        with pytest.raises(BlockingIOError):
            hanging.accept()


@pytest.mark.parametrize("space", ["--mount", "--net", "--pid"])
def test_a_container_shares_no_daemon_with_its_host(space: str, tmp_path: Path) -> None:
    """Its home may be the same, and its programs others."""
    tell = "from sidecar.daemon.rendezvous import socket_path; "
    told = [
        sys.executable,
        "-c",
        f"{tell}print(socket_path(dict(XDG_RUNTIME_DIR='{tmp_path}'), '1'))",
    ]
    unshare = ["unshare", "--user", "--map-current-user", "--fork", space]
    if (
        shutil.which("unshare") is None
        or subprocess.run([*unshare, "true"], check=False).returncode
    ):
        pytest.skip("no other namespace can be had here")
    paths = [
        subprocess.run(command, capture_output=True, text=True, check=True).stdout
        for command in (told, told, [*unshare, *told])
    ]
    assert paths[0] == paths[1] != paths[2]
    # Beside the others, in the same folder.
    assert Path(paths[2]).parent == Path(paths[0]).parent


@contextmanager
def hanging(path: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with listening(path):
        yield


@contextmanager
def full(path: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As many wait already as may."""
    monkeypatch.setattr(rendezvous, "BACKLOG", 0)
    with listening(path), socket.socket(socket.AF_UNIX) as waiting:
        waiting.connect(path)
        yield


@contextmanager
def locked(path: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As by a process that is stopped while it starts a daemon."""
    with rendezvous.Locked(path, 1):
        yield


@contextmanager
def of_another(path: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(rendezvous, "user_of", lambda _: os.getuid() + 1)
    with listening(path):
        yield


@contextmanager
def ending(path: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A daemon that ends as soon as it is started."""
    monkeypatch.setattr(attach, "_spawn", lambda *_: None)
    yield


@contextmanager
def unlike_sockets(path: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A file system without sockets."""

    class Unbound(socket.socket):
        def bind(self, _: object) -> None:
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(socket, "socket", Unbound)
    yield


@pytest.mark.parametrize(
    ("prepare", "why"),
    [
        (hanging, "does not answer"),
        (full, "none has taken this window"),
        (locked, "another process holds"),
        (of_another, "is another user's"),
        (ending, "none has taken this window|did not start"),
        (unlike_sockets, "Operation not permitted"),
    ],
)
def test_no_daemon_that_a_window_may_share_is_waited_for_long(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    prepare: Callable[[str, pytest.MonkeyPatch], AbstractContextManager[None]],
    why: str,
) -> None:
    path = str(tmp_path / "0123abcd.sock")
    monkeypatch.setattr(attach, "SOON", 0.5)
    monkeypatch.setattr(attach, "socket_path", lambda *_: path)
    begun = time.monotonic()
    with prepare(path, monkeypatch), pytest.raises(attach.Alone, match=why) as alone:
        attach.attach_if_possible()
    assert alone.value.said == b""
    assert time.monotonic() - begun < 5


@pytest.mark.parametrize("named", [None, "", " ", "/somewhere/else", "some/where"])
def test_a_tap_finds_the_users_settings_where_all_others_do(
    named: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    if named is not None:
        monkeypatch.setenv("XDG_CONFIG_HOME", named)
    assert own_file(os.environ) == str(user_file())
