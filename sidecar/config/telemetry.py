"""Where metrics and traces go: nowhere, unless the user says so."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

Exporter: TypeAlias = Literal["", "none", "prometheus", "otlp", "console"]


@dataclass(frozen=True, slots=True)
class Telemetry:
    """Needs the extra `sidecar[telemetry]`, but for an OpenTelemetry SDK that is there already.

    Nothing leaves the machine and nothing listens unless `exporter` says so.
    """

    exporter: Exporter = ""
    """`prometheus`, `otlp` or `console`; empty uses an SDK that is set up already, `none` never."""
    endpoint: str = ""
    """Where `otlp` sends to over HTTP, such as http://127.0.0.1:4318; empty is as OTEL_… say."""
    port: int = 9464
    """Where `prometheus` listens, on 127.0.0.1 only; 0 takes any free port."""


def _exporter(value: object) -> str:
    known = [name for name in get_args(Exporter) if name]
    if value not in get_args(Exporter):
        raise ValueError(f"must be one of {', '.join(known)}.")
    return str(value)


def _endpoint(value: object) -> str:
    if not isinstance(value, str) or not value.startswith(("http://", "https://")):
        raise ValueError("must begin with http:// or https://.")
    return value.rstrip("/")


def _port(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 65_535:
        raise ValueError("must be a port, from 0 to 65535.")
    return value


TELEMETRY_READERS: Mapping[str, Callable[[object], object]] = {
    "telemetry.exporter": _exporter,
    "telemetry.endpoint": _endpoint,
    "telemetry.port": _port,
}
