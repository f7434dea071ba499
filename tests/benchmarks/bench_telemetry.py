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
from pathlib import Path
from statistics import median
from time import thread_time

from sidecar.config import Config
from sidecar.config.telemetry import Telemetry
from sidecar.core.observed import Observation, Unread
from sidecar.daemon import read_clock
from sidecar.observe.observer import Observer
from sidecar.session import composing
from sidecar.session.log import SessionLog
from sidecar.session.state import State
from sidecar.store.values import Record
from tests.benchmarks.bench_step import measure

MESSAGES = 300
ROUNDS = 5
AIM = 1.0
"""Per cent of a step that observing it may take."""


class Timed:
    """Observes, and adds up what that takes: in the step itself, and later, between steps."""

    def __init__(self) -> None:
        self.observer = Observer(read_clock, lambda _: None, self._later)
        self.within = self.after = 0.0
        self.steps = 0

    def take(self, seen: Observation | Unread) -> None:
        """Take one observation, made or not."""
        self.observer.take(seen)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Time within the block what sessions do for being observed."""
        real = composing.observe_record

        def timed(state: State, log: SessionLog, record: Record) -> None:
            begun = thread_time()
            real(state, log, record)
            self.within += thread_time() - begun
            self.steps += record.kind == "step"

        composing.observe_record = timed
        try:
            yield
        finally:
            composing.observe_record = real

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
            own, _, _ = await measure(MESSAGES, Path(folder), clock=thread_time)
            return own, 0.0, 0.0
        with timed.watched():
            own, _, _ = await measure(MESSAGES, Path(folder), timed.take, thread_time)
    begun = thread_time()
    timed.observer.settle()
    timed.after += thread_time() - begun
    await timed.observer.close(10.0)
    steps = max(1, timed.steps)
    return own, 1000 * timed.within / steps, 1000 * timed.after / steps


def main() -> None:
    """Print one table."""
    with collector() as address:
        ways = {
            "off": None,
            "alerts and totals (the default)": Telemetry("none"),
            "metrics, for Prometheus": Telemetry("prometheus", port=0),
            "metrics and traces, over OTLP": Telemetry("otlp", address),
        }
        played: dict[str, list[tuple[float, float, float]]] = {name: [] for name in ways}
        for _ in range(ROUNDS):
            for name, telemetry in ways.items():
                played[name].append(asyncio.run(play(telemetry)))
    off = median(own for own, _, _ in played["off"])
    print(f"per step with {MESSAGES} messages, medians of {ROUNDS} rounds side by side, CPU ms")
    print(f"{'':<34} {'our own time':>12} {'observing in it':>16} {'':>7} {'and after it':>13}")
    for name, rounds in played.items():
        own, within, after = (median(column) for column in zip(*rounds, strict=True))
        share = f"{100 * within / off:.2f}%"
        print(f"{name:<34} {own:>12.2f} {within:>16.4f} {share:>7} {after:>13.3f}")
    print(f"aim: under {AIM:.0f}% of a step")


if __name__ == "__main__":
    main()
