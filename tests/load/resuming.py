"""How long it takes from opening a stored session to its first request, in a real daemon."""

import asyncio
import time
from dataclasses import dataclass, field
from pathlib import Path

from sidecar.core.parts import SessionId
from sidecar.store.journal import Store
from tests.e2e.plain import each_ending_well
from tests.fakes.messages_api import FakeMessagesApi, Reply, text
from tests.load.fleet import LIMIT, Prompted, TimedClient, open_sessions, prompt_all
from tests.load.long import grow
from tests.store.on_disk import opened_beside


@dataclass
class Resumed:
    """Seconds from `session/load` to its answer and to the first request, for each round.

    `worked` are those that the daemon had a core in until its turn ended, whoever else wants one.
    """

    parts: int
    worked: list[float] = field(default_factory=list)
    loads: list[float] = field(default_factory=list)
    firsts: list[float] = field(default_factory=list)


class TimedApi(FakeMessagesApi):
    """Notes when each request had come."""

    def __init__(self) -> None:
        self.came: list[float] = []
        super().__init__()

    def take(self, headers: dict[str, str], body: dict[str, object], content: bytes = b"") -> Reply:
        self.came.append(time.perf_counter())
        return super().take(headers, body, content)


def resume(folder: Path, parts: int, rounds: int) -> tuple[Resumed, Resumed]:
    """Open an empty session and one of so many parts in fresh daemons, and give each a prompt.

    In the first round there is no fold of the long one, so that all of it is read. What is sent
    must begin as before each time.
    """
    work, data = folder / "work", folder / "data"
    work.mkdir()
    empty, long = Resumed(0), Resumed(parts)
    with TimedApi() as api, each_ending_well(TimedClient) as begin:
        api.script(*(text("Yes.") for _ in range(rounds * 3 + 9)))

        def daemon() -> TimedClient:
            client = begin(data=data)
            provider = {"name": "anthropic", "baseUrl": api.url, "apiKey": "sk-test"}
            client.start(model="claude-sonnet-4-6", provider=provider)
            # What every daemon loads late is loaded for both.
            prompt_all(client, open_sessions(client, work, 1), "Hello.")
            return client

        client = daemon()
        made = open_sessions(client, work, rounds + 1, system="Work. " * 300)
        client.stop()

        async def build() -> None:
            store = Store.open(data, now=lambda: round(time.time() * 1000))
            await grow(store, SessionId(made[0].session), parts)
            await store.close()

        asyncio.run(build())
        for number in range(rounds):
            client = daemon()
            one_round(client, api, made[number + 1], empty)
            one_round(client, api, made[0], long)
            client.stop()
        assert (api.refused, api.prefix_breaks) == ([], [])
    with opened_beside(data) as con:
        folded = con.execute("SELECT session_id FROM fold").fetchall()
    assert folded == [(made[0].session,)], "only what is long has a window"
    return empty, long


def one_round(client: TimedClient, api: TimedApi, one: Prompted, into: Resumed) -> None:
    """Load and prompt once."""
    worked = client.worked()
    before, begun = len(api.came), time.perf_counter()
    client.request("session/load", {"sessionId": one.session, "replay": False}, LIMIT)
    into.loads.append(time.perf_counter() - begun)
    prompt_all(client, [one], "Go on.")
    into.firsts.append(api.came[before] - begun)
    into.worked.append(client.worked() - worked)
