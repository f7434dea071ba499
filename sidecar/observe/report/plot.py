"""Lays out charts over requests, on one shared axis."""

from collections.abc import Callable, Iterator, Sequence
from html import escape
from itertools import pairwise

from sidecar.core.dataclass import dataclass
from sidecar.core.text.svg import LETTER, ROW, frame, short, ticks
from sidecar.observe.report.course import Course, CourseChange, CourseRequest

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 1000, 54, 158, 30, 36
MOST_COLUMNS = 400
"""Columns of a chart; longer sessions have several requests in each."""
NOW = 24
"""Units at the right for the present."""
BADGE = 8.0
"""Radius of a change's badge above the field."""
MANY = 60
"""Changes; of more, only short beginnings are drawn."""
MOST_TOLD = 10
"""Changes described by one badge."""
SHAPES = {"rewrite": "●", "undo": "○", "restore": "■", "model": "◆"}


@dataclass(frozen=True, slots=True)
class Plot:
    """A chart's field, with one slot per request and one for the present.

    `columns`: half-open ranges of requests, from 0.
    """

    height: int
    slots: int
    columns: tuple[tuple[int, int], ...]
    most: float

    @property
    def base(self) -> int:
        return self.height - BOTTOM

    @property
    def right(self) -> int:
        return WIDTH - RIGHT

    def x(self, slot: float) -> float:
        return LEFT + (self.right - NOW - LEFT) * slot / max(1, self.slots)

    def y(self, value: float) -> float:
        return self.base - (self.base - TOP) * min(1.0, value / self.most)


