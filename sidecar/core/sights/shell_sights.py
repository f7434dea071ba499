"""Finds lines of files that a shell command showed, if it only prints files."""

import re
from collections.abc import Iterable, Iterator, Sequence

from sidecar.core.conversation.call_outcome import failed
from sidecar.core.parts import ToolCompleted, ToolPart
from sidecar.core.sights.file_sights import FileShown, is_cut, lines_of, numbered
from sidecar.core.sights.printing import Marker, Printed, asked

LONGEST = 50_000
"""Characters of a command that are looked at."""
_HEADER = re.compile(r"\AChunk ID: .*?^Output:\n", re.S | re.M)
_OUTPUT = re.compile(r"\A(?:<returncode>\d+</returncode>\n)?<output>\n(.*?)\n?</output>", re.S)


def shell_sights(part: ToolPart) -> Iterator[FileShown]:
    given = part.input
    command = given.get("command", given.get("cmd")) if isinstance(given, dict) else given
    folder = given.get("workdir", "") if isinstance(given, dict) else ""
    if not isinstance(command, str) or not isinstance(folder, str) or len(command) > LONGEST:
        return
    if isinstance(part.state, ToolCompleted) and not failed(part):
        text = part.state.output.text
        if part.state.output.whole is None and not is_cut(text):
            for printed, lines in _parted(asked(command, folder), output_lines(text)):
                yield from _shown(printed, lines)


def output_lines(text: str) -> tuple[str, ...]:
    """Gives printed lines, without the tools' wrapping."""
    text = _HEADER.sub("", text)
    wrapped = _OUTPUT.match(text)
    return lines_of(text if wrapped is None else wrapped[1])


def _parted(
    found: Sequence[Printed | Marker], lines: Sequence[str]
) -> Iterator[tuple[list[Printed], Sequence[str]]]:
    group: list[Printed] = []
    for number, one in enumerate(found):
        if isinstance(one, Printed):
            group.append(one)
            continue
        places = [at for at in range(len(lines)) if tuple(lines[at : at + len(one)]) == one]
        if len(places) != found[number:].count(one):
            return
        yield group, lines[: places[0]]
        group, lines = [], lines[places[0] + len(one) :]
    yield group, lines


def _shown(group: Sequence[Printed], lines: Sequence[str]) -> Iterator[FileShown]:
    spans = [(one.path, first, last) for one in group for first, last in one.ranges]
    if all(one.numbered for one in group):
        yield from _by_number(spans, lines)
        return
    sizes = [len(lines) if last is None else last - first + 1 for _, first, last in spans]
    # With fewer lines than were asked for, nobody knows which of several files was too short.
    alone = len({one.path for one in group}) == 1
    if any(one.numbered for one in group) or not (alone or sum(sizes) == len(lines)):
        return
    at = 0
    for (path, first, last), size in zip(spans, sizes, strict=True):
        mine = tuple(lines[at : at + size])
        at += size
        if mine and sum(sizes) >= len(lines):
            yield FileShown(path, first, mine, ends=last is None)


def _by_number(
    spans: Iterable[tuple[str, int, int | None]], lines: Sequence[str]
) -> Iterator[FileShown]:
    for path, first, last in spans:
        listing = numbered("\n".join(lines))
        if listing is None or listing[0] != first:
            # The file was not that long.
            continue
        mine = listing[1] if last is None else listing[1][: last - first + 1]
        lines = lines[len(mine) :]
        yield FileShown(path, first, mine, ends=last is None and not lines)
