"""Has a model score turns, checks the answer, and makes changes.

Failed approaches, paths and URLs stay.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Literal, TypeAlias, cast, get_args

from sidecar.core.conversation.call_outcome import one_line
from sidecar.core.conversation.turns import TITLE
from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.units import Item, Unit
from sidecar.core.parts import PartId
from sidecar.core.plans.draft import evicted
from sidecar.core.plans.guard import NOTES
from sidecar.core.plans.plan import Change
from sidecar.core.prompt.visibility import Dropped
from sidecar.core.summaries.model_summary import framed
from sidecar.core.summaries.sections import cut
from sidecar.core.text.identifiers import names_in
from sidecar.core.text.json_text import FAULTS, read_object, without_trailing_commas

TurnAction: TypeAlias = Literal["keep", "summarise", "reference", "drop"]
ACTIONS: tuple[TurnAction, ...] = get_args(TurnAction)
STEPS = 8
"""Steps of a stretch; longer turns have several."""
LISTED = 120
"""Turns in one question, oldest first."""
SHOWN = 4
"""Failures and files named per turn."""
SUMMARY = 1_200
"""Most characters of one turn's summary."""
LONG = 2_000
"""Characters of a call searched for addresses."""


@dataclass(frozen=True, slots=True)
class ScoredTurn:
    """A turn, or stretch of a long one; the id stays while the log grows."""

    id: str
    items: tuple[Item, ...]

    @property
    def tokens(self) -> int:
        return sum(item.tokens for item in self.items)

    @property
    def title(self) -> str:
        for kind in ("typed", "prose"):
            mine = (i.unit for i in self.items if i.unit.kind == kind)
            said = (unit.attached or unit.text for unit in mine)
            title = next((one_line(text, TITLE) for text in said if text.strip()), "")
            if title:
                return title
        calls = (i.unit for i in self.items if i.unit.kind == "call")
        return next((one_line(f"{u.tool} {u.argument}", TITLE) for u in calls), "")

    def failures(self) -> tuple[Unit, ...]:
        return tuple(i.unit for i in self.items if i.unit.kind == "call" and i.unit.failed)


@dataclass(frozen=True, slots=True)
class TurnScore:
    """What becomes of a turn; `summary` replaces a summarised one."""

    action: TurnAction
    reason: str = ""
    summary: str = ""


@dataclass(frozen=True, slots=True)
class Scores:
    """Scores by turn id, and the earlier summary, updated."""

    turns: Mapping[str, TurnScore]
    earlier: str = ""


