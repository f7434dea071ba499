"""Tables of `sidecar replay`."""

from collections.abc import Mapping, Sequence

from rich.box import SIMPLE
from rich.console import Console, JustifyMethod
from rich.table import Table

from sidecar.commands.terminal import PIPED_WIDTH, many, shown
from sidecar.replay.compare import ReplayedSession, Settings, totals
from sidecar.replay.summary import LEGEND, figures, reference_of, share
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


def show_sessions(
    console: Console, sessions: Sequence[ReplayedSession], settings: Settings
) -> None:
    wide = console.width >= NARROW
    table = _table(f"{settings.policies[0]}, window {settings.window:,} tokens")
    table.add_column("session", overflow="ellipsis", min_width=12, max_width=36)
    numbers = ("requests", "cost $", "here $", "read", "rewrites")
    for column in ("format", "tokens/request", *numbers) if wide else numbers:
        justify: JustifyMethod = "left" if column == "format" else "right"
        table.add_column(column, justify=justify, no_wrap=True)
    table.add_column("why", overflow="fold", min_width=12)
    if wide:
        table.add_column("cache breaks", overflow="fold")
    dearest = sorted(sessions, key=lambda session: -session.tallies[0].cost)[:MOST_ROWS]
    for session in dearest:
        one = session.tallies[0]
        more = (session.format, f"{one.prompt // max(1, one.requests):,}") if wide else ()
        table.add_row(
            shown(session.name),
            *more,
            str(session.requests),
            "-" if session.recorded is None else f"{session.recorded:.2f}",
            f"{one.cost:.2f}",
            f"{share(one.read, one.prompt):.1%}",
            str(one.rewrites),
            _counted({WHY.get(cause, cause): n for cause, n in one.causes.items()}),
            *((_counted(one.breaks),) if wide else ()),
        )
    console.print(table)
    if len(sessions) > MOST_ROWS:
        console.print(f"and {len(sessions) - MOST_ROWS} cheaper sessions, in the sums below")


def show_comparison(
    console: Console, sessions: Sequence[ReplayedSession], settings: Settings
) -> None:
    sums = totals(sessions, settings.policies)
    reference = reference_of(sums)
    table = _table(f"{many(len(sessions), 'session')}, window {settings.window:,} tokens")
    table.add_column("policy", no_wrap=True)
    shown_figures = _fitting(console)
    for column in tuple(figures(sums[0], reference))[:shown_figures]:
        table.add_column(column, justify="right", no_wrap=True)
    for one in sums:
        table.add_row(one.policy, *tuple(figures(one, reference).values())[:shown_figures])
    console.print(table)
    console.print(f"{LEGEND}\n")
    recorded = [session.recorded for session in sessions if session.recorded is not None]
    if recorded:
        console.print(
            f"What the recordings themselves report comes to {sum(recorded):.2f} USD "
            f"({many(len(recorded), 'session')} with usage figures)."
        )
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
