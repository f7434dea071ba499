"""Answers slash commands in Markdown."""

import re
from collections.abc import Sequence

from sidecar.core.parts import Json, JsonObject, SessionId
from sidecar.core.prompt.meter import Meter
from sidecar.core.text.visible import visible
from sidecar.session.interface import Done, Handoff, SessionSummary
from sidecar.session.transfer.bundle_export import Exported
from sidecar.session.turn.clock import iso
from sidecar.wire.rollback_words import UndoableTurn, summary

LARGEST = 12
"""Pieces of the context listed one by one."""
MOST_TURNS = 20
MOST_DIFF = 20_000
"""Characters shown of a diff."""
MOST_FILES = 6
_SIGNS = re.compile(r"[\\`*_{}\[\]<>#|!~]")


def compaction(done: JsonObject) -> str:
    before, after = _count(done["tokensBefore"]), _count(done["tokensAfter"])
    plan = done.get("plan")
    pieces = len(plan) if isinstance(plan, list) else 0
    lines = [f"The context was compacted: {before} → {after} tokens, {pieces} pieces rewritten."]
    if isinstance(summary := done.get("summary"), str) and summary:
        lines += ["", summary]
    if isinstance(problem := done.get("problem"), str) and done.get("asked"):
        lines += ["", f"On the summary: {problem}."]
    return "\n".join(lines)


def breakdown(meter: Meter, segments: Sequence[JsonObject]) -> str:
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
        lines += [f"| {plain(server)} | {_count(tokens)} |" for server, tokens in served.items()]
    lines += ["", "| largest pieces | region | tokens | cached |", "| --- | --- | ---: | --- |"]
    for one in largest(segments):
        cached = "yes" if one["cached"] else ""
        lines.append(
            f"| {plain(one['label'])} | {one['region']} | {_count(one['tokens'])} | {cached} |"
        )
    return "\n".join(lines)


def largest(segments: Sequence[JsonObject]) -> list[JsonObject]:
    return sorted(segments, key=_tokens, reverse=True)[:LARGEST]


def pieces(command: str, found: Sequence[JsonObject]) -> str:
    lines = [f"`/{command} N` takes one of these pieces, or its id.", ""]
    lines += ["| | piece | region | tokens | id |", "| ---: | --- | --- | ---: | --- |"]
    for number, one in enumerate(found, 1):
        label, size = plain(one["label"]), _count(one["tokens"])
        lines.append(f"| {number} | {label} | {one['region']} | {size} | `{one['partId']}` |")
    return "\n".join(lines)


def costs(meter: Meter) -> str:
    cost, cache = meter.cost, meter.cache
    found = {
        "the session so far": cost.session,
        "its last turn": cost.last_turn,
        "the next request, about": cost.next_request,
        "compacting now, about": cost.compact_now,
        "an hour at this pace": meter.burn_rate,
    }
    lines = ["| | USD |", "| --- | ---: |"]
    lines += [f"| {what} | {'not known' if usd is None else usd} |" for what, usd in found.items()]
    warm = "warm" if cache.warm else "cold"
    return "\n".join([*lines, "", f"The cache is {warm}; {cache.hit_rate:.0%} was read last."])


def option(config_id: str, options: Sequence[JsonObject], *, changed: bool) -> str:
    one = next(one for one in options if one["id"] == config_id)
    name, current = str(one["name"]).lower(), one["currentValue"]
    if changed:
        return f"The {name} is now `{current}`."
    choices = one["options"]
    listed = [c for c in (choices if isinstance(choices, list) else []) if isinstance(c, dict)]
    lines = [f"The {name} is `{current}`; `/{config_id} NAME` switches it.", ""]
    for choice in listed:
        about = f": {told}" if (told := choice.get("description")) else ""
        lines.append(f"- `{choice['value']}`{about}")
    return "\n".join(lines)


def commands(listed: Sequence[JsonObject]) -> str:
    lines = ["| command | what it does | words behind it |", "| --- | --- | --- |"]
    for one in listed:
        taken = one.get("input")
        hint = taken["hint"] if isinstance(taken, dict) else ""
        lines.append(f"| `/{one['name']}` | {one['description']} | {hint} |")
    return "\n".join(lines)


