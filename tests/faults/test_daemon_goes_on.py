"""What happens around a running daemon: it says so plainly, answers on, and recovers by itself."""

import json
import os
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.lines import LineClient
from tests.e2e.plain import PlainClient, Refused, Spawn
from tests.faults import crowd
from tests.faults.place import Place
from tests.faults.test_restore_disk_full import fill, small_disk
from tests.figures import Figures
from tests.store.on_disk import store_file

pytestmark = pytest.mark.long

spawn = crowd.spawn

FLOOD = int(os.environ.get("SIDECAR_FLOOD", "300000000"))
"""Bytes that a tool prints; the long run has 10 GB."""
MEBIBYTE = 1 << 20


@pytest.fixture
def begin(tmp_path: Path, spawn: Spawn | None) -> Iterator[Callable[[], Place]]:
    """Make a place once a test has prepared its disk; its daemon must end cleanly."""
    made: list[Place] = []

    def make() -> Place:
        made.append(Place(tmp_path, spawn))
        return made[-1]

    yield make
    for place in made:
        if place.client.process.poll() is None:
            assert place.client.stop() == 0, place.client.stderr
        place.client.close()


def refused(act: Callable[[], Any]) -> Refused:
    with pytest.raises(Refused) as caught:
        act()
    return caught.value


def outcome(act: Callable[[], Any]) -> str | None:
    """Give why something is refused, or nothing."""
    try:
        act()
    except Refused as refusal:
        return str(refusal)
    return None


def answers(place: Place) -> None:
    """It answers whatever needs no disk, and says what it is doing."""
    status = place.client.request("daemon/status", {})
    assert status["pid"] == place.client.pid
    place("context/meter")
    place("context/preview")


def typed(place: Place) -> list[str]:
    """What the user typed, as a fresh daemon tells it."""
    place.client.kill()
    client = place.daemon()
    place("session/load")
    return [u["content"]["text"] for u in client.updates("user_message_chunk")]


