"""The size at which a policy must rewrite, found by asking the policy."""

from dataclasses import replace
from functools import lru_cache

from sidecar.core.plans.plan import Policy, Standing


@lru_cache(maxsize=64)
def compaction_point(policy: Policy, standing: Standing) -> int:
    """Tokens at which an opening turn makes the policy rewrite.

    The limit, if nothing fires below, or if the policy is due at any size, as when counting turns.
    """
    rest = at_rest(standing)
    low, high = standing.static, standing.limit
    fires = [policy.due(grown(rest, standing, size)) is not None for size in (low, high)]
    if fires != [False, True]:
        return standing.limit
    while low < high:
        middle = (low + high) // 2
        if policy.due(grown(rest, standing, middle)) is None:
            low = middle + 1
        else:
            high = middle
    return high


def at_rest(standing: Standing) -> Standing:
    """Only size and messages could cause a rewrite then."""
    return replace(
        standing,
        base=standing.static,
        rent=0,
        requests=1,
        warm=True,
        opens_turn=True,
        newest=0,
        guessed=0,
        cooling_ms=0,
        overflow=False,
        asked=False,
    )


def grown(rest: Standing, now: Standing, used: int) -> Standing:
    """Of another size, with messages in proportion."""
    history = now.used - now.static
    messages = now.messages
    if history > 0:
        messages = round(now.messages * (used - now.static) / history)
    return replace(rest, used=used, messages=messages)
