"""Shortens a text to its two ends, in whole paragraphs, sentences and items."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import field
from functools import lru_cache

from sidecar.core.dataclass import dataclass
from sidecar.core.late_pattern import late_pattern
from sidecar.core.text.rule_sentences import FIRM, rules_in, wording
from sidecar.core.text.sentences import (
    asks,
    ends_open,
    gist,
    is_heading,
    is_item,
    sentences,
    unfenced,
    without_announcement,
)

REFERS = 200
"""Characters of a text in which a number stands for an item of a list."""
ITEM = 110
"""Characters of an item that is told because a number stands for it."""
FEWEST = 44
"""Characters of an item that say what it is about."""
_NUMBERED = late_pattern(
    r"^\W{0,6}(\d{1,2}|[A-H](?=[.):*]))(?:[.):|*]|\*\*|\s+[-\u2013\u2014])", re.M
)
_REFERENCE = late_pattern(
    r"(?<![\w.:/-])#?(\d{1,2}|[B-H]|A(?=\W*$))"
    r"(?=\s*(?:[,.;:)?!&+](?!\w)|$|(?:and|or|then|is|first|please)\b))"
    r"|\b(?:is|do|fix|tackle|option|item|number|point|step|task) #?(\d{1,2}|[A-H])\b",
)
_WORDY = late_pattern(r"[-*•\s\"'(`¿¡\[]*\w")
_LEAST_CLOSE = 12
_QUESTION = late_pattern(r"[?\uff1f\u061f](?![^\s*_`\"')])")
_BOLD = late_pattern(r"\*\*(?:[^*\n]{2,60}:\*\*|[^*\n]{2,60}\*\*:)\s+\S|\*\*[^*\n]{20,}[.!]\*\*")
MOST_ANSWERS = 2_048
"""Texts in brief that are remembered: each plan tells of all."""
FULL = 600
"""Characters of a text that says more than another a third as long."""
RULES_SHARE, LONGEST_RULE = 0.4, 160
"""Of a text's beginning: what rules of the rest may take; characters of one of these."""
_LOUD = late_pattern(r"\b(?:NEVER|ALWAYS|MUST|NOT|ONLY)\b")
_FRAME = late_pattern(
    r"\AThis session is being continued from a previous conversation[^\n]*\s+(?:Summary:\s+)?|"
    r"\n(?:If you need specific details from before compaction|"
    r"(?:Please )?[Cc]ontinue the conversation from where it left off)\b.*\Z",
    re.S,
)
"""What an agent writes around a summary of its own, for itself."""
MOST_LABELS = 2
"""Paragraphs with a bold label, of which the last is what an answer comes to; more are a list."""


@dataclass(slots=True)
class _Group:
    """A paragraph, or a list with its introduction."""

    lead: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)

    def lines(self) -> list[str]:
        return [*self.lead, *self.items]


def without_code(text: str) -> list[str]:
    return [line for group in _groups(text) for line in group.lines()]


