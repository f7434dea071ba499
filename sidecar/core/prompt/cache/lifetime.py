"""Chooses how long the provider caches the static text, where a longer life is sold.

Only a write sets the lifetime. Prices: USD per token; times: milliseconds.
"""

from collections.abc import Iterable, Sequence
from itertools import chain, pairwise

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Message, Millis, StepFinishPart
from sidecar.core.prompt.cache_rules import MARKED, CacheRules
from sidecar.core.prompt.prompt import Ttl

SHARE = 0.05
"""The most of what a session has spent that an hour may cost it beyond what an hour saves."""


@dataclass(frozen=True, slots=True)
class Lifetime:
    """A choice for the next write of the static text.

    `cost` and `saved` are USD of an hour's lifetime in this session, with the coming write.
    """

    ttl: Ttl
    reason: str
    cost: float
    saved: float


def starts_of(messages: Iterable[Message]) -> tuple[Millis, ...]:
    parts = chain.from_iterable([message.parts for message in messages])
    return tuple([part.started for part in parts if isinstance(part, StepFinishPart)])


def pauses(starts: Sequence[Millis]) -> tuple[Millis, ...]:
    return tuple(after - before for before, after in pairwise(starts))


def is_kept(life: Millis, last: Millis | None, now: Millis) -> bool:
    """Whether text of a request begun at `last` is still cached at `now`."""
    return last is not None and now - last <= life


def lifetime(
    tokens: int,
    *,
    write_5m: float,
    write_1h: float,
    read: float,
    starts: Sequence[Millis],
    now: Millis,
    spent: float,
    rules: CacheRules = MARKED,
) -> Lifetime:
    """Chooses the lifetime of `tokens` of static text, written by a request at `now`.

    The first write is for five minutes. Later writes are for an hour once the session's own pauses
    would have paid for that, or its price is small beside `spent`. The price: this write and one
    after each pause of over an hour. The savings: writes after earlier pauses of 5 to 60 minutes.
    """
    waited = pauses((*starts, now))
    longer = sum(pause > rules.long for pause in waited)
    within = sum(rules.short < pause <= rules.long for pause in waited[:-1])
    cost = tokens * (1 + longer) * (write_1h - write_5m)
    saved = tokens * within * (write_5m - read)
    ttl: Ttl = "1h" if starts and cost <= saved + SHARE * spent else "5m"
    reason = (
        f"after {within} pauses of 5 to 60 min and {longer} longer ones an hour costs {cost:.4f} "
        f"USD more and saves {saved:.4f} of writing again, and {spent:.4f} were spent"
    )
    return Lifetime(ttl, reason, cost, saved)
