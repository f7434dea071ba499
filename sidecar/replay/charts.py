"""Draws a comparison's charts as inline SVG."""

from collections.abc import Iterator, Sequence
from html import escape

from sidecar.core.dataclass import dataclass
from sidecar.core.policies import DEFAULT
from sidecar.core.prompt.budget import zones
from sidecar.core.text.svg import LETTER, ROW, frame, spaced, ticks
from sidecar.replay.compare import ReplayedSession

WIDTH, HEIGHT, LEFT, BOTTOM = 720, 220, 64, 26
SCATTER = 400
MOST_POINTS = 720
LEAST_COST = 1e-9
"""USD; below, everything is drawn as free."""
MOST_LETTERS = 30
"""Letters of two names in one label."""
ABOVE, BELOW = 10.0, 3.0
"""Units of a line of text above and below its base line."""
TOGETHER = 5.0
"""Units; closer dots look like one, and share a label."""


@dataclass(frozen=True, slots=True)
class Dot:
    """A policy's cost in USD, and the share (0 to 1) of far lines in view."""

    name: str
    cost: float
    kept: float


def bars(costs: Sequence[tuple[str, float]]) -> str:
    ordered = sorted(costs, key=lambda item: item[1])
    most = max(LEAST_COST, *(cost for _, cost in ordered))
    start = max(90.0, 16 + LETTER * max(len(name) for name, _ in ordered))
    drawn = []
    for row, (name, cost) in enumerate(ordered):
        y, width = 22 * row + 4, (WIDTH - start - 80) * cost / most
        drawn.append(
            f'<text class="name" x="4" y="{y + 13}">{escape(name)}</text>'
            f'<rect x="{start:.1f}" y="{y}" width="{width:.1f}" height="16" rx="3" '
            f'fill="var(--{_colour(name)})"/>'
            f'<text x="{start + width + 6:.1f}" y="{y + 13}">{cost:,.2f}</text>'
        )
    return frame(WIDTH, 22 * len(ordered) + 8, "".join(drawn), "Cost by policy in USD")


def scatter(dots: Sequence[Dot]) -> str:
    most = max(dot.cost for dot in dots) * 1.08
    most = 1.0 if most < LEAST_COST else most
    low = max(0.0, min(dot.kept for dot in dots) - 0.03)
    low = min(low, 0.95)
    base = SCATTER - BOTTOM - 8

    def x(cost: float) -> float:
        return LEFT + (WIDTH - LEFT - 12) * cost / most

    def y(kept: float) -> float:
        return 22 + (base - 22) * (1 - (kept - low) / (1 - low))

    drawn = [
        f'<line class="axis" x1="{LEFT}" x2="{WIDTH}" y1="{y(value):.1f}" y2="{y(value):.1f}"/>'
        f'<text x="{LEFT - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{value:.2f}</text>'
        for value in ticks(low, 1.0)
    ]
    drawn += (
        f'<line class="axis" x1="{x(value):.1f}" x2="{x(value):.1f}" y1="{base}" y2="{base + 5}"/>'
        f'<text x="{x(value):.1f}" y="{base + 18}" text-anchor="middle">{value:,g}</text>'
        for value in ticks(0.0, most)
    )
    drawn.append(f'<text x="{WIDTH - 4}" y="{base + 30}" text-anchor="end">USD</text>')
    drawn.append('<text x="4" y="12">far lines</text>')
    groups = _together([(dot, x(dot.cost), y(dot.kept)) for dot in dots])
    drawn += _labels(groups)
    drawn += (_circle(dot, at_x, at_y) for group in groups for dot, at_x, at_y in group)
    return frame(WIDTH, SCATTER, "".join(drawn), "Cost against far lines")


Placed = tuple[Dot, float, float]


def _circle(dot: Dot, x: float, y: float) -> str:
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{6 if dot.name.startswith(DEFAULT) else 4}" '
        f'fill="var(--{_colour(dot.name)})"><title>{escape(dot.name)}: {dot.cost:,.2f} USD, '
        f"far lines {dot.kept:.3f}</title></circle>"
    )


def _together(dots: Sequence[Placed]) -> list[list[Placed]]:
    groups: list[list[Placed]] = []
    for placed in sorted(dots, key=lambda p: (not p[0].name.startswith(DEFAULT), p[2], p[0].name)):
        dot, x, y = placed
        for group in groups:
            first, first_x, first_y = group[0]
            near = abs(first_x - x) <= TOGETHER and abs(first_y - y) <= TOGETHER
            if near and not first.name.startswith(DEFAULT) and not dot.name.startswith(DEFAULT):
                group.append(placed)
                break
        else:
            groups.append([placed])
    return groups


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle that is taken."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Box") -> bool:
        across = self.left <= other.right and other.left <= self.right
        return across and self.top <= other.bottom and other.top <= self.bottom

    def lies_in(self, other: "Box") -> bool:
        across = self.left >= other.left and self.right <= other.right
        return across and self.top >= other.top and self.bottom <= other.bottom


