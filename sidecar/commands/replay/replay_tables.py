"""Tables of `sidecar replay`."""

from collections.abc import Mapping, Sequence

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from sidecar.commands.terminal import PIPED_WIDTH, shown
from sidecar.core.text.visible import many
from sidecar.replay.compare import ReplayedSession, Settings, totals
from sidecar.replay.headline import (
    Compared,
    Comparison,
    caveats,
    headline,
    percent,
    prices_told,
    told,
)
from sidecar.replay.summary import figures, legend, reference_of
from sidecar.replay.validate import foresight, validity

MOST_ROWS = 40
MOST_DAMAGED = 10
NARROW = 118
"""Characters of a terminal; below, lesser columns are left out."""
WHY: Mapping[str, str] = {
    "budget": "full",
    "cold": "cache cold",
    "pays": "pays",
    "overflow": "too long",
    "user": "asked",
}


def _table(title: str) -> Table:
    return Table(box=SIMPLE, title=title, padding=(0, 1, 0, 0))


COLUMNS: Mapping[str, str] = {
    "theirs $": "the recorded agent's way, simulated",
    "ours $": "the same requests here, simulated by the same rules, re-reads included",
    "change": "ours against theirs, like for like",
    "paid $": "what the recording comes to, subagents included",
    "here $": "what was paid, changed by that share",
    "rewrites": "made here",
    "why": (
        "pays: what it saves is more than what it costs; cache cold: after a pause all would have "
        "been written anew; full: the window"
    ),
}
"""Columns of sessions and what is in them."""


def show_headline(
    console: Console, sessions: Sequence[ReplayedSession], found: Comparison, settings: Settings
) -> None:
    head = headline(found)
    if head is None:
        console.print("No recording says what was used: there is nothing to compare with.")
        return
    console.print(told(head))
    for line in caveats(head, found, len(sessions)):
        console.print(line)
    console.print(shown(prices_told(found, settings.rates)))


def show_sessions(
    console: Console, sessions: Sequence[ReplayedSession], found: Comparison, settings: Settings
) -> None:
    table = _table(f"{settings.policies[0]}, window {settings.window:,} tokens")
    table.add_column("session", overflow="ellipsis", min_width=12, max_width=44)
    wide = console.width >= NARROW
    columns = ["theirs $", "ours $", "change", "paid $", "here $", "rewrites"]
    for column in ("requests", *columns) if wide else columns:
        table.add_column(column, justify="right", no_wrap=True)
    if wide:
        table.add_column("why", overflow="fold", min_width=12)
    money = {id(one.session): one for one in found.sessions}
    dearest = sorted(sessions, key=lambda session: -session.tallies[0].with_rereads)[:MOST_ROWS]
    for session in dearest:
        one = session.tallies[0]
        why = _counted({WHY.get(cause, cause): n for cause, n in one.causes.items()})
        table.add_row(
            shown(session.name),
            *((str(session.requests),) if wide else ()),
            *_money(one.with_rereads, money.get(id(session))),
            str(one.rewrites),
            *((why,) if wide else ()),
        )
    console.print(table)
    if len(sessions) > MOST_ROWS:
        console.print(f"and {len(sessions) - MOST_ROWS} cheaper sessions, in the sums.")
    console.print(f"{legend((*columns, *(('why',) if wide else ())), COLUMNS)}\n")


def _money(ours: float, one: Compared | None) -> tuple[str, ...]:
    if one is None:
        return ("-", f"{ours:.2f}", "-", "-", "-")
    simulated = f"{one.theirs:.2f}", f"{one.ours:.2f}", percent(one.change)
    if not one.share:
        return (*simulated, "copy", "copy")
    return (*simulated, f"{one.paid + one.aside:.2f}", f"{one.here + one.aside:.2f}")


def show_comparison(
    console: Console, sessions: Sequence[ReplayedSession], settings: Settings
) -> None:
    sums = totals(sessions, settings.policies)
    reference = reference_of(sums)
    table = _table(f"{many(len(sessions), 'session')}, window {settings.window:,} tokens")
    table.add_column("policy", no_wrap=True)
    columns = tuple(figures(sums[0], reference))[: _fitting(console)]
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    for one in sums:
        table.add_row(one.policy, *(figures(one, reference)[column] for column in columns))
    console.print(table)
    console.print(f"{legend(columns)}\n")
    _show_trust(console, sessions)


def _fitting(console: Console) -> int:
    if console.width < NARROW:
        return 7
    return 12 if console.width < PIPED_WIDTH else 17


def _show_trust(console: Console, sessions: Sequence[ReplayedSession]) -> None:
    for kind in sorted({session.format for session in sessions}):
        agreements = [s.agreement for s in sessions if s.format == kind and s.agreement]
        found = validity(agreements)
        if found is None:
            continue
        reads = "" if found.reads is None else f", cache reads by {found.reads:.1%}"
        console.print(
            f"Check against recorded usage ({kind}, {many(found.sessions, 'session')} before the "
            f"first own compaction): prompts off by {found.prompts:.1%}{reads} (medians); in "
            f"{found.misses} of {many(found.requests, 'request')} the provider had less than half "
            "of what was predicted."
        )
    for one in foresight(s.agreement for s in sessions if s.agreement):
        console.print(
            f"{one.vendor} ({many(one.sessions, 'session')}): with the sizes that were reported "
            f"before, {one.foreseen:,} tokens of reads are foreseen and {one.reported:,} were "
            f"reported, {one.off:+.1%}."
        )
    _show_damaged(console, sessions)


def _show_damaged(console: Console, sessions: Sequence[ReplayedSession]) -> None:
    lines = [(session.name, line) for session in sessions for line in session.damaged]
    if not lines:
        return
    console.print(f"Skipped {many(len(lines), 'damaged line')}:")
    for name, line in lines[:MOST_DAMAGED]:
        console.print(shown(f"  {name}, line {line.line}: {line.why}"))
    if len(lines) > MOST_DAMAGED:
        console.print(f"  and {len(lines) - MOST_DAMAGED} more; --json lists them all")


def _counted(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {name}" for name, n in sorted(counts.items(), key=lambda i: -i[1]))
