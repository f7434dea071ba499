"""Real sessions: what a rewrite leaves has the form of a story, whatever was recorded."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from sidecar.core.ledger.net_changes import diff_lines, net_changes
from sidecar.core.ledger.units import RECORDED_SUMMARY, Item, Unit
from sidecar.core.plans.guard import NEWEST_STEPS
from sidecar.core.plans.note import CAME_TO
from sidecar.core.plans.plan import Passage, Plan, Situation
from sidecar.core.policies import policies
from sidecar.core.prompt.visibility import Dropped, Shown
from sidecar.core.sights.seen_files import TELLING
from sidecar.core.text.sentences import announces
from sidecar.replay.simulate import simulate
from tests.e2e.recorded import ALL, catalogue
from tests.replay.recorded import AT_HAND, CARD, SESSIONS, Watched, conversation

WINDOWS = (200_000, 100_000, 64_000)
"""Of these each recording has one, and those of the small set have all."""
LONG = 60
"""Characters of an entry that says something: no two of one story are the same."""
LISTED, NOISE = 40, 0.05
"""Names of a list at most; of a note's characters, those of bare tokens at most."""
BARE = re.compile(
    r"(?:0x)?[0-9a-f]{10,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\d(?:T\S*)?|"
    r"\d\d:\d\d(?::\d\d)?\S*|[\d.,]+(?:ms|s|m|h|[kmg]?i?b)|\d+(?:\.\d+){3}(?::\d+)?|\d{5,}",
    re.I,
)
"""Durations, sizes, hashes, times, addresses, long numbers."""
LISTS = re.compile(
    r"(?:Changed|Deleted)(?: in .+?)?: |- (?:created|edited|deleted|moved) |And \d+ more "
)
CHANGES = ("created", "edited", "deleted", "moved")
ALIKE, MORE, APART = ASIDE = ("=", "⋯", "@@")
SILENT = ("reasoning", "opaque", "context")
ANSWERS = re.compile("^- (?:Answer|Said last): ", re.M)
BARE_GAPS = re.compile(r"(\n\[⋯ [^:\n]*\])*")
RECORDINGS = sorted(SESSIONS.glob("normalised/*.jsonl.gz"))
SMALL_SET = {path.name for path in catalogue(core=not ALL)}

pytestmark = [pytest.mark.long, AT_HAND]


def read(plan: Plan, situation: Situation) -> None:
    if not plan.note:
        return
    after = {change.part_id: change.shown for change in plan.changes}
    zone = [i for i in situation.items if i.unit.kind not in ("ledger", "excerpt", "image")]
    gone = {i.unit.part_id for i in zone if isinstance(after.get(i.unit.part_id, i.shown), Dropped)}
    by_message: dict[str, list[Item]] = {}
    for item in zone:
        by_message.setdefault(item.unit.message_id, []).append(item)
    told = {passage.before: passage for passage in plan.passages}
    in_order(plan.passages, list(by_message))
    gaps_are_marked(by_message, gone, told)
    every_message_is_answered(by_message, gone, told)
    nothing_is_said_twice(plan)
    nothing_is_announced_in_vain(plan.passages)
    texts = [plan.note, *(passage.text for passage in plan.passages)]
    few_tokens_are_bare("\n".join(texts))
    lists_are_short(texts)
    hunks_are_whole(plan.note, situation)
    nothing_removed_stands(zone, after)


def in_order(passages: tuple[Passage, ...], messages: list[str]) -> None:
    places = [messages.index(passage.before) for passage in passages]
    assert places == sorted(set(places)), "passages are not in order of time"


def gaps_are_marked(
    messages: dict[str, list[Item]], gone: set[str], told: dict[str, Passage]
) -> None:
    """What is left out is counted by the next passages; where these are many, by a later one."""
    out = counted = 0
    for message, items in messages.items():
        if message in told:
            numbers = re.findall(r"(\d+) (?:call|text)s?\b", told[message].text.split("\n")[0])
            counted += sum(map(int, numbers))
        mine = (i.unit for i in items if i.unit.part_id in gone)
        out += sum(u.kind not in SILENT or u.text.startswith(RECORDED_SUMMARY) for u in mine)
    assert counted == out, f"{out} parts are left out, and gaps tell of {counted}"


def every_message_is_answered(
    messages: dict[str, list[Item]], gone: set[str], told: dict[str, Passage]
) -> None:
    """What is typed is followed by its answer, or where it had none by what came of it."""
    typed, turn, passages = "", list[Unit](), ""
    story = "\n".join(passage.text for passage in told.values())
    for message, items in messages.items():
        passages += f"\n{told[message].text}" if message in told else ""
        first = items[0].unit
        # A passage tells a typed message that goes, in order with its answer.
        if first.kind == "typed" and not first.attached and first.part_id not in gone:
            assert not typed or is_answered(turn, gone, passages, story), f"no answer to {typed}"
            typed, turn, passages = first.text, [], ""
        turn += [i.unit for i in items if i.unit.kind in ("prose", "call")]