def abridged(text: str, most: int, mark: str) -> list[str]:
    """Shortens a text to about `most` characters: without code, and if still longer, to both ends.

    Long lists keep each item's first words; `mark` stands at the cut. A short or asking last
    sentence stays, and a paragraph that opens in bold.
    """
    groups = list(_groups(text))
    lines = [line for group in groups for line in group.lines()]
    if _size(lines) <= most:
        return lines or [f"(code) {mark}"]
    close = _close(groups, most)
    room = max(most - _size(close), most // 2)
    head = _head(groups, room)
    if _size(head) < most // 2:
        said = gist(text, room) or "…"
        head = head if head and len(said) < 2 * _size(head) else [said]
    last = " ".join(one for one in close if one.removesuffix("…") not in "\n".join(head))
    cut = without_announcement(head[-1].removesuffix("…")).removesuffix(" ⋯")
    head[-1] = f"{cut} {mark}"
    return [*head, f"⋯ {last}"] if last else head


@lru_cache(maxsize=MOST_ANSWERS)
def in_brief(text: str, most: int) -> str:
    """Returns the first sentences in `most` characters, and a last question or bold paragraph."""
    groups = list(_groups(text))
    last = _last_sentence(groups[-1], most) if groups else ""
    last = last if asks(last) else _set_apart(groups, most * 2 // 3)
    said = gist(text, most - len(last)) or "(code)"
    return f"{said} ⋯ {last}" if last and last not in said else said


def asked_last(text: str, most: int) -> str:
    close = text[-most:]
    if not _QUESTION.search(close):
        return ""
    line = close.find("\n", 0, most // 2)
    return close[(line if line >= 0 or close == text else close.find(" ")) + 1 :]


def references(text: str) -> frozenset[str]:
    """Finds numbers and letters that point at list items, as in `do 2 and 3`."""
    if len(text) > REFERS:
        return frozenset()
    return frozenset(one or other for one, other in _REFERENCE.findall(text))


def numbers(text: str) -> frozenset[str]:
    return frozenset(_NUMBERED.findall("\n".join(unfenced(text))))


def listed(text: str, most: int, mark: str) -> list[str]:
    lines = [line.strip() for line in unfenced(text) if _says(line)]
    places = [n for n, line in enumerate(lines) if _NUMBERED.match(line)]
    leads = sorted({0, max(0, places[0] - 1)} - {*places})
    told = [first_words(lines[n], ITEM) for n in (*leads, *places)]
    while _size(told) > most and len(told) > len(leads) + 1:
        told.pop()
    return [*told, mark]


def _says(line: str) -> bool:
    return not is_heading(line) or _NUMBERED.match(line) is not None


def first_words(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    spans = sentences(text[:most], most)
    ends = [end for _, end in spans if text[end] == "\n" or text[end - 1] in ".!?"]
    if ends and ends[-1] > most // 2 and text[ends[-1]].isspace():
        return text[: ends[-1]]
    return text[: max(text.rfind(" ", 0, most), most // 2)].rstrip(" ,;:-(") + "…"


def fullest(texts: Sequence[str]) -> int:
    most = max(range(len(texts)), key=lambda n: len(texts[n]))
    return most if len(texts[most]) > max(FULL, 3 * len(texts[0])) else 0


def with_rules(text: str, most: int) -> str:
    """Shortens a summary to its first words and firm rules of the rest."""
    text = _FRAME.sub("", text.strip()).strip()
    if len(text) <= most:
        return text
    room, spoken = round(RULES_SHARE * most), round((1 - RULES_SHARE) * most)
    stated = {
        wording(rule): rule
        for a, b in (rule.span for rule in rules_in(text) if rule.sure == FIRM)
        if a >= spoken and b - a <= LONGEST_RULE and (rule := " ".join(text[a:b].split()))
    }
    told: list[str] = []
    for rule in sorted(
        stated.values(), key=lambda rule: (not _LOUD.search(rule), not is_item(rule))
    ):
        if len(rule) <= room:
            room -= len(rule)
            told.append(rule)
    head = first_words(text, most - sum(map(len, told)))
    return "\n".join((head, *(["⋯ and firmly:", *told] if told else [])))


def _groups(text: str) -> Iterator[_Group]:
    here = _Group()
    inside = blank = False
    for line in text.strip().splitlines():
        if line.lstrip().startswith("```"):
            inside = not inside
            if inside and here.lead and not here.items and ends_open(here.lead[-1]):
                here.lead[-1] += " ⋯"
        elif inside:
            continue
        elif not line.strip():
            blank = True
        else:
            item = (is_item(line) and not is_heading(line)) or line.startswith((" ", "\t"))
            goes_on = _goes_on(here, line, item=item, blank=blank)
            if not goes_on and here.lines():
                yield here
                here = _Group()
            (here.items if item else here.lead).append(line)
            blank = False
    if here.lines():
        yield here


def _goes_on(group: _Group, line: str, *, item: bool, blank: bool) -> bool:
    if group.items or not group.lead:
        return item and bool(group.items)
    titled = all(map(is_heading, group.lead))
    if item:
        return not blank or titled or ends_open(group.lead[-1])
    return not is_heading(line) and (not blank or titled)


def _size(lines: Sequence[str]) -> int:
    return sum(map(len, lines)) + max(0, len(lines) - 1)


def _head(groups: Sequence[_Group], most: int) -> list[str]:
    head: list[str] = []
    for group in groups:
        room = most - _size(head) - 1
        group.lead = [line for line in group.lead if not is_heading(line)] or group.lead
        if _size(group.lines()) <= room:
            head += group.lines()
            continue
        head += _part(group, room, least=most // 2)
        if head:
            break
    while head and (is_heading(head[-1]) or ends_open(head[-1]) or not head[-1].strip(" -*")):
        head.pop()
    return head


def _part(group: _Group, room: int, least: int) -> list[str]:
    told: list[str] = []
    for line in group.lead:
        if len(line) > room:
            end = max((end for _, end in sentences(line, len(line)) if end <= room), default=0)
            if end:
                return [*told, line[:end]]
            return [*told, first_words(line, room)] if room > least else told
        told.append(line)
        room -= len(line) + 1
    if not group.items:
        return told
    indent = min(len(line) - len(line.lstrip()) for line in group.items)
    items = [line for line in group.items if len(line) - len(line.lstrip()) == indent]
    fit = min(len(items), room // FEWEST)
    if fit < min(2, len(items)):
        return told
    each = room // fit
    left = len(items) - fit
    begun = [first_words(line, each - 1) for line in items[:fit]]
    return [*told, *begun, *([f"⋯ {left} more"] if left else [])]


def _close(groups: Sequence[_Group], most: int) -> list[str]:
    last = _last_sentence(groups[-1], most)
    decisive = _set_apart(groups, most // 3)
    if last and last in decisive:
        return [decisive]
    if asks(last) and not decisive:
        lines = [line for group in groups[-2:] for line in group.lines()]
        before = lines[-1].removesuffix(last).rstrip() or "".join(lines[-2:-1])
        start, end = next(reversed(list(sentences(before, len(before)))), (0, 0))
        decisive = "" if is_item(before) else first_words(before[start:end], most // 3)
    return [one for one in (decisive, last) if one and not ends_open(one)]


def _set_apart(groups: Sequence[_Group], most: int) -> str:
    lines = [line for group in groups[1:] for line in group.lines() if _BOLD.match(line)]
    return first_words(lines[-1], most) if 0 < len(lines) <= MOST_LABELS else ""


def _last_sentence(group: _Group, most: int) -> str:
    close = (group.items or group.lead)[-1]
    start, end = next(reversed(list(sentences(close, len(close)))), (0, 0))
    last = close[start:end]
    is_question = asks(last)
    if (
        not _WORDY.match(last)
        or is_heading(last)
        or ends_open(last.removesuffix(" ⋯"))
        or (group.items and not is_question)
        or not _LEAST_CLOSE <= len(last) <= (most * 2 // 3 if is_question else most // 3)
    ):
        return ""
    return last
