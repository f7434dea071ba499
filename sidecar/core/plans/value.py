"""Weighs context by the chance that a block is needed word for word, or a name used again.

Fitted on recorded sessions; see `core/policies/README.md`.
"""

from bisect import bisect_left
from collections.abc import Mapping, Sequence, Set
from math import fsum
from typing import Literal, TypeAlias

from sidecar.core.ledger.deeds import Means
from sidecar.core.ledger.units import Unit
from sidecar.core.text.identifiers import Name, NameIndex, NameSource

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
    source: [
        [rows[bisect_left(USES, uses)][bisect_left(AGES, ago)] for ago in range(_OLDEST + 1)]
        for uses in range(_MOST_USES + 1)
    ]
    for source, rows in CHANCE.items()
}
"""`CHANCE` for every number of uses and every age: a plan asks for tens of thousands."""


def chances(known: Mapping[str, Name], step: int) -> dict[str, float]:
    """Gives each name's chance of use from `step` on."""
    older = step - _OLDEST
    by_step = {
        source: [[ages[-1]] * older + ages[min(step, _OLDEST) :: -1] for ages in rows]
        for source, rows in _BY_AGE.items()
    }
    # One expression, without a call for each name: there are tens of thousands.
    return {
        text: by_step[name.source][uses if uses < _MOST_USES else _MOST_USES][name.used]
        if (uses := name.uses)
        else by_step[name.source][0][name.seen]
        for text, name in known.items()
    }


def fidelity(changed: Set[str], left: Set[str], names: NameIndex, step: int) -> float:
    """Gives the share, 0 to 1, of the `changed` names' weight `left` in sight; 1 without any."""
    known = names.known
    weights = chances({name: known[name] for name in changed if name in known}, step)
    total = fsum(weights.values())
    if not total:
        return 1.0
    return round(fsum(weight for name, weight in weights.items() if name in left) / total, 4)


ShownBy: TypeAlias = Means | Literal["stale edit", "stale read"]
"""What showed a text; a stale block's files were touched again later."""
STALE: Mapping[Means, ShownBy] = {"edit": "stale edit", "read": "stale read"}
NEED_AGES = (2, 5, 10, 20, 40, 80)
"""Requests since a block came: the columns of `NEED`."""
NEED: dict[ShownBy, tuple[float, ...]] = {
    "edit": (0.37, 0.35, 0.46, 0.47, 0.36, 0.29, 0.11),
    "stale edit": (0.22, 0.22, 0.20, 0.20, 0.18, 0.10, 0.018),
    "read": (0.35, 0.19, 0.25, 0.15, 0.13, 0.06, 0.02),
    "stale read": (0.16, 0.10, 0.07, 0.045, 0.03, 0.019, 0.006),
    "shell": (0.16, 0.14, 0.145, 0.12, 0.074, 0.028, 0.011),
    "tool": (0.065, 0.04, 0.048, 0.057, 0.045, 0.019, 0.005),
    "prose": (0.03, 0.04, 0.08, 0.058, 0.042, 0.013, 0.008),
}
"""Per 1,000 tokens, the chance that a text which a block was the last to show is needed word for
word within 60 requests: by kind, and by age."""

KnownLine: TypeAlias = Literal["written", "near", "read"]
"""What the agent did with a line of a changed file; `near`: it wrote one close by."""
IMAGE_NEED: dict[KnownLine, tuple[float, ...]] = {
    "written": (0.35, 0.33, 0.33, 0.28, 0.19, 0.10, 0.05),
    "near": (0.06, 0.08, 0.08, 0.06, 0.06, 0.035, 0.01),
    "read": (0.25, 0.17, 0.15, 0.15, 0.06, 0.045, 0.012),
}
"""As `NEED`, for lines of a changed file as it stands; half of what was counted, since edits are
kept beside."""


def needs(units: Sequence[Unit], step: int) -> list[float]:
    """Gives each unit's chance of need per token, at `step`."""
    fresh = frozenset({path: unit.part_id for unit in units for path in unit.touched}.values())
    return [
        NEED[unit.means if unit.part_id in fresh else STALE.get(unit.means, unit.means)][
            bisect_left(NEED_AGES, step - unit.step)
        ]
        / 1_000
        for unit in units
    ]
