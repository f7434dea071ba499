"""Many sessions in one or more real daemons, what each was acknowledged, and how long it took.

Nobody is asked how it went: what clients were told is compared with what another daemon reads
from the store afterwards.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.e2e.plain import PlainClient, Refused, each_ending_well
from tests.e2e.resident import SHARED, command

LIMIT = 120.0
"""Seconds that anything may take before the run fails: all of this shares few cores."""
BUSY = ("database is locked", "database table is locked", "SQLITE_BUSY")
"""What nobody may ever read."""


class TimedClient(PlainClient):
    """A client that notes when text arrived, by session, and what it was."""

    def __init__(self, *given: Any, **named: Any) -> None:
        self.arrived: dict[str, list[float]] = {}
        self.said: dict[str, list[str]] = {}
        self.ended: dict[int, float] = {}
        super().__init__(*given, **named)

    def request(self, method: str, params: Any = None, limit: float = LIMIT) -> Any:
        """Send a request and wait for its result, as long as all of this may take."""
        return super().request(method, params, limit)

    def _take(self, message: dict[str, Any]) -> None:
        now = time.perf_counter()
        if message.get("method") == "session/update":
            update = message["params"]["update"]
            if update["sessionUpdate"] == "agent_message_chunk":
                session = message["params"]["sessionId"]
                self.arrived.setdefault(session, []).append(now)
                self.said.setdefault(session, []).append(update["content"]["text"])
        elif "method" not in message:
            self.ended[message.get("id", 0)] = now
        super()._take(message)

    def worked(self) -> float:
        """Give the seconds that the daemon's threads have had a core, waiting for one left out."""
        tasks = Path(f"/proc/{self.process.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    def resident(self) -> int:
        """Give the bytes of memory that the daemon has of its own, what files share left out."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        found = next(line for line in lines if line.startswith("RssAnon:"))
        return int(found.split()[1]) * 1024


@dataclass
class Prompted:
    """Prompts of one session, and what became of each: acknowledged, or refused with why."""

    session: str
    acknowledged: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


@dataclass
class Latencies:
    """Seconds: from a prompt to its first text, between texts, and to the end of its turn."""

    first: list[float] = field(default_factory=list)
    between: list[float] = field(default_factory=list)
    turn: list[float] = field(default_factory=list)

    def add(self, client: TimedClient, session: str, asked: float, ended: float) -> None:
        """Take in one turn; forgets the texts that it was measured by."""
        times = [at for at in client.arrived.pop(session, []) if at >= asked]
        if times:
            self.first.append(times[0] - asked)
        self.between += [after - before for before, after in pairwise(times)]
        self.turn.append(ended - asked)


def prompt_all(
    client: TimedClient, sessions: Sequence[Prompted], words: str, took: Latencies | None = None
) -> None:
    """Give every session a prompt at once, and wait until all have ended."""
    asked: list[tuple[Prompted, str, int, float]] = []
    for number, one in enumerate(sessions):
        # On a line of its own, or the offline model would take it for a part of the last call.
        text = f"{words}\n({number} of {one.session}, {len(one.acknowledged)} before)"
        prompt = [{"type": "text", "text": text}]
        at = time.perf_counter()
        request = client.send("session/prompt", {"sessionId": one.session, "prompt": prompt})
        asked.append((one, text, request, at))
    for one, text, request, at in asked:
        try:
            result = client.result(request, LIMIT)
        except Refused as refused:
            one.refused.append(str(refused))
            continue
        assert result["stopReason"] == "end_turn", result
        one.acknowledged.append(text)
        if took is not None:
            took.add(client, one.session, at, client.ended[request])


def open_sessions(client: PlainClient, folder: Path, count: int, **given: Any) -> list[Prompted]:
    """Open so many sessions at once in a folder."""
    about = {"cwd": str(folder), "builtinTools": False, **given}
    asked = [client.send("session/new", about) for _ in range(count)]
    return [Prompted(client.result(one, LIMIT)["sessionId"]) for one in asked]


def check_acknowledged(sessions: Sequence[Prompted], count: int) -> None:
    """See that no prompt was refused, and that so many were acknowledged."""
    assert not [why for one in sessions for why in one.refused]
    assert sum(len(one.acknowledged) for one in sessions) == count


def check_kept(client: PlainClient, sessions: Sequence[Prompted]) -> None:
    """Read every session from the store: each prompt that was acknowledged is there, once."""
    for one in sessions:
        before = len(client.notifications)
        client.request("session/load", {"sessionId": one.session}, LIMIT)
        told = (n["params"] for n in client.notifications[before:] if "update" in n["params"])
        updates = [u["update"] for u in told if u["sessionId"] == one.session]
        typed = [u["content"]["text"] for u in updates if _is(u, "user_message_chunk")]
        assert typed == one.acknowledged, one.session
        client.request("session/close", {"sessionId": one.session}, LIMIT)


def _is(update: Any, kind: str) -> bool:
    return bool(update["sessionUpdate"] == kind)


def check_quiet(clients: Sequence[PlainClient]) -> None:
    """Nothing that anybody can read speaks of locks; raises AssertionError with what does."""
    for client in clients:
        told = client.stderr + "".join(map(str, client.notifications))
        for phrase in BUSY:
            assert phrase not in told, told[max(0, told.index(phrase) - 500) :][:1500]


@contextmanager
def daemons(data: Path, count: int, **env: str) -> Iterator[list[TimedClient]]:
    """Run daemons over one store, with the offline model; all must end cleanly."""
    with each_ending_well(TimedClient) as begin:
        clients = [begin(data=data, env=env) for _ in range(count)]
        for client in clients:
            client.start(model="offline")
        yield clients


@contextmanager
def windows(folder: Path, count: int, **options: Any) -> Iterator[list[TimedClient]]:
    """Run windows on one daemon over the folder's store; all must end cleanly, and it ends, too."""
    run = folder / "run"
    run.mkdir(mode=0o700)
    data = folder / "data"
    variables = {"XDG_RUNTIME_DIR": str(run), "SIDECAR_DATA_DIR": str(data)}
    try:
        with each_ending_well(TimedClient) as begin:
            clients = [begin(data=data, env=variables, arguments=SHARED) for _ in range(count)]
            for client in clients:
                client.start(**options)
            assert len({client.request("daemon/status")["pid"] for client in clients}) == 1
            yield clients
    finally:
        command(variables, "stop", "--now")


def percentiles(values: Sequence[float]) -> str:
    """Give the median, the 95th and 99th percentile and the largest, in ms."""
    if not values:
        return f"{'—':>9}" * 4
    ordered = sorted(values)
    chosen = [ordered[min(len(ordered) - 1, int(len(ordered) * p))] for p in (0.5, 0.95, 0.99)]
    return "".join(f"{value * 1000:9.1f}" for value in (*chosen, ordered[-1]))
