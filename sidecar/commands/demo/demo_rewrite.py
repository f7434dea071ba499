"""The demo's compaction: plan, rewrite, recall, undo."""

from collections import Counter
from collections.abc import Sequence
from decimal import Decimal
from math import ceil

import msgspec
from rich.text import Text
from sidecar_client import Client
from sidecar_client.messages import CompactionStep, ContextCompactResult, Meter

from sidecar.commands.demo.demo_screen import WOULD_COST, Screen
from sidecar.commands.terminal import shown
from sidecar.core.prompt.pricing import MILLION, money_of
from sidecar.model.catalogue import lookup

DWELL = "what was decided, and why"
"""The summary's requested emphasis."""
DONE = {
    "drop": "leave out",
    "evict": "leave a stub of",
    "truncate": "cut",
    "excerpt": "keep lines of",
    "restore": "show again",
    "summarize": "summarise",
}
SUMMARY_LINES, LEDGER_LINES, RECALLED_LINES = 12, 6, 3


async def rewrite(client: Client, screen: Screen, session: str, forgotten: str | None) -> None:
    """Shows a compaction; `forgotten`: a pattern of text that it leaves out."""
    before = await client.context.meter(session)
    sent = await client.context.preview(session)
    await screen.chapter("What would a compaction leave out? context/compact with dryRun")
    screen.meter(before)
    screen.regions(before)
    plan = await client.context.compact(session, instructions=DWELL, dry_run=True)
    if not plan.plan:
        screen.console.print(f"  {plan.reason}")
        return
    parts = {segment["partId"] for segment in await _segments(client, session)}
    _show_plan(screen, plan, before, len(parts - {step.part_id for step in plan.plan}))

    await screen.chapter("Now in earnest: context/compact")
    done = await client.context.compact(session, instructions=DWELL)
    after = await client.context.meter(session)
    screen.meter(after)
    screen.regions(after)
    for line in _told(done.summary if isinstance(done.summary, str) else ""):
        screen.line(shown(f"  {line}", "bright_green"))

    compaction = str(done.compaction_id)
    await screen.chapter(
        f"What was left out can be read: context/recall {compaction} {_quoted(forgotten)}"
    )
    found = await client.context.recall(session, compaction, pattern=forgotten)
    for line in found.content.splitlines()[:RECALLED_LINES]:
        part, _, rest = line.partition(":" if forgotten else " ")
        screen.line(shown(f"  part_…{part[-6:]} {rest}", "yellow"))

    await screen.chapter(f"And taken back: context/undoCompaction {compaction}")
    undone = await client.context.undo_compaction(session, compaction)
    screen.meter(undone.meter)
    was, now = (
        msgspec.json.encode(seen.request) for seen in (sent, await client.context.preview(session))
    )
    same = "byte for byte as before" if was == now else "not as before"
    screen.line(Text(f"  context/preview: the next request is {same}, {len(now)} bytes"))


async def _segments(client: Client, session: str) -> list[dict[str, str]]:
    found = await client.request("context/breakdown", {"sessionId": session})
    return [segment for segment in found["segments"] if "partId" in segment]


def _show_plan(screen: Screen, plan: ContextCompactResult, before: Meter, kept: int) -> None:
    for line in _steps(plan.plan):
        screen.line(shown(f"  {line}"))
    screen.line(Text(f"  keep {kept} parts as they are"))
    static = before.regions.system + before.regions.tools
    static += before.regions.instructions + before.regions.learned
    even = plan.break_even_requests
    earned = "never earned back" if even is None else f"earned back after {even} requests"
    screen.line(Text(f"  {plan.tokens_before} → {plan.tokens_after} tokens", style="bold"))
    screen.line(Text(f"  price {plan.price or 'unknown'} USD with the offline model, {earned}"))
    card = lookup(WOULD_COST[0]).price
    gone, anew = plan.tokens_before - plan.tokens_after, plan.tokens_after - static
    if card is not None and gone > 0:
        extra = anew * (card.write_5m - card.read) / MILLION
        requests = ceil(extra / (gone * card.read / MILLION)) if card.read else 0
        usd = money_of(float(max(extra, Decimal(0))))
        told = f"{usd} USD: {anew} tokens anew, pays after {requests} requests"
        screen.line(Text(f"  with {WOULD_COST[0]} {told}"))


def _steps(steps: Sequence[CompactionStep]) -> list[str]:
    count: Counter[tuple[str, str]] = Counter()
    gone: Counter[tuple[str, str]] = Counter()
    for step in steps:
        kind = (step.action, step.reason)
        count[kind] += 1
        gone[kind] += step.tokens_before - step.tokens_after
    return [
        f"{DONE.get(action, action)} {count[action, reason]} parts, {tokens} tokens: {reason}"
        for (action, reason), tokens in gone.most_common()
    ]


def _told(notes: str) -> list[str]:
    head, found, rest = notes.partition("<summary>\n")
    summary, _, ledger = rest.partition("\n</summary>") if found else ("", "", head)
    listed = ledger.rpartition("[Earlier parts")[2].splitlines()[1:]
    first = summary.splitlines()[:SUMMARY_LINES]
    while first and first[-1].startswith("#"):
        first.pop()
    return [*first, *listed[:LEDGER_LINES]]


def _quoted(pattern: str | None) -> str:
    return f'"{pattern}"' if pattern else ""
