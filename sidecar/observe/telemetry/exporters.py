"""Finds or sets up the providers of metrics and traces."""

import logging
import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from sidecar.config.telemetry_settings import Telemetry
from sidecar.core.dataclass import dataclass
from sidecar.extras import adding

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import MetricReader
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.trace import TracerProvider

logger = logging.getLogger("sidecar.observe")

LOOPBACK = "127.0.0.1"
PROVIDERS = ("OTEL_PYTHON_METER_PROVIDER", "OTEL_PYTHON_TRACER_PROVIDER")
"""Variables that make the API load an SDK."""


@dataclass(frozen=True, slots=True)
class Exporting:
    """Providers in use; metrics can be read at `address`.

    `close` sends the rest, blocking for seconds at most.
    """

    metrics: "MeterProvider | None"
    traces: "TracerProvider | None"
    address: str = ""
    close: Callable[[], None] = lambda: None


def start(settings: Telemetry, version: str, environment: Mapping[str, str]) -> Exporting | None:
    """Returns `None` if off, or after a logged failure. Blocks."""
    if settings.exporter == "none":
        return None
    try:
        if not settings.exporter:
            return _there_already(environment)
        return _set_up(settings, version)
    except ImportError as error:
        logger.warning(
            "telemetry.exporter is %r, which needs more: `%s` (%s)",
            settings.exporter,
            adding("telemetry"),
            error,
        )
    except OSError as error:
        logger.warning(
            "telemetry.port %d cannot be listened on, so metrics cannot be read: %s. "
            "Another window may have it: set telemetry.port to 0 for any free one",
            settings.port,
            error.strerror or error,
        )
    return None


def _there_already(environment: Mapping[str, str]) -> Exporting | None:
    # For an SDK set up before, such as by `opentelemetry-instrument`.
    if "opentelemetry.sdk" not in sys.modules and not any(map(environment.get, PROVIDERS)):
        return None
    from opentelemetry.metrics import get_meter_provider  # noqa: PLC0415 - only where it is on
    from opentelemetry.trace import get_tracer_provider  # noqa: PLC0415 - same

    return Exporting(get_meter_provider(), get_tracer_provider())


def _set_up(settings: Telemetry, version: str) -> Exporting:
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - an extra

    about = {
        "service.name": "sidecar",
        "service.version": version,
        "service.instance.id": str(os.getpid()),
    }
    resource = Resource.create(about)
    match settings.exporter:
        case "prometheus":
            return _prometheus(settings.port, resource)
        case "otlp":
            return _otlp(settings.endpoint, resource)
        case _:
            return _console(resource)


def _prometheus(port: int, resource: "Resource") -> Exporting:
    from opentelemetry.exporter.prometheus import (  # noqa: PLC0415 - an extra
        PrometheusMetricReader,
    )
    from prometheus_client import CollectorRegistry, start_http_server  # noqa: PLC0415 - an extra

    registry = CollectorRegistry()
    # First the socket: without one, nothing else is set up.
    server, _ = start_http_server(port, LOOPBACK, registry)
    metrics, close = _metrics(
        PrometheusMetricReader(scope_info_enabled=False, registry=registry), resource
    )

    def end() -> None:
        server.shutdown()
        server.server_close()
        close()

    address = f"http://{LOOPBACK}:{server.server_port}/metrics"
    logger.info("metrics can be read at %s", address)
    return Exporting(metrics, None, address, end)


def _otlp(endpoint: str, resource: "Resource") -> Exporting:
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import (  # noqa: PLC0415 - an extra
        OTLPMetricExporter,
    )
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415 - an extra
        OTLPSpanExporter,
    )
    from opentelemetry.sdk.metrics.export import (  # noqa: PLC0415 - an extra
        PeriodicExportingMetricReader,
    )
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - an extra
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 - an extra

    def where(kind: str) -> str | None:
        return f"{endpoint}/v1/{kind}" if endpoint else None

    reader = PeriodicExportingMetricReader(OTLPMetricExporter(endpoint=where("metrics")))
    metrics, close = _metrics(reader, resource)
    traces = TracerProvider(resource=resource, shutdown_on_exit=False)
    traces.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=where("traces"))))

    def end() -> None:
        traces.shutdown()
        close()

    return Exporting(metrics, traces, close=end)


def _console(resource: "Resource") -> Exporting:
    # To stderr: stdout carries the protocol and nothing else.
    from opentelemetry.sdk.metrics.export import (  # noqa: PLC0415 - an extra
        ConsoleMetricExporter,
        PeriodicExportingMetricReader,
    )
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - an extra
    from opentelemetry.sdk.trace.export import (  # noqa: PLC0415 - an extra
        ConsoleSpanExporter,
        SimpleSpanProcessor,
    )

    metrics, close = _metrics(
        PeriodicExportingMetricReader(ConsoleMetricExporter(out=sys.stderr)), resource
    )
    traces = TracerProvider(resource=resource, shutdown_on_exit=False)
    traces.add_span_processor(SimpleSpanProcessor(ConsoleSpanExporter(out=sys.stderr)))
    return Exporting(metrics, traces, close=close)


def _metrics(
    reader: "MetricReader", resource: "Resource"
) -> "tuple[MeterProvider, Callable[[], None]]":
    from opentelemetry.sdk.metrics import MeterProvider  # noqa: PLC0415 - an extra

    made = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
    return made, made.shutdown
