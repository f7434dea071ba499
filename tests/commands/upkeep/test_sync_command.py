"""`sidecar sync` as people run it."""

import json
from pathlib import Path

import pytest

from tests.commands.upkeep.test_moving_command import environment
from tests.commands.upkeep.test_moving_command import spoken as speak
from tests.e2e.sync_users import bare, git, refs
from tests.faults.forked import sidecar

pytestmark = pytest.mark.long

LIMIT = 120


def run(user: Path, *arguments: str, typed: str = "") -> tuple[int, str]:
    """Run a command in a user's clone; it must never show a traceback."""
    given = {**environment(user / "data"), "HOME": str(user)}
    done = sidecar(*arguments, cwd=user / "project", env=given, timeout=LIMIT, stdin=typed)
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    return done.returncode, done.stdout


@pytest.fixture
def users(tmp_path: Path) -> tuple[Path, Path]:
    remote = bare(tmp_path / "remote.git")
    for name in ("ada", "bob"):
        (tmp_path / name).mkdir()
        git("clone", "--quiet", str(remote), "project", cwd=tmp_path / name)
    return tmp_path / "ada", tmp_path / "bob"


def test_a_session_is_synced_by_hand(users: tuple[Path, Path], tmp_path: Path) -> None:
    ada, bob = users
    remote = tmp_path / "remote.git"
    session = spoken(ada)
    code, told = run(ada, "sync", str(remote), typed="n\n")
    assert (code, "would go" in told, "Nothing was sent." in told) == (1, True, True)
    assert refs(remote) == {}
    code, told = run(ada, "sync", str(remote), "--dry-run")
    assert (code, session in told, refs(remote)) == (0, True, {})
    code, told = run(ada, "sync", str(remote), "--snapshots", typed="n\n")
    assert (code, "what their files held" in " ".join(told.split()), refs(remote)) == (1, True, {})
    code, told = run(ada, "sync", str(remote), typed="y\n")
    assert (code, "sent:" in told, refs(remote).keys()) == (0, True, {session})
    code, told = run(ada, "sync", str(remote), "--session", session[:-4])
    assert (code, "Nothing to do" in told) == (0, True)
    assert run(ada, "sync", str(remote), "--session", "nobody")[0] == 1
    code, told = run(bob, "sync", str(remote), "--list")
    assert (code, session in told, "Say hello" in told) == (0, True, True)
    code, told = run(bob, "sync", str(remote), "--open", session, "--yes", "--json")
    (came,) = json.loads(told)["received"]
    assert (code, came["name"]) == (0, session)
    for user in users:
        code, told = run(user, "doctor")
        assert f"{remote}:1sessionof{user / 'project'}" in "".join(told.split())
        assert run(user, "verify")[0] == 0
    assert run(ada, "delete", session, "--yes")[0] == 0
    code, told = run(ada, "doctor")
    assert "1deletedherewaittoberemovedthere" in "".join(told.split())
    code, told = run(ada, "sync", str(remote))
    assert (code, "removed there" in told, refs(remote)) == (0, True, {})


def test_a_remote_that_cannot_be_had_is_a_sentence(users: tuple[Path, Path]) -> None:
    ada, _ = users
    spoken(ada)
    for remote in ("nowhere", "ext::sh", "/does/not/exist"):
        code, told = run(ada, "sync", remote)
        assert (code, len(told.splitlines()) <= 2) == (1, True), told


def spoken(user: Path) -> str:
    return speak(user / "data", user / "project", "Hello there", title="Say hello")
