"""Measures how old stored things are by time seen to pass (docs/decisions/eras.md).

In an era clock and uptime agree; a jump or long unseen time begins another.
"""

import sqlite3
import time
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Millis
from sidecar.store.connection.lease import boot_of_machine

SLACK: Millis = 5 * 60_000
"""Difference within an era: clocks are often corrected by seconds."""
UNSEEN: Millis = 12 * 3_600_000
"""Most time counted for an unseen stretch: less than the day for which a session counts as live."""
SELDOM: Millis = 600_000
"""Time between notes that an era continues."""
MOST = 100
"""Eras kept; earlier dates count as of the oldest."""
ALWAYS: Millis = 1 << 60
"""Milliseconds, longer ago than any date."""


@dataclass(frozen=True, slots=True)
class Uptime:
    """Milliseconds since boot, sleep included; `boot` names the boot."""

    boot: str
    millis: Millis


ReadUptime: TypeAlias = Callable[[], Uptime | None]


def uptime(passed: float) -> Uptime | None:
    """Adds `passed` seconds; `None` if unknown."""
    boot = boot_of_machine()
    if not boot:
        return None
    # CLOCK_MONOTONIC stands still while the machine sleeps.
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return Uptime(boot, round((time.clock_gettime(clock) + passed) * 1000))


@dataclass(frozen=True, slots=True)
class Era:
    """The dates from `start` to `end`; `counted`: milliseconds that had passed before `start`.

    `offset`: clock minus uptime, when last trusted.
    """

    start: Millis
    end: Millis
    counted: Millis
    boot: str = ""
    offset: Millis = 0

    def at(self, date: Millis) -> Millis:
        return self.counted + date - self.start


@dataclass(frozen=True, slots=True)
class Ages:
    """All eras, oldest first; `noticed`: a sentence about a wrong clock, or ""."""

    now: Millis
    eras: tuple[Era, ...]
    noticed: str = ""

    def of(self, date: Millis) -> Millis:
        """Returns the greatest age that `date` can have, in milliseconds.

        If two eras hold the date, the later counts; a date in none counts from the next era.
        """
        last = self.eras[-1]
        known = [era.at(date) for era in self.eras if era.start <= date <= era.end]
        later = [(era.start, era.counted) for era in self.eras if era.start > date]
        if not known and not later:
            return 0
        return last.at(last.end) - (max(known) if known else min(later)[1])


def believing(now: Millis) -> Ages:
    """Trusts every date, where the machine's uptime is unknown."""
    return Ages(now, (Era(-ALWAYS, now, -ALWAYS),))


def looked(eras: tuple[Era, ...], now: Millis, count: Uptime) -> Ages:
    def begun(ago: Millis, counted: Millis) -> Era:
        # The clock may be put back a little afterwards, within SLACK.
        start, offset = now - ago - SLACK, now - count.millis
        return Era(start, now, counted - SLACK, count.boot, offset)

    if not eras:
        return Ages(now, (begun(0, 0),))
    *before, last = eras
    seen = last.at(last.end)
    if last.boot == count.boot:
        # The clock's date, had nobody set the clock.
        would = count.millis + last.offset
        if abs(now - would) <= SLACK:
            return Ages(now, (*before, replace(last, end=max(last.end, now))))
        closed = replace(last, end=max(last.end, would))
        era = begun(max(0, would - last.end), seen)
        return Ages(now, (*before, closed, era), _told(now - would))
    missed = now - last.end
    if -SLACK <= missed <= UNSEEN:
        offset = now - count.millis
        going = replace(last, end=max(last.end, now), boot=count.boot, offset=offset)
        return Ages(now, (*before, going))
    era = begun(0, seen + (UNSEEN if missed > 0 else 0))
    return Ages(now, (*eras, era), _missed(missed))


def ages(con: sqlite3.Connection, now: Millis, count: Uptime | None) -> Ages:
    return believing(now) if count is None else looked(_read(con), now, count)


def note(con: sqlite3.Connection, now: Millis, count: Uptime | None) -> str:
    """Stores the eras; returns a sentence about a wrong clock, or ""."""
    if count is None:
        return ""
    before = _read(con)
    after = looked(before, now, count)
    kept = after.eras[-MOST:]
    goes_on = len(after.eras) == len(before) and replace(kept[-1], end=before[-1].end) == before[-1]
    if goes_on and kept[-1].end - before[-1].end < SELDOM:
        return ""
    con.execute("DELETE FROM era")
    con.executemany(
        "INSERT INTO era (number, began, ended, counted, boot, ahead) VALUES (?, ?, ?, ?, ?, ?)",
        [(n, e.start, e.end, e.counted, e.boot, e.offset) for n, e in enumerate(kept)],
    )
    return after.noticed


@dataclass(frozen=True, slots=True)
class SeenClock:
    """Clock and uptime, for ages; from any thread."""

    now: Callable[[], Millis]
    uptime: ReadUptime

    def ages(self, con: sqlite3.Connection) -> Ages:
        return ages(con, self.now(), self.uptime())


def _read(con: sqlite3.Connection) -> tuple[Era, ...]:
    found = con.execute("SELECT began, ended, counted, boot, ahead FROM era ORDER BY number")
    return tuple(Era(*row) for row in found)


def _told(jump: Millis) -> str:
    return (
        f"The clock was set {_days(abs(jump))} {'ahead' if jump > 0 else 'back'} while this "
        "machine ran. What is stored does not age by that: only what was seen to pass counts."
    )


def _missed(missed: Millis) -> str:
    if missed < 0:
        return (
            f"The clock stands {_days(-missed)} before what it said when the store was last looked "
            "at. What is stored goes on ageing from there."
        )
    return (
        f"Nobody looked at the store for {_days(missed)}, if the clock is right. Half a day of "
        "that counts for how old things are."
    )


def _days(span: Millis) -> str:
    hours = span / 3_600_000
    return f"{hours / 24:,.1f} days" if hours >= 48 else f"{hours:.1f} hours"
