"""A replay as one self-contained page: charts drawn here, no network, light and dark."""

from collections.abc import Sequence
from html import escape

from sidecar.replay.compare import Session, Settings, totals
from sidecar.replay.summary import share

WIDTH, HEIGHT, LEFT, BOTTOM = 720, 220, 64, 26
MOST_CHARTS = 12
MOST_POINTS = 720
STYLE = """
:root{color-scheme:light dark;--ink:#1c2430;--soft:#667085;--line:#d6dbe3;
--card:#fff;--back:#f4f6f9;--used:#2f6fde;--read:#7fb2ff;--mark:#c2410c;--dot:#0f766e;--green:#1a7f371a;--yellow:#b7791f22;
--orange:#c2410c22;--red:#b91c1c2b}
@media (prefers-color-scheme:dark){:root{--ink:#e6eaf0;--soft:#98a2b3;--line:#39424f;--card:#1b212b;
--back:#12161d;--used:#6ea3ff;--read:#34527f;--mark:#fb923c;--dot:#2dd4bf;--green:#22c55e14;
--yellow:#eab30820;--orange:#f9731624;--red:#ef444430}}
body{margin:0;background:var(--back);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:1060px;margin:0 auto;padding:28px 18px 60px}h1{font-size:24px;margin:0 0 4px}
h2{font-size:18px;margin:32px 0 8px}p{margin:4px 0 12px;color:var(--soft);max-width:75ch}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 16px;
margin:12px 0;overflow-x:auto}table{border-collapse:collapse;width:100%;
font-variant-numeric:tabular-nums}
th,td{text-align:right;padding:4px 9px;border-bottom:1px solid var(--line);white-space:nowrap}
th:first-child,td:first-child{text-align:left}tr.us td{font-weight:600}
svg{display:block;width:100%;height:auto;min-width:560px}text{fill:var(--soft);font-size:11px}
.axis{stroke:var(--line)}.name{fill:var(--ink)}details summary{cursor:pointer;color:var(--soft)}
"""


def page(sessions: Sequence[Session], settings: Settings, prices: str) -> str:
    """Draw a comparison and the context of the dearest sessions over time."""
    policy = settings.policies[0]
    dearest = sorted(sessions, key=lambda s: -s.tallies[0].cost)[:MOST_CHARTS]
    charts = "".join(_session_card(session, settings.window) for session in dearest)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>Sidecar replay</title><style>{STYLE}</style></head><body><main>"
        f"<h1>{len(sessions)} recorded sessions, replayed</h1>"
        f"<p>Window {settings.window:,} tokens, prices: {escape(prices)}. The recorded answers are "
        "played as they were; only what the model would have been shown differs.</p>"
        f"{_comparison(sessions, settings)}"
        f"<h2>Context over time under {escape(policy)}</h2><p>The line is what each request held, "
        "the filled area what came from the cache, the bands the zones at 50, 75 and 90 per cent, "
        "the ticks rewrites: point at one to see why.</p>"
        f"{charts}</main></body></html>"
    )


def _comparison(sessions: Sequence[Session], settings: Settings) -> str:
    sums = totals(sessions, settings.policies)
    reference = next((one.cost for one in sums if one.policy == "opencode"), 0.0)
    rows = []
    for one in sums:
        ratio = f"{one.cost / reference:.3f}" if reference else "-"
        cells = (
            f"{one.cost:.2f}",
            ratio,
            f"{share(one.view, one.far):.3f}",
            f"{share(one.ledger, one.far):.3f}",
            f"{share(one.reach, one.far):.3f}",
            f"{share(one.failures_kept, one.failures):.2f}",
            f"{100 * one.rewrites / max(1, one.requests):.1f}",
            f"{one.peak:,}",
            f"{share(one.read, one.prompt):.1%}",
        )
        ours = ' class="us"' if one.policy.startswith("economic") else ""
        figures = "".join(f"<td>{cell}</td>" for cell in cells)
        rows.append(f"<tr{ours}><td>{escape(one.policy)}</td>{figures}</tr>")
    heads = (
        "policy", "USD", "of opencode's", "in view", "+ ledger", "reachable", "failed kept",
        "rewrites/100", "peak", "cache read",
    )  # fmt: skip
    head = "".join(f"<th>{name}</th>" for name in heads)
    table = f'<div class="card"><table><tr>{head}</tr>{"".join(rows)}</table></div>'
    if len(sums) == 1:
        return table
    costs = [(one.policy, one.cost) for one in sums]
    dots = [(one.policy, one.cost, share(one.ledger, one.far)) for one in sums]
    return (
        f'{table}<h2>Cost by policy</h2><div class="card">{_bars(costs)}</div>'
        "<h2>Cost against recall</h2><p>Up and left is better: what was needed again and still "
        "stood in view or in the ledger, for how much.</p>"
        f'<div class="card">{_scatter(dots)}</div>'
    )


