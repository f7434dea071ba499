"""What a client hears in a session of twelve turns with five calls each: nothing twice."""

import json
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.lines import LineClient
from tests.e2e.plain import PlainClient, Spawn, each_ending_well
from tests.fakes.messages_api import FakeMessagesApi, Reply, text, tools

TURNS, CALLS = 12, 5
OFTEN = 0.1
"""Seconds between two that say only that a turn has gone on."""


def answer(_: Any, number: int) -> Reply:
    step = (number - 1) % (CALLS + 1)
    if step == CALLS:
        return text("All of it was read.")
    return tools((f"c{number}", "read_file", {"path": f"f{step}"}))


@pytest.fixture
def work(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    for number in range(CALLS):
        (made / f"f{number}").write_text(f"the text of f{number}\n")
    return made


def play(client: PlainClient, session: str) -> tuple[list[dict[str, Any]], float]:
    """Give what a client heard in the turns, and the seconds that all took."""
    begun, before = time.monotonic(), len(client.notifications)
    for turn in range(TURNS):
        prompt = [{"type": "text", "text": f"Read all of it, time {turn}."}]
        client.request("session/prompt", {"sessionId": session, "prompt": prompt})
    took = time.monotonic() - begun
    time.sleep(2 * OFTEN)
    return client.notifications[before:], took


def check_revisions(heard: list[dict[str, Any]], method: str, took: float) -> None:
    told = [one["params"] for one in heard if one["method"] == method]
    revisions = [one["revision"] for one in told]
    assert revisions == sorted({*revisions})
    amid = [one for one in told if one["cause"] not in ("turn_started", "turn_ended")]
    assert len(told) - len(amid) == 2 * TURNS
    assert len(amid) <= took / OFTEN + TURNS


def kinds(heard: list[dict[str, Any]]) -> Counter[str]:
    updates = [one["params"]["update"] for one in heard if one["method"] == "session/update"]
    return Counter(f"{one['sessionUpdate']} {one.get('status', '')}".strip() for one in updates)


def check_calls(told: Counter[str]) -> None:
    assert told["tool_call pending"] == told["tool_call_update completed"] == TURNS * CALLS
    assert told["tool_call_update in_progress"] <= TURNS * CALLS
    assert told["tool_call_update pending"] == 0


def test_nothing_is_told_twice(tmp_path: Path, work: Path, spawn: Spawn | None) -> None:
    make: Callable[..., PlainClient] = partial(PlainClient, tmp_path / "data", spawn=spawn)
    with FakeMessagesApi(answer) as api, each_ending_well(make) as begin:
        client = begin()
        provider = {"name": "anthropic", "baseUrl": api.url, "apiKey": "sk-test"}
        client.start(model="claude-sonnet-4-6", provider=provider)
        session = client.request("session/new", {"cwd": str(work)})["sessionId"]
        heard, took = play(client, session)
    methods, told = Counter(one["method"] for one in heard), kinds(heard)
    assert methods["daemon/statusChanged"] == 2 * TURNS
    assert TURNS <= methods["context/meterChanged"] <= TURNS + 1 + took / 0.25
    check_revisions(heard, "session/changed", took)
    assert told["user_message_chunk"] == told["turn_ended"] == TURNS
    # Each call appears, begins with its whole input, and ends, perhaps both at once.
    check_calls(told)
    whole = [one for one in client.updates("tool_call_update") if "rawInput" in one]
    assert len(whole) == TURNS * CALLS
    for method, some in groupby(sorted(heard, key=_method), _method):
        said = [json.dumps(one["params"], sort_keys=True) for one in some]
        assert all(one != then for one, then in pairwise(said)), method


def _method(one: dict[str, Any]) -> str:
    return str(one["method"])


def test_nor_to_an_acp_client(tmp_path: Path, work: Path, spawn: Spawn | None) -> None:
    with FakeMessagesApi(answer) as api:
        make: Callable[..., LineClient] = partial(LineClient, tmp_path / "data", spawn=spawn)
        provider = {"name": "anthropic", "baseUrl": api.url, "apiKey": "sk-test"}
        with each_ending_well(make) as begin:
            client = begin()
            ours = {"_meta": {"sidecar": {}}}
            client.start(ours, model="claude-sonnet-4-6", provider=provider)
            heard, took = play(client, client.open(work))
    check_revisions(heard, "_sidecar/session/changed", took)
    check_calls(kinds(heard))
