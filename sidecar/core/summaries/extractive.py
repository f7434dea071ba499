"""A summary without a model: the conversation's own sentences.

The newest episodes keep sentences, older ones a line, the oldest a title.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from sidecar.core.conversation.call_outcome import one_line
from sidecar.core.dataclass import dataclass
from sidecar.core.late_pattern import late_pattern
from sidecar.core.ledger.units import Unit
from sidecar.core.plans.guard import NOTES
from sidecar.core.summaries.sections import (
    CONSTRAINTS,
    DECISIONS,
    DONE,
    EARLIER,
    GOAL,
    IN_PROGRESS,
    KEY_FACTS,
    NEXT,
    Weighed,
    cut,
    fitted,
    room_in_characters,
    sections_of,
    shortened,
    weight_of,
)
from sidecar.core.text.identifiers import names_in

ORDER = (GOAL, CONSTRAINTS, EARLIER, DECISIONS, DONE, KEY_FACTS, IN_PROGRESS, NEXT)
EPISODE = 20
"""Steps of a long turn told together."""
FULL, LINES = 3, 8
"""Newest episodes told in sentences; earlier ones told in a line."""
SENTENCES = 3
"""Most sentences of one text."""
LONGEST, TITLE, CARRIED = 240, 90, 160
"""Characters of a sentence, a title and a carried line."""
BRIEF = 45
"""Characters; shorter sentences are mostly headings, or refer to absent text."""
CARRIED_SHARE = 0.45
"""Most of the room for an earlier summary's lines, the goal aside."""
FADES = 0.5
"""Weight of an earlier line about where the work stood."""

_SENTENCE = late_pattern(r"(?<=[.!?])[\"'\u201d)]*\s+(?=[\"'\u201c(`*]*[A-Z0-9`/])")
_MARKER = late_pattern(r"^\s*(?:[-*+>]\s+|#{1,6}\s+|\d{1,2}[.)]\s+|\[[ x~]\]\s+)*")
_FENCE = late_pattern(r"^\s*(?:```|~~~)")
_TABLE = late_pattern(r"^\s*\||^[\s\-=_*|:+]+$")
_LETTERS = late_pattern(r"[^\W\d_]{3}")
_LIMIT = late_pattern(
    r"\b(?:must(?: not|n['\u2019]t)?|never|always|do(?: not|n['\u2019]t)|only|without|"
    r"at (?:most|least)|no more than|should(?: not|n['\u2019]t)?|avoid|make sure|"
    r"required?|prefer)\b",
    re.I,
)
_DECISION = late_pattern(
    r"\b(?:decid\w+|chos\w+|choose|instead(?: of)?|rather than|opt(?:ed|ing) for|go(?:ing)? with|"
    r"agreed|settled on|(?:we|i)(?:['\u2019]ll| will| should) (?:use|keep|leave|not)|"
    r"the (?:plan|approach|design) is|trade-?off)\b",
    re.I,
)
_REASON = late_pattern(
    r"\b(?:because|since|so that|therefore|thus|which means|turns? out|root cause|caused by|"
    r"the (?:problem|issue|bug|reason|cause|culprit|fix|key)\b[^.]{0,40}\b(?:is|was|lies)|"
    r"due to|that['\u2019]s why|explains)\b",
    re.I,
)
_FOUND = late_pattern(
    r"\b(?:found|confirm\w+|shows?|reveals?|discover\w+|noticed|realis\w+|realiz\w+|"
    r"is (?:defined|located|called|set) (?:in|at|by|to)|lives? in|uses?)\b",
    re.I,
)
_DONE = late_pattern(
    r"\b(?:fixed|implemented|added|created|updated|removed|refactored|renamed|written|moved|"
    r"finished|complete[d]?|done|works?|pass(?:es|ed|ing)?|succe\w+|committed|verified|merged)\b",
    re.I,
)
_AHEAD = late_pattern(
    r"\b(?:next|remain\w*|still (?:need|to)|todo|left to|then i|pending|now i|let me|let['\u2019]s|"
    r"i['\u2019]ll|i will|i need to|going to)\b",
    re.I,
)
_CHATTER = late_pattern(
    r"^(?:now,? )?(?:let me|let['\u2019]s|i['\u2019]ll|i will|perfect|great|excellent|good|okay|ok|"
    r"sure|thanks|you['\u2019]re right|here(?:['\u2019]s| is| are)|looking|first|next|"
    r"i(?:['\u2019]m| am) (?:(?:now|also|just) )?\w+ing)\b",
    re.I,
)


def extract(gone: Sequence[Unit], previous: str, room: int) -> str:
    """`previous`: the earlier summary; `room`: most tokens."""
    units = [unit for unit in gone if unit.kind not in NOTES]
    if not units:
        return shortened(previous, room)
    carried = list(_carried(previous, room))
    has_goal = any(line.title == GOAL for line in carried)
    fresh = _fresh(units, len(carried), room, has_goal=has_goal)
    return fitted(list(_once([*carried, *fresh])), room, ORDER)


def _once(lines: Sequence[Weighed]) -> Iterator[Weighed]:
    best: dict[str, Weighed] = {}
    for line in lines:
        key = " ".join(re.findall(r"\w+", line.text.lower()))[:60]
        if key not in best or best[key].weight < line.weight:
            best[key] = line
    chosen = {id(line) for line in best.values()}
    return (line for line in lines if id(line) in chosen)


