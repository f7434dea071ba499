"""Sockets of daemons that were killed hold nobody up."""

import os
import sys
from pathlib import Path

import pytest

if sys.platform == "win32":
    pytest.skip("the socket is a Unix socket", allow_module_level=True)

from sidecar.cli import main
from sidecar.daemon import attach, serving
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


def test_a_window_on_windows_has_a_daemon_of_its_own(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    served: list[bool] = []
    monkeypatch.setattr(serving, "serve_stdio", lambda: served.append(True))
    monkeypatch.setattr(attach, "attach", lambda: 1)
    monkeypatch.setattr(os, "_exit", sys.exit)
    monkeypatch.setattr(sys, "argv", ["sidecar", "serve", "--stdio", "--shared"])
    monkeypatch.setattr(sys, "platform", "win32")
    main()
    assert served == [True]
    assert "this window has its own" in capsys.readouterr().err
