"""Where in a TOML file each key stands, so that people are told a line and not only a name.

The parser of the standard library tells no lines. So the file is cut into statements, each the
fewest lines that parse under the table they stand in; what a statement adds stands at its line.
"""

import tomllib
from collections.abc import Iterator, Mapping

LONGEST = 400
"""Lines that one statement may have; beyond it lines are not told."""


def lines_of(text: str) -> dict[str, int]:
    """Give the line, from 1, of each dotted key in a file that parses.

    A key in an inline table stands where that begins. A table stands at its heading.
    """
    found: dict[str, int] = {}
    heading = ""
    pending: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        pending.append(line)
        if len(pending) > LONGEST:
            break
        values = _parsed("\n".join((heading, *pending)))
        if values is None:
            continue
        if line.lstrip().startswith("[") and len(pending) == 1:
            heading = line
        for key in _keys(values):
            found.setdefault(key, number - len(pending) + 1)
        pending = []
    return found


def line_of(text: str, path: str) -> int | None:
    """Give the line of a dotted key, or of the nearest table around it; `None` if unknown."""
    found = lines_of(text)
    while path:
        if path in found:
            return found[path]
        path = path.rpartition(".")[0]
    return None


def _parsed(text: str) -> Mapping[str, object] | None:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return None


def _keys(values: Mapping[str, object], prefix: str = "") -> Iterator[str]:
    for key, value in values.items():
        yield prefix + key
        if isinstance(value, Mapping):
            yield from _keys(value, f"{prefix}{key}.")
