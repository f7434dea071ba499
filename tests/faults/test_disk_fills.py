"""A disk that fills up within a turn, wherever that is: an answer, and a session that goes on."""

import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.plain import Refused, Spawn
from tests.faults.place import Place
from tests.faults.test_restore_disk_full import fill, small_disk
from tests.figures import Figures

pytestmark = pytest.mark.long

STEP = 1000 * int(os.environ.get("SIDECAR_DISK_STEP", "100"))
"""Bytes between one room on the disk and the next; the long run has 10 kB."""
MOST = 2_000_000
ROOMS = sorted({*range(0, 100_000, 10_000), *range(0, MOST + 1, STEP)})
LIMIT = 30
"""Seconds that an answer may take."""
COMMANDS = 3
PRINT = "head -c 130000 /dev/urandom | base64"
"""What each of a turn's commands prints cannot be packed, so that the disk fills."""


def test_the_disk_fills_within_a_turn(
    tmp_path: Path, spawn: Spawn | None, figures: Figures
) -> None:
    ends: Counter[str] = Counter()
    with small_disk(tmp_path / "data", "16m"):
        place = Place(tmp_path, spawn)
        for room in ROOMS:
            place.open()
            ends[fills_up(place, room)] += 1
            place("session/delete")
        assert place.client.stop() == 0, place.client.stderr
        place.client.close()
    figures.add("turns on a disk that fills up, all answered", sum(ends.values()), str(len(ROOMS)))
    # The disk was full before a turn, within it, and not at all.
    assert set(ends) == {"refused", "error", "end_turn"}, ends


def test_after_a_restart_the_turn_has_ended_as_it_was_told(
    tmp_path: Path, spawn: Spawn | None
) -> None:
    with small_disk(tmp_path / "data", "16m"):
        place = Place(tmp_path, spawn)
        place.open()
        assert fills_up(place, 300_000) == "error"
        live = place.client
        place.client.kill()
        place.daemon()
        place("session/load")
        for client in (live, place.client):
            ended = [u["stopReason"] for u in client.updates("turn_ended")]
            assert ended == ["error", "end_turn"]
            states = {u["toolCallId"]: u.get("status") for u in client.updates() if is_call(u)}
            assert set(states.values()) <= {"completed", "failed"}, states
        assert place.client.stop() == 0
        place.client.close()


def test_words_that_were_refused_are_not_said_later(tmp_path: Path, spawn: Spawn | None) -> None:
    with small_disk(tmp_path / "data", "16m"):
        place = Place(tmp_path, spawn)
        place.say("before")
        filler = fill(place.data)
        for _ in range(3):
            assert outcome(place, "while it is full")[0] == "refused"
        filler.unlink()
        place.say("after")
        place.again()
        place("session/load")
        said = [u["content"]["text"] for u in place.client.updates("user_message_chunk")]
        assert said == ["before", "after"]
        assert place.client.stop() == 0
        place.client.close()


def fills_up(place: Place, room: int) -> str:
    """Take a turn with so much room on the disk; gives how it was answered."""
    (place.root / "ran").unlink(missing_ok=True)
    filler = fill(place.data)
    os.truncate(filler, max(0, filler.stat().st_size - room))
    words = " then ".join(f"run `echo ran >> ran; {PRINT}`" for _ in range(COMMANDS))
    end, told = outcome(place, words)
    ran = place.root / "ran"
    assert not place.client.request("daemon/status", {})["sessions"][0]["busy"]
    filler.unlink()
    assert outcome(place, "and now?") == ("end_turn", {}), f"after {room} bytes: {end}, {told}"
    match end:
        case "refused":
            # Nothing began.
            assert not ran.exists(), f"with {room} bytes: {told}"
            assert told["kind"] == "full"
        case "error":
            assert told["kind"] in ("full", "io"), told
            assert told["code"] == -32030, told
            assert "could not be stored from here on" in told["message"], told
        case _:
            assert ran.read_text() == "ran\n" * COMMANDS
    return end


def outcome(place: Place, words: str) -> tuple[str, dict[str, Any]]:
    """Give how a prompt was answered: refused, or by its stop reason; and with what error."""
    prompt = {"sessionId": place.session, "prompt": [{"type": "text", "text": words}]}
    try:
        done = place.client.request("session/prompt", prompt, limit=LIMIT)
    except Refused as refusal:
        return "refused", {**refusal.data, "message": str(refusal)}
    return done["stopReason"], done.get("error", {})


def is_call(update: dict[str, Any]) -> bool:
    return update["sessionUpdate"] in ("tool_call", "tool_call_update") and "status" in update
