"""Writes the report's tables as HTML."""

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from html import escape

from sidecar.core.parts import Millis
from sidecar.core.prompt.budget import REGIONS
from sidecar.observe.report.course import Course, CourseCheckpoint, CourseFile
from sidecar.observe.report.plot import named
from sidecar.observe.report.report_charts import NAMES
from sidecar.observe.report.spending import dollars

When = Callable[[Millis], str]
MOST_POINTS = 40
"""Checkpoints shown; older ones are folded."""
MOST_ROWS = 12
"""Rows of a table shown unfolded."""
MOST_FILES = 12
MOST_PIECES = 100
MOST_CHANGES = 300
LETTERS = {"created": "+", "modified": "~", "deleted": "-", "renamed": "→", "mode": "mode"}


def changes(course: Course, when: When) -> str:
    if not course.changes:
        return ""
    rows = []
    for one in course.changes[-MOST_CHANGES:]:
        sizes = "" if one.before is None else f"{one.before:,} → {one.afterwards:,}"
        left = ", ".join(f"{number:,} {how}" for how, number in one.left_out)
        by = f"; summary by {one.summary}" if one.summary else ""
        rows.append(
            (
                "gone" if one.undone else "",
                f"{one.number}. {named(one)}",
                _cells(when(one.at), str(one.turn), sizes, "" if one.price is None else one.price),
                _why(f"{one.reason}{by}"),
                _text(left),
            )
        )
    heads = ("change", "when", "turn", "tokens", "price, USD", "why<", "shown otherwise<")
    older = len(course.changes) - len(rows)
    words = _many(len(rows), "change") + (f", {older:,} older ones left out" if older else "")
    return _if_long(words, _table("Changes of the context", heads, rows), len(rows))


def misses(course: Course) -> str:
    rows = [
        ("", f"request {one.number}", _cells(str(one.turn)), _text(one.miss[0]), _why(one.miss[1]))
        for one in course.requests
        if one.miss is not None
    ]
    heads = ("request", "turn", "segment<", "why<")
    return (
        _folded(_many(len(rows), "cache miss"), _table("Cache misses", heads, rows)) if rows else ""
    )


def asides(course: Course, when: When) -> str:
    rows = [
        (
            "",
            f"{one.purpose}, {one.model}",
            _cells(
                when(one.at),
                f"{one.spent.usage.prompt:,}",
                f"{one.spent.usage.cache_read:,}",
                f"{one.spent.usage.output:,}",
                _usd(one.spent.cost),
            ),
        )
        for one in course.asides
    ]
    if not rows:
        return ""
    heads = ("asked", "when", "sent", "of it read", "written", "USD")
    table = _table("Asked beside the conversation", heads, rows)
    return _folded(_many(len(rows), "request") + " beside the conversation", table)


def tools(course: Course) -> str:
    whole = sum(one.tokens for one in course.tools) or 1
    rows = [
        (
            "",
            one.name,
            _cells(
                f"{one.calls:,}",
                f"{one.failed:,}",
                f"{one.tokens:,}",
                f"{one.tokens / whole:.1%}",
                f"{one.in_view:,}",
                f"{one.cut:,}",
                f"{one.whole:,}",
            ),
        )
        for one in course.tools
    ]
    heads = (
        "tool", "calls", "failed", "tokens", "share", "in view", "cut at source", "bytes of those",
    )  # fmt: skip
    return _if_long(_many(len(rows), "tool"), _table("Tools", heads, rows), len(rows))


def notes(course: Course) -> str:
    return "".join(
        f"<h3>{escape(NAMES.get(one.region, one.region))}, {one.tokens:,} tokens "
        f"<code>{escape(one.id)}</code></h3><pre>{escape(one.text)}</pre>"
        for one in course.notes
    )


def regions(course: Course) -> str:
    used, rows = course.meter.used or 1, []
    for place, region in enumerate(REGIONS):
        now = course.now[place]
        most = max([now, *(one.regions[place] for one in course.requests)])
        if most:
            cells = _cells(f"{now:,}", f"{now / used:.1%}", f"{most:,}")
            rows.append(("", NAMES.get(region, region), cells))
    rows.append(("", "all", _cells(f"{course.meter.used:,}", "100%", "")))
    return _table("Context by region", ("region", "now", "share", "at most"), rows)