def is_answered(turn: list[Unit], gone: set[str], passages: str, story: str) -> bool:
    texts = (u for u in reversed(turn) if u.kind == "prose" and u.text.strip())
    answer = next((unit for unit in texts if not announces(unit.text)), None)
    if answer is None:
        stays = any(unit.part_id not in gone for unit in turn)
        return stays or not turn or not BARE_GAPS.fullmatch(passages)
    said = answer.text.strip().split("\n")[0]
    return answer.part_id not in gone or bool(ANSWERS.search(passages)) or said in story


def nothing_is_announced_in_vain(passages: tuple[Passage, ...]) -> None:
    """No last word before calls only says that they come, and no answer ends before its list."""
    for entry in (entry for one in passages for entry in re.split(r"\n(?=- |\[)", one.text)):
        said = entry.removeprefix("- Said last: ")
        assert said == entry or not announces(said), entry
        assert not ANSWERS.match(entry) or not entry.endswith(":"), f"what comes is cut: {entry}"


def nothing_is_said_twice(plan: Plan) -> None:
    texts = [plan.note.partition(f"\n{CAME_TO}\n")[0], *(passage.text for passage in plan.passages)]
    entries = Counter(
        entry
        for text in texts
        for entry in re.split(r"\n(?:- |  )?", text)
        if len(entry) >= LONG and not entry.startswith(CHANGES)
    )
    twice = [entry for entry, times in entries.items() if times > 1]
    assert not twice, f"said twice over note and passages: {twice}"


def nothing_removed_stands(zone: list[Item], after: dict[str, Shown | None]) -> None:
    """Of what only showed a file, no line that a later edit removed; edits are told as edits."""
    removed: dict[str, dict[str, int]] = {}
    newest = max(item.unit.step for item in zone) - NEWEST_STEPS
    for unit in (item.unit for item in zone):
        for made in unit.replaced:
            lines = removed.setdefault(made.path, {})
            new = {line.strip() for line in (made.new or "").split("\n")}
            old = (line.strip() for line in (made.old or "").split("\n"))
            gone = {line: unit.step for line in old if len(line) >= TELLING and line not in new}
            removed[made.path] = {k: v for k, v in lines.items() if k not in new} | gone
    for item in zone:
        unit = item.unit
        stays = after.get(unit.part_id, item.shown) is None and not item.pinned
        if unit.kind == "call" and stays and not unit.replaced and unit.step < newest:
            for path, lines in removed.items():
                name = path.rpartition("/")[2]
                if path and (name in unit.text or name in unit.call):
                    still = [k for k, v in lines.items() if v > unit.step and k in unit.text]
                    assert not still, f"{unit.argument} shows of {path}: {still}"


def few_tokens_are_bare(text: str) -> None:
    words = [word.strip("()[]{}<>.,;:`'\"→") for word in re.sub(r"recall \S+", "", text).split()]
    bare = [word for word in words if BARE.fullmatch(word)]
    share = sum(map(len, bare)) / sum(map(len, words))
    # One token alone, as a commit that is asked for, is no list of them.
    assert share <= NOISE or len(bare) == 1, f"{share:.3f} of a note is bare tokens: {bare[:20]}"


def lists_are_short(texts: list[str]) -> None:
    for text in texts:
        for line in filter(LISTS.match, text.split("\n")):
            for names in line.split("; "):
                assert names.count(", ") <= LISTED, f"a list of more than {LISTED} names: {line}"


def hunks_are_whole(note: str, situation: Situation) -> None:
    """Under each file stand whole hunks of what its edits came to, one after the other."""
    units = [item.unit for item in situation.items]
    net = net_changes((unit.part_id, one) for unit in units for one in unit.replaced)
    for path, told in hunks_told(note):
        known = {tuple(diff_lines(hunk)) for hunk in net.get(path, ())}
        left = told
        while left:
            aside = 2 if left[0].startswith("@@ ") and left[1:2] == [ALIKE] else left[0] in ASIDE
            length = next((n for n in range(len(left), 0, -1) if tuple(left[:n]) in known), aside)
            assert length, f"of {path} a hunk is not whole: {left[:9]}"
            left = left[length:]


def hunks_told(note: str) -> Iterator[tuple[str, list[str]]]:
    """By file the lines under its name, with one word for what is no line of a hunk."""
    path, told = "", list[str]()
    for line in note.partition(f"\n{CAME_TO}\n")[2].split("\n"):
        if line in ("To do:", "Subtasks:"):
            break
        if line.startswith(("+", "-", "@@", "= as in ", "⋯ ")):
            told.append(ALIKE if line[0] == "=" else MORE if line[0] == "⋯" else line)
            continue
        yield path, told
        path, told = line.removesuffix(":"), []
    yield path, told


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name.removesuffix(".jsonl.gz"))
def test_what_a_rewrite_leaves_of_a_recorded_session_reads_as_a_story(path: Path) -> None:
    heard = conversation(path.name.removesuffix(".jsonl.gz"))
    one = WINDOWS[RECORDINGS.index(path) % len(WINDOWS)]
    for window in WINDOWS if path.name in SMALL_SET else (one,):
        simulate(heard, Watched(policies()["economic"], read), window, CARD)