def sessions(page: Sequence[SessionSummary], here: SessionId, *, more: bool) -> str:
    lines = ["| session | title | turns | USD | used |", "| --- | --- | ---: | ---: | --- |"]
    for one in page:
        title = plain(one.title or "without words")
        this = " (this one)" if one.session_id == here else ""
        about = f"{one.turns} | {one.cost or ''} | {iso(one.updated)}"
        lines.append(f"| `{one.session_id}`{this} | {title} | {about} |")
    return "\n".join([*lines, *(["", "… and older ones."] if more else [])])


def export(done: Exported) -> str:
    keys = f"; {done.redacted} keys were taken out" if done.redacted else ""
    lines = [f"Written to {_code(done.path)}, {_count(done.size)} bytes{keys}.", *done.notes]
    return "\n\n".join(lines)


def changes(title: str, files: Sequence[JsonObject]) -> str:
    if not files:
        return f"Nothing changed in the files since “{plain(title)}”."
    lines, room = [f"What changed in the files since “{plain(title)}”:"], MOST_DIFF
    for one in files:
        diff = str(one.get("diff") or "")
        lines += [
            "",
            f"{_code(one['path'])} (+{one['additions']} -{one['deletions']}, {one['author']})",
        ]
        if diff:
            shown = diff if len(diff) <= room else "[longer than is shown here]"
            lines += ["", fenced(shown, "diff")]
            room -= min(room, len(diff))
    return "\n".join(lines)


def turns(turns: Sequence[UndoableTurn]) -> str:
    lines = ["`/rollback N` goes back to before turn N; the newest is 1.", ""]
    for number, one in enumerate(turns[:MOST_TURNS], 1):
        paths = [_code(path) for path in one.paths[:MOST_FILES]]
        more = len(one.paths) - len(paths)
        paths += [f"{more} more"] if more > 0 else []
        changed = f": {', '.join(paths)}" if paths else ""
        lines.append(f"{number}. {plain(one.title)}{changed}")
    if len(turns) > MOST_TURNS:
        lines.append(f"\n… and {len(turns) - MOST_TURNS} older ones.")
    return "\n".join(lines)


def restore(what: str, done: Done) -> str:
    lines = [f"{what}: {summary(done)}. `/redo` takes this back."]
    if done.prompt is not None:
        lines += [
            "",
            "This chat still shows the turns above; the model does not see them any more. "
            "The prompt that was rolled back:",
            "",
            fenced(done.prompt),
        ]
    return "\n".join(lines)


def conflict(command: str, found: Json) -> str:
    lines = ["Nothing was changed: these files were changed since.", "", *_reasons(found)]
    ways = ", ".join(f"`{command} {way}`" for way in ("merge", "keep", "overwrite"))
    return "\n".join([*lines, "", f"Go on with {ways}."])


def nothing(files: Json) -> str:
    lines = _reasons(files.get("skipped") if isinstance(files, dict) else None)
    return "\n".join(["Nothing was changed:", "", *lines]) if lines else ""


def _reasons(files: Json) -> list[str]:
    listed = files if isinstance(files, list) else []
    found = (one for one in listed if isinstance(one, dict))
    return [f"- {_code(one.get('path'))}: {one.get('reason')}" for one in found]


def handoff(made: Handoff) -> str:
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


def fenced(text: str, language: str = "") -> str:
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def plain(text: object) -> str:
    """Writes somebody's text as Markdown shows it: on one line, with nothing unseen."""
    return _SIGNS.sub(r"\\\g<0>", visible(" ".join(str(text).split())))


def _code(path: object) -> str:
    shown = visible(str(path))
    return f"`` {shown} ``" if "`" in shown else f"`{shown}`"


def _tokens(segment: JsonObject) -> int:
    found = segment["tokens"]
    return found if isinstance(found, int) else 0


def _count(number: object) -> str:
    return f"{number:,}" if isinstance(number, int) else str(number)
