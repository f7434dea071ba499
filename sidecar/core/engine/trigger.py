"""Where a policy's forced rewrite begins, found by asking the policy itself."""

from dataclasses import replace
from functools import lru_cache

from sidecar.core.plans.plan import Policy, Standing


@lru_cache(maxsize=64)
def compaction_point(policy: Policy, standing: Standing) -> int:
    """Give the size in tokens at which a turn that opens makes the policy rewrite.

    The policy is asked with everything else at rest: a warm cache, nothing new, no rent paid. Some
    count messages: they are taken to grow as the history does, at what each takes now. So the
    meter names the size at which the trigger fires; the limit, where nothing fires before it, or
    where the policy counts something else, such as turns, and is due at any size.
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
    """Give a standing in which nothing but size and number of messages speaks for a rewrite."""
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
    """Give a standing of another size, with as many messages as its history would have."""
    history = now.used - now.static
    messages = now.messages
    if history > 0:
        messages = round(now.messages * (used - now.static) / history)
    return replace(rest, used=used, messages=messages)
