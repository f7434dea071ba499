"""A client that asks far more than it waits for: the line is short, and memory stays bounded."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.plain import LIMIT, Refused, Spawn, UnreadClient, each_ending_well
from tests.faults import crowd
from tests.faults.place import Place
from tests.faults.test_daemon_goes_on import MEBIBYTE, answers, memory
from tests.figures import Figures

pytestmark = pytest.mark.long

spawn = crowd.spawn

IN_LINE = 16
PROMPTS = 40
TOO_MANY = "16 prompts wait already in this session: send this one when one of them has ended"
PIECES = 6_000
"""Answers of 50 KiB: without any bound they take 240 MiB of the daemon's memory."""
BOUND = 100 * MEBIBYTE


def until(found: Callable[[], bool], place: Place) -> None:
    """Ask the daemon how it is until something has come true."""
    end = time.monotonic() + LIMIT
    while not found():
        assert time.monotonic() < end
        answers(place)


def test_more_prompts_than_may_wait(place: Place) -> None:
    place.say("hello")
    client, gate = place.client, place.root.parent / "gate"

    def ask(words: str) -> int:
        prompt = [{"type": "text", "text": words}]
        return client.send("session/prompt", {"sessionId": place.session, "prompt": prompt})

    first = ask(f"run `until [ -e {gate} ]; do sleep 0.02; done`")
    client.wait_for(lambda n: "in_progress" in str(n))
    asked = [client.send("daemon/status", {}) for _ in range(1_000)]
    prompts = [ask("list the files " + "x" * 20_000) for _ in range(PROMPTS)]
    for one in asked:
        assert client.result(one)["pid"] == client.pid
    until(lambda: sum(map(client.answered, prompts)) == PROMPTS - IN_LINE, place)
    gate.touch()
    ended, refusals = [client.result(first)["stopReason"]], []
    for one in prompts:
        try:
            ended.append(client.result(one)["stopReason"])
        except Refused as refusal:
            refusals.append((refusal.code, str(refusal)))
    assert ended == ["end_turn"] * (1 + IN_LINE)
    assert refusals == [(-32001, TOO_MANY)] * (PROMPTS - IN_LINE)
    place.say("after")


@contextmanager
def recalling(data: Path, spawn: Spawn | None) -> Iterator[tuple[UnreadClient, dict[str, str]]]:
    """Give a client and what to ask for a piece of 50 KiB with."""
    with each_ending_well(partial(UnreadClient, spawn=spawn)) as begin:
        client = begin(data=data)
        client.start(model="offline")
        session = client.request("session/new", {"cwd": str(data.parent)})["sessionId"]
        prompt = [{"type": "text", "text": "x " * 30_000}]
        client.request("session/prompt", {"sessionId": session, "prompt": prompt})
        (typed,) = client.updates("user_message_chunk")
        yield client, {"sessionId": session, "partId": typed["_meta"]["sidecar"]["partId"]}
        assert client.request("daemon/status")["pid"] == client.pid


def all_answered(client: UnreadClient, asked: list[int]) -> None:
    for one in asked:
        assert len(client.result(one)["content"]) == 50 * 1024
    assert len(asked) == PIECES


def test_who_leaves_answers_unread_is_not_read_either(
    tmp_path: Path, spawn: Spawn | None, figures: Figures
) -> None:
    """A client that leaves answers unread is not read from either, until it reads again."""
    with recalling(tmp_path / "data", spawn) as (client, about):
        before = memory(client.pid)
        asked: list[int] = []

        def ask() -> None:
            while len(asked) < PIECES:
                asked.append(client.send("context/recall", about))

        client.reading.clear()
        flood = threading.Thread(target=ask, daemon=True)
        flood.start()
        sent = -1
        while flood.is_alive() and len(asked) > sent:
            sent = len(asked)
            flood.join(1.0)
        assert flood.is_alive(), "it took all, although nobody read what it answered"
        assert memory(client.pid) - before < BOUND
        client.reading.set()
        flood.join(LIMIT)
        all_answered(client, asked)
        grown = memory(client.pid) - before
        what = f"memory that {PIECES:,} unread answers of 50 KiB took, MiB"
        figures.add(what, grown // MEBIBYTE, f"< {BOUND // MEBIBYTE}")
        assert grown < BOUND


def test_answers_that_were_all_asked_for_at_once(
    tmp_path: Path, spawn: Spawn | None, figures: Figures
) -> None:
    """What has been read already is answered bit by bit, as the client reads."""
    with recalling(tmp_path / "data", spawn) as (client, about):
        before = memory(client.pid)
        client.reading.clear()
        asked: list[int] = []

        def ask() -> None:
            asked.extend(client.send_at_once("context/recall", [about] * PIECES))

        flood = threading.Thread(target=ask, daemon=True)
        flood.start()
        # For that long everything could be answered.
        time.sleep(3)
        client.reading.set()
        flood.join(LIMIT)
        all_answered(client, asked)
        grown = memory(client.pid) - before
        what = f"memory that {PIECES:,} answers of 50 KiB asked for at once took, MiB"
        figures.add(what, grown // MEBIBYTE, f"< {BOUND // MEBIBYTE}")
        assert grown < BOUND
