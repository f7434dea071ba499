"""The report's style. Neighbouring regions differ in lightness too, for colour-blind readers."""

COLOURS: dict[str, tuple[str, str]] = {
    "ink": ("#1c2430", "#e6eaf0"),
    "soft": ("#566173", "#a3adbb"),
    "line": ("#d6dbe3", "#323a46"),
    "card": ("#ffffff", "#1a2029"),
    "back": ("#f3f5f8", "#11151b"),
    "accent": ("#1f5fd0", "#7db1ff"),
    "mark": ("#b0127f", "#ff8ad4"),
    "miss": ("#b3261e", "#ff8a7a"),
    "system": ("#39424f", "#c6ced9"),
    "tools": ("#677180", "#99a3b1"),
    "instructions": ("#97a1ae", "#6c7684"),
    "learned": ("#c9d0d9", "#454e5b"),
    "summary": ("#4c2178", "#c9a4f5"),
    "ledger": ("#a974cc", "#8f52b8"),
    "user": ("#e3a008", "#f6d155"),
    "assistant": ("#2466d6", "#5b9bff"),
    "reasoning": ("#9ccaf9", "#2a5a9c"),
    "toolResults": ("#d9590b", "#ff9a57"),
    "context": ("#0b6e58", "#39c6a0"),
    "read": ("#7fb5f5", "#2f66b5"),
    "written": ("#e3a008", "#f6d155"),
    "uncached": ("#39424f", "#c3ccd8"),
    "saved": ("#1f5fd026", "#7db1ff2e"),
    "green": ("#1a7f37", "#3fb950"),
    "yellow": ("#b58900", "#e3c341"),
    "orange": ("#d4560a", "#ff9147"),
    "red": ("#b3261e", "#ff7b72"),
}
"""Colours by name: light, dark."""
REGION_COLOURS = (
    "system", "tools", "instructions", "learned", "summary", "ledger", "user", "assistant",
    "reasoning", "toolResults", "context",
)  # fmt: skip


def style() -> str:
    named = ";".join(f"--{n}:light-dark({light},{dark})" for n, (light, dark) in COLOURS.items())
    regions = "".join(
        f".r-{name}{{fill:var(--{name});background:var(--{name})}}" for name in REGION_COLOURS
    )
    kinds = "".join(
        f".c-{name}{{fill:var(--{name});background:var(--{name})}}"
        for name in ("read", "written", "uncached")
    )
    zones = "".join(
        f".z-{name}{{fill:var(--{name});background:var(--{name})}}"
        for name in ("green", "yellow", "orange", "red")
    )
    return (
        f":root{{color-scheme:light dark;{named}}}{_PAGE}{_CHARTS}{regions}{kinds}{zones}{_PAPER}"
    )


