"""`sidecar verify`, and what `--repair` makes of a damaged store, as people type it."""

import os
from pathlib import Path

import pytest

from tests.e2e.plain import PlainClient, Spawn
from tests.faults.forked import sidecar
from tests.store.on_disk import store_file

pytestmark = pytest.mark.long


@pytest.fixture
def data(tmp_path: Path, spawn: Spawn | None) -> Path:
    """A data folder with a session of a real daemon."""
    (tmp_path / "work").mkdir()
    client = PlainClient(tmp_path / "data", spawn=spawn)
    client.start(model="offline")
    name = client.request("session/new", {"cwd": str(tmp_path / "work")})["sessionId"]
    for words in ("remember the blue door", "list the files"):
        prompt = [{"type": "text", "text": words}]
        client.request("session/prompt", {"sessionId": name, "prompt": prompt})
    assert client.stop() == 0
    return tmp_path / "data"


def verify(data: Path, *arguments: str) -> tuple[int, str]:
    env = {**os.environ, "SIDECAR_DATA_DIR": str(data), "COLUMNS": "200", "TERM": "dumb"}
    done = sidecar("verify", *arguments, env=env, timeout=60)
    assert "Traceback" not in done.stderr
    return done.returncode, " ".join(done.stdout.split())


def test_a_sound_store_is_left_as_it_is(data: Path) -> None:
    code, said = verify(data, "--repair")
    assert (code, "nothing is missing" in said) == (0, True)
    assert not (data / "damaged").exists()


def test_a_damaged_page_is_found_and_the_rest_goes_on(data: Path, tmp_path: Path) -> None:
    file = store_file(data)
    page = 4096
    # A page of the parts, or of whatever else holds what was typed.
    at = file.read_bytes().index(b"remember the blue door") // page * page
    with file.open("r+b") as handle:
        handle.seek(at)
        handle.write(os.urandom(page))
    damaged = file.read_bytes()
    code, said = verify(data)
    assert code == 1
    assert "sidecar verify --repair" in said
    code, said = verify(data, "--repair")
    assert code == 0
    assert "put aside" in said
    (aside,) = (data / "damaged").iterdir()
    assert str(aside) in said
    assert store_file(aside).read_bytes() == damaged
    assert "1 sessions" in said
    assert "of the file cannot be read" in said
    assert verify(data)[0] == 0
    client = PlainClient(data)
    client.start(model="offline")
    (listed,) = client.request("session/list", {})["sessions"]
    name = listed["sessionId"]
    client.request("session/load", {"sessionId": name})
    prompt = [{"type": "text", "text": "and now?"}]
    done = client.request("session/prompt", {"sessionId": name, "prompt": prompt})
    assert done["stopReason"] == "end_turn"
    assert client.stop() == 0


def test_what_is_no_store_at_all_is_put_aside(data: Path) -> None:
    store_file(data).write_bytes(b"This is no database. " * 1000)
    code, said = verify(data)
    assert (code, "--repair" in said) == (1, True)
    code, said = verify(data, "--repair")
    assert (code, "0 sessions" in said, "first page cannot be read" in said) == (0, True, True)
    assert verify(data)[0] == 0


def test_a_store_in_use_is_left_alone(data: Path) -> None:
    client = PlainClient(data)
    client.start(model="offline")
    client.request("session/list", {})
    with store_file(data).open("r+b") as handle:
        handle.seek(8192)
        handle.write(os.urandom(4096))
    code, said = verify(data, "--repair")
    assert (code, "Close every editor" in said) == (1, True)
    client.kill()