def turns(course: Course, when: When) -> str:
    rows = []
    for one in course.turns:
        stop = "" if one.stop in ("", "end_turn") else f" ({one.stop})"
        usage = one.usage
        rows.append(
            (
                "" if one.stands else "gone",
                f"{one.number}. {one.title}{stop}",
                _cells(
                    when(one.at),
                    str(one.requests),
                    f"{one.calls}" + (f" ({one.failed} failed)" if one.failed else ""),
                    "" if one.held is None else f"{one.held:,}",
                    f"{usage.cache_read:,}",
                    f"{usage.cache_write_5m + usage.cache_write_1h:,}",
                    f"{usage.input:,}",
                    f"{usage.output:,}",
                    _usd(one.cost) if usage.requests else "",
                ),
            )
        )
    heads = (
        "turn", "when", "requests", "calls", "context", "read", "written", "uncached", "output",
        "USD",
    )  # fmt: skip
    return _folded(_many(len(rows), "turn"), _table("Turns", heads, rows)) if rows else ""


def pieces(course: Course) -> str:
    found = sorted((one for one in course.pieces if one.tokens), key=lambda one: -one.tokens)
    rows = [
        (
            "",
            one.label,
            _cells(
                NAMES.get(one.region, one.region),
                one.shown,
                "" if one.turn is None else str(one.turn),
                f"{one.tokens:,}",
            ),
        )
        for one in found[:MOST_PIECES]
    ]
    heads = ("what", "region", "shown", "turn", "tokens")
    table = _table("Largest in the context", heads, rows)
    return _folded(f"The largest {len(rows)} pieces of the context", table) if rows else ""


def points(course: Course, when: When) -> str:
    many = len(course.checkpoints) > 1.5 * MOST_POINTS
    early = course.checkpoints[:-MOST_POINTS] if many else ()
    late = _points(course.checkpoints[len(early) :], when)
    older = _folded(_many(len(early), "older checkpoint"), _points(early, when)) if early else ""
    return older + late


def _points(found: Sequence[CourseCheckpoint], when: When) -> str:
    items = []
    for one in found:
        more = len(one.files) - MOST_FILES
        files = "".join(map(_file, one.files[:MOST_FILES]))
        files += f"<li>and {more:,} more</li>" if more > 0 else ""
        kind = "" if one.kind == "turn" else f" · {escape(one.kind)}"
        items.append(
            f'<li class="{escape(one.kind)}{"" if one.stands else " gone"}">'
            f'<span class="when">{escape(when(one.at))} · turn {one.turn}{kind}'
            f"</span><b>{escape(one.title)}</b>"
            + (f'<ul class="files">{files}</ul>' if files else "")
            + "</li>"
        )
    return f'<ol class="points">{"".join(items)}</ol>'


def _file(file: CourseFile) -> str:
    yours = file.author == "user"
    kind = ' class="user"' if yours else ""
    whose = {"user": " (you)", "unknown": " (a command, or you)"}.get(file.author, "")
    return (
        f'<li{kind} title="{escape(file.change)} by '
        f'{escape(file.author)}">{LETTERS.get(file.change, "")} {escape(file.path)}'
        f"{whose}</li>"
    )


def _usd(amount: Decimal | None) -> str:
    return "unknown" if amount is None else dollars(float(amount))


def _cells(*texts: str) -> str:
    return "".join(f"<td>{escape(text)}</td>" for text in texts)


def _text(text: str) -> str:
    return f'<td class="text">{escape(text)}</td>'


def _why(text: str) -> str:
    return f'<td class="text why">{escape(text)}</td>'


def _table(caption: str, heads: Sequence[str], rows: Iterable[tuple[str, ...]]) -> str:
    """Each row has a CSS class, a heading, and HTML cells."""
    left = ' class="text"'
    head = "".join(
        f'<th scope="col"{left if n == 0 or name.endswith("<") else ""}>'
        f"{escape(name.removesuffix('<'))}</th>"
        for n, name in enumerate(heads)
    )
    body = "".join(
        f'<tr class="{kind}"><th scope="row">{escape(name)}</th>{"".join(cells)}</tr>'
        for kind, name, *cells in rows
    ).replace('<tr class="">', "<tr>")
    return (
        f'<div class="scroll" tabindex="0"><table aria-label="{escape(caption)}">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _folded(title: str, inside: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{inside}</details>"


def _if_long(title: str, table: str, rows: int) -> str:
    return _folded(title, table) if rows > MOST_ROWS else table


def _many(count: int, what: str) -> str:
    return (
        f"{count:,} {what}" if count == 1 else f"{count:,} {what}{'es' if what[-1] == 's' else 's'}"
    )
