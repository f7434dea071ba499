"""When people are warned: the thresholds of the alerts that the daemon computes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields

NAMES = (
    "overflow_rate",
    "hit_rate",
    "summarising",
    "utilisation",
    "evictions",
    "compression",
    "burn_spike",
    "fidelity",
    "tool_results",
)
"""The alerts, by the setting that is its threshold."""


@dataclass(frozen=True, slots=True)
class Alerts:
    """Thresholds; `off` names alerts that nobody wants."""

    overflow_rate: float = 0.10
    """The share of the requests of 5 minutes that the provider may refuse as too long."""
    hit_rate: float = 0.70
    """The share of repeated prompts that must come from the cache, over 15 minutes."""
    summarising: float = 10.0
    """USD that summaries may cost within an hour."""
    utilisation: float = 0.90
    """The share of the room for input that may be in use at the end of three turns in a row."""
    evictions: float = 5.0
    """Parts that may be evicted a turn, over ten turns."""
    compression: float = 2.0
    """How many times smaller a compaction must make what it changes."""
    burn_spike: float = 3.0
    """How many times the usual cost of 5 minutes the newest 5 minutes may cost."""
    fidelity: float = 0.75
    """The share of what is likely to be needed that must still be in the prompt afterwards."""
    tool_results: float = 0.30
    """The share of the room for input that results of tools may take."""
    off: tuple[str, ...] = ()


def _number(most: float) -> Callable[[object], float]:
    def read(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError("must be a number.")  # noqa: TRY004 - one error for all, as readers do
        if not 0 < value <= most:
            raise ValueError(f"must be more than 0 and at most {most:g}, not {value}.")
        return float(value)

    return read


def _off(value: object) -> tuple[str, ...]:
    names = value if isinstance(value, list) else [value]
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise ValueError(f"must be a list of some of {', '.join(NAMES)}, not {unknown[0]!r}.")
    return tuple(names)


_SHARES = frozenset({"overflow_rate", "hit_rate", "utilisation", "fidelity", "tool_results"})
ALERT_READERS: Mapping[str, Callable[[object], object]] = {
    f"alerts.{each.name}": _off
    if each.name == "off"
    else _number(1.0 if each.name in _SHARES else 1e6)
    for each in fields(Alerts)
}
