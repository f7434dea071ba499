"""Whether a ping before expiry, or an hour's lifetime, pays for a cached prefix.

A ping requests no output, but reads and so renews the prefix. Chances come from the session's
pauses, and from 85 recorded sessions while those are few: of 10,561 requests 223 came after 5 to 60
minutes, 47 later. Prices: USD per token; times: milliseconds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

from sidecar.core.parts import Message, Millis, StepFinishPart
from sidecar.core.prompt.warmth import TTL_MS

PINGS = 3
"""After this many the prefix is left to die: eleven lose again what three have won."""
RETURNS = (0.415, 0.278, 0.175, 0.128, 0.134, 0.099)
"""The chance that the next five minutes end a pause that has lasted 5, 10, ... minutes."""
WEIGHT = 4.0
"""Recorded pauses count as much as this many of the session's own."""
REQUESTS = 120
"""How many more requests a session is expected to make, whatever its age."""
PAUSED = 0.021
"""The share of requests after a pause of five minutes to an hour; `AWAY` after a longer one."""
AWAY = 0.0045
SHARE_WEIGHT = 50.0
"""Recorded requests count as much as this many of the session's own."""


@dataclass(frozen=True, slots=True)
class Pays:
    """A verdict, with USD spent and saved on average.

    `chance`: the user returns in time for a ping; for an hour's lifetime, the share of requests
    after 5 to 60 minutes.
    """

    pays: bool
    reason: str
    cost: float
    saved: float
    chance: float


def starts_of(messages: Iterable[Message]) -> tuple[Millis, ...]:
    parts = chain.from_iterable([message.parts for message in messages])
    return tuple([part.started for part in parts if isinstance(part, StepFinishPart)])


def pauses(starts: Sequence[Millis]) -> tuple[Millis, ...]:
    """Times between starts of consecutive requests."""
    return tuple(after - before for before, after in pairwise(starts))


def chance_back(starts: Sequence[Millis], pings: int, ttl: Millis = TTL_MS["5m"]) -> float:
    """Chance that a pause of `pings` + 1 lifetimes ends within one more."""
    waited = ttl * (pings + 1)
    lasted = [pause for pause in pauses(starts) if pause > waited]
    back = sum(pause <= waited + ttl for pause in lasted)
    known = RETURNS[min(pings, len(RETURNS) - 1)]
    return (back + WEIGHT * known) / (len(lasted) + WEIGHT)


def ping_pays(
    tokens: int,
    *,
    write: float,
    read: float,
    pings: int,
    chance: float | None = None,
    surviving: int = 0,
) -> Pays:
    """Whether one more ping pays, just before expiry.

    A ping reads all `tokens`. If the user returns in time, all but the `surviving` (cached for an
    hour) are read instead of written again.
    """
    back = chance_back((), pings) if chance is None else chance
    cost = tokens * read
    saved = back * (tokens - surviving) * (write - read)
    if pings >= PINGS:
        reason = f"{pings} pings were sent in this pause; more do not pay on average"
        return Pays(pays=False, reason=reason, cost=cost, saved=saved, chance=back)
    reason = (
        f"{back:.0%} are back in time, which saves {saved:.4f} USD on average; "
        f"reading {tokens} tokens once more costs {cost:.4f}"
    )
    return Pays(saved > cost, reason, cost, saved, back)


def hour_pays(
    tokens: int,
    *,
    write_5m: float,
    write_1h: float,
    read: float,
    starts: Sequence[Millis] = (),
) -> Pays:
    """Whether an hour's lifetime pays for static text over the next `REQUESTS`.

    All is written at the dearer price, and again after pauses over an hour; saved are writes after
    pauses of 5 to 60 minutes.
    """
    seen = pauses(starts)
    known = len(seen) + SHARE_WEIGHT
    away = sum(pause > TTL_MS["1h"] for pause in seen)
    paused = sum(pause > TTL_MS["5m"] for pause in seen) - away
    share = (paused + SHARE_WEIGHT * PAUSED) / known
    gone = (away + SHARE_WEIGHT * AWAY) / known
    written = tokens * (1 + REQUESTS * gone)
    cost = written * (write_1h - write_5m)
    saved = REQUESTS * share * tokens * (write_5m - read)
    reason = (
        f"{share:.1%} of requests come after 5 to 60 min: over {REQUESTS} requests an hour's "
        f"lifetime costs {cost:.4f} USD more and saves {saved:.4f} of writing again"
    )
    return Pays(saved > cost, reason, cost, saved, share)
