"""The tables of `sidecar inspect`."""

from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import pairwise

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from sidecar.commands.long_table import LongTable
from sidecar.commands.terminal import shown, when
from sidecar.core.prompt.pricing import money
from sidecar.core.text.visible import visible, visible_lines
from sidecar.observe.report.course import Course, CourseChange, CourseNote, CourseTurn
from sidecar.observe.report.spending import running

ZONES = {"green": "green", "yellow": "yellow", "orange": "dark_orange", "red": "red"}
REGIONS = {"toolResults": "tool results"}
BAR = 40
STEPS = "▁▂▃▄▅▆▇█"
LARGEST = 10
MOST_TURNS = 60
"""Turns listed, the newest of longer sessions."""
MOST_NOTES = 12
"""The largest are shown; of a long session's, most tell of one call."""
NOTE_LINES = 14
WHAT = 44


def drawn(course: Course) -> Iterator[RenderableType]:
    yield from _head(course)
    yield _titled("Context by region", _regions(course))
    yield _titled("What the log holds", _holdings(course))
    if largest := _largest(course):
        yield _titled("Largest in the context", largest)
    if course.tools:
        yield _titled("Tools", _tools(course))
    if course.changes:
        yield _titled("Changes of the context", _changes(course))
    if course.notes:
        yield _titled("Summaries and notes in the context", Group(*_notes(course.notes)))
    if course.turns:
        first = max(0, len(course.turns) - MOST_TURNS)
        what = f"Turns ({first} older ones are in --json)" if first else "Turns"
        yield _titled(what, _turns(course.turns[first:], course.limit))
    for problem in course.problems:
        yield shown(f"! {problem}", "red")


def _head(course: Course) -> Iterator[Text]:
    about, meter = course.about, course.meter
    yield shown(about.title or "(untitled)", "bold")
    yield shown(f"{about.id}  in {about.cwd}", "dim")
    span = f"{when(about.created)} to {when(about.updated)}"
    yield shown(f"{span}, revision {about.revision}, {about.model}, policy {about.policy}")
    if about.parent:
        yield shown(f"made from {about.parent}", "dim")
    colour = ZONES[meter.zone]
    filled = min(BAR, round(BAR * meter.used / max(1, course.limit)))
    sign = "=" if meter.accuracy == "exact" else "≈"
    yield Text.assemble(
        ("█" * filled, colour),
        ("░" * (BAR - filled), "dim"),
        f" {meter.percent}% {sign} {meter.used:,} of {course.limit:,} tokens, {meter.zone}",
    )
    due = f"a rewrite is due at {meter.compact_at:,}"
    yield Text(f"{visible(meter.reason)}; {due}", style="dim")
    if len(course.requests) > 1:
        yield Text(_trend(course), style="dim")
    yield Text(_cost(course))


