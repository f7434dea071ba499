"""Where numbers go: nowhere by default, on loopback or over HTTP where that is wanted."""

import http.server
import logging
import socket
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from sidecar.config.telemetry_settings import Telemetry
from sidecar.observe.telemetry.exporters import LOOPBACK, start

LIMIT = 30.0


def run(code: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=LIMIT
    )
    return done.stdout.strip()


def test_by_default_nothing_is_imported_and_nothing_set_up() -> None:
    said = run(
        "import sys\n"
        "import sidecar.daemon.serving\n"
        "print([name for name in sys.modules if name.startswith('sidecar.observe')])\n"
        "from sidecar.observe.telemetry.exporters import start\n"
        "from sidecar.config.telemetry_settings import Telemetry\n"
        "print(start(Telemetry(), '1', {}), start(Telemetry('none'), '1', {}))\n"
        "print([name for name in sys.modules if name.startswith(('opentelemetry', 'prometheus'))])"
    )
    assert said.splitlines() == ["[]", "None None", "[]"]


def test_an_sdk_that_is_there_already_is_used() -> None:
    said = run(
        "from opentelemetry import metrics, trace\n"
        "from opentelemetry.sdk.metrics import MeterProvider\n"
        "from opentelemetry.sdk.trace import TracerProvider\n"
        "metrics.set_meter_provider(MeterProvider(shutdown_on_exit=False))\n"
        "trace.set_tracer_provider(TracerProvider(shutdown_on_exit=False))\n"
        "from sidecar.observe.telemetry.exporters import start\n"
        "from sidecar.config.telemetry_settings import Telemetry\n"
        "made = start(Telemetry(), '1', {})\n"
        "print(made.metrics is metrics.get_meter_provider(), [made.address])\n"
        "print(start(Telemetry('none'), '1', {}))"
    )
    assert said.splitlines() == ["True ['']", "None"]


def test_without_the_extra_it_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.resources", None)
    with caplog.at_level(logging.WARNING):
        assert start(Telemetry("otlp"), "1", {}) is None
    assert "needs more: `" in caplog.text
    assert "[telemetry]'`" in caplog.text


def test_prometheus_listens_on_loopback_alone() -> None:
    made = start(Telemetry("prometheus", port=0), "1", {})
    assert made is not None
    assert made.metrics is not None
    made.metrics.get_meter("sidecar").create_counter("sidecar.cost").add(1)
    try:
        assert made.address.startswith(f"http://{LOOPBACK}:")
        with urllib.request.urlopen(made.address, timeout=LIMIT) as answer:
            assert b"sidecar_cost_total 1.0" in answer.read()
        port = int(made.address.rpartition(":")[2].partition("/")[0])
        # Another address of this machine's loopback network is refused: it is bound to one.
        with pytest.raises(OSError, match="refused"):
            socket.create_connection(("127.0.0.2", port), timeout=LIMIT)
    finally:
        made.close()


def test_a_port_that_is_taken_is_told_and_nothing_fails(caplog: pytest.LogCaptureFixture) -> None:
    with socket.create_server((LOOPBACK, 0)) as taken, caplog.at_level(logging.WARNING):
        assert start(Telemetry("prometheus", port=taken.getsockname()[1]), "1", {}) is None
    assert "set telemetry.port to 0" in caplog.text


@contextmanager
def collector() -> Iterator[tuple[str, dict[str, bytes]]]:
    """Take what is sent over HTTP; gives the address, and the bodies by path."""
    taken: dict[str, bytes] = {}

    class Taking(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            taken[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = http.server.ThreadingHTTPServer((LOOPBACK, 0), Taking)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://{LOOPBACK}:{server.server_port}", taken
    finally:
        server.shutdown()
        server.server_close()
        thread.join(LIMIT)


def test_otlp_sends_metrics_and_traces_at_the_end() -> None:
    with collector() as (address, taken):
        made = start(Telemetry("otlp", address), "1", {})
        assert made is not None
        assert made.metrics is not None
        assert made.traces is not None
        made.metrics.get_meter("sidecar").create_counter("sidecar.cost").add(1)
        made.traces.get_tracer("sidecar").start_span("chat m").end()
        made.close()
        assert set(taken) == {"/v1/metrics", "/v1/traces"}
