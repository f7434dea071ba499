"""Worth of context: the chance that its identifiers are used again.

Fitted on recorded sessions; see `core/policies/README.md`.
"""

from bisect import bisect_left
from collections.abc import Mapping

from sidecar.core.text.identifiers import Name, NameSource

AGES = (3, 8, 15, 30, 60, 120)
"""Requests since an identifier was last used, or last seen: the columns of `CHANCE`."""
USES = (0, 1, 3)
"""How often the agent has used it since it appeared: the rows of `CHANCE`."""
CHANCE: dict[NameSource, tuple[tuple[float, ...], ...]] = {
    "result": (
        (0.028, 0.026, 0.026, 0.019, 0.013, 0.008, 0.005),
        (0.200, 0.140, 0.150, 0.120, 0.090, 0.058, 0.022),
        (0.175, 0.160, 0.180, 0.135, 0.095, 0.060, 0.030),
        (0.225, 0.230, 0.260, 0.225, 0.150, 0.110, 0.060),
    ),
    "call": (
        (0.165, 0.148, 0.148, 0.123, 0.083, 0.053, 0.027),
        (0.235, 0.235, 0.240, 0.205, 0.132, 0.087, 0.044),
        (0.290, 0.305, 0.290, 0.275, 0.190, 0.122, 0.045),
        (0.370, 0.425, 0.440, 0.370, 0.280, 0.207, 0.100),
    ),
    "prose": (
        (0.180, 0.160, 0.155, 0.132, 0.098, 0.062, 0.028),
        (0.390, 0.310, 0.280, 0.260, 0.175, 0.138, 0.085),
        (0.390, 0.390, 0.385, 0.375, 0.307, 0.228, 0.125),
        (0.390, 0.390, 0.430, 0.420, 0.345, 0.225, 0.090),
    ),
    "typed": (
        (0.120, 0.140, 0.230, 0.180, 0.180, 0.130, 0.040),
        (0.480, 0.450, 0.350, 0.350, 0.280, 0.250, 0.040),
        (0.370, 0.400, 0.370, 0.370, 0.280, 0.210, 0.050),
        (0.310, 0.420, 0.480, 0.440, 0.370, 0.230, 0.060),
    ),
}
"""The chance that an identifier is used again after it has been out of sight for a while, by who
brought it, how often it was used, and how long ago."""
_OLDEST, _MOST_USES = AGES[-1] + 1, USES[-1] + 1
_BY_AGE = {
    source: tuple(
        tuple(rows[bisect_left(USES, uses)][bisect_left(AGES, ago)] for ago in range(_OLDEST + 1))
        for uses in range(_MOST_USES + 1)
    )
    for source, rows in CHANCE.items()
}
"""`CHANCE` for every number of uses and every age: a plan asks for tens of thousands."""
CHARS_PER_TOKEN = 2.9
"""For choosing only; what is kept is counted by the tokenizer."""


def chances(known: Mapping[str, Name], step: int) -> dict[str, float]:
    """Chance that the agent uses each again, at `step` or later."""
    # One expression, without a call for each name: there are tens of thousands.
    return {
        text: _BY_AGE[name.source][uses if uses < _MOST_USES else _MOST_USES][
            (ago if ago < _OLDEST else _OLDEST) if ago > 0 else 0
        ]
        for text, name in known.items()
        for uses in (name.uses,)
        for ago in (step - (name.used if uses else name.seen),)
    }