def _trend(course: Course) -> str:
    held = [one.held for one in course.requests]
    columns = min(BAR, len(held))
    ends = [len(held) * (column + 1) // columns for column in range(columns)]
    peaks = [max(held[start:end]) for start, end in pairwise((0, *ends))]
    levels = (STEPS[min(len(STEPS) - 1, len(STEPS) * n // max(1, course.limit))] for n in peaks)
    grown = f"{course.meter.velocity:+,} tokens a turn of late"
    return f"{''.join(levels)} over {len(held)} requests, {max(held):,} at most; {grown}"


def _cost(course: Course) -> str:
    spent = course.spent
    read = sum(one.usage.cache_read for one in spent)
    prompt = sum(one.usage.prompt for one in spent)
    cost = course.meter.cost.session
    told = "cost unknown" if cost is None else f"cost {cost} USD"
    if course.about.priced_as:
        paid = running(course)[0][-1]
        told += f", at {course.about.priced_as}'s prices {money(paid or Decimal(0))} USD"
    rate = f"{read / prompt:.1%}" if prompt else "nothing"
    requests = sum(one.usage.requests for one in spent)
    return f"{told}; {requests} requests sent {prompt:,} tokens, {rate} of them from the cache"


def _regions(course: Course) -> LongTable:
    table = LongTable("region", "tokens", "share", "pieces", "cached", right=frozenset({1, 3, 4}))
    used = max(1, course.meter.used)
    pieces = Counter(one.region for one in course.pieces if one.shown != "dropped")
    cached: Counter[str] = Counter()
    for one in course.pieces:
        cached[one.region] += one.tokens if one.cached else 0
    for region, tokens in course.meter.regions.items():
        if tokens or pieces[region]:
            share = Text.assemble(
                (f"{tokens / used:.1%} ", ""), ("▆" * round(20 * tokens / used), "blue")
            )
            name = REGIONS.get(region, region)
            table.add_row(name, f"{tokens:,}", share, str(pieces[region]), f"{cached[region]:,}")
    return table


def _holdings(course: Course) -> Table:
    shown = Counter(one.shown for one in course.pieces if one.part_id)
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_row("messages", _counts(course.messages))
    table.add_row("parts", _counts(course.parts))
    table.add_row("in view", _counts(tuple(shown.items())) or "nothing")
    whole = sum(cut.whole_bytes for cut in course.cuts)
    kept = sum(cut.shown_bytes for cut in course.cuts)
    if course.cuts:
        told = f"{len(course.cuts)} results, {kept:,} of {whole:,} bytes; `recall` reads the rest"
        table.add_row("cut at the source", told)
    table.add_row("checkpoints", str(len(course.checkpoints)))
    return table


def _counts(counts: tuple[tuple[str, int], ...]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts)


def _largest(course: Course) -> LongTable | None:
    ordered = sorted(course.pieces, key=lambda piece: -piece.tokens)[:LARGEST]
    if not ordered or not ordered[0].tokens:
        return None
    heads = ("tokens", "region", "shown", "turn", "what")
    table = LongTable(*heads, right=frozenset({0, 3}), wraps=True)
    for one in ordered:
        turn = "" if one.turn is None else str(one.turn)
        what = Text(visible(one.label), no_wrap=True, overflow="ellipsis")
        table.add_row(f"{one.tokens:,}", REGIONS.get(one.region, one.region), one.shown, turn, what)
    return table


def _tools(course: Course) -> LongTable:
    heads = ("tool", "calls", "failed", "tokens ever", "in view", "cut at source")
    table = LongTable(*heads, right=frozenset(range(1, 6)))
    for one in course.tools:
        counts = (one.calls, one.failed, one.tokens, one.in_view, one.cut)
        table.add_row(shown(one.name), *(f"{count:,}" for count in counts))
    return table


def _changes(course: Course) -> LongTable:
    heads = ("#", "when", "turn", "what", "tokens", "price", "why")
    table = LongTable(*heads, right=frozenset({0, 2}), wraps=True)
    for one in course.changes:
        table.add_row(
            str(one.number),
            when(one.at),
            str(one.turn),
            _change(one),
            "" if one.before is None else f"{one.before:,} → {one.afterwards:,}",
            "" if one.price is None else f"{one.price} USD",
            one.reason,
            style="dim" if one.undone else "",
        )
    return table


def _change(one: CourseChange) -> str:
    told = f"{one.kind} ({one.cause})" if one.cause != one.kind else one.kind
    if one.left_out:
        told += ": " + _counts(tuple((name, number) for name, number in one.left_out))
    if one.summary:
        told += f"; summary by {one.summary}"
    return f"{told}; undone since" if one.undone else told


def _notes(notes: Sequence[CourseNote]) -> Iterator[Text]:
    by_size = sorted(notes, key=lambda note: -note.tokens)
    largest, smaller = by_size[:MOST_NOTES], by_size[MOST_NOTES:]
    shown = {note.id for note in largest}
    yield from (_note(note) for note in notes if note.id in shown)
    if smaller:
        tokens = sum(note.tokens for note in smaller)
        told = f"… and {len(smaller)} smaller ones, {tokens:,} tokens, are in --json"
        yield Text(told, style="dim")


def _note(note: CourseNote) -> Text:
    lines = visible_lines(note.text).split("\n")
    about = f"{note.region}, {note.tokens:,} tokens, {visible(note.id)}\n"
    text = Text(about, style="cyan", no_wrap=True, overflow="ellipsis")
    for line in lines[:NOTE_LINES]:
        text.append(f"  {line}\n", style="default")
    if len(lines) > NOTE_LINES:
        text.append(f"  … and {len(lines) - NOTE_LINES} more lines\n", style="dim")
    return text


def _turns(turns: tuple[CourseTurn, ...], limit: int) -> LongTable:
    heads = ("#", "when", "what", "steps", "calls", "context", "", "cached", "cost")
    table = LongTable(*heads, right=frozenset({0, 3, 4, 5, 7, 8}), wraps=True)
    for one in turns:
        held = one.held or 0
        rate = one.usage.cache_read / one.usage.prompt if one.usage.prompt else 0.0
        calls = f"{one.calls} ({one.failed} failed)" if one.failed else str(one.calls)
        marks = "".join(("◆" * one.changes, "" if one.stands else " left"))
        odd = visible(one.stop) if one.stop not in ("", "end_turn") else ""
        what = Text(visible(one.title), no_wrap=True, overflow="ellipsis")
        what.truncate(WHAT, overflow="ellipsis")
        what.append(f" {odd}" if odd else "", style="red")
        what.append(f" {marks}" if marks.strip() else "", style="magenta")
        table.add_row(
            str(one.number),
            when(one.at),
            what,
            str(one.requests),
            calls,
            f"{held:,}" if held else "",
            Text("▆" * round(12 * held / max(1, limit)), style="blue"),
            f"{rate:.0%}" if one.usage.prompt else "",
            "" if one.cost is None else f"{one.cost:.4f}",
            style="" if one.stands else "dim",
        )
    return table


def _titled(title: str, what: RenderableType) -> Group:
    return Group(Text(f"\n{title}", style="bold underline"), what)
