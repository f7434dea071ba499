"""Calls of file tools as other agents and ours make them, in the order of steps."""

from collections.abc import Iterator
from itertools import count
from random import Random

from sidecar.core.ledger.units import Unit, call_unit
from sidecar.core.parts import (
    Json,
    JsonObject,
    Message,
    MessageId,
    Output,
    PartId,
    ToolCompleted,
    ToolPart,
    TurnId,
)
from sidecar.core.sights.seen_files import SeenFile, SeenFiles

PATH = "/w/a.py"
_NUMBERS = count(1_000)
"""Apart from those of situations."""


def ended(name: str, given: JsonObject, text: str = "", **metadata: Json) -> ToolPart:
    """A call that ended well."""
    number = next(_NUMBERS)
    state = ToolCompleted(Output(text), 0, 1, metadata=metadata)
    return ToolPart(PartId(f"p{number}"), f"c{number}", name, given, state)


def read(path: str, lines: list[str], first: int = 1) -> ToolPart:
    """A read of these lines, with numbers as Claude Code gives them."""
    text = "\n".join(f"{number:6}→{line}" for number, line in enumerate(lines, first))
    return ended("Read", {"file_path": path, "offset": first, "limit": len(lines)}, text)


def edit(path: str, old: str, new: str, text: str = "done") -> ToolPart:
    """An edit of one place."""
    return ended("Edit", {"file_path": path, "old_string": old, "new_string": new}, text)


def worked_on(dice: Random, file: list[str], most: int, longest: int) -> Iterator[ToolPart]:
    """Reads and edits of random stretches of a file, which follows them."""
    for number in range(dice.randint(1, most)):
        start = dice.randrange(len(file))
        end = min(len(file), start + dice.randint(1, longest))
        if dice.random() < 0.5:
            yield read(PATH, file[start:end], start + 1)
        else:
            new = [f"new {number}.{n}" for n in range(dice.randint(1, 5))]
            old, file[start:end] = "\n".join(file[start:end]), new
            yield edit(PATH, old, "\n".join(new))


def unit_of(part: ToolPart, step: int) -> Unit:
    message = Message(MessageId(f"m{step}"), TurnId("t"), "assistant", (part,), 0)
    return call_unit(part, message, 0, step)


def heard(*parts: ToolPart, root: str = "") -> SeenFiles:
    """Files after calls, one a step, from 0."""
    files = SeenFiles(root)
    for step, part in enumerate(parts):
        files.hear(part, unit_of(part, step))
    return files


def known(file: SeenFile) -> dict[int, str]:
    """Known lines by number."""
    return {number: text for number, text in enumerate(file.texts, 1) if text is not None}