def plot(course: Course, height: int, most: float) -> Plot:
    count = len(course.requests)
    size = max(1, -(-count // MOST_COLUMNS))
    columns = tuple((at, min(at + size, count)) for at in range(0, count, size))
    return Plot(height, count, columns, max(most, 1e-9))


def steps(plot: Plot, lower: Sequence[float], upper: Sequence[float], ends: Sequence[float]) -> str:
    """Draws the area between two step lines; `ends`: x of the columns' edges."""
    there = (f"V{plot.y(upper[n]):.1f}H{end:.1f}" for n, end in enumerate(ends[1:]))
    back = (f"V{plot.y(lower[n]):.1f}H{ends[n]:.1f}" for n in reversed(range(len(lower))))
    return f"M{ends[0]:.1f} {plot.y(lower[0]):.1f}{''.join(there)}{''.join(back)}Z"


def edges(plot: Plot) -> list[float]:
    return [*(plot.x(start) for start, _ in plot.columns), plot.x(plot.slots)]


def left_axis(plot: Plot, unit: str, write: Callable[[float], str] = short) -> Iterator[str]:
    yield f'<text x="{LEFT - 8}" y="{TOP - 12}" text-anchor="end">{unit}</text>'
    for value in ticks(0, plot.most, 4):
        if value <= plot.most:
            at = plot.y(value)
            yield (
                f'<line class="grid" x1="{LEFT}" x2="{plot.right}" y1="{at:.1f}" y2="{at:.1f}"/>'
                f'<text x="{LEFT - 8}" y="{at + 4:.1f}" text-anchor="end">{write(value)}</text>'
            )


def turn_axis(plot: Plot, requests: Sequence[CourseRequest], *, now: bool) -> Iterator[str]:
    yield (f'<line class="axis" x1="{LEFT}" x2="{plot.right}" y1="{plot.base}" y2="{plot.base}"/>')
    begun: dict[int, int] = {}
    for slot, request in enumerate(requests):
        begun.setdefault(request.turn, slot)
    last = -1e9
    end = plot.right - (LETTER * 5 if now else 0)
    for turn, slot in begun.items():
        at, words = plot.x(slot), f"turn {turn}"
        room = LETTER * len(words) + 14
        if at < last or at + room > end + 14:
            continue
        last = at + max(room, (plot.right - LEFT) / 12)
        yield (
            f'<line class="axis" x1="{at:.1f}" x2="{at:.1f}" y1="{plot.base}" '
            f'y2="{plot.base + 6}"/><text x="{at:.1f}" y="{plot.base + 19}">{words}</text>'
        )
    if now:
        yield (
            f'<text class="name" x="{plot.right}" y="{plot.base + 19}" text-anchor="end">now</text>'
        )


def epochs(plot: Plot, changes: Sequence[CourseChange]) -> Iterator[str]:
    opening = (change for change in changes if change.opens)
    since = ((plot.x(one.after), f"{one.number}. {named(one)}") for one in opening)
    begun = [(plot.x(0), "the beginning"), *since]
    yield f'<text x="{LEFT - 8}" y="{plot.base + 33}" text-anchor="end">epochs</text>'
    ends = [*(at for at, _ in begun[1:]), float(plot.right)]
    for number, ((at, why), end) in enumerate(zip(begun, ends, strict=True), 1):
        yield (
            f'<rect class="epoch e-{number % 2}" x="{at:.1f}" y="{plot.base + 26}" '
            f'width="{max(0.0, end - at):.1f}" height="7">'
            f"<title>epoch {number}, since {escape(why)}</title></rect>"
        )


def right_labels(plot: Plot, labels: Sequence[tuple[float, str]]) -> Iterator[str]:
    taken: list[float] = []
    for value, words in labels:
        at = plot.y(value)
        if value <= plot.most and all(abs(at - other) >= ROW for other in taken):
            taken.append(at)
            yield f'<text x="{plot.right + 10}" y="{at + 4:.1f}">{escape(words)}</text>'


def marks(plot: Plot, changes: Sequence[CourseChange]) -> Iterator[str]:
    # Many full lines would hide the chart.
    end = TOP + 4 if len(changes) > MANY else plot.base
    for change in changes:
        at = plot.x(change.after)
        yield (
            f'<g class="mark {change.kind}{_state(change)}">'
            f"<title>{escape(told(change))}</title>"
            f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{TOP - 6}" y2="{end}"/></g>'
        )
    places = [plot.x(change.after) for change in changes]
    crowded = any(after - before < 2 * BADGE + 4 for before, after in pairwise(places))
    words = f"{len(changes)}-{len(changes)}" if crowded else ""
    room = 2 * max(BADGE, _half(words)) + 4
    together: list[list[CourseChange]] = []
    for change, at in zip(changes, places, strict=True):
        if together and at - plot.x(together[-1][0].after) < room:
            together[-1].append(change)
        else:
            together.append([change])
    for group in together:
        yield _badge(group, plot.x(group[0].after), TOP - 6 - BADGE)


def _state(change: CourseChange) -> str:
    return f"{' undone' if change.undone else ''}{'' if change.opens else ' inner'}"


def _half(words: str) -> float:
    return max(BADGE, LETTER * len(words) / 2 + 3)


def _badge(group: Sequence[CourseChange], x: float, y: float) -> str:
    first, r = group[0], BADGE
    words = str(first.number) if len(group) == 1 else f"{first.number}-{group[-1].number}"
    half = _half(words)
    x = max(x, LEFT + half - BADGE)
    if len(group) > 1 or first.kind == "restore":
        rounded = f' rx="{r}"' if len(group) > 1 else ""
        shape = (
            f'<rect x="{x - half:.1f}" y="{y - r:.1f}" width="{2 * half:.1f}" '
            f'height="{2 * r}"{rounded}/>'
        )
    elif first.kind == "model":
        d = r + 2
        shape = f'<path d="M{x:.1f} {y - d:.1f}l{d} {d}l-{d} {d}l-{d} -{d}Z"/>'
    else:
        shape = f'<ellipse cx="{x:.1f}" cy="{y:.1f}" rx="{half:.1f}" ry="{r}"/>'
    kind = first.kind if len(group) == 1 else "several"
    state = _state(first) if len(group) == 1 else ""
    titles = escape("\n".join(map(told, group[:MOST_TOLD])))
    return (
        f'<g class="badge {kind}{state}"><title>{titles}</title>{shape}'
        f'<text x="{x:.1f}" y="{y + 3.6:.1f}" text-anchor="middle">{words}</text></g>'
    )


def told(change: CourseChange) -> str:
    sizes = ""
    if change.before is not None and change.afterwards is not None:
        sizes = f", {change.before:,} to {change.afterwards:,} tokens"
    undone = ", undone since" if change.undone else ""
    return f"{change.number}. {named(change)}{sizes}{undone}: {change.reason}"


def named(change: CourseChange) -> str:
    same = change.cause == change.kind
    return change.kind if same else f"{change.kind} ({change.cause})"


def chart(plot: Plot, pieces: Sequence[str], label: str) -> str:
    return frame(WIDTH, plot.height, "".join(pieces), label)


def under(plot: Plot, titles: Sequence[str], kind: str) -> Iterator[str]:
    ends = edges(plot)
    for n, title in enumerate(titles):
        yield (
            f'<rect class="hit {kind}" x="{ends[n]:.1f}" y="{TOP}" '
            f'width="{ends[n + 1] - ends[n]:.1f}" height="{plot.base - TOP}">'
            f"<title>{escape(title)}</title></rect>"
        )


def which(course: Course, column: tuple[int, int]) -> str:
    first, last = course.requests[column[0]], course.requests[column[1] - 1]
    if first is last:
        return f"request {first.number}, turn {first.turn}"
    return f"requests {first.number} to {last.number}, turns {first.turn} to {last.turn}"


def line(points: Sequence[tuple[float, float]], kind: str) -> str:
    drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return f'<polyline class="{kind}" points="{drawn}"/>'
