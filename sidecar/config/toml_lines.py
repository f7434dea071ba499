"""Finds line numbers of TOML keys, which `tomllib` does not report."""

import tomllib
from collections.abc import Iterator, Mapping
from functools import lru_cache

LONGEST = 400
"""Lines of one statement; beyond, none are reported."""
LARGEST = 20_000
"""Characters of one that is no list and has several lines; the same."""


@lru_cache(maxsize=4)
def lines_of(text: str) -> Mapping[str, int]:
    """Kept, as each problem of a file asks for its own."""
    found: dict[str, int] = {}
    heading = ""
    pending: list[str] = []
    opened = 0
    for number, line in enumerate(text.splitlines(), 1):
        pending.append(line)
        opened += line.count("[") - line.count("]")
        if len(pending) > LONGEST:
            break
        # Each further line of a list would have all before it parsed again.
        if opened > 0:
            continue
        statement = "\n".join((heading, *pending))
        if len(pending) > 1 and len(statement) > LARGEST:
            break
        values = _parsed(statement)
        if values is None:
            continue
        if line.lstrip().startswith("[") and len(pending) == 1:
            heading = line
        for key in _keys(values):
            found.setdefault(key, number - len(pending) + 1)
        pending, opened = [], 0
    return found


def line_of(text: str, path: str) -> int | None:
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
