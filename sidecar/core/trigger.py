"""Where a policy's forced rewrite begins, found by asking the policy itself."""

from dataclasses import replace
from functools import lru_cache

from sidecar.core.plan import Policy, Standing


@lru_cache(maxsize=64)
def compaction_point(policy: Policy, standing: Standing) -> int:
    """Give the size in tokens at which the policy must rewrite; the limit if it never does.

    The policy is asked with everything else at rest: a warm cache, nothing new, no rent paid. So
    the meter names the very number at which the trigger fires.
    """
    rest = replace(
        standing,
        base=standing.static,
        rent=0,
        requests=0,
        warm=True,
        opens_turn=True,
        newest=0,
        cooling_ms=0,
        overflow=False,
        asked=False,
    )
    low, high = standing.static, standing.limit
    if policy.due(replace(rest, used=high)) is None:
        return standing.limit
    while low < high:
        middle = (low + high) // 2
        if policy.due(replace(rest, used=middle)) is None:
            low = middle + 1
        else:
            high = middle
    return high