def _labels(groups: Sequence[Sequence[Placed]]) -> Iterator[str]:
    taken = [Box(x - 6, y - 6, x + 6, y + 6) for group in groups for _, x, y in group]
    for group in groups:
        dot, x, y = group[0]
        text = _name_of(group)
        box = _room(text, x, y, taken)
        taken.append(box)
        names = ", ".join(one.name for one, _, _ in group)
        base = box.bottom - BELOW
        right = box.left > x
        if abs(base - 4 - y) > 1:
            end = box.left - 2 if right else box.right + 2
            yield (
                f'<line class="axis" x1="{x:.1f}" y1="{y:.1f}" x2="{end:.1f}" y2="{base - 4:.1f}"/>'
            )
        anchor = f'x="{box.left:.1f}"' if right else f'x="{box.right:.1f}" text-anchor="end"'
        kind = "label name" if dot.name.startswith(DEFAULT) else "label"
        yield (
            f'<text class="{kind}" {anchor} y="{base:.1f}">{escape(text)}'
            f"<title>{escape(names)}</title></text>"
        )


def _name_of(group: Sequence[Placed]) -> str:
    names = [dot.name for dot, _, _ in group]
    both = ", ".join(names)
    short = len(names) < 3 and len(both) <= MOST_LETTERS
    return both if short or len(names) == 1 else f"{names[0]} and {len(names) - 1} more"


def _room(text: str, x: float, y: float, taken: Sequence[Box]) -> Box:
    width = LETTER * len(text)
    boxes = []
    for row in sorted(range(-12, 13), key=abs):
        base = y + 4 + ROW * row
        aside = 14 if row else 9
        sides = (x + aside, x - aside - width)
        boxes += [Box(left, base - ABOVE, left + width, base + BELOW) for left in sides]
    field = Box(LEFT - 4, 0, WIDTH, SCATTER - BOTTOM - 8)
    free = (b for b in boxes if b.lies_in(field) and not any(b.meets(o) for o in taken))
    return next(free, boxes[0])


def timeline(session: ReplayedSession, window: int) -> str:
    sent = session.sent
    every = max(1, len(sent) // MOST_POINTS)
    points = sent[::every]
    top = max(window, *(s.prompt for s in sent))
    base = HEIGHT - BOTTOM

    def x(index: int) -> float:
        return LEFT + (WIDTH - LEFT - 8) * index / max(1, len(sent) - 1)

    def y(tokens: float) -> float:
        return base - (base - 8) * tokens / top

    drawn = [
        f'<rect x="{LEFT}" width="{WIDTH - LEFT - 8}" y="{y(high * window):.1f}" '
        f'height="{y(low * window) - y(high * window):.1f}" fill="var(--{name})"/>'
        for low, high, name in zones()
    ]
    drawn += (
        f'<text x="{LEFT - 8}" y="{y(tokens) + 4:.1f}" text-anchor="end">'
        f"{round(tokens / 1000)}k</text>"
        for tokens in spaced({top, 0, *(high * window for _, high, _ in zones())}, (base - 8) / top)
    )
    area = " ".join(f"{x(i * every):.1f},{y(s.read):.1f}" for i, s in enumerate(points))
    ends = f"{x((len(points) - 1) * every):.1f},{base} {x(0):.1f},{base}"
    drawn.append(f'<polygon points="{area} {ends}" fill="var(--read)"/>')
    line = " ".join(f"{x(i * every):.1f},{y(s.prompt):.1f}" for i, s in enumerate(points))
    drawn.append(f'<polyline points="{line}" fill="none" stroke="var(--used)" stroke-width="1.6"/>')
    for rewrite in session.rewrites:
        at = x(rewrite.step)
        drawn.append(
            f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{y(rewrite.before):.1f}" '
            f'y2="{y(rewrite.after):.1f}" stroke="var(--mark)" stroke-width="3">'
            f"<title>{escape(rewrite.cause)}: {escape(rewrite.reason)}</title></line>"
        )
    drawn.append(f'<text x="{LEFT}" y="{HEIGHT - 8}">request 0</text>')
    drawn.append(
        f'<text x="{WIDTH - 8}" y="{HEIGHT - 8}" text-anchor="end">request {len(sent) - 1}</text>'
    )
    return frame(WIDTH, HEIGHT, "".join(drawn), f"Context over time: {session.name}")


def _colour(name: str) -> str:
    return "dot" if name.startswith(DEFAULT) else "used"
