"""Shows a session as one HTML page without fetches or scripts."""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from html import escape

from sidecar.core.parts import Millis
from sidecar.core.prompt.budget import REGIONS
from sidecar.observe.report import report_charts, report_tables
from sidecar.observe.report.course import Course
from sidecar.observe.report.plot import SHAPES
from sidecar.observe.report.report_charts import NAMES
from sidecar.observe.report.report_tables import When
from sidecar.observe.report.spending import dollars, running
from sidecar.observe.report.style import style

POLICY = "default-src 'none'; style-src 'unsafe-inline'"
SWITCH = """<fieldset><legend>Colours</legend>
<label><input type="radio" name="colours" id="auto" checked>Auto</label>
<label><input type="radio" name="colours" id="light">Light</label>
<label><input type="radio" name="colours" id="dark">Dark</label></fieldset>"""


def report(course: Course, when: When, made: Millis) -> str:
    title = course.about.title or "Untitled session"
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>{escape(title)} · Sidecar</title><style>{style()}</style></head><body><main>"
        f"{_head(course, title, when)}{_tiles(course)}{_problems(course)}"
        f"{''.join(_sections(course, when))}"
        f"<footer>Made {escape(when(made))} from revision {course.about.revision} of "
        f"<code>{escape(course.about.id)}</code> by Sidecar. What looks like a key is taken out."
        "</footer></main></body></html>"
    )


def _head(course: Course, title: str, when: When) -> str:
    about = course.about
    parent = f", made from <code>{escape(about.parent)}</code>" if about.parent else ""
    return (
        f"<header><div><h1>{escape(title)}</h1><p><code>{escape(about.id)}</code>{parent} in "
        f"<code>{escape(about.cwd)}</code><br>{escape(when(about.created))} to "
        f"{escape(when(about.updated))} · {escape(about.model)} · policy {escape(about.policy)}"
        f"</p></div>{SWITCH}</header>"
    )


def _tiles(course: Course) -> str:
    meter, spent = course.meter, course.spent
    paid, fresh = (sums[-1] for sums in running(course))
    prompt = sum(one.usage.prompt for one in spent)
    read = sum(one.usage.cache_read for one in spent)
    rate = f"{read / prompt:.1%}" if prompt else "none"
    sign = "" if meter.accuracy == "exact" else "≈ "
    tiles = [
        (
            f"{meter.percent}%",
            f"{sign}{meter.used:,} of {course.limit:,} tokens, {meter.zone}",
        ),
        (_usd(_own(course)), _priced(course, paid)),
        (_saved(paid, fresh), f"saved by the cache, of {_usd(fresh)} uncached"),
        (rate, f"of {prompt:,} tokens sent came from the cache"),
        (f"{len(course.turns):,}", f"turns, {sum(one.usage.requests for one in spent):,} requests"),
        (
            str(sum(change.kind == "rewrite" for change in course.changes)),
            f"rewrites of the context, {sum(one.calls for one in course.tools):,} tool calls",
        ),
    ]
    dots = [f'<i class="z-{meter.zone}"></i>', *[""] * (len(tiles) - 1)]
    drawn = "".join(
        f'<div class="tile"><b>{dot}{escape(figure)}</b><span>{escape(words)}</span></div>'
        for dot, (figure, words) in zip(dots, tiles, strict=True)
    )
    return f'<div class="tiles">{drawn}</div>'


def _own(course: Course) -> Decimal | None:
    cost = course.meter.cost.session
    return None if cost is None else Decimal(cost)


def _usd(amount: Decimal | None) -> str:
    return "unknown" if amount is None else f"{dollars(float(amount))} USD"


def _priced(course: Course, paid: Decimal | None) -> str:
    if course.about.priced_as:
        return f"cost; at {course.about.priced_as}'s prices {_usd(paid)}"
    return "cost of the session" if _own(course) is not None else "cost: no price is known"


def _saved(paid: Decimal | None, fresh: Decimal | None) -> str:
    if paid is None or fresh is None:
        return "unknown"
    return f"{1 - float(paid) / float(fresh):.1%}" if fresh else "none"


