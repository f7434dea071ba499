"""Draws the report's charts: context, cache, cost, tools."""

from collections.abc import Iterator, Sequence
from html import escape

from sidecar.core.prompt.budget import REGIONS, zones
from sidecar.core.text.svg import LETTER, frame, short
from sidecar.core.text.visible import clipped
from sidecar.observe.report.course import Course, CourseRequest, ToolUse
from sidecar.observe.report.plot import (
    LEFT,
    TOP,
    WIDTH,
    Plot,
    chart,
    edges,
    epochs,
    left_axis,
    line,
    marks,
    plot,
    right_labels,
    steps,
    turn_axis,
    under,
    which,
)
from sidecar.observe.report.spending import dollars, running

NAMES = {
    "system": "system text",
    "tools": "tool definitions",
    "toolResults": "tool results",
    "reasoning": "thinking",
    "ledger": "ledger notes",
    "user": "user",
}
"""Clearer names of regions."""
MUCH = 0.4
"""Share of the limit; below, the chart shows and tells only the used part."""
MOST_TOOLS = 12


def context(course: Course) -> str:
    held = [one.held for one in course.requests]
    most = max([course.meter.used, *held])
    whole = most >= MUCH * course.limit
    top = max(course.limit, most) if whole else most * 1.25
    field = plot(course, 380, top)
    fullest = [max(course.requests[a:b], key=lambda one: one.held) for a, b in field.columns]
    values = [*(one.regions for one in fullest), course.now]
    ends = [*edges(field), field.right]
    pieces = [*_zones(field, course), *left_axis(field, "tokens")]
    lower = [0.0] * len(values)
    for place, region in enumerate(REGIONS):
        upper = [low + value[place] for low, value in zip(lower, values, strict=True)]
        if any(value[place] for value in values):
            title = f"<title>{escape(NAMES.get(region, region))}</title>"
            path = steps(field, lower, upper, ends)
            pieces.append(f'<path class="area r-{region}" d="{path}">{title}</path>')
        lower = upper
    if course.requests:
        at = field.x(field.slots)
        pieces.append(
            f'<line class="now" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{field.base}"/>'
        )
    pieces += _limits(field, course)
    titles = [
        _held(which(course, column), one)
        for column, one in zip(field.columns, fullest, strict=True)
    ]
    pieces += under(field, titles, "of-context")
    pieces += marks(field, course.changes)
    pieces += turn_axis(field, course.requests, now=True)
    pieces += epochs(field, course.changes)
    label = f"Tokens of the context by region over {len(course.requests)} requests"
    return chart(field, pieces, label)


def _held(name: str, request: CourseRequest) -> str:
    regions = zip(REGIONS, request.regions, strict=True)
    parts = ", ".join(f"{NAMES.get(r, r)} {n:,}" for r, n in regions if n)
    sign = "" if request.spent else "about "
    return f"{name}: {sign}{request.held:,} tokens; {parts}"


def _zones(field: Plot, course: Course) -> Iterator[str]:
    for low, high, name in zones(course.meter.zones):
        start, end = low * course.limit, high * course.limit
        if start >= field.most:
            continue
        y, height = field.y(end), field.y(start) - field.y(end)
        yield (
            f'<rect class="zone z-{name}" x="{LEFT}" y="{y:.1f}" '
            f'width="{field.right - LEFT}" height="{height:.1f}"/>'
            f'<rect class="strip z-{name}" x="{field.right + 1}" y="{y:.1f}" width="5" '
            f'height="{height:.1f}"/>'
        )


def _limits(field: Plot, course: Course) -> Iterator[str]:
    limit, due = course.limit, course.meter.compact_at
    near = abs(due - limit) <= 0.02 * limit
    labels = [(float(limit), f"limit {short(limit)}{', rewrite due' if near else ''}")]
    if not near:
        labels.append((float(due), f"rewrite due {short(due)}"))
    if limit > field.most:
        labels.append((field.most, f"limit is {short(limit)}"))
    bounds = zones(course.meter.zones)
    labels += [(low * limit, f"{name} from {low:.0%}") for low, _, name in bounds if low * limit]
    for value in {limit, due}:
        if value <= field.most:
            at = field.y(value)
            kind = "limit" if value == limit else "due"
            yield (
                f'<line class="{kind}" x1="{LEFT}" x2="{field.right}" y1="{at:.1f}" y2="{at:.1f}"/>'
            )
    yield from right_labels(field, labels)