def _bars(costs: Sequence[tuple[str, float]]) -> str:
    ordered = sorted(costs, key=lambda item: item[1])
    most = max(cost for _, cost in ordered) or 1.0
    height = 22 * len(ordered) + 8
    bars = []
    for row, (name, cost) in enumerate(ordered):
        y, width = 22 * row + 4, (WIDTH - 260) * cost / most
        colour = "dot" if name.startswith("economic") else "used"
        bars.append(
            f'<text class="name" x="4" y="{y + 13}">{escape(name)}</text>'
            f'<rect x="180" y="{y}" width="{width:.1f}" height="16" rx="3" fill="var(--{colour})"/>'
            f'<text x="{186 + width:.1f}" y="{y + 13}">{cost:,.2f}</text>'
        )
    return _svg(height, "".join(bars), "Cost by policy in USD")


def _scatter(dots: Sequence[tuple[str, float, float]]) -> str:
    height = 360
    most = max(cost for _, cost, _ in dots) * 1.08 or 1.0
    low = max(0.0, min(recall for _, _, recall in dots) - 0.05)

    def x(cost: float) -> float:
        return LEFT + (WIDTH - LEFT - 110) * cost / most

    def y(recall: float) -> float:
        return 12 + (height - BOTTOM - 24) * (1 - (recall - low) / (1 - low))

    parts = [
        f'<line class="axis" x1="{LEFT}" x2="{WIDTH}" y1="{y(v):.1f}" y2="{y(v):.1f}"/>'
        f'<text x="{LEFT - 34}" y="{y(v) + 4:.1f}">{v:.2f}</text>'
        for v in (low, (1 + low) / 2, 1.0)
    ]
    parts.append(f'<text x="{WIDTH - 60}" y="{height - 6}">{most:,.0f} USD</text>')
    parts.append(f'<text x="{LEFT}" y="{height - 6}">0</text>')
    for name, cost, recall in dots:
        ours = name.startswith("economic")
        colour = "dot" if ours else "used"
        parts.append(
            f'<circle cx="{x(cost):.1f}" cy="{y(recall):.1f}" r="{6 if ours else 4}" '
            f'fill="var(--{colour})"><title>{escape(name)}: {cost:.2f} USD, recall {recall:.3f}'
            f'</title></circle><text class="{"name" if ours else ""}" x="{x(cost) + 8:.1f}" '
            f'y="{y(recall) + 4:.1f}">{escape(name)}</text>'
        )
    return _svg(height, "".join(parts), "Cost against recall")


def _session_card(session: Session, window: int) -> str:
    one = session.tallies[0]
    was = "" if session.recorded is None else f", recorded {session.recorded:.2f} USD"
    title = f"{session.name}: {session.requests} requests, {one.cost:.2f} USD here{was}"
    why = "".join(
        f"<li>before request {r.step}: {escape(r.cause)}, {escape(r.reason)}</li>"
        for r in session.rewrites
    )
    reasons = (
        f"<details><summary>{len(session.rewrites)} rewrites</summary><ol>{why}</ol></details>"
    )
    return f'<div class="card"><p>{escape(title)}</p>{_timeline(session, window)}{reasons}</div>'


def _timeline(session: Session, window: int) -> str:
    sent = session.sent
    every = max(1, len(sent) // MOST_POINTS)
    points = sent[::every]
    top = max(window, *(s.prompt for s in sent))
    floor = HEIGHT - BOTTOM

    def x(index: int) -> float:
        return LEFT + (WIDTH - LEFT - 8) * index / max(1, len(sent) - 1)

    def y(tokens: float) -> float:
        return floor - (floor - 8) * tokens / top

    parts = []
    zones = ((0, 0.5, "green"), (0.5, 0.75, "yellow"), (0.75, 0.9, "orange"), (0.9, 1, "red"))
    for low, high, name in zones:
        parts.append(
            f'<rect x="{LEFT}" width="{WIDTH - LEFT - 8}" y="{y(high * window):.1f}" '
            f'height="{y(low * window) - y(high * window):.1f}" fill="var(--{name})"/>'
        )
        parts.append(
            f'<text x="4" y="{y(high * window) + 4:.1f}">{round(high * window / 1000)}k</text>'
        )
    area = " ".join(f"{x(i * every):.1f},{y(s.read):.1f}" for i, s in enumerate(points))
    ends = f"{x((len(points) - 1) * every):.1f},{floor} {x(0):.1f},{floor}"
    parts.append(f'<polygon points="{area} {ends}" fill="var(--read)"/>')
    line = " ".join(f"{x(i * every):.1f},{y(s.prompt):.1f}" for i, s in enumerate(points))
    parts.append(f'<polyline points="{line}" fill="none" stroke="var(--used)" stroke-width="1.6"/>')
    for rewrite in session.rewrites:
        at = x(rewrite.step)
        parts.append(
            f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{y(rewrite.before):.1f}" '
            f'y2="{y(rewrite.after):.1f}" stroke="var(--mark)" stroke-width="3">'
            f"<title>{escape(rewrite.cause)}: {escape(rewrite.reason)}</title></line>"
        )
    parts.append(f'<text x="{LEFT}" y="{HEIGHT - 8}">request 0</text>')
    parts.append(f'<text x="{WIDTH - 80}" y="{HEIGHT - 8}">request {len(sent) - 1}</text>')
    return _svg(HEIGHT, "".join(parts), f"Context over time: {session.name}")


def _svg(height: int, body: str, label: str) -> str:
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{escape(label)}">{body}</svg>'
    )