def _problems(course: Course) -> str:
    if not course.problems:
        return ""
    lines = "".join(f"<li>{escape(one)}</li>" for one in course.problems)
    return f'<div class="card"><h3>Not everything could be read</h3><ul>{lines}</ul></div>'


def _sections(course: Course, when: When) -> Iterator[str]:
    asked = bool(course.requests)
    yield _section(
        "Context by request",
        "What each request held, as the provider counted it, by region; the last column is now. "
        "The bands are the zones of the window; the numbered lines are changes of the context, and "
        "the strip below shows the epochs: how long one prefix was carried on. A dotted line began "
        "none." + _provenance(course),
        _chart(report_charts.context(course)) + _regions(course) + _signs(course),
        report_tables.changes(course, when),
    )
    if any(one.spent for one in course.requests):
        yield _section(
            "Cache",
            "What each request read from the cache, wrote to it, and sent without it. A triangle "
            "marks a request that read less than it should have: point at it to see why.",
            _chart(report_charts.cache(course)) + _legend("c", ("read", "written", "uncached")),
            report_tables.misses(course),
        )
    drawn = report_charts.cost(course) if asked else ""
    if drawn:
        as_if = course.about.priced_as
        priced = f" Its models cost nothing; drawn at the prices of {as_if}." if as_if else ""
        if by := course.about.recorded_by:
            priced += f" What {by} recorded is reckoned at list prices and was not paid here."
        elif not all(one.own for one in course.spent):
            priced += " What came from the session that this one was forked from, that one paid."
        yield _section(
            "Cost",
            "What the session cost so far (line), and what the same requests would have cost "
            "without a cache (dashes). Summaries, subtasks and pings are part of both." + priced,
            _chart(drawn),
            report_tables.asides(course, when),
        )
    if course.tools:
        yield _section(
            "Tools",
            "About how many tokens each tool's results came to, and how many of them are in the "
            "context now.",
            _chart(report_charts.tools(course)),
            report_tables.tools(course),
        )
    if course.notes:
        yield _section(
            "Summaries and notes",
            "What stands in the context for what was left out.",
            report_tables.notes(course),
        )
    if course.checkpoints:
        yield _section(
            "Checkpoints",
            "What the session can go back to, and which files changed on the way there. Struck "
            "out: left behind.",
            report_tables.points(course, when),
        )
    yield _section(
        "Figures",
        "The same by turn and by what fills the context, for who cannot see the charts.",
        report_tables.regions(course),
        report_tables.turns(course, when),
        report_tables.pieces(course),
    )


def _section(title: str, words: str, *cards: str) -> str:
    inside = "".join(f'<div class="card">{card}</div>' for card in cards if card)
    return f"<section><h2>{escape(title)}</h2><p>{escape(words)}</p>{inside}</section>"


def _chart(svg: str) -> str:
    return f'<div class="scroll" tabindex="0">{svg}</div>'


def _provenance(course: Course) -> str:
    told = ""
    if course.about.recorded_by:
        told += (
            f" What {course.about.recorded_by} recorded before the import was sent by it; the "
            "regions say of what kind it was."
        )
    if any(one.spent is None for one in course.requests):
        told += " Where nothing was reported, sizes are estimated."
    return told


def _regions(course: Course) -> str:
    # Top of the stack first.
    items = []
    for place in reversed(range(len(REGIONS))):
        region, now = REGIONS[place], course.now[place]
        if now or any(one.regions[place] for one in course.requests):
            name = escape(NAMES.get(region, region))
            items.append(f'<li><i class="r-{region}"></i>{name} <b>{now:,}</b></li>')
    return f'<ul class="legend">{"".join(items)}</ul>'


def _signs(course: Course) -> str:
    kinds = dict.fromkeys(change.kind for change in course.changes)
    items = "".join(f'<li><i class="sign">{SHAPES[kind]}</i> {kind}</li>' for kind in kinds)
    return f'<ul class="legend">{items}</ul>' if items else ""


def _legend(kind: str, names: Sequence[str]) -> str:
    items = "".join(f'<li><i class="{kind}-{name}"></i>{name}</li>' for name in names)
    return f'<ul class="legend">{items}</ul>'
