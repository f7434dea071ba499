"""Asks a policy for the size at which it must rewrite."""

from bisect import bisect_left
from dataclasses import replace
from functools import lru_cache

from sidecar.core.plans.plan import Policy, Standing


@lru_cache(maxsize=64)
def compaction_point(policy: Policy, rest: Standing) -> int:
    """Gives the prompt's tokens at which the policy rewrites as a turn opens, or the limit.

    `rest`: totals in which only size, and messages growing with it, can be a cause.
    """
    history = rest.used - rest.static

    def fires(used: int) -> bool:
        grown = (used - rest.static) / history if history > 0 else 1
        of_size = replace(rest, used=used, messages=round(rest.messages * grown))
        return policy.due(of_size) is not None

    low, high = rest.static, rest.limit
    if fires(low) or not fires(high):
        return high
    return low + bisect_left(range(low, high), True, key=fires)
