"""What a real daemon takes to tell a long history: when the first update comes, and what memory."""

import asyncio
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sidecar.core.parts import SessionId
from sidecar.store.journal import Store
from tests.e2e.plain import Refused, each_ending_well
from tests.load.fleet import LIMIT, TimedClient, open_sessions, prompt_all
from tests.load.long import STEPS, grow

GIVEN_UP = 500
"""Updates after which a replay is cancelled."""
SAMPLED = 1_000
"""Updates between two looks at the daemon's memory."""


class ReplayClient(TimedClient):
    """A client that keeps of updates which parts they told, and how much memory that took."""

    def __init__(self, *given: Any, **named: Any) -> None:
        self.parts: list[str] = []
        self.memory: list[int] = []
        self.first = 0.0
        self.act: Callable[[], None] | None = None
        super().__init__(*given, **named)

    def load(self, session: str) -> int:
        """Ask for a session's history; gives the request."""
        self.parts, self.memory, self.first = [], [], 0.0
        return self.send("session/load", {"sessionId": session})

    def _take(self, message: dict[str, Any]) -> None:
        if message.get("method") != "session/update":
            super()._take(message)
            return
        self.first = self.first or time.perf_counter()
        about = message["params"]["update"]["_meta"]["sidecar"]
        if "partId" in about:
            self.parts.append(about["partId"])
            if len(self.parts) % SAMPLED == 0:
                self.memory.append(self.resident())
            if len(self.parts) == GIVEN_UP and self.act is not None:
                self.act()


@dataclass
class Replayed:
    """Seconds from `session/load` on; `resumed` is to its answer without a history.

    `told` are the parts in their order. By `growth` bytes the daemon became larger while it told
    them. `cancelled` counts those that came although it was told to stop, and `stopped` is how
    long its answer took then; `left` is how long the daemon lived on when its client was gone.
    """

    parts: int
    resumed: float = 0.0
    first: float = 0.0
    total: float = 0.0
    told: list[str] = field(default_factory=list)
    growth: int = 0
    cancelled: int = 0
    stopped: float = 0.0
    left: float = 0.0

    def __str__(self) -> str:
        return (
            f"{self.parts:,} parts: resumed in {self.resumed * 1000:.0f} ms, first update after "
            f"{self.first * 1000:.0f} ms, all {len(self.told):,} after {self.total:.1f} s, memory "
            f"{self.growth / 2**20:+.1f} MiB; cancelled, it stopped within "
            f"{self.stopped * 1000:.0f} ms and {self.cancelled:,} updates; left alone, it ended "
            f"within {self.left * 1000:.0f} ms"
        )

    def expected(self) -> list[str]:
        """Name the parts that are shown of the session as it had grown."""
        turns = range(1, self.parts // (2 + STEPS * 4) + 1)
        return [
            name
            for turn in turns
            for name in (
                f"part_{turn:08}_00_0",
                *(f"part_{turn:08}_{step:02}_{n}" for step in range(1, STEPS + 1) for n in (1, 2)),
            )
        ]


def replay(folder: Path, parts: int) -> Replayed:
    """Load a session of so many parts: without its history, with it, and until it is cancelled."""
    work, data = folder / "work", folder / "data"
    work.mkdir()
    found = Replayed(parts)
    with each_ending_well(ReplayClient) as begin:

        def daemon() -> ReplayClient:
            client = begin(data=data, env={"MALLOC_ARENA_MAX": "2"})
            client.start(model="offline")
            return client

        client = daemon()
        long, other = open_sessions(client, work, 2, system="Work. " * 300)
        client.request("session/close", {"sessionId": long.session})

        async def build() -> None:
            store = Store.open(data, now=lambda: round(time.time() * 1000))
            await grow(store, SessionId(long.session), parts)
            await store.close()

        asyncio.run(build())
        # The first turn in it folds its log.
        prompt_all(client, [long], "Go on.")
        client.stop()
        client = daemon()
        client.result(client.load(other.session), LIMIT)
        before, begun = client.resident(), time.perf_counter()
        client.request("session/load", {"sessionId": long.session, "replay": False})
        found.resumed = time.perf_counter() - begun
        client.request("session/close", {"sessionId": long.session})
        _tell(client, long.session, found)
        found.growth = max(client.memory) - before
        client.request("session/close", {"sessionId": long.session})
        _give_up(client, long.session, found)
        client.request("session/close", {"sessionId": long.session})
        _leave(client, long.session, found)
    return found


def _tell(client: ReplayClient, name: str, into: Replayed) -> None:
    begun = time.perf_counter()
    client.result(client.load(name), LIMIT)
    into.total, into.first = time.perf_counter() - begun, client.first - begun
    into.told = client.parts
    client.memory.append(client.resident())


def _give_up(client: ReplayClient, name: str, into: Replayed) -> None:
    asked = 0.0

    def cancel() -> None:
        nonlocal asked
        asked = time.perf_counter()
        client.notify("$/cancelRequest", {"id": loading})

    client.act = cancel
    loading = client.load(name)
    try:
        client.result(loading, LIMIT)
    except Refused as refused:
        if refused.data["kind"] != "cancelled":
            raise
        into.stopped = client.ended[loading] - asked
    into.cancelled = len(client.parts) - GIVEN_UP


def _leave(client: ReplayClient, name: str, into: Replayed) -> None:
    gone = threading.Event()

    def leave() -> None:
        assert client.process.stdin is not None
        client.process.stdin.close()
        gone.set()

    client.act = leave
    client.load(name)
    assert gone.wait(LIMIT)
    begun = time.perf_counter()
    client.process.wait(LIMIT)
    into.left = time.perf_counter() - begun
    client.close()