def _carried(previous: str, room: int) -> Iterator[Weighed]:
    left = CARRIED_SHARE * room_in_characters(room)
    lines: list[Weighed] = []
    for section in sections_of(previous):
        title = next((t for t in ORDER if section.title.lower().startswith(t.lower())), EARLIER)
        weight = weight_of(title)
        if title in (IN_PROGRESS, NEXT):
            title, weight = EARLIER, weight_of(EARLIER) * FADES
        count = len(section.lines)
        for number, line in enumerate(section.lines):
            share = weight * (1.0 if title == GOAL else 0.6 + 0.4 * (number + 1) / count)
            lines.append(Weighed(title, cut(line, CARRIED), share, len(lines)))
    for best in sorted(lines, key=lambda one: (-one.weight, one.order)):
        left -= 0 if best.title == GOAL else len(best.text) + 1
        if left >= 0:
            yield best


@dataclass(frozen=True, slots=True)
class _Episode:
    """Units told together; `rank`: from 0, the newest."""

    units: Sequence[Unit]
    rank: int

    @property
    def age(self) -> float:
        if self.rank < FULL:
            return 1.0 - 0.1 * self.rank
        return 0.6 if self.rank < FULL + LINES else 0.35


def _episodes(units: Sequence[Unit]) -> list[_Episode]:
    groups: list[list[Unit]] = []
    for unit in units:
        first = groups[-1][0] if groups else None
        if first is None or unit.turn != first.turn or unit.step - first.step >= EPISODE:
            groups.append([])
        groups[-1].append(unit)
    return [_Episode(group, len(groups) - 1 - at) for at, group in enumerate(groups)]


def _fresh(units: Sequence[Unit], order: int, room: int, *, has_goal: bool) -> Iterator[Weighed]:
    episodes = _episodes(units)
    often = Counter(name for unit in units for name in unit.names)
    for episode in episodes:
        typed = [u for u in episode.units if u.kind == "typed" and not u.attached]
        for unit in typed:
            if not has_goal and unit.turn == 0:
                most = max(TITLE, room_in_characters(room) // 4)
                yield Weighed(GOAL, cut(one_line(unit.text, most * 2), most), 20.0, order)
                has_goal = True
            elif unit is typed[0] and (title := _title(unit.text)):
                weight = weight_of(DONE) * episode.age
                yield Weighed(EARLIER, f"- asked: {title}", weight, order)
            yield from _limits(unit, episode, order)
            order += 1
        said = [line for unit in episode.units for line in _said(unit, episode, often)]
        if episode.rank >= FULL and said:
            best = max(said, key=lambda line: line.weight)
            most = LONGEST if episode.rank < FULL + LINES else TITLE
            said = [Weighed(best.title, cut(best.text, most), best.weight, 0)]
        for line in said:
            yield Weighed(line.title, line.text, line.weight, order)
            order += 1


def _title(text: str) -> str:
    sentence = next(_sentences(text), None)
    return cut(sentence, TITLE) if sentence else ""


def _limits(unit: Unit, episode: _Episode, order: int) -> Iterator[Weighed]:
    found = [s for s in _sentences(unit.text) if _LIMIT.search(s)][:SENTENCES]
    for sentence in found:
        weight = weight_of(CONSTRAINTS) * (0.7 + 0.3 * episode.age)
        yield Weighed(CONSTRAINTS, f"- {sentence}", weight, order)


def _said(unit: Unit, episode: _Episode, often: Counter[str]) -> list[Weighed]:
    if unit.kind != "prose":
        return []
    answer = _is_last(unit, episode)
    scored = []
    for place, sentence in enumerate(_sentences(unit.text)):
        title, score = _judged(sentence, newest=answer and episode.rank == 0)
        score += min(1.5, sum(0.5 for name in names_in(sentence) if often[name] > 1))
        score += 1.0 if answer else 0.0
        if score > 0:
            weight = weight_of(title) * episode.age * min(1.0, (1.0 + score) / 6)
            scored.append(Weighed(title, f"- {sentence}", weight, place))
    most = SENTENCES * (2 if answer and episode.rank == 0 else 1)
    best = sorted(scored, key=lambda line: (-line.weight, line.order))[:most]
    return sorted(best, key=lambda line: line.order)


def _is_last(unit: Unit, episode: _Episode) -> bool:
    prose = [other for other in episode.units if other.kind == "prose"]
    return unit is prose[-1]


def _judged(sentence: str, *, newest: bool) -> tuple[str, float]:
    chatter = bool(_CHATTER.match(sentence))
    score = -2.0 if chatter else 0.0
    score -= 1.5 if sentence.endswith(":") else 0.0
    score -= 1.0 if len(sentence) < BRIEF else 0.0
    reason = bool(_REASON.search(sentence))
    score += 3.0 if reason else 0.0
    if _DECISION.search(sentence):
        return DECISIONS, score + 3.0
    if newest and _AHEAD.search(sentence):
        return IN_PROGRESS, score + (3.0 if chatter else 1.5)
    if reason:
        return KEY_FACTS, score
    if _DONE.search(sentence):
        return DONE, score + 1.5
    return KEY_FACTS, score + (1.0 if _FOUND.search(sentence) else 0.0)


def _sentences(text: str) -> Iterator[str]:
    inside = False
    for raw in text.splitlines():
        if _FENCE.match(raw):
            inside = not inside
        if inside or _FENCE.match(raw) or _TABLE.match(raw):
            continue
        line = _MARKER.sub("", raw).strip()
        for sentence in _SENTENCE.split(line):
            plain = " ".join(sentence.split())
            if len(plain) >= 20 and _LETTERS.search(plain):
                yield cut(plain, LONGEST)
