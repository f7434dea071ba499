"""Tells which lines of files a shell command is asked to print."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.files.shell_writes import joined, pipelines, split

Range: TypeAlias = tuple[int, int | None]
"""First and last line; `None`: to the end."""
_QUIET = re.compile(r"2>\s*/dev/null\b")
_RANGE = re.compile(r"(\d+)(?:,(\d+|\$))?p")
_COUNT = re.compile(r"-(?:n ?|-lines=)?(\d+)")
_FILLED_IN = frozenset("$`")
_GLOBS = frozenset("*?`")
WHOLE: Range = (1, None)


@dataclass(frozen=True, slots=True)
class Printed:
    """Lines of a file in order, each behind its number if `numbered`."""

    path: str
    ranges: tuple[Range, ...] = (WHOLE,)
    numbered: bool = False


Marker: TypeAlias = tuple[str, ...]
"""Lines that `echo` or `printf` puts between files."""


def asked(command: str, folder: str) -> list[Printed | Marker]:
    """Gives all a command prints, in order; empty if more may be printed."""
    text, bodies = split(_QUIET.sub("", command))
    found: list[Printed | Marker] = []
    for stages in pipelines(text):
        if bodies or any(targets for _, targets in stages):
            return []
        match stages[0][0]:
            case [] | ["true"] | ["test", *_] if len(stages) == 1:
                pass
            case ["cd", into] if len(stages) == 1:
                folder = joined(folder, into)
            case ["echo" | "printf", *_] as words if len(stages) == 1 and (said := _said(words)):
                found.append(said)
            case _:
                printed = _printed([words for words, _ in stages], folder)
                if printed is None:
                    return []
                found.append(printed)
    return found


def _said(words: Sequence[str]) -> Marker:
    """Gives printed lines; none if a shell or `printf` fills in text."""
    text = " ".join(word for word in words[1:] if word not in ("-e", "--"))
    if not _FILLED_IN.isdisjoint(text):
        return ()
    if words[0] == "echo":
        return (text,)
    filled = text.replace("\\n", "\n")
    *lines, rest = filled.split("\n")
    return () if rest or "%" in filled or "\\" in filled else tuple(lines)


def _printed(stages: Sequence[Sequence[str]], folder: str) -> Printed | None:
    first, *filters = stages
    found = _source(first)
    if found is None or not _GLOBS.isdisjoint(found.path):
        return None
    for words in filters:
        if len(found.ranges) > 1:
            return None
        ((start, end),) = found.ranges
        spans = _taken(words, end and end - start + 1)
        found = replace(found, ranges=tuple(_within(start, end, spans)))
        if not found.ranges:
            return None
    return replace(found, path=joined(folder, found.path)) if _in_order(found.ranges) else None


def _source(words: Sequence[str]) -> Printed | None:
    match words:
        case ["cat", path]:
            return Printed(path)
        case ["nl", "-ba", path] | ["cat", "-n", path]:
            return Printed(path, numbered=True)
        case [*taking, path] if spans := _taken(taking):
            return Printed(path, tuple(spans))
        case _:
            return None


def _taken(words: Sequence[str], size: int | None = None) -> list[Range]:
    """Gives lines that `sed -n`, `head` or `tail` takes; `tail` counts back from `size`."""
    match words:
        case ["sed", "-n" | "-ne", *scripts] if scripts:
            return _ranges(";".join(word for word in scripts if word != "-e"))
        case ["head"]:
            return [(1, 10)]
        case ["head", *count] if found := _COUNT.fullmatch(" ".join(count)):
            return [(1, int(found[1]))]
        case ["tail", "-n", since] if since[:1] == "+" and since[1:].isdigit():
            return [(int(since[1:]), None)]
        case ["tail", *count] if size and (found := _COUNT.fullmatch(" ".join(count))):
            return [(max(1, size - int(found[1]) + 1), size)]
        case _:
            return []


def _ranges(script: str) -> list[Range]:
    found = [_RANGE.fullmatch(one.strip()) for one in re.split(r"[;\n]", script) if one.strip()]
    if not all(found):
        return []
    return [(int(one[1]), None if one[2] == "$" else int(one[2] or one[1])) for one in found if one]


def _within(start: int, end: int | None, spans: Sequence[Range]) -> Iterator[Range]:
    for first, last in spans:
        begin = start + first - 1
        close = None if last is None else start + last - 1
        if end is not None:
            close = end if close is None else min(end, close)
        if close is None or begin <= close:
            yield begin, close


def _in_order(ranges: Sequence[Range]) -> bool:
    ends = [0, *(last for _, last in ranges[:-1])]
    return all(
        end is not None and first > end for end, (first, _) in zip(ends, ranges, strict=True)
    )
