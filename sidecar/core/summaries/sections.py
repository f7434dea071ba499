"""Summaries as sections of lines."""

import re
from collections.abc import Iterable, Sequence

from sidecar.core.dataclass import dataclass
from sidecar.core.prompt.tokens import tokens_of

GOAL, CONSTRAINTS, DECISIONS = "Goal", "Constraints", "Decisions"
DONE, IN_PROGRESS, NEXT, KEY_FACTS = "Done", "In progress", "Next", "Key facts"
EARLIER = "Earlier"

WEIGHT = {
    "goal": 10.0,
    "constraint": 8.0,
    "next": 7.0,
    "in progress": 7.0,
    "decision": 6.0,
    "key fact": 5.0,
    "done": 3.0,
    "earlier": 2.0,
}
"""A line's weight, by the beginning of its section's title."""
USUAL = 4.0
LINE = 400
"""Characters kept of a line in too little room."""

_TITLE = re.compile(r"[ \t]{0,3}(?:#{1,6}[ \t]+(?P<hashes>.+?)|\*\*(?P<stars>[^*]+?)\*\*)[ \t:#]*")
_CHARS, _FRAMING = 2.9, 7.51
"""`tokens_of`, the other way round; half a token is rounded away."""


@dataclass(frozen=True, slots=True)
class Section:
    """A title (empty before the first) and non-blank lines."""

    title: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Weighed:
    """A line competing for room; `order` is within a section."""

    title: str
    text: str
    weight: float
    order: int


def sections_of(text: str) -> tuple[Section, ...]:
    found: list[tuple[str, list[str]]] = [("", [])]
    for line in text.splitlines():
        match = _TITLE.fullmatch(line)
        if match is not None:
            found.append(((match["hashes"] or match["stars"]).strip(" :*#"), []))
        elif line.strip():
            found[-1][1].append(line.rstrip())
    return tuple(Section(title, tuple(lines)) for title, lines in found if lines)


def written(sections: Iterable[Section]) -> str:
    return "\n".join(
        "\n".join(([f"## {section.title}"] if section.title else []) + list(section.lines))
        for section in sections
        if section.lines
    )


def shortened(text: str, room: int) -> str:
    """Keeps the heaviest lines within `room` tokens, in order."""
    if tokens_of(text) <= room:
        return text
    lines: list[Weighed] = []
    for section in sections_of(text):
        weight = weight_of(section.title)
        count = len(section.lines)
        for number, line in enumerate(section.lines):
            # The last lines are the newest; of a goal the first says most.
            place = count - number if weight == WEIGHT["goal"] else number + 1
            share = weight * (0.5 + place / count / 2)
            lines.append(Weighed(section.title, cut(line, LINE), share, len(lines)))
    return fitted(lines, room)


def weight_of(title: str) -> float:
    lower = title.lower()
    return next((w for name, w in WEIGHT.items() if lower.startswith(name)), USUAL)


def fitted(lines: Sequence[Weighed], room: int, titles: Sequence[str] = ()) -> str:
    """Keeps the heaviest lines in `room` tokens, ordered by `titles`, then by first lines."""
    # No line end before the first line.
    left = room_in_characters(room) + 1
    taken: list[Weighed] = []
    opened: set[str] = {""}
    for line in sorted(lines, key=lambda one: (-one.weight, one.order)):
        size = len(line.text) + 1 + (0 if line.title in opened else len(line.title) + 4)
        if size <= left:
            left -= size
            opened.add(line.title)
            taken.append(line)
    taken.sort(key=lambda one: one.order)
    order = dict.fromkeys((*titles, *(line.title for line in taken)))
    return written(
        Section(title, tuple(line.text for line in taken if line.title == title)) for title in order
    )


def room_in_characters(room: int) -> int:
    return max(0, int((room - _FRAMING) * _CHARS))


def cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    head = text[: max(0, most - 1)]
    space = head.rfind(" ", most // 2)
    return (head[:space] if space > 0 else head).rstrip() + "…"
