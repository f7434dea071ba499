"""Shows a replay as one HTML page, without network."""

from collections.abc import Sequence
from html import escape

from sidecar.core.policies import DEFAULT
from sidecar.core.text.visible import many
from sidecar.replay.charts import Dot, bars, scatter, timeline
from sidecar.replay.compare import ReplayedSession, Settings, totals
from sidecar.replay.headline import Comparison, caveats, headline, prices_told, told
from sidecar.replay.summary import figures, legend, reference_of, share

MOST_CHARTS = 12
STYLE = """
:root{color-scheme:light dark;--ink:#1c2430;--soft:#667085;--line:#d6dbe3;
--card:#fff;--back:#f4f6f9;--used:#2f6fde;--read:#7fb2ff;--mark:#c2410c;--dot:#0f766e;--green:#1a7f371a;--yellow:#b7791f22;
--orange:#c2410c22;--red:#b91c1c2b}
@media (prefers-color-scheme:dark){:root{--ink:#e6eaf0;--soft:#98a2b3;--line:#39424f;--card:#1b212b;
--back:#12161d;--used:#6ea3ff;--read:#34527f;--mark:#fb923c;--dot:#2dd4bf;--green:#22c55e14;
--yellow:#eab30820;--orange:#f9731624;--red:#ef444430}}
body{margin:0;background:var(--back);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:1120px;margin:0 auto;padding:28px 18px 60px}h1{font-size:24px;margin:0 0 4px}
h2{font-size:18px;margin:32px 0 8px}h3{font-size:15px;margin:0;overflow-wrap:anywhere}
p{margin:4px 0 12px;color:var(--soft);max-width:75ch}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 16px;
margin:12px 0;overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:14px;
font-variant-numeric:tabular-nums}
th,td{text-align:right;padding:4px 7px;border-bottom:1px solid var(--line);white-space:nowrap}
th:first-child,td:first-child{text-align:left}tr.us td{font-weight:600}
svg{display:block;width:100%;height:auto;min-width:560px}text{fill:var(--soft);font-size:11px}
.label{paint-order:stroke;stroke:var(--card);stroke-width:3px}.axis{stroke:var(--line)}
.name{fill:var(--ink);color:var(--ink)}ul{max-width:75ch;color:var(--soft)}details{color:var(--soft);font-size:14px}summary{cursor:pointer}
@media print{.card{break-inside:avoid}}
"""


def page(sessions: Sequence[ReplayedSession], found: Comparison, settings: Settings) -> str:
    policy = settings.policies[0]
    dearest = sorted(sessions, key=lambda s: -s.tallies[0].cost)[:MOST_CHARTS]
    charts = "".join(session_card(session, settings.window) for session in dearest)
    return framed(
        f"{many(len(sessions), 'recorded session')}, replayed",
        f"{_money(found, len(sessions), settings)}"
        f"<p>Window {settings.window:,} tokens. The recorded answers are "
        "played as they were; only what the model would have been shown differs.</p>"
        f"{_comparison(sessions, settings)}"
        f"<h2>Context over time under {escape(policy)}</h2><p>The line is what each request held, "
        "the filled area what came from the cache, the bands the zones at 50, 75 and 90 per cent, "
        "the ticks rewrites: point at one to see why.</p>"
        f"{charts}",
    )


def _money(found: Comparison, sessions: int, settings: Settings) -> str:
    head = headline(found)
    if head is None:
        return ""
    lines = (*caveats(head, found, sessions), prices_told(found, settings.rates))
    items = "".join(f"<li>{escape(line)}</li>" for line in lines)
    return f'<p class="name"><strong>{escape(told(head))}</strong></p><ul>{items}</ul>'


def framed(heading: str, body: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        f"<title>Sidecar replay</title><style>{STYLE}</style></head><body><main>"
        f"<h1>{heading}</h1>{body}</main></body></html>"
    )


def _comparison(sessions: Sequence[ReplayedSession], settings: Settings) -> str:
    sums = totals(sessions, settings.policies)
    reference = reference_of(sums)
    columns = tuple(figures(sums[0], reference))
    head = "".join(f"<th>{name}</th>" for name in ("policy", *columns))
    rows = []
    for one in sums:
        ours = ' class="us"' if one.policy.startswith(DEFAULT) else ""
        cells = "".join(f"<td>{cell}</td>" for cell in figures(one, reference).values())
        rows.append(f"<tr{ours}><td>{escape(one.policy)}</td>{cells}</tr>")
    table = f'<div class="card"><table><tr>{head}</tr>{"".join(rows)}</table></div>'
    table += f"<p>{legend(columns)}</p>"
    if len(sums) == 1:
        return table
    costs = [(one.policy, one.with_rereads) for one in sums]
    kept = (share(one.verbatim.lines_kept, one.verbatim.lines) for one in sums)
    dots = [Dot(name, cost, far) for (name, cost), far in zip(costs, kept, strict=True)]
    return (
        f'{table}<h2>Cost by policy</h2><div class="card">{bars(costs)}</div>'
        "<h2>Cost against what stays</h2><p>Up and left is better: far lines that still stood in "
        "view word for word, for how much.</p>"
        f'<div class="card">{scatter(dots)}</div>'
    )


def session_card(session: ReplayedSession, window: int, heading: str = "") -> str:
    one = session.tallies[0]
    shown = f"{many(session.requests, 'request')}, {one.cost:.2f} USD here, simulated"
    why = "".join(
        f"<li>before request {r.step}: {escape(r.cause)}, {escape(r.reason)}</li>"
        for r in session.rewrites
    )
    count = many(len(session.rewrites), "rewrite")
    reasons = f"<details><summary>{count}</summary><ol>{why}</ol></details>" if why else ""
    return (
        f'<div class="card"><h3>{escape(heading or session.name)}</h3><p>{shown}</p>'
        f"{timeline(session, window)}{reasons}</div>"
    )
