"""The daemon is killed around the moment when a summary is installed: all stands, or nothing."""

import threading
import time
from pathlib import Path

import pytest

from tests.e2e.desk import Desk, Start
from tests.e2e.plain import LIMIT
from tests.fakes.messages_api import FakeMessagesApi, Reply, text
from tests.fakes.scripted_model import SUMMARY

pytestmark = pytest.mark.long

ROUNDS = 6
STRATEGY = "opencode"


def test_all_of_it_stands_or_none(start: Start, workspace: Path) -> None:
    """Each round halves the time in which the kill must meet the commit."""
    delay = 0.0
    with FakeMessagesApi() as api:
        desk = Desk(start, api, workspace)
        desk.open()
        desk.work(3)
        timers: list[threading.Timer] = []
        began: list[float] = []

        def written(_body: object, _number: int) -> Reply:
            began.append(time.monotonic())
            if delay:
                timers.append(threading.Timer(delay, desk.client.process.kill))
                timers[-1].start()
            return text(SUMMARY, piece=400)

        api.summarise = written
        before = desk.shown()
        done = desk("context/compact", strategy=STRATEGY)
        too_early, too_late = 0.0, time.monotonic() - began[0]
        desk("context/undoCompaction", compactionId=done["compactionId"])
        assert desk.shown() == before
        for number in range(ROUNDS):
            delay = (too_early + too_late) / 2
            desk.send("context/compact", strategy=STRATEGY)
            assert desk.client.process.wait(LIMIT)
            timers[-1].join(LIMIT)
            desk.again()
            after = desk.shown()
            if after == before:
                # A machine that is busy takes longer now than it did at first.
                too_early, too_late = delay, max(too_late, 1.5 * delay)
                assert desk.refused("context/undoCompaction").code == -32012
            else:
                too_late = delay
                assert "the server drops the fourth" in after
                assert len(after) < len(before) / 2
                desk("context/undoCompaction")
                assert desk.shown() == before
            api.script(text(f"Seen for the {number}th time."))
            assert desk.say(f"Question {number}")["stopReason"] == "end_turn"
            desk.check()
            before = desk.shown()
        assert api.refused == []
