"""The clock, ids, and seconds by variables."""

import os
import secrets
import time
from collections.abc import Callable
from pathlib import Path

from sidecar.core.parts import Millis

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32 in lower case: sorts in order, safe in names of folders."""


def read_clock() -> Millis:
    """Milliseconds since 1970.

    For tests, `SIDECAR_CLOCK_OFFSET_FILE` names a file, read at each use: seconds to add, perhaps
    seconds of a clock set ahead.
    """
    passed, jump = offset()
    return round((time.time() + passed + jump) * 1000)


def offset() -> tuple[float, float]:
    path = os.environ.get("SIDECAR_CLOCK_OFFSET_FILE")
    if not path:
        return 0.0, 0.0
    try:
        passed, *jump = Path(path).read_text(encoding="ascii").split()
        return float(passed), float(jump[0]) if jump else 0.0
    except (OSError, ValueError):
        return 0.0, 0.0


def id_source(now: Callable[[], Millis]) -> Callable[[str], str]:
    """Ids like `msg_01jd…`, ordered by time.

    As ULIDs: 48 bits of time, 80 random bits, incremented within a millisecond. A clock that steps
    back stands still.
    """
    last = [0, 0]

    def new_id(prefix: str) -> str:
        stamp = max(now(), last[0])
        chance = last[1] + 1 if stamp == last[0] else secrets.randbits(79)
        last[:] = [stamp, chance]
        return f"{prefix}_{_base32(stamp, 10)}{_base32(chance, 16)}"

    return new_id


def _base32(number: int, length: int) -> str:
    digits = []
    for _ in range(length):
        digits.append(ALPHABET[number & 31])
        number >>= 5
    return "".join(reversed(digits))


def seconds(variable: str, usual: float) -> float:
    try:
        return float(os.environ.get(variable, usual))
    except ValueError:
        return usual
