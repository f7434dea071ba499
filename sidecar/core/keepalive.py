"""When a cache entry is worth keeping alive: an hour's lifetime, or a ping before it dies.

How often people come back after a pause was counted on recorded sessions: of 277 pauses of more
than five minutes 116 ended within ten, 46 of the rest within fifteen, 19 within twenty.
"""

from dataclasses import dataclass

PAUSES = 2.7
"""Pauses of five minutes to an hour that a session has, on average."""
RETURNS = (0.42, 0.29, 0.16, 0.08)
"""The chance that the next five minutes end a pause, by how many have passed."""
PINGS = 3
"""After this many the entry is left to die: more lose again what these have won."""


@dataclass(frozen=True, slots=True)
class Pays:
    """Whether something pays, by how much in USD, and why."""

    pays: bool
    gain: float
    reason: str


def hour_pays(
    tokens: int, *, write_5m: float, write_1h: float, read: float, pauses: float = PAUSES
) -> Pays:
    """Say whether a prefix is worth an hour's lifetime; prices are USD per token.

    It costs the dearer write once, and saves a rewrite at each pause of five minutes to an hour.
    """
    extra = tokens * (write_1h - write_5m)
    saved = pauses * tokens * (write_5m - read)
    gain = saved - extra
    words = f"{pauses:g} pauses would cost {saved:.4f} USD of writing again, an hour {extra:.4f}"
    return Pays(gain > 0, gain, words)


def ping_pays(tokens: int, *, write: float, read: float, pings: int) -> Pays:
    """Say whether one more ping pays; `pings` were sent since the last request.

    A ping reads the whole prefix. It saves writing it again if the user is back within the next
    five minutes.
    """
    chance = RETURNS[min(pings, len(RETURNS) - 1)]
    cost = tokens * read
    gain = chance * tokens * (write - read) - cost
    if pings >= PINGS:
        return Pays(pays=False, gain=gain, reason=f"{pings} pings were sent; more do not pay")
    words = f"{chance:.0%} come back in time, which saves {tokens * (write - read):.4f} USD"
    return Pays(gain > 0, gain, f"{words}; a ping costs {cost:.4f}")
