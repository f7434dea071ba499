"""`sidecar export` and `sidecar import` as people run them."""

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.commands.everything import daemon
from tests.e2e.plain import say
from tests.faults.forked import sidecar

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
SERVE = (sys.executable, "-m", "sidecar", "serve", "--stdio", "--alone")
LIMIT = 120


def environment(data: Path) -> dict[str, str]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith("ANTHROPIC_")}
    path = f"{ROOT}:{ROOT / 'clients/python/src'}"
    return {**clean, "SIDECAR_DATA_DIR": str(data), "COLUMNS": "200", "PYTHONPATH": path}


def run(data: Path, cwd: Path, *arguments: str) -> tuple[int, str]:
    """Run a command to its end; it must never show a traceback."""
    done = sidecar(*arguments, cwd=cwd, env=environment(data), timeout=LIMIT)
    assert "Traceback" not in done.stdout + done.stderr, done.stderr
    assert done.stderr == ""
    return done.returncode, done.stdout


def spoken(data: Path, folder: Path, words: str, *, title: str, **options: Any) -> str:
    """Make a session of one turn in a store."""
    client = daemon(data, environment(data), **options)
    about = {"cwd": str(folder), "title": title}
    session = str(client.request("session/new", about)["sessionId"])
    say(client, session, words)
    assert client.stop() == 0, client.stderr
    return session


@pytest.fixture
def session(tmp_path: Path, folder: Path) -> str:
    """A session of one turn in the first store."""
    return spoken(tmp_path / "data", folder, "Hello there", title="Say hello")


def test_a_session_goes_from_one_store_to_another(
    tmp_path: Path, folder: Path, session: str
) -> None:
    code, told = run(tmp_path / "data", folder, "export", session, "hello.sidecar")
    path = folder / "hello.sidecar"
    assert (code, told.splitlines()[0].split("  ")[0]) == (0, str(path))
    assert "can go back in the conversation, but not in files" in told.replace("\n", " ")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    code, told = run(tmp_path / "data", folder, "export", session, "hello.sidecar")
    assert (code, "there already" in told) == (1, True)
    code, _ = run(tmp_path / "data", folder, "export", session, "hello.sidecar", "--overwrite")
    assert code == 0
    code, told = run(tmp_path / "other", folder, "import", "hello.sidecar")
    made = told.split()[0]
    assert (code, made.startswith("ses_"), made != session) == (0, True, True)
    code, told = run(tmp_path / "other", folder, "sessions")
    assert (code, made in told, "Say hello" in told) == (0, True, True)
    assert run(tmp_path / "other", folder, "verify")[0] == 0


def test_the_beginning_of_an_id_or_the_newest_session_will_do(
    tmp_path: Path, folder: Path, session: str
) -> None:
    data = tmp_path / "data"
    for number, named in enumerate(((session[:-3],), (session[4:-3],), (".",), ("--last",), ())):
        code, told = run(data, folder, "export", *named)
        assert (code, session in told) == (0, True), (number, told)
    code, told = run(data, folder, "checkpoints", session[:-3], "--json")
    assert (code, json.loads(told)["checkpoints"] != []) == (0, True)
    spoken(data, folder, "Again", title="Say it again")
    code, told = run(data, folder, "export", "ses_")
    assert (code, "give more of it" in told, "Say hello" in told) == (1, True, True)
    # Whatever takes sessions away takes ids alone: a script's name may be empty, or a folder's.
    for named in ("ses_", "", " ", ".", str(folder)):
        code, told = run(data, folder, "delete", named, "--yes")
        assert (code, "Nothing was deleted" in told) == (1, True), named
        assert run(data, folder, "archive", named)[0] == 1


def test_without_a_path_it_goes_to_the_data_folder(
    tmp_path: Path, folder: Path, session: str
) -> None:
    code, told = run(tmp_path / "data", folder, "export", session)
    path = Path(told.splitlines()[0].split("  ")[0])
    assert (code, path.parent, path.is_file()) == (0, tmp_path / "data/exports", True)
    # An export, a folder of them, and a session by its id are recordings as any other.
    for named in (str(path), str(path.parent), session[:-3]):
        code, told = run(tmp_path / "data", folder, "replay", named, "--json")
        assert code == 0, told
        assert [one["session"] for one in json.loads(told)["sessions"]] == [session]


def test_another_agents_recording_is_taken_in(tmp_path: Path, folder: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    line = {"role": "user", "origin": "human", "parts": [{"type": "text", "text": "Hi you"}]}
    (folder / "theirs.jsonl").write_text(json.dumps(line) + "\n")
    given = ("theirs.jsonl", "--cwd", str(elsewhere), "--format", "neutral")
    code, told = run(tmp_path / "data", folder, "import", *given)
    assert (code, "(neutral)" in told) == (0, True)
    code, told = run(tmp_path / "data", elsewhere, "sessions", "--here")
    assert (code, "Hi you" in told) == (0, True)


def test_of_a_folder_the_recordings_are_listed_by_title(tmp_path: Path, folder: Path) -> None:
    line = {"role": "user", "origin": "human", "parts": [{"type": "text", "text": "Hi you"}]}
    theirs, storage = folder / "theirs", folder / "theirs/storage"
    for part in ("message", "part"):
        (storage / part).mkdir(parents=True)
        (storage / part / "one.json").write_text("{}")
    (theirs / "a.jsonl").write_text(json.dumps(line) + "\n")
    code, told = run(tmp_path / "data", folder, "import", "theirs")
    assert (code, "neutral  Hi you" in told, "theirs/a.jsonl" in told) == (1, True, True)
    assert told.count("opencode export") == 1
    assert "one.json" not in told
    code, told = run(tmp_path / "data", folder, "import", "theirs/storage/part/one.json")
    assert (code, "opencode export" in told) == (1, True)
    empty = tmp_path / "empty"
    empty.mkdir()
    code, told = run(tmp_path / "data", folder, "import", str(empty))
    assert (code, "There is no recording in" in told) == (1, True)


def test_what_cannot_be_done_is_said(tmp_path: Path, folder: Path) -> None:
    code, told = run(tmp_path / "data", folder, "export", "ses_none")
    assert (code, "There are no sessions in" in told) == (1, True)
    code, told = run(tmp_path / "data", folder, "import", "none.sidecar")
    assert (code, "No such file" in told) == (1, True)
