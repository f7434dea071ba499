"""The nine alerts as data: direction, level, message, advice."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Literal, TypeAlias

from sidecar.config.retention import HOUR
from sidecar.core.dataclass import dataclass

AlertLevel: TypeAlias = Literal["info", "warning", "critical"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One alert, under its setting's name; with `over`, a higher value is worse.

    `quiet`: ms of being well before the alert clears, against repeated alerts.
    """

    name: str
    level: AlertLevel
    over: bool
    message: Callable[[float, float], str]
    action: str
    quiet: int = 0


def _share(text: str) -> Callable[[float, float], str]:
    return lambda value, threshold: text.format(f"{100 * value:.3g}%", f"{100 * threshold:.3g}%")


def _plain(text: str) -> Callable[[float, float], str]:
    return lambda value, threshold: text.format(f"{value:.3g}", f"{threshold:.3g}")


_ALL = (
    Rule(
        "overflow_rate",
        "critical",
        True,
        _share("{} of the requests of the last 5 minutes were refused as too long (over {})."),
        "Set `window` lower than the model's own window, or compact the session; if autoCompact "
        "is off, turn it on.",
    ),
    Rule(
        "hit_rate",
        "warning",
        False,
        _share("Only {} of the repeated prompts came from the cache in 15 minutes (under {})."),
        "See with `sidecar audit SESSION` which segment broke the prefix; keep model, tools and "
        "instructions the same, and set `keepAlive` where pauses are long.",
    ),
    Rule(
        "summarising",
        "critical",
        True,
        _plain("Summaries have cost {} USD within an hour (over {})."),
        "Set `summaryModel` to a cheaper model, or `summaries` to false: the log's own words are "
        "used then.",
    ),
    Rule(
        "utilisation",
        "warning",
        True,
        _share("The context was {} full or more at the end of three turns in a row (over {})."),
        "Compact the session, hand it off to a fresh one, or unpin what is not needed.",
    ),
    Rule(
        "evictions",
        "warning",
        True,
        _plain("Something was taken out of the context {} times in one turn (over {})."),
        "The window is too small for this work: raise `window`, or hand large searches and reads "
        "to a subtask.",
    ),
    Rule(
        "compression",
        "info",
        False,
        _plain("The newest compaction made what it changed only {} times smaller (under {})."),
        "Unpin what is not needed, or hand the session off: there is little left that may go.",
    ),
    Rule(
        "burn_spike",
        "warning",
        True,
        _plain("The last 5 minutes cost {} times the dearest 5 of the hour before (over {})."),
        "See what runs with `daemon/status`; cancel what is not wanted, or bound it with "
        "`maxSteps` and `delegate`.",
    ),
    Rule(
        "fidelity",
        "warning",
        False,
        _share(
            "Of what is likely to be needed again, {} is in sight after the newest compaction "
            "(under {})."
        ),
        "Pin what matters, name it in `preserve`, or undo the compaction; the rest is one "
        "`recall` away.",
    ),
    Rule(
        "tool_results",
        "info",
        True,
        _share("Results of tools take {} of the room (over {})."),
        "Let tools print less, read parts of files rather than all of them, or compact.",
        quiet=HOUR,
    ),
)

RULES: Mapping[str, Rule] = MappingProxyType({rule.name: rule for rule in _ALL})
"""Rules by name."""
