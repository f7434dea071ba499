"""Answers slash commands in Markdown."""

import re
from collections.abc import Sequence

from sidecar.core.parts import Json, JsonObject
from sidecar.core.prompt.meter import Meter
from sidecar.session.interface import Done, Handoff
from sidecar.wire.rollback_words import UndoableTurn, summary

LARGEST = 12
"""Pieces of the context listed one by one."""
MOST_TURNS = 20
MOST_FILES = 6


def told_compaction(done: JsonObject) -> str:
    before, after = _count(done["tokensBefore"]), _count(done["tokensAfter"])
    plan = done.get("plan")
    pieces = len(plan) if isinstance(plan, list) else 0
    lines = [f"The context was compacted: {before} → {after} tokens, {pieces} pieces rewritten."]
    if isinstance(summary := done.get("summary"), str) and summary:
        lines += ["", summary]
    if isinstance(problem := done.get("problem"), str) and done.get("asked"):
        lines += ["", f"On the summary: {problem}."]
    return "\n".join(lines)


def told_breakdown(meter: Meter, segments: Sequence[JsonObject]) -> str:
    lines = [
        f"**Context: {meter.percent:g} %**, {_count(meter.used)} of {_count(meter.limit)} tokens "
        f"({meter.accuracy}); {_count(meter.reserved_output)} are kept for the answer, and the "
        f"context is compacted at {_count(meter.compact_at)}.",
        "",
        "| region | tokens |",
        "| --- | ---: |",
    ]
    lines += [f"| {region} | {_count(n)} |" for region, n in meter.regions.items() if n]
    if served := meter.tools_by_server:
        lines += ["", "| tools of MCP server | tokens |", "| --- | ---: |"]
        lines += [f"| {server} | {_count(tokens)} |" for server, tokens in served.items()]
    largest = sorted(segments, key=_tokens, reverse=True)[:LARGEST]
    lines += ["", "| largest pieces | region | tokens | cached |", "| --- | --- | ---: | --- |"]
    for one in largest:
        label = str(one["label"]).replace("|", "\\|").replace("\n", " ")
        cached = "yes" if one["cached"] else ""
        lines.append(f"| {label} | {one['region']} | {_count(one['tokens'])} | {cached} |")
    return "\n".join(lines)


def told_turns(turns: Sequence[UndoableTurn]) -> str:
    lines = ["`/rollback N` goes back to before turn N; the newest is 1.", ""]
    for number, one in enumerate(turns[:MOST_TURNS], 1):
        paths = [f"`{path}`" for path in one.paths[:MOST_FILES]]
        more = len(one.paths) - len(paths)
        paths += [f"{more} more"] if more > 0 else []
        changed = f": {', '.join(paths)}" if paths else ""
        lines.append(f"{number}. {one.title}{changed}")
    if len(turns) > MOST_TURNS:
        lines.append(f"\n… and {len(turns) - MOST_TURNS} older ones.")
    return "\n".join(lines)


def told_restore(what: str, done: Done) -> str:
    lines = [f"{what}: {summary(done)}. `/rollback redo` takes this back."]
    if done.prompt is not None:
        lines += [
            "",
            "This chat still shows the turns above; the model does not see them any more. "
            "The prompt that was rolled back:",
            "",
            fenced(done.prompt),
        ]
    return "\n".join(lines)


def told_conflict(command: str, conflicts: Sequence[Json]) -> str:
    lines = ["Nothing was changed: these files were changed since.", ""]
    found = (one for one in conflicts if isinstance(one, dict))
    lines += [f"- `{one.get('path')}`: {one.get('reason')}" for one in found]
    ways = ", ".join(f"`{command} {way}`" for way in ("merge", "keep", "overwrite"))
    return "\n".join([*lines, "", f"Go on with {ways}."])


def told_nothing(files: Json) -> str:
    skipped = files.get("skipped") if isinstance(files, dict) else None
    listed = skipped if isinstance(skipped, list) else []
    found = (one for one in listed if isinstance(one, dict))
    lines = [f"- `{one.get('path')}`: {one.get('reason')}" for one in found]
    return "\n".join(["Nothing was changed:", "", *lines]) if lines else ""


def told_handoff(made: Handoff) -> str:
    lines = []
    if made.session_id is not None:
        lines.append(
            f"Session `{made.session_id}` knows where the work stands: open it from the list of "
            "sessions and send the prompt below, or change it first."
        )
    lines += ["", fenced(made.draft)]
    if made.files:
        lines += ["", "Files that bear on it: " + ", ".join(f"`{f}`" for f in made.files)]
    return "\n".join(lines)


def fenced(text: str) -> str:
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"


def _tokens(segment: JsonObject) -> int:
    found = segment["tokens"]
    return found if isinstance(found, int) else 0


def _count(number: object) -> str:
    return f"{number:,}" if isinstance(number, int) else str(number)