_PAGE = """
:root:has(#light:checked){color-scheme:light}
:root:has(#dark:checked){color-scheme:dark}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--ink);font:15px/1.5 system-ui,sans-serif}
main{max-width:1120px;margin:0 auto;padding:26px 18px 60px}
header{display:flex;flex-wrap:wrap;gap:8px 24px;justify-content:space-between;align-items:start}
header>div{min-width:0;flex:1 1 420px}
h1{font-size:23px;line-height:1.25;margin:0 0 4px;overflow-wrap:anywhere}
h2{font-size:18px;margin:34px 0 6px}
h3{font-size:15px;margin:0 0 4px}
p{margin:4px 0 10px;color:var(--soft);max-width:88ch;overflow-wrap:anywhere}
code{font:13px ui-monospace,monospace;overflow-wrap:anywhere}
fieldset{border:1px solid var(--line);border-radius:999px;padding:3px;margin:0;display:flex;
background:var(--card)}
fieldset label{padding:3px 12px;border-radius:999px;cursor:pointer;font-size:13px}
fieldset input{position:absolute;opacity:0}
fieldset label:has(:checked){background:var(--accent);color:var(--card)}
fieldset label:has(:focus-visible){outline:2px solid var(--accent);outline-offset:2px}
legend{position:absolute;clip-path:inset(50%);width:1px;height:1px;overflow:hidden}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(160px,1fr));gap:10px;margin:18px 0}
.tile{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:11px 14px}
.tile b{display:block;font-size:22px;line-height:1.25;font-variant-numeric:tabular-nums}
.tile span{color:var(--soft);font-size:13px;display:block}
.tile i{display:inline-block;width:10px;height:10px;border-radius:50%;margin-right:6px}
.card{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:14px 16px;
margin:10px 0}
.scroll{overflow-x:auto}
.legend{display:flex;flex-wrap:wrap;gap:4px 16px;list-style:none;padding:0;margin:14px 0 0;
font-size:13px;color:var(--soft)}
.legend i{display:inline-block;width:12px;height:12px;border-radius:3px;margin-right:6px;
vertical-align:-1px}
.legend b{color:var(--ink);font-weight:600;font-variant-numeric:tabular-nums}
ul+.legend{margin-top:6px}
.legend .sign{color:var(--mark);background:none;width:auto;height:auto;font-style:normal}
table{border-collapse:collapse;width:100%;font-size:13.5px;font-variant-numeric:tabular-nums}
th,td{white-space:nowrap;text-align:right;
padding:4px 8px;border-bottom:1px solid var(--line);vertical-align:top}
th{color:var(--soft);font-weight:600;white-space:nowrap}
tbody th,.text{text-align:left;white-space:normal;overflow-wrap:anywhere}
tbody th{color:var(--ink);font-weight:400;min-width:15ch}
.text{min-width:16ch}
.why{min-width:38ch}
tr.gone td,tr.gone th{color:var(--soft);text-decoration:line-through}
details{margin:8px 0}
summary{cursor:pointer;color:var(--accent);font-size:14px}
pre{white-space:pre-wrap;overflow-wrap:anywhere;font:12.5px/1.5 ui-monospace,monospace;
background:var(--back);border-radius:8px;padding:10px 12px;margin:6px 0}
.points{list-style:none;margin:0;padding:0 0 0 20px;border-left:2px solid var(--line)}
.points li{position:relative;padding:3px 0 9px}
.points li::before{content:"";position:absolute;left:-28.5px;top:9px;width:11px;height:11px;
border-radius:50%;background:var(--card);border:2px solid var(--soft)}
.points .turn::before{background:var(--accent);border-color:var(--accent)}
.points .restore::before{border-radius:2px;border-color:var(--mark);background:var(--mark)}
.points .gone{opacity:.72}
.points .gone b{text-decoration:line-through}
.points b{font-weight:600;overflow-wrap:anywhere}
.points .when{color:var(--soft);font-size:13px;margin-right:8px;
font-variant-numeric:tabular-nums}
.files{display:flex;flex-wrap:wrap;gap:4px;margin:3px 0 0;padding:0;list-style:none}
.points .files li{padding:0 8px;border:1px solid var(--line);border-radius:6px;font-size:12.5px;
overflow-wrap:anywhere}
.points .files li::before{content:none}
.files .user{border-color:var(--green)}
footer{color:var(--soft);font-size:13px;margin-top:36px}
"""
_CHARTS = """
svg{display:block;width:100%;height:auto;min-width:820px}
svg text{fill:var(--soft);font-size:12px;font-variant-numeric:tabular-nums}
svg .name{fill:var(--ink)}
.grid{stroke:var(--line);stroke-width:1}
.axis{stroke:var(--soft);stroke-width:1}
.area{stroke:var(--card);stroke-width:.5}
.zone{fill-opacity:.09}
.strip{fill-opacity:.9}
.limit{stroke:var(--red);stroke-width:1.5;stroke-dasharray:2 3}
.due{stroke:var(--orange);stroke-width:1.5;stroke-dasharray:7 4}
.now{stroke:var(--card);stroke-width:5}
.mark line{stroke:var(--mark);stroke-width:1.4}
.mark.undone line{stroke-dasharray:4 3;stroke-opacity:.7}
.badge>:not(text){fill:var(--mark);stroke:var(--mark);stroke-width:1.5}
.badge text{fill:var(--card);font-size:10.5px;font-weight:700}
.mark.inner line{stroke-dasharray:1 3}
.badge.undo ellipse,.badge.undone>:not(text),.badge.inner>:not(text){fill:var(--card)}
.badge.undo text,.badge.undone text,.badge.inner text{fill:var(--mark)}
.epoch{fill:var(--soft)}
.epoch.e-0{fill-opacity:.4}
.badge.undone>:not(text){stroke-dasharray:3 2}
.miss{fill:var(--miss)}
.hit{fill:transparent}
.hit:hover{fill:var(--ink);fill-opacity:.13}
.paid{fill:none;stroke:var(--accent);stroke-width:2.4}
.fresh{fill:none;stroke:var(--soft);stroke-width:1.8;stroke-dasharray:6 4}
.saved{fill:var(--saved)}
.ever{fill:var(--toolResults);fill-opacity:.28}
.in-view{fill:var(--toolResults)}
"""
_PAPER = """
@media (max-width:600px){main{padding:16px 10px 40px}.card{padding:10px}}
@media print{:root,:root:has(#dark:checked){color-scheme:light}body{background:#fff}
main{max-width:none;padding:0}fieldset{display:none}.scroll{overflow:visible}svg{min-width:0}
table{font-size:11px}th,td,tbody th{white-space:normal;min-width:0}.text,.why{min-width:0}
.tile,tr,svg,.points li{break-inside:avoid}h2{break-after:avoid}
details::details-content{content-visibility:visible;block-size:auto}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
"""
