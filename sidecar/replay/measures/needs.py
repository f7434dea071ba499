"""Finds text that the recorded agent needed word for word, and its former places.

Needed are an edit's old text, and a patch's context and removed lines, without line ends and
numbers. See docs/how-to/measuring.md.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias

from sidecar.core.conversation.call_outcome import failed, result_text
from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.deeds import EDITS, NUMBERED, PATCHES, SHELLS, own_name
from sidecar.core.ledger.replacements import HUNK, OLD
from sidecar.core.parts import Json, Message, PartId, TextPart, ToolCompleted, ToolPart
from sidecar.core.text.json_text import strings
from sidecar.replay.conversation import FAR, Conversation

SHORTEST_EDIT = 10
"""Characters of a replaced text, for a certain place."""
SHORTEST_LINE = 25
"""Characters of a line, beyond chance."""
AROUND = 15
"""Neighbouring lines above and below an edit."""

_FILE = re.compile(r"^(?:\*\*\* |--- |\+\+\+ |diff |index ).*$", re.M)

ShownAt: TypeAlias = tuple[PartId, bool]
"""A part; whether its call, not its result, showed the text."""


@dataclass(frozen=True, slots=True)
class NeededEdit:
    """A replaced text; `shown`: former places, newest last; `around`: lines there."""

    text: str
    shown: tuple[ShownAt, ...]
    far: bool
    around: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NeededLine:
    """A line that the agent wrote again, and its former places."""

    line: str
    shown: tuple[ShownAt, ...]


@dataclass(frozen=True, slots=True)
class Needs:
    """The needs of one answer."""

    edits: tuple[NeededEdit, ...] = ()
    lines: tuple[NeededLine, ...] = ()


def plain_text(text: str) -> str:
    """Removes blanks at line ends, and line numbers if most lines have them."""
    lines = text.split("\n")
    if len(NUMBERED.findall(text)) * 2 > len(lines):
        lines = [NUMBERED.sub("", line) for line in lines]
    return "\n".join(line.rstrip() for line in lines)


def needs_of(conversation: Conversation) -> Mapping[int, Needs]:
    log = _Log()
    found: dict[int, Needs] = {}
    step = 0
    for message in conversation.messages:
        if message.status == "discarded":
            continue
        if message.role == "assistant":
            needs = Needs(
                tuple(edit for text in _replaced(message) if (edit := log.edited(text, step))),
                tuple(log.written_again(_written(message), step)),
            )
            if needs != Needs():
                found[step] = needs
            step += 1
        # An answer's own calls are shown from its request on, their results from the next.
        log.hear(message, step)
    return found


class _Log:
    """Text shown so far, by block and by line."""

    def __init__(self) -> None:
        self._blocks: list[tuple[ShownAt, int, str]] = []
        self._lines: dict[str, list[tuple[ShownAt, int]]] = {}

    def hear(self, message: Message, step: int) -> None:
        for part in message.parts:
            for place, text in _blocks(part):
                self._blocks.append((place, step, text))
                for line in {line.strip() for line in text.split("\n")}:
                    if len(line) >= SHORTEST_LINE:
                        self._lines.setdefault(line, []).append((place, step))

    def edited(self, text: str, step: int) -> NeededEdit | None:
        """Returns `None` if nothing had shown the text."""
        held = [block for block in self._blocks if text in block[2]]
        if not held:
            return None
        _, seen, whole = held[-1]
        at = whole.index(text)
        above = whole[:at].split("\n")[:-1][-AROUND:]
        below = whole[at + len(text) :].split("\n")[1:][:AROUND]
        around = tuple(line.strip() for line in (*above, *below) if line.strip())
        return NeededEdit(text, tuple(place for place, *_ in held), step - seen >= FAR, around)

    def written_again(self, lines: Iterable[str], step: int) -> Iterator[NeededLine]:
        for line in lines:
            held = self._lines.get(line)
            if held is not None and step - held[-1][1] >= FAR:
                yield NeededLine(line, tuple(place for place, _ in held))


def _blocks(part: object) -> Iterator[tuple[ShownAt, str]]:
    match part:
        case TextPart(id=name, text=text):
            yield (name, False), plain_text(text)
        case ToolPart(id=name):
            yield (name, True), "\n".join(map(plain_text, strings(part.input)))
            yield (name, False), plain_text(result_text(part))
        case _:
            pass


def _written(message: Message) -> list[str]:
    texts: list[str] = []
    for part in message.parts:
        match part:
            case TextPart(text=text):
                texts.append(text)
            case ToolPart():
                texts += strings(part.input)
            case _:
                pass
    lines = (line.strip() for text in texts for line in text.split("\n"))
    return list(dict.fromkeys(line for line in lines if len(line) >= SHORTEST_LINE))


def _replaced(message: Message) -> Iterator[str]:
    for part in message.parts:
        if not isinstance(part, ToolPart) or not isinstance(part.state, ToolCompleted):
            continue
        name = own_name(part.name)
        if failed(part) or name not in EDITS | SHELLS:
            continue
        for text in _old_texts(part.input):
            plain = plain_text(text).strip("\n")
            if len(plain.strip()) >= SHORTEST_EDIT:
                yield plain


def _old_texts(given: Json) -> Iterator[str]:
    if isinstance(given, str):
        yield from _hunks(given)
    if not isinstance(given, dict):
        return
    for key in OLD:
        if isinstance(old := given.get(key), str):
            yield old
    for key in (*PATCHES, "command", "cmd"):
        if isinstance(patch := given.get(key), str):
            yield from _hunks(patch)
    edits = given.get("edits")
    for edit in edits if isinstance(edits, list) else ():
        yield from _old_texts(edit)


def _hunks(patch: str) -> Iterator[str]:
    if not ("*** Update File: " in patch or HUNK.search(patch)):
        return
    for section in _FILE.split(patch):
        for hunk in HUNK.split(section):
            lines = hunk.split("\n")
            if any(line[:1] in "+-" and line for line in lines):
                yield "\n".join(line[1:] for line in lines if line[:1] in (" ", "-"))
