"""Metrics, traces and alerts on against off: what they take of a step.

On is all of it: totals and alerts, every instrument and a span for each request and call through
the real SDK, sent over HTTP to a collector. Off is a session that nobody observes; the default,
where only totals and alerts are kept, stands between. The same session is played in turn with
each, and what observing takes is timed by itself. All is CPU time of the thread that everything
runs on: the machine's noise is larger than what is looked for. A step only puts aside what is
seen; the rest is done later, while a model answers, and is told beside it.
"""

import asyncio
import http.server
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import thread_time
from unittest.mock import patch

from sidecar.config import Config
from sidecar.config.telemetry_settings import Telemetry
from sidecar.core.prompt.observation import Observation, Observe, PendingObservation
from sidecar.daemon.clock_and_ids import read_clock
from sidecar.observe.observer import Observer
from sidecar.session.lifecycle import assembly
from sidecar.session.log.session_log import SessionLog
from sidecar.session.meter.observations import Info, observe_record
from sidecar.store.format.log_records import StepRecord
from sidecar.store.format.record_codec import LogRecord
from tests.benchmarks.bench_step import measure

MESSAGES = 300
ROUNDS = 5
AIM = 1.0
"""Per cent of a step that observing it may take."""
ANSWER = 3.0
"""Seconds in which a model is taken to answer: 1 to its first token, then 150 at 75 a second."""


class Timed:
    """Observes, and adds up what that takes: in the step itself, and later, between steps."""

    def __init__(self) -> None:
        self.observer = Observer(read_clock, lambda _: None, self._later)
        self.within = self.after = 0.0
        self.steps = 0
        begun = thread_time()
        for _ in range(1000):
            thread_time()
        # What asking the clock takes is taken off: it is asked for each record.
        self._clock = (thread_time() - begun) / 1000

    def take(self, seen: Observation | PendingObservation) -> None:
        """Take one observation, made or not."""
        self.observer.take(seen)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Time within the block what sessions do for being observed."""
        real = observe_record

        def timed(observe: Observe, info: Info, log: SessionLog, record: LogRecord) -> None:
            begun = thread_time()
            real(observe, info, log, record)
            self.within += thread_time() - begun - self._clock
            self.steps += isinstance(record, StepRecord)

        with patch.object(assembly, "observe_record", timed):
            yield

    def _later(self, seconds: float, call: Callable[[], None]) -> None:
        def timed() -> None:
            begun = thread_time()
            call()
            self.after += thread_time() - begun

        asyncio.get_running_loop().call_later(seconds, timed)


@contextmanager
def collector() -> Iterator[str]:
    """Take and forget what is sent; gives the address."""

    class Taking(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            """Take a body."""
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Taking)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


async def play(telemetry: Telemetry | None) -> tuple[float, float, float]:
    """Give per step, in ms: our own time, and what observing took of it, and took after it.

    `None` observes nothing.
    """
    timed = Timed()
    if telemetry is not None:
        sent = Config(telemetry=telemetry)
        await timed.observer.export(sent, "bench", {}, dict, lambda: 0)
    with tempfile.TemporaryDirectory() as folder:
        if telemetry is None:
            own = (await measure(MESSAGES, Path(folder), clock=thread_time)).own
            return own, 0.0, 0.0
        with timed.watched():
            own = (await measure(MESSAGES, Path(folder), timed.take, thread_time)).own
    begun = thread_time()
    timed.observer.settle()
    timed.after += thread_time() - begun
    await timed.observer.close(10.0)
    steps = max(1, timed.steps)
    return own, 1000 * timed.within / steps, 1000 * timed.after / steps


@dataclass(frozen=True, slots=True)
class Cost:
    """What one way of observing takes of a step: ms of CPU, and shares of it in per cent.

    `within` is what the step itself waits for, `after` what is done later on the same thread.
    """

    name: str
    own: float
    within: float
    after: float
    off: float

    @property
    def in_step(self) -> float:
        """Give the share of our own time in a step that is spent in it."""
        return 100 * self.within / self.off

    @property
    def of_own(self) -> float:
        """Give the share of our own time in a step that is spent at any time."""
        return 100 * (self.within + self.after) / self.off

    @property
    def of_wall(self) -> float:
        """Give the share of the time from a request to the next one, with a usual model."""
        return 100 * (self.within + self.after) / (1000 * ANSWER + self.off)


def costs(rounds: int = ROUNDS) -> list[Cost]:
    """Play each way in turn, so often; gives medians."""
    with collector() as address:
        ways = {
            "off": None,
            "alerts and totals (the default)": Telemetry("none"),
            "metrics, for Prometheus": Telemetry("prometheus", port=0),
            "metrics and traces, over OTLP": Telemetry("otlp", address),
        }
        played: dict[str, list[tuple[float, float, float]]] = {name: [] for name in ways}
        for _ in range(rounds):
            for name, telemetry in ways.items():
                played[name].append(asyncio.run(play(telemetry)))
    off = median(own for own, _, _ in played["off"])
    medians = {
        name: [median(column) for column in zip(*rows, strict=True)]
        for name, rows in played.items()
    }
    return [Cost(name, own, within, after, off) for name, (own, within, after) in medians.items()]


def main() -> None:
    """Print one table."""
    print(f"per step with {MESSAGES} messages, medians of {ROUNDS} rounds side by side, CPU ms")
    print(f"wall time is that of a step whose model answers in {ANSWER:.0f} s")
    columns = ("own time", "in a step", "share", "after it", "all, of own", "all, of wall")
    print(f"{'':<34}" + "".join(f"{column:>13}" for column in columns))
    for one in costs():
        print(
            f"{one.name:<34}{one.own:>13.2f}{one.within:>13.4f}{one.in_step:>12.2f}%"
            f"{one.after:>13.4f}{one.of_own:>12.2f}%{one.of_wall:>12.4f}%"
        )
    print(f"aim: in a step under {AIM:.0f}% of our own time, and under {AIM:.0f}% of all its time")


if __name__ == "__main__":
    main()
