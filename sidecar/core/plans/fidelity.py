"""How much of what is likely to be needed a rewrite leaves in sight: reckoned, not judged.

Each identifier of what a rewrite changes weighs its chance of being used again (`core/plans/value`,
fitted on recorded sessions). What still stands in the prompt, or is named by a note there, counts;
what can only be recalled does not. No model is asked: `sidecar replay --judge` does that.
"""

from collections.abc import Set
from math import fsum

from sidecar.core.plans.value import chances
from sidecar.core.text.identifiers import NameIndex


def fidelity(changed: Set[str], left: Set[str], names: NameIndex, step: int) -> float:
    """Give the share, 0 to 1, that is `left` in sight of the identifiers in what was `changed`.

    `step` is the number of the coming request. Nothing named is nothing lost: 1.
    """
    known = names.known
    weights = chances({name: known[name] for name in changed if name in known}, step)
    total = fsum(weights.values())
    if not total:
        return 1.0
    return round(fsum(weight for name, weight in weights.items() if name in left) / total, 4)
