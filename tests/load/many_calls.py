"""Thousands of calls in one answer, and how soon others are answered meanwhile."""

import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.e2e.plain import PlainClient, each_ending_well
from tests.fakes.messages_api import FakeMessagesApi, Reply, text, tools
from tests.load.fleet import LIMIT

EVERY, METERED = 0.02, 0.5
"""Seconds between questions for the status, and for a session's meter."""


@dataclass
class ManyCalls:
    """Seconds until all results were sent, to the turn's end, and of each question meanwhile."""

    calls: int
    handled: float = 0.0
    turn: float = 0.0
    stop: str = ""
    status: list[float] = field(default_factory=list)
    meter: list[float] = field(default_factory=list)


def call_at_once(folder: Path, count: int) -> ManyCalls:
    """Have a model call so often in one answer; each call must get its result."""
    found, work = ManyCalls(count), folder / "work"
    work.mkdir(parents=True)
    for name in "ab":
        (work / name).write_text(f"the line of {name}\n")
    each = ((f"c{n}", "read_file", {"path": "ab"[n % 2]}) for n in range(count))
    calls = tools(*each, piece=1_000)
    arrived: list[float] = []

    def respond(body: Any, number: int) -> Reply:
        arrived.append(time.perf_counter())
        return calls if number == 1 else text("done")

    with FakeMessagesApi(respond) as api, each_ending_well(PlainClient) as begin:
        client = begin(data=folder / "data")
        provider = {"name": "anthropic", "baseUrl": api.url, "apiKey": "sk-test"}
        client.start(model="claude-sonnet-4-6", provider=provider)
        about = {"cwd": str(work), "window": 1_000_000, "maxTokens": 128_000}
        session = client.request("session/new", about)["sessionId"]
        prompt = [{"type": "text", "text": "Read it often."}]
        begun = measured = time.perf_counter()
        asked = client.send("session/prompt", {"sessionId": session, "prompt": prompt})
        while not client.answered(asked):
            _time(client, "daemon/status", None, found.status)
            if time.perf_counter() >= measured + METERED:
                _time(client, "context/meter", {"sessionId": session}, found.meter)
                measured = time.perf_counter()
            time.sleep(EVERY)
        found.turn = time.perf_counter() - begun
        found.stop = client.result(asked, LIMIT)["stopReason"]
        assert (api.refused, len(arrived)) == ([], 2)
        found.handled = arrived[1] - begun
        results = api.requests[1].body["messages"][-1]["content"]
        assert len([r for r in results if r["type"] == "tool_result"]) == count
    return found


def _time(client: PlainClient, method: str, params: Any, into: list[float]) -> None:
    begun = time.perf_counter()
    client.request(method, params, LIMIT)
    into.append(time.perf_counter() - begun)
