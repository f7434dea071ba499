"""Cuts long results before they are first sent, which costs no cache."""

from collections.abc import Sequence

from sidecar.core.plans.plan import Change, Plan, Situation
from sidecar.core.prompt.visibility import Truncated
from sidecar.core.text.rule_sentences import size_of

LEAST_RESULT = 800
"""A result is not cut to fewer tokens than this because others came with it."""


def shorten_arrivals(
    situation: Situation, each: int, policy: str, *, together: int | None = None
) -> Plan | None:
    """Cuts unsent results to about `each` tokens, all to `together`; `None` if none is long.

    Results with media stay whole.
    """
    fresh = [
        (index, item)
        for index, item in enumerate(situation.items)
        if index >= situation.sent
        and item.unit.kind == "call"
        and item.shown is None
        and not item.pinned
        and item.unit.part_id not in situation.preserved
        and size_of(item.unit.text) >= item.result
    ]
    most = each
    if together is not None:
        most = min(each, _level([item.result for _, item in fresh], together))
    changes = []
    first = len(situation.items)
    for index, item in fresh:
        unit = item.unit
        if item.result <= most * 1.2:
            continue
        cut = Truncated("both", size_of(unit.text) * most // item.result)
        reason = f"a result of {item.result} tokens, {most} at most in this window"
        changes.append(Change(unit.part_id, cut, reason, item.tokens, item.call + most + 20))
        first = min(first, index)
    if not changes:
        return None
    used = situation.standing.used
    after = used - sum(change.tokens_before - change.tokens_after for change in changes)
    reason = f"{len(changes)} long results cut before they are sent for the first time"
    return Plan(policy, "budget", reason, situation.revision, tuple(changes), first, used, after)


def _level(sizes: Sequence[int], together: int) -> int:
    """Gives the size to which larger results are cut to fit `together`."""
    room, left = together, len(sizes)
    for size in sorted(sizes):
        if size * left > room:
            return max(LEAST_RESULT, room // left)
        room -= size
        left -= 1
    return max(sizes, default=0)
