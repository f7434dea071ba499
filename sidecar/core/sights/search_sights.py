"""Finds lines of files shown by a shell's `grep -n` or `rg -n`, if several in a row.

Omits agents' search tools: Claude Code's halves doubled slashes in lines beside a match.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from sidecar.core.conversation.call_outcome import failed
from sidecar.core.files.shell_writes import joined, pipelines
from sidecar.core.late_pattern import late_pattern
from sidecar.core.ledger.deeds import SHELLS, commands_of, own_name
from sidecar.core.parts import ToolCompleted, ToolPart
from sidecar.core.sights.file_sights import LISTED, FileShown
from sidecar.core.sights.shell_sights import LONGEST, output_lines

MOST_LINES = 2_000
"""Lines of an output that are looked at."""
_PROGRAMS = frozenset({"rg", "grep", "egrep", "fgrep"})
_NUMBERS = late_pattern(r"--line-number|-[a-zA-Z]*n[a-zA-Z]*")
_PLAIN = late_pattern(
    r"-[nHhirREFGPSsUuwxI]+|-[ABC]\d*|-[ABCegmtT]|--(?:line-number|include|exclude|exclude-dir|glob|"
    r"type|context|after-context|before-context|ignore-case|hidden|no-ignore|no-heading|"
    r"color=never|max-count|regexp|fixed-strings|with-filename)(?:=.*)?|-\d+"
)
"""Options with which lines are shown whole."""
_VALUED = late_pattern(r"-[ABCegmtT]|--(?:glob|type|context|\w+-context|max-count|regexp)")
_PATTERN = ("-e", "--regexp")
_BARE = late_pattern(r"(\d+)[:-](.*)")
_NAMED = late_pattern(r"((?:[A-Za-z]:[\\/])?[^:\s]+):(\d+):(.*)")


def search_sights(part: ToolPart) -> Iterator[FileShown]:
    if own_name(part.name) not in SHELLS or not isinstance(part.state, ToolCompleted):
        return
    for command, folder in list(commands_of(part))[:1]:
        found = _searched(command, folder) if len(command) <= LONGEST else None
        if found is not None and not failed(part):
            path, inside = found
            for shown in _stretches(output_lines(part.state.output.text), path):
                yield FileShown(joined(inside, shown.path), shown.first, shown.lines)


def _searched(command: str, folder: str) -> tuple[str, str] | None:
    """Gives the only path searched, "" for several, and the folder; `None` if in doubt."""
    if not any(f"{program} " in command for program in _PROGRAMS):
        return None
    found: tuple[str, str] | None = None
    for stages in pipelines(command):
        words, *others = [words for words, _ in stages]
        if words[:1] == ["cd"] and len(words) > 1 and not found:
            folder = joined(folder, words[1])
        elif words:
            if words[0] == "cat" and len(words) == 2 and others:
                words, *others = [*others[0], words[1]], *others[1:]
            passed_on = all(one[:1] in (["head"], ["tail"]) for one in others)
            paths = _paths(words)
            if found or not passed_on or not paths:
                return None
            found = (paths[0] if len(paths) == 1 else ""), folder
    return found


def _paths(words: Sequence[str]) -> list[str]:
    program, *rest = words or [""]
    if program not in _PROGRAMS or not any(map(_NUMBERS.fullmatch, rest)):
        return []
    given: list[str] = []
    patterns = 1
    left = iter(rest)
    for word in left:
        if word[:1] != "-" or word == "-":
            given.append(word)
        elif word != "--" and not _PLAIN.fullmatch(word):
            return []
        elif _VALUED.fullmatch(word):
            patterns -= word in _PATTERN
            next(left, None)
    return given[max(0, patterns) :] or ["."]


def _stretches(lines: Sequence[str], path: str) -> Iterator[FileShown]:
    """Reads matches, `12:text`, and lines beside, `13-text`; of several files after `path:`."""
    bare = any(map(_BARE.match, lines[:1]))
    for together, block in groupby(lines[:MOST_LINES], lambda line: line != "--"):
        found = list(block) if together else []
        listed = _lines_of_one(found, path) if bare else _lines_of_many(found)
        # Numbers that follow on each other are as far from their places in the block.
        for _, run in groupby(enumerate(listed), lambda one: (one[1].path, one[1].first - one[0])):
            shown = [line for _, line in run]
            if shown[0].path and len(shown) > LISTED:
                texts = tuple(line.lines[0] for line in shown)
                yield FileShown(shown[0].path, shown[0].first, texts)


def _lines_of_one(block: Iterable[str], path: str) -> Iterator[FileShown]:
    for match in filter(None, map(_BARE.fullmatch, block)):
        yield FileShown(path, int(match[1]), (match[2],))


def _lines_of_many(block: Sequence[str]) -> Iterator[FileShown]:
    matches = [_NAMED.fullmatch(line) for line in block]
    paths = {match[1] for match in matches if match}
    alone = paths.pop() if len(paths) == 1 else ""
    for line, match in zip(block, matches, strict=True):
        if match:
            yield FileShown(match[1], int(match[2]), (match[3],))
        elif alone and (beside := _BARE.fullmatch(line.removeprefix(f"{alone}-"))):
            yield FileShown(alone, int(beside[1]), (beside[2],))
