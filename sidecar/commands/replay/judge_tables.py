"""Tables and JSON of `sidecar replay --judge`."""

import sys
from collections import Counter

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from sidecar.commands.terminal import shown, wide_terminal
from sidecar.core.text.visible import visible_json
from sidecar.replay.judge.judge_questions import score
from sidecar.replay.judge.judgement import Judgement, judgement_json

MOST_LOST = 40
"""Lost answers shown one by one."""


def show_json(judgement: Judgement) -> None:
    sys.stdout.write(visible_json(judgement_json(judgement), indent=1) + "\n")


def show_tables(judgement: Judgement) -> None:
    console = wide_terminal()
    if judgement.sessions:
        console.print(_sessions(judgement))
        console.print(_kinds(judgement))
        _show_lost(console, judgement)
    for failed in judgement.failed:
        console.print(shown(f"Not judged: {failed.name}: {failed.why}"))
    console.print(judgement.conclusion())


def _sessions(judgement: Judgement) -> Table:
    title = f"{judgement.policy}, window {judgement.window:,} tokens"
    table = Table(box=SIMPLE, title=title, padding=(0, 1, 0, 0))
    table.add_column("session", overflow="ellipsis", min_width=12, max_width=48)
    for column in ("requests", "rewrites", "same", "partial", "lost", "fidelity"):
        table.add_column(column, justify="right", no_wrap=True)
    for session in judgement.sessions:
        rulings = Counter(one.verdict.ruling for one in session.judged)
        counts = (rulings["same"], rulings["partial"], rulings["lost"])
        table.add_row(
            shown(session.name),
            str(session.requests),
            str(session.rewrites),
            *map(str, counts),
            f"{score(session.judged):.3f}",
        )
    return table


def _kinds(judgement: Judgement) -> Table:
    table = Table(box=SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("asked about")
    for column in ("questions", "fidelity"):
        table.add_column(column, justify="right")
    for kind, (number, worth) in judgement.by_kind().items():
        table.add_row(kind, str(number), f"{worth:.3f}")
    return table


def _show_lost(console: Console, judgement: Judgement) -> None:
    lines = [
        f"{one.verdict.ruling}: {session.name}: {one.question.text} {one.verdict.why}".rstrip()
        for session in judgement.sessions
        for one in session.judged
        if one.verdict.ruling != "same"
    ]
    for line in lines[:MOST_LOST]:
        console.print(shown(line))
    if len(lines) > MOST_LOST:
        console.print(f"and {len(lines) - MOST_LOST} more; --json lists them all")
