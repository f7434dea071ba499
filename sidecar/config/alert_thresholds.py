"""Settings for the thresholds of alerts."""

from sidecar.config.setting import Reader, setting
from sidecar.core.dataclass import dataclass

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
"""The alerts, named like their thresholds."""


def _number(most: float, kind: str) -> Reader:
    def read(value: object) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValueError("must be a number.")  # noqa: TRY004 - one error for all, as readers do
        if not 0 < value <= most:
            raise ValueError(f"must be more than 0 and at most {most:g}, not {value}.")
        return float(value)

    return Reader(kind, read)


def _off(value: object) -> tuple[str, ...]:
    names = value if isinstance(value, list) else [value]
    unknown = [name for name in names if name not in NAMES]
    if unknown:
        raise ValueError(f"must be a list of some of {', '.join(NAMES)}, not {unknown[0]!r}.")
    return tuple(names)


_SHARE = _number(1.0, "share, up to 1")
_NUMBER = _number(1e6, "number above 0")
_NAMES = Reader("list of alerts", _off)


@dataclass(frozen=True, slots=True)
class Alerts:
    """A threshold for each alert; `off` names silenced alerts."""

    overflow_rate: float = setting(
        0.10,
        _SHARE,
        "the share of the requests of 5 minutes that the provider may refuse as too long",
        applies="turn",
    )
    hit_rate: float = setting(
        0.70,
        _SHARE,
        "the share of repeated prompts that must come from the cache, over 15 minutes",
        applies="turn",
    )
    summarising: float = setting(
        10.0, _NUMBER, "USD that summaries may cost within an hour", applies="turn"
    )
    utilisation: float = setting(
        0.90,
        _SHARE,
        "the share of the room for input that may be in use at the end of three turns in a row",
        applies="turn",
    )
    evictions: float = setting(
        5.0, _NUMBER, "how often one turn may take something out of the context", applies="turn"
    )
    compression: float = setting(
        2.0,
        _NUMBER,
        "how many times smaller a compaction must make what it changes",
        applies="turn",
    )
    burn_spike: float = setting(
        3.0,
        _NUMBER,
        "how many times the dearest 5 minutes of the hour before the newest 5 minutes may cost",
        applies="turn",
    )
    fidelity: float = setting(
        0.75,
        _SHARE,
        "the share of what is likely to be needed that must still be in the prompt after a "
        "compaction",
        applies="turn",
    )
    tool_results: float = setting(
        0.30,
        _SHARE,
        "the share of the room for input that results of tools may take",
        applies="turn",
    )
    off: tuple[str, ...] = setting(
        (), _NAMES, "alerts that nobody wants, by the names above", applies="turn"
    )
