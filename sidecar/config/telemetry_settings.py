"""Where metrics and traces go: nowhere by default."""

from typing import Literal, TypeAlias, get_args

from sidecar.config.readers import URL
from sidecar.config.setting import Reader, setting
from sidecar.core.dataclass import dataclass

Exporter: TypeAlias = Literal["", "none", "prometheus", "otlp", "console"]


def _exporter(value: object) -> str:
    known = [name for name in get_args(Exporter) if name]
    if value not in get_args(Exporter):
        raise ValueError(f"must be one of {', '.join(known)}.")
    return str(value)


def _port(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= 65_535:
        raise ValueError("must be a port, from 0 to 65535.")
    return value


@dataclass(frozen=True, slots=True)
class Telemetry:
    """Where metrics and traces go; without `exporter`, no port is opened."""

    exporter: Exporter = setting(
        "",
        Reader("none, prometheus, otlp, console", _exporter),
        "where OpenTelemetry metrics and traces go, with the extra `telemetry` installed; empty "
        "uses an SDK that is set up already, `none` never",
        applies="restart",
        own=True,
    )
    endpoint: str = setting(
        "",
        URL,
        "where `otlp` sends to over HTTP, such as `http://127.0.0.1:4318`; empty is as the "
        "variables OTEL_… say",
        applies="restart",
        own=True,
    )
    port: int = setting(
        9464,
        Reader("0 to 65,535", _port),
        "where `prometheus` listens, on 127.0.0.1 only; 0 takes any free port",
        applies="restart",
        own=True,
    )
