"""Where words stand in a conversation's texts."""

import re
from collections.abc import Sequence
from typing import Literal, TypeAlias

from sidecar.core.conversation.call_outcome import result_text
from sidecar.core.dataclass import dataclass
from sidecar.core.parts import (
    FilePart,
    Message,
    MessageId,
    Part,
    PartId,
    ReasoningPart,
    TextPart,
    ToolPart,
)
from sidecar.core.text.json_text import strings
from sidecar.core.text.visible import visible

SaidBy: TypeAlias = Literal["title", "user", "agent", "thinking", "tool", "file"]

BEFORE, AFTER = 32, 160
"""Characters around a match."""
LONGEST_MATCH = 120
_WORD = re.compile(r'"([^"]+)"|(\S+)')


@dataclass(frozen=True, slots=True)
class Words:
    """What is looked for, in small letters: all `each` must stand in one text.

    `whole`: the query as typed, shown where it stands as such.
    """

    whole: str
    each: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Snippet:
    """A match in one line, without what is unseen."""

    before: str
    match: str
    after: str


@dataclass(frozen=True, slots=True)
class TextHit:
    """A match in a part; a title's has no ids."""

    speaker: SaidBy
    found: Snippet
    message_id: MessageId | None = None
    part_id: PartId | None = None


def words_of(query: str) -> Words:
    """Takes words, and phrases in double quotes; none for a blank query."""
    each = (" ".join("".join(groups).split()) for groups in _WORD.findall(_small(query)))
    return Words(_small(query), tuple(dict.fromkeys(filter(None, each))))


def snippet(text: str, words: Words) -> Snippet | None:
    """Finds all of the words in any order, in letters of either size."""
    small = _small(text)
    places: list[tuple[int, int]] = []
    for word in words.each:
        place = _place(small, word)
        if place is None:
            return None
        places.append(place)
    if not places:
        return None
    start, end = _place(small, words.whole) or min(places)
    before, after = text[max(0, start - BEFORE) : start], text[end : end + AFTER]
    return Snippet(
        ("…" if start > BEFORE else "") + _line(before).lstrip(),
        _line(text[start:end][:LONGEST_MATCH]),
        _line(after).rstrip() + ("…" if len(text) > end + AFTER else ""),
    )


def _place(small: str, words: str) -> tuple[int, int] | None:
    """Where one or more words stand, with any blanks between."""
    first, *others = words.split()
    if not others:
        start = small.find(first)
        return None if start < 0 else (start, start + len(first))
    found = re.search(r"\s+".join(map(re.escape, (first, *others))), small)
    return None if found is None else found.span()


def hits_in(messages: Sequence[Message], words: Words) -> tuple[TextHit, ...]:
    """Gives the first match of each part that people see, in the order of `messages`."""
    return tuple(
        TextHit(said[0], found, message.id, part.id)
        for message in messages
        for part in message.parts
        if (said := _said(part)) is not None and (found := snippet(said[1], words)) is not None
    )


def _said(part: Part) -> tuple[SaidBy, str] | None:
    match part:
        case TextPart(text=text, source="typed" | "steer"):
            return "user", text
        case TextPart(text=text, source="model"):
            return "agent", text
        case ReasoningPart(text=text):
            return "thinking", text
        case ToolPart(name=name, input=given):
            return "tool", "\n".join((name, *strings(given), result_text(part)))
        case FilePart(name=name, uri=uri, text=text):
            return "file", "\n".join((name or uri, text or ""))
        case _:
            return None


def _small(text: str) -> str:
    """As long as the text, so that places are the same."""
    small = text.lower()
    if len(small) == len(text):
        return small
    return "".join(low if len(low := letter.lower()) == 1 else letter for letter in text)


def _line(text: str) -> str:
    return visible(re.sub(r"\s+", " ", text))
