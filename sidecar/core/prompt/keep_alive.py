"""When a cached prefix is worth keeping: by a ping before it dies, or for an hour at a time.

A ping is a request for no output that reads the whole prefix and so renews it. Chances come from
the session's own pauses, and from 85 recorded ones as long as it has had few: of 10,561
requests 223 came after a pause of five minutes to an hour and 47 after a longer one.
Prices are USD per token, times are milliseconds.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

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
    """Whether it pays: USD spent and saved on average, `gain` the difference, and why in words.

    `chance` is that of the user coming back in time for a ping, and the share of requests after
    a pause of five minutes to an hour for an hour's lifetime.
    """

    pays: bool
    gain: float
    reason: str
    cost: float
    saved: float
    chance: float


def starts_of(messages: Iterable[Message]) -> tuple[Millis, ...]:
    """Give when the requests began that messages answer."""
    parts = (part for message in messages for part in message.parts)
    return tuple(part.started for part in parts if isinstance(part, StepFinishPart))


def pauses(starts: Sequence[Millis]) -> tuple[Millis, ...]:
    """Give the time between the starts of consecutive requests."""
    return tuple(after - before for before, after in pairwise(starts))


def chance_back(starts: Sequence[Millis], pings: int, ttl: Millis = TTL_MS["5m"]) -> float:
    """Estimate the chance that a pause ends within the lifetime that the next ping would give.

    `pings` were sent in this pause, so it has lasted one lifetime more than that.
    """
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
    """Say whether one more ping pays, now that the prefix is about to die.

    A ping reads all `tokens`. If the user is back within its lifetime, those of them are read
    that would have been written again: all but the `surviving` ones, which live for an hour.
    Later pings are decided later, each by itself; `pings` were sent in this pause.
    """
    back = chance_back((), pings) if chance is None else chance
    cost = tokens * read
    saved = back * (tokens - surviving) * (write - read)
    gain = saved - cost
    if pings >= PINGS:
        reason = f"{pings} pings were sent in this pause; more do not pay on average"
        return Pays(pays=False, gain=gain, reason=reason, cost=cost, saved=saved, chance=back)
    reason = (
        f"{back:.0%} are back in time, which saves {saved:.4f} USD on average; "
        f"reading {tokens} tokens once more costs {cost:.4f}"
    )
    return Pays(gain > 0, gain, reason, cost, saved, back)


def hour_pays(
    tokens: int,
    *,
    write_5m: float,
    write_1h: float,
    read: float,
    starts: Sequence[Millis] = (),
    growth: int = 0,
    requests: int = REQUESTS,
) -> Pays:
    """Say whether a prefix is worth an hour's lifetime over the next `requests`.

    `growth` is how many tokens a request adds to it: none for the static part, what is written
    on average for a whole prompt. All of them are written at the dearer price, the prefix again
    after each pause of more than an hour; saved is writing it again after shorter pauses that
    five minutes do not outlast. `starts` are when the session's requests began.
    """
    seen = pauses(starts)
    known = len(seen) + SHARE_WEIGHT
    away = sum(pause > TTL_MS["1h"] for pause in seen)
    paused = sum(pause > TTL_MS["5m"] for pause in seen) - away
    share = (paused + SHARE_WEIGHT * PAUSED) / known
    gone = (away + SHARE_WEIGHT * AWAY) / known
    written = tokens * (1 + requests * gone) + growth * requests
    cost = written * (write_1h - write_5m)
    saved = requests * share * tokens * (write_5m - read)
    gain = saved - cost
    reason = (
        f"{share:.1%} of requests come after 5 to 60 min: over {requests} requests an hour's "
        f"lifetime costs {cost:.4f} USD more and saves {saved:.4f} of writing again"
    )
    return Pays(gain > 0, gain, reason, cost, saved, share)