def memory(pid: int, which: str = "VmHWM") -> int:
    """The most memory that a process has had, or the room that it takes up, in bytes."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(which))


restarts = pytest.mark.parametrize("spawn", ["alone"], indirect=True)
"""What a new daemon finds: a shared one goes on while windows come and go."""


@contextmanager
def little_memory(client: PlainClient) -> Iterator[str]:
    """Leave a daemon two MiB more than it has; gives what is larger than all its heaps too."""
    pid = client.pid
    _, hard = resource.prlimit(pid, resource.RLIMIT_AS)
    most = memory(pid, "VmSize") + 2 * MEBIBYTE
    resource.prlimit(pid, resource.RLIMIT_AS, (most, hard))
    yield "x" * 60 * MEBIBYTE
    resource.prlimit(pid, resource.RLIMIT_AS, (hard, hard))


def test_a_daemon_goes_on_once_a_full_disk_has_room(
    tmp_path: Path, begin: Callable[[], Place]
) -> None:
    with small_disk(tmp_path / "data", "6m"):
        place = begin()
        place.say("before it was full")
        filler = fill(place.data)
        full = refused(lambda: [place.say("while it is full " + os.urandom(40_000).hex())])
        assert full.data["kind"] == "full"
        assert "Free some space and try again" in str(full)
        answers(place)
        assert place.client.request("session/list", {})["sessions"]
        filler.unlink()
        place.say("after it was full")
        told = typed(place)
        assert told[0] == "before it was full"
        assert told[-1] == "after it was full"
        assert place.client.stop() == 0


@restarts
def test_the_disk_is_full_when_the_daemon_ends(tmp_path: Path, begin: Callable[[], Place]) -> None:
    with small_disk(tmp_path / "data", "6m"):
        place = begin()
        place.say("before it was full")
        fill(place.data)
        assert place.client.stop() == 0


def test_a_daemon_goes_on_once_files_may_grow_again(begin: Callable[[], Place]) -> None:
    place = begin()
    place.say("before")
    pid = place.client.pid
    _, hard = resource.prlimit(pid, resource.RLIMIT_FSIZE)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, hard))
    limited = refused(lambda: place.say("while files may not grow"))
    assert limited.data["kind"] in ("full", "io")
    assert "again" in str(limited)
    answers(place)
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (hard, hard))
    place.say("after")
    assert typed(place)[-1] == "after"


def remount(folder: Path, how: str) -> None:
    subprocess.run(["mount", "-o", f"remount,{how}", str(folder)], check=True, timeout=30)


@restarts
def test_the_folder_becomes_read_only(tmp_path: Path, begin: Callable[[], Place]) -> None:
    with small_disk(tmp_path / "data", "16m"):
        place = begin()
        place.say("before")
        # A file that is open for writing keeps a disk from becoming read-only.
        place.client.kill()
        remount(place.data, "ro")
        place.daemon()
        assert place("session/load", replay=False)["readOnly"] is True
        refusal = refused(lambda: place.say("while it is read-only"))
        assert "read-only" in str(refusal)
        assert "SIDECAR_DATA_DIR" in str(refused(place.open))
        answers(place)
        place.client.kill()
        remount(place.data, "rw")
        place.daemon()
        place("session/load", replay=False)
        place.say("after")
        assert typed(place) == ["before", "after"]
        assert place.client.stop() == 0


def test_a_daemon_goes_on_after_descriptors_ran_out(begin: Callable[[], Place]) -> None:
    place = begin()
    place.say("before")
    place.client.request("session/list", {})
    pid = place.client.pid
    soft, hard = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    # Below every gap between the open ones: nothing that is closed meanwhile makes room.
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, hard))
    place.say("while there are none")
    place.say("run `echo hi`")
    assert place.client.request("session/list", {})["sessions"]
    assert "Too many open files" in str(refused(lambda: place("session/export")))
    answers(place)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (soft, hard))
    place.say("after")
    assert typed(place) == ["before", "while there are none", "run `echo hi`", "after"]


def test_there_is_no_memory_for_a_message(begin: Callable[[], Place]) -> None:
    place = begin()
    place.say("before")
    place.client.request("session/list", {})
    with little_memory(place.client) as large:
        for _ in range(2):
            assert "not enough memory" in str(refused(lambda: place.say(large)))
            place.show(place.root / "large.txt", large)
            answers(place)
    place.say("after")
    assert "notification refused: textDocument/didOpen: There was not" in place.client.stderr
    assert typed(place) == ["before", "after"]


def test_there_is_no_memory_for_a_line(tmp_path: Path) -> None:
    client = LineClient(tmp_path)
    client.start()
    session = client.open(tmp_path)
    client.say(session, "before")
    with little_memory(client) as large:
        for _ in range(2):
            assert "not enough memory" in str(refused(lambda: client.say(session, large)))
            assert client.request("session/list", {})["sessions"]
    assert client.say(session, "after")["stopReason"] == "end_turn"
    assert client.stop() == 0


@restarts
def test_the_data_folder_is_deleted(begin: Callable[[], Place]) -> None:
    place = begin()
    place.say("before")
    shutil.rmtree(place.data)
    gone = refused(lambda: place.say("while it is gone"))
    assert "it was deleted or replaced" in str(gone)
    assert "it was deleted or replaced" in str(refused(place.open))
    answers(place)
    assert place.client.stop() == 0
    place.daemon()
    place.open()
    place.say("in a new one")
    assert typed(place) == ["in a new one"]


def test_the_data_folder_is_away_for_a_while(begin: Callable[[], Place]) -> None:
    place = begin()
    place.say("before")
    away = place.data.with_name("away")
    place.data.rename(away)
    assert "Put it back" in str(refused(lambda: place.say("while it is away")))
    away.rename(place.data)
    place.say("after")
    told = typed(place)
    assert (told[0], told[-1]) == ("before", "after")


@restarts
def test_a_daemon_goes_on_when_the_clock_jumps(tmp_path: Path, begin: Callable[[], Place]) -> None:
    place = begin()
    offset = tmp_path / "offset"
    place.client.kill()
    year = 365 * 24 * 3600
    said, numbers = [], []
    for number, jump in enumerate((0, -year, 10 * year, -30 * year, 60, 0)):
        offset.write_text(str(jump))
        client = place.daemon(SIDECAR_CLOCK_OFFSET_FILE=str(offset))
        if number:
            assert place("session/load")["readOnly"] is False
        for step in (-5, 7200, -7200):
            offset.write_text(str(jump + step))
            said.append(f"at {jump} and {step}")
            place.say(said[-1])
            answers(place)
        numbers += [
            u["_meta"]["sidecar"]["seq"] for u in client.updates() if "seq" in str(u.get("_meta"))
        ]
        client.kill()
    assert numbers == sorted(set(numbers))
    assert typed(place) == said


@restarts
def test_a_page_is_damaged_under_a_running_daemon(begin: Callable[[], Place]) -> None:
    place = begin()
    place.say("remember the blue door")
    assert place.client.stop() == 0
    place.daemon()
    place("session/load", replay=False)
    file = store_file(place.data)
    # Not the page of the session's row, which its title is in: that was just written anew.
    at = file.read_bytes().rindex(b"remember the blue door") // 4096 * 4096
    with file.open("r+b") as handle:
        handle.seek(at)
        handle.write(os.urandom(4096))
    # The session is in memory and goes on as far as it needs nothing of that page.
    answers(place)
    place.client.kill()
    client = place.daemon()
    told = outcome(lambda: place("session/load"))
    told = told or "".join(u["message"] for u in client.updates("notice"))
    assert "sidecar verify --repair" in told
    assert client.request("daemon/status", {})["pid"] == client.pid
    # A new session may find room beside the damage or not.
    said = outcome(place.open)
    assert said is None or "sidecar verify --repair" in said


def test_a_tool_prints_without_end(begin: Callable[[], Place], figures: Figures) -> None:
    place = begin()
    place.say("hello")
    before = memory(place.client.pid)
    call = {"command": f"head -c {FLOOD} /dev/zero | tr '\\0' x", "timeoutMs": 600_000}
    prompt = [{"type": "text", "text": f"call shell {json.dumps(call)}"}]
    done = place.client.request(
        "session/prompt", {"sessionId": place.session, "prompt": prompt}, limit=1800
    )
    assert done["stopReason"] == "end_turn"
    grown = memory(place.client.pid) - before
    figures.add(f"memory that a tool's {FLOOD:,} bytes took, MiB", grown // MEBIBYTE, "< 150")
    assert grown < 150 * MEBIBYTE
    (shown,) = [u for u in place.client.updates() if u.get("status") == "completed"]
    assert "bytes) left out" in str(shown)
    answers(place)


@restarts
def test_a_client_dies_in_the_middle_of_a_message(begin: Callable[[], Place]) -> None:
    place = begin()
    place.say("before")
    client = place.client
    prompt = [{"type": "text", "text": "run `echo one` then run `sleep 30`"}]
    client.send("session/prompt", {"sessionId": place.session, "prompt": prompt})
    client.wait_for(lambda n: "user_message_chunk" in str(n) and "sleep 30" in str(n))
    assert client.process.stdin is not None
    client.process.stdin.write(b'Content-Length: 5000\r\n\r\n{"jsonrpc": "2.0", "id": 7, "me')
    client.process.stdin.flush()
    client.process.stdin.close()
    assert client.process.wait(20) == 1
    client.close()
    place.daemon()
    place("session/load")
    assert {u["status"] for u in place.client.updates("tool_call")} <= {"completed", "failed"}
    place.say("after")
