"""Commands whose folders are missing, no folders, or not to be written: one sentence, no trace."""

import os
import subprocess
from pathlib import Path

import pytest

from tests.commands.everything import LIMIT, PROGRAM, Past, environment
from tests.faults.forked import sidecar

pytestmark = pytest.mark.long

UNPRIVILEGED = ("setpriv", "--bounding-set", "-all", "--inh-caps", "-all")
"""Has root heed what files allow."""


def run(
    folder: Path, env: dict[str, str], *arguments: str, before: tuple[str, ...] = ()
) -> subprocess.CompletedProcess[str]:
    if before:
        done = subprocess.run(
            [*before, PROGRAM, *arguments],
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT,
        )
    else:
        done = sidecar(*arguments, cwd=folder, env=env, timeout=LIMIT)
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    return done


def refuses(done: subprocess.CompletedProcess[str]) -> str:
    said = done.stdout + done.stderr
    assert done.returncode in (1, 2), said
    assert said.count("\n") == 1, said
    return said


COMMANDS = (
    ("sessions",),
    *((name, "ses_none") for name in ("inspect", "report", "audit", "checkpoints", "diff")),
    ("restore", "ses_none", "--last", "--yes"),
    *((name, "ses_none") for name in ("export", "archive", "delete")),
    ("prune",),
    ("config", "init"),
)


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda words: words[0])
def test_where_a_file_stands_in_the_place_of_a_folder(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "file").write_text("")
    env = {**environment(tmp_path / "file" / "data"), "XDG_CONFIG_HOME": str(tmp_path / "file")}
    assert str(tmp_path / "file") in refuses(run(tmp_path, env, *arguments))


def test_what_may_only_be_read_is_read_and_the_rest_says_why(tmp_path: Path) -> None:
    before = UNPRIVILEGED if os.geteuid() == 0 else ()
    folder = tmp_path / "work"
    folder.mkdir()
    past = Past(tmp_path / "home" / "data", folder, ("Hello there",))
    past.data.parent.mkdir()
    past.live(1)
    (session,) = past.sessions
    env = environment(past.data)
    parts = [past.data.parent, past.data, *past.data.rglob("*")]
    modes = {path: path.stat().st_mode for path in parts if not path.is_symlink()}
    try:
        for path, mode in modes.items():
            path.chmod(mode & 0o555)
        for arguments in (("sessions",), ("inspect", session), ("audit", session), ("verify",)):
            assert run(folder, env, *arguments, before=before).returncode == 0
        for name in ("report", "export", "archive", "restore", "delete"):
            more = {"restore": ("--last", "--yes"), "delete": ("--yes",)}.get(name, ())
            said = refuses(run(folder, env, name, session, *more, before=before))
            assert "cannot be" in said
        assert "cannot be written" in refuses(run(folder, env, "config", "init", before=before))
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


def test_what_is_not_there_is_not_asked_about(tmp_path: Path) -> None:
    past = Past(tmp_path / "data", tmp_path, ("Hello there",))
    past.live(1)
    done = run(tmp_path, environment(past.data), "delete", past.sessions[0], "nope")
    assert done.returncode == 1
    assert "There is no session whose id is, or begins with, “nope”." in done.stdout
    assert "Delete" not in done.stdout
    assert run(tmp_path, environment(past.data), "inspect", past.sessions[0]).returncode == 0