def cache(course: Course) -> str:
    found = []
    field = plot(course, 230, 1.0)
    for start, end in field.columns:
        usages = [one.spent.usage for one in course.requests[start:end] if one.spent]
        count = max(1, len(usages))
        read = sum(u.cache_read for u in usages) / count
        written = sum(u.cache_write_5m + u.cache_write_1h for u in usages) / count
        found.append((read, written, sum(u.input for u in usages) / count))
    most = max((sum(one) for one in found), default=1.0)
    field = plot(course, 230, most * 1.08)
    pieces, ends = list(left_axis(field, "tokens")), edges(field)
    lower = [0.0] * len(found)
    for place, kind in enumerate(("read", "written", "uncached")):
        upper = [low + one[place] for low, one in zip(lower, found, strict=True)]
        if found:
            path = steps(field, lower, upper, ends)
            pieces.append(f'<path class="area c-{kind}" d="{path}"><title>{kind}</title></path>')
        lower = upper
    titles = [
        f"{which(course, column)}: {read:,.0f} read, {written:,.0f} written, {sent:,.0f} uncached"
        for column, (read, written, sent) in zip(field.columns, found, strict=True)
    ]
    pieces += under(field, titles, "of-cache")
    pieces += _misses(field, course.requests)
    pieces += marks(field, course.changes)
    pieces += turn_axis(field, course.requests, now=False)
    return chart(field, pieces, "Tokens read from the cache, written to it, and sent uncached")


def _misses(field: Plot, requests: Sequence[CourseRequest]) -> Iterator[str]:
    last = -1e9
    for slot, one in enumerate(requests):
        if one.miss is None:
            continue
        at = field.x(slot + 0.5)
        if at - last < 3:
            continue
        last = at
        why = f"request {one.number} missed the cache at {one.miss[0]}: {one.miss[1]}"
        yield (
            f'<path class="miss" d="M{at - 5:.1f} {TOP + 1}h10l-5 8z">'
            f"<title>{escape(why)}</title></path>"
        )


def cost(course: Course) -> str:
    paid, fresh = running(course)
    if not paid or paid[-1] is None:
        return ""
    sums = [(float(a or 0), float(b or 0)) for a, b in zip(paid, fresh, strict=True)]
    most = max(max(pair) for pair in sums)
    if not most:
        return ""
    field = plot(course, 250, most * 1.06)
    places = [0, *(end for _, end in field.columns)]
    low = [(field.x(n), field.y(sums[n][0])) for n in places]
    high = [(field.x(n), field.y(sums[n][1])) for n in places]
    between = " ".join(f"{x:.1f},{y:.1f}" for x, y in [*high, *reversed(low)])
    pieces = [
        *left_axis(field, "USD", lambda amount: f"{amount:,g}"),
        f'<polygon class="saved" points="{between}"/>',
        line(high, "fresh"),
        line(low, "paid"),
    ]
    titles = [
        f"up to {which(course, (end - 1, end))}: {dollars(sums[end][0])} USD paid, "
        f"{dollars(sums[end][1])} without a cache"
        for _, end in field.columns
    ]
    pieces += under(field, titles, "of-cost")
    pieces += turn_axis(field, course.requests, now=False)
    a, b = sums[-1]
    apart = abs(field.y(a) - field.y(b)) >= 16
    pieces += right_labels(
        field,
        [(b, f"${dollars(b)} uncached"), (a, f"${dollars(a)} paid")]
        if apart
        else [(max(a, b), f"${dollars(a)} of ${dollars(b)}")],
    )
    return chart(field, pieces, "Cost so far in USD, paid and without a cache")


def tools(course: Course) -> str:
    shown = list(course.tools[:MOST_TOOLS])
    if rest := course.tools[MOST_TOOLS:]:
        counts = ("calls", "failed", "tokens", "in_view", "cut", "whole")
        sums = (sum(getattr(one, name) for one in rest) for name in counts)
        shown.append(ToolUse(f"{len(rest)} others", *sums))
    names = [clipped(one.name, 24) for one in shown]
    start = 16 + LETTER * max(map(len, names), default=0)
    most = max((one.tokens for one in shown), default=0) or 1
    room = WIDTH - start - 250
    drawn = []
    for row, (name, one) in enumerate(zip(names, shown, strict=True)):
        y = 26 * row + 4
        ever, now = room * one.tokens / most, room * one.in_view / most
        calls = f"{one.calls:,} call{'' if one.calls == 1 else 's'}"
        drawn.append(
            f'<g class="tool"><title>{escape(one.name)}: {calls}, {one.failed} failed, '
            f"{one.cut} cut at the source</title>"
            f'<text class="name" x="4" y="{y + 14}">{escape(name)}</text>'
            f'<rect class="ever" x="{start:.1f}" y="{y}" width="{ever:.1f}" height="18"/>'
            f'<rect class="in-view" x="{start:.1f}" y="{y}" width="{now:.1f}" height="18"/>'
            f'<text x="{start + ever + 8:.1f}" y="{y + 14}">{short(one.tokens)} tokens, '
            f"{short(one.in_view)} in view, {calls}</text></g>"
        )
    return frame(WIDTH, 26 * len(shown) + 8, "".join(drawn), "Tokens of results by tool")
