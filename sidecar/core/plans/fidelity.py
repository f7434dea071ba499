"""How much of the context likely to be needed a rewrite leaves in sight; by code."""

from collections.abc import Set
from math import fsum

from sidecar.core.plans.value import chances
from sidecar.core.text.identifiers import NameIndex


def fidelity(changed: Set[str], left: Set[str], names: NameIndex, step: int) -> float:
    """Share, 0 to 1, of the `changed` identifiers' weight that is `left` in sight.

    1 without any. `step` is the number of the coming request.
    """
    known = names.known
    weights = chances({name: known[name] for name in changed if name in known}, step)
    total = fsum(weights.values())
    if not total:
        return 1.0
    return round(fsum(weight for name, weight in weights.items() if name in left) / total, 4)
