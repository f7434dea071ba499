"""What a shell command showed of a file's lines, where its words tell."""

import re
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from sidecar.core.conversation.call_outcome import failed
from sidecar.core.files.shell_writes import joined, simple, split
from sidecar.core.parts import ToolCompleted, ToolPart
from sidecar.core.sights.file_sights import FileShown, is_cut, lines_of, numbered

LONGEST = 50_000
"""Characters of a command that are looked at."""
_SED = re.compile(r"(\d+)(?:,(\d+))?p")
_HEADER = re.compile(r"\AChunk ID: .*?^Output:\n", re.S | re.M)
_OUTPUT = re.compile(r"\A(?:<returncode>\d+</returncode>\n)?<output>\n(.*?)\n?</output>", re.S)
Range: TypeAlias = tuple[int, int | None]
"""First and last line; `None`: to the end."""


def shell_sights(part: ToolPart) -> Iterator[FileShown]:
    """Of commands that only print files."""
    given = part.input
    command = given.get("command", given.get("cmd")) if isinstance(given, dict) else given
    folder = given.get("workdir", "") if isinstance(given, dict) else ""
    if not isinstance(command, str) or not isinstance(folder, str) or len(command) > LONGEST:
        return
    if isinstance(part.state, ToolCompleted) and not failed(part):
        text = part.state.output.text
        if part.state.output.whole is None and not is_cut(text):
            yield from _printed(command, folder, text)


def _printed(command: str, folder: str, text: str) -> Iterator[FileShown]:
    """Files that were printed one after the other, as far as their lines can be told apart."""
    asked = _asked(command, folder)
    text = _HEADER.sub("", text)
    wrapped = _OUTPUT.match(text)
    lines = lines_of(text if wrapped is None else wrapped[1])
    for number, (path, (first, last)) in enumerate(asked, 1):
        size = len(lines) if last is None else last - first + 1
        if number == len(asked) and len(lines) > size:
            return
        mine, lines = lines[:size], lines[size:]
        listed = numbered("\n".join(mine)) if "nl -ba" in command else (first, mine)
        if listed is not None and listed[1]:
            yield FileShown(path, *listed, ends=last is None)


def _asked(command: str, folder: str) -> list[tuple[str, Range]]:
    """Files and ranges printed by `cat`, `nl` and `sed -n` alone."""
    rest, bodies = split(command)
    printing, *pipes = rest.split("|")
    asked: list[tuple[str, Range]] = []
    for words, targets in simple(printing):
        match words:
            case []:
                pass
            case ["cd", into]:
                folder = joined(folder, into)
            case ["cat", path] | ["nl", "-ba", path]:
                asked.append((joined(folder, path), (1, None)))
            case ["sed", "-n", script, path] if span := _range(script):
                asked.append((joined(folder, path), span))
            case _:
                return []
        if targets or bodies:
            return []
    if pipes:
        span = _piped([words for words, _ in simple("|".join(pipes)) if words])
        return [(asked[0][0], span)] if len(asked) == 1 and span is not None else []
    # What follows a file of unknown length cannot be told from it.
    return asked if all(last is not None for _, (_, last) in asked[:-1]) else []


def _piped(commands: Sequence[Sequence[str]]) -> Range | None:
    match commands:
        case [["sed", "-n", script]]:
            return _range(script)
        case _:
            return None


def _range(script: str) -> Range | None:
    found = _SED.fullmatch(script)
    return None if found is None else (int(found[1]), int(found[2] or found[1]))