def turns_of(items: Iterable[Item]) -> tuple[ScoredTurn, ...]:
    """Groups items by turn, long turns in stretches of `STEPS` steps."""
    grouped: dict[tuple[int, int], list[Item]] = {}
    begun: dict[int, int] = {}
    for item in items:
        unit = item.unit
        if unit.kind not in NOTES:
            first = begun.setdefault(unit.turn, unit.step)
            grouped.setdefault((unit.turn, (unit.step - first) // STEPS), []).append(item)
    return tuple(
        ScoredTurn(f"T{number}", tuple(held)) for number, held in enumerate(grouped.values())
    )


def scorable(turns: Iterable[ScoredTurn], spared: Set[PartId]) -> list[ScoredTurn]:
    return [turn for turn in turns if any(_may_go(turn, spared))]


def question(turns: Sequence[ScoredTurn]) -> str:
    lines = "\n".join(_line(turn) for turn in turns[:LISTED])
    return f"""\
Instead of sections, score these turns of the conversation above, the oldest first. Each line has \
a turn's id, its tokens, what failed in it, files, and its first words.
<turns>
{lines}
</turns>
Choose for each what becomes of it:
- keep: it stays word for word; for what is needed verbatim.
- summarise: your summary stands for it. Keep every path, URL, decision and reason in it.
- reference: its words and results go, one line says that they can be recalled.
- drop: nothing of it will be needed. Never for a turn with an approach that failed.
Answer with one JSON object and nothing before it. Leave out turns that you keep:
{{"earlier": "the earlier summary brought up to date, where there is one", "turns": [
{{"id": "T0", "action": "summarise", "reason": "a few words", "summary": "what stands for it"}},
{{"id": "T1", "action": "reference", "reason": "a few words"}}]}}"""


def read_scores(reply: str, turns: Iterable[ScoredTurn]) -> Scores:
    """Turns without a score are kept.

    Raises ValueError for no scores, an unknown turn or action, or a turn twice.
    """
    known = {turn.id: turn for turn in turns}
    found: dict[str, TurnScore] = {}
    earlier = ""
    for entry in _entries(reply.partition("<facts")[0]):
        earlier = _text(entry, "earlier") or earlier
        if "id" not in entry:
            continue
        turn_id = str(entry["id"]).strip().upper()
        if turn_id not in known:
            raise ValueError(f"there is no turn {one_line(turn_id, 20)!r}")
        if turn_id in found:
            raise ValueError(f"turn {turn_id} is scored twice")
        found[turn_id] = _score(turn_id, entry)
    if not found:
        raise ValueError("it holds no scores")
    return Scores(found, earlier)


def changes(turn: ScoredTurn, action: TurnAction, spared: Set[PartId]) -> list[Change]:
    """Gives an action's changes, except to spared parts.

    A failed call keeps a line, unless summarised.
    """
    made: list[Change | None] = []
    for item in _may_go(turn, spared):
        unit = item.unit
        if action == "keep" or (action == "reference" and unit.kind == "typed"):
            continue
        reason = f"{turn.id}: {_WHAT[action]}"
        stays = action == "reference" or (action == "drop" and unit.failed)
        if unit.kind == "call" and stays:
            made.append(evicted(item, reason))
        else:
            made.append(Change(unit.part_id, Dropped(), reason, item.tokens, 0))
    return [change for change in made if change is not None]


_WHAT: dict[TurnAction, str] = {
    "keep": "kept", "summarise": "summarised", "reference": "referred to", "drop": "dropped",
}  # fmt: skip


def told(
    turns: Iterable[ScoredTurn], scores: Mapping[str, TurnScore], spared: Set[PartId], room: int
) -> str:
    """Writes a summary or line for each departing turn, oldest first.

    Summaries share `room` characters; addresses they omit follow.
    """
    listed = [turn for turn in turns if turn.id in scores and any(_may_go(turn, spared))]
    summed = [turn for turn in listed if scores[turn.id].action == "summarise"]
    share = min(SUMMARY, room // max(1, len(summed)))
    lines: list[str] = []
    for turn in listed:
        score = scores[turn.id]
        match score.action:
            case "summarise":
                text = cut(" ".join(score.summary.split()), max(share, TITLE))
                lines.append(f"- {turn.id}, {turn.title}: {text}")
            case "reference":
                lines.append(f"- {turn.id}, {turn.title}: left out, {_recall(turn, spared)}")
            case _:
                pass
    said = "\n".join(lines)
    for turn in summed:
        missing = [name for name in addresses(turn) if not _stands(name, said)]
        if missing:
            at = next(n for n, line in enumerate(lines) if line.startswith(f"- {turn.id}, "))
            lines[at] += f" Also there: {', '.join(missing)}"
            said = "\n".join(lines)
    return "\n".join(lines)


def addresses(turn: ScoredTurn) -> tuple[str, ...]:
    """Paths and URLs in a turn, except results: a listing has thousands."""
    found: list[str] = []
    for item in turn.items:
        unit = item.unit
        if unit.kind in ("typed", "prose", "call"):
            called = unit.kind == "call"
            found += _addresses((unit.call or unit.argument)[:LONG] if called else unit.text)
    return tuple(dict.fromkeys(found))


def _stands(name: str, text: str) -> bool:
    """Whether a text has a whole name: `src/app` is not in `src/app/main.py`."""
    whole = rf"(?<![\w/.\-]){re.escape(name)}(?![\w/\-]|\.\w)"
    return re.search(whole, text) is not None


_URL = re.compile(r"https?://[^\s\"'`<>\\]+")


def _addresses(text: str) -> list[str]:
    urls = [url.rstrip(".,;:!?)]}") for url in _URL.findall(text)]
    plain = _URL.sub(" ", text)
    paths = [name for name in names_in(plain) if "/" in name and not set(" \n") & set(name)]
    return urls + sorted(paths, key=lambda name: (plain.find(name), name))


def _may_go(turn: ScoredTurn, spared: Set[PartId]) -> Iterator[Item]:
    for item in turn.items:
        if item.unit.part_id not in spared and not isinstance(item.shown, Dropped):
            yield item


def _line(turn: ScoredTurn) -> str:
    failed = [f"{u.tool} {one_line(u.argument, 40)}" for u in turn.failures()][:SHOWN]
    edited = dict.fromkeys(i.unit.argument for i in turn.items if "/" in i.unit.argument)
    files = [one_line(path, 60) for path in edited][:SHOWN]
    told = [f"{turn.tokens} tokens"]
    if failed:
        told.append(f"failed: {', '.join(failed)}")
    if files:
        told.append(f"files: {', '.join(files)}")
    return framed(f"{turn.id} | {' | '.join(told)} | {turn.title}")


def _recall(turn: ScoredTurn, spared: Set[PartId]) -> str:
    gone = [i for i in _may_go(turn, spared) if i.unit.kind == "prose"]
    largest = max(gone, key=lambda item: item.tokens, default=None)
    if largest is None:
        return "each result by its id"
    return f"recall {largest.unit.part_id}"


def _score(turn_id: str, entry: Mapping[str, object]) -> TurnScore:
    named = _text(entry, "action").lower().replace("summarize", "summarise")
    action = next((action for action in ACTIONS if action == named), None)
    if action is None:
        raise ValueError(f"turn {turn_id} has no action that there is: {one_line(named, 30)!r}")
    summary = _text(entry, "summary")
    if action == "summarise" and not summary:
        action = "reference"
    return TurnScore(action, one_line(_text(entry, "reason")), summary)


def _text(entry: Mapping[str, object], key: str) -> str:
    value = entry.get(key)
    return value.strip() if isinstance(value, str) else ""


def _entries(reply: str) -> Iterator[Mapping[str, object]]:
    """Reads objects, perhaps fenced, cut off, or not quite JSON.

    Raises ValueError for a complete score that cannot be parsed.
    """
    at, faults = reply.find("{"), 0
    while at >= 0 and faults < FAULTS:
        end = _end(reply, at)
        held = reply[at:end]
        value = _read(held) if end else None
        if value is None:
            if "action" in held and "{" not in held[1:]:
                raise ValueError(f"this cannot be read: {one_line(held, 80)}")
            faults += 1
            at = reply.find("{", at + 1)
            continue
        yield value
        inner = value.get("turns")
        if isinstance(inner, list):
            yield from (cast("Mapping[str, object]", e) for e in inner if isinstance(e, dict))
        at = reply.find("{", end)


def _end(text: str, start: int) -> int:
    depth, quote, escaped = 0, "", False
    for index in range(start, len(text)):
        sign = text[index]
        if escaped:
            escaped = False
        elif quote:
            escaped = sign == "\\"
            quote = "" if sign == quote else quote
        elif sign == '"' or (sign == "'" and text[index - 1] in "{[,: "):
            quote = sign
        elif sign == "{":
            depth += 1
        elif sign == "}":
            depth -= 1
            if not depth:
                return index + 1
    return 0


def _read(text: str) -> Mapping[str, object] | None:
    found = read_object(text) or read_object(without_trailing_commas(text))
    return cast("Mapping[str, object] | None", found)
