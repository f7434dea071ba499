"""Importers of recorded sessions: one module a format, found by what the file holds."""

import gzip
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from pkgutil import iter_modules
from typing import IO, Protocol

from sidecar.core.errors import BadRequest
from sidecar.core.parts import JsonObject
from sidecar.replay.transcript import Damaged, Entry, Transcript

FIRST = 20
"""Lines that a format is told by."""
LONGEST_LINE = 64 * 1024 * 1024
SUFFIXES = (".jsonl", ".json", ".ndjson", ".gz")
_BAD_ESCAPE = re.compile(r'\\(?!["\\/bfnrtu])')

Line = tuple[int, JsonObject]


class Importer(Protocol):
    """What each importer module offers."""

    FORMAT: str

    def recognises(self, first: Sequence[JsonObject]) -> bool:
        """Whether a file that begins with these lines is of this format."""
        ...

    def entries(self, lines: Iterable[Line]) -> Iterator[Entry]:
        """Give the messages of the session, in order."""
        ...


@cache
def importers() -> tuple[Importer, ...]:
    """Find every importer, by name."""
    found = sorted(module.name for module in iter_modules(__path__))
    modules = (import_module(f"{__name__}.{name}") for name in found)
    return tuple(module for module in modules if hasattr(module, "FORMAT"))


def find_files(path: Path) -> Iterator[Path]:
    """Give a file itself, or the recordings in a folder and below, in order of their names."""
    if not path.is_dir():
        yield path
        return
    for found in sorted(path.rglob("*")):
        if found.is_file() and found.suffix in SUFFIXES:
            yield found


def open_transcript(path: Path, format_name: str = "") -> Transcript:
    """Open one recording; nothing but its first lines is read before the entries are.

    Raises:
        BadRequest: the file cannot be read, or is of no known format.
    """
    try:
        lines = _parsed(_lines(path))
        first = list(islice(lines, FIRST))
    except (OSError, EOFError) as error:
        raise BadRequest(f"{path} cannot be read: {error}", "path") from None
    good = [line for _, line in (entry for entry in first if not isinstance(entry, Damaged))]
    for importer in importers():
        if format_name == importer.FORMAT or (not format_name and importer.recognises(good)):
            name = path.name.split(".jsonl")[0].split(".json")[0]
            return Transcript(importer.FORMAT, name, _read(importer, chain(first, lines)))
    known = ", ".join(importer.FORMAT for importer in importers())
    raise BadRequest(f"{path} is no recording of a session that is known here: {known}", "path")


def _read(importer: Importer, lines: Iterable[Line | Damaged]) -> Iterator[Entry]:
    damaged: list[Damaged] = []

    def whole() -> Iterator[Line]:
        for line in lines:
            if isinstance(line, Damaged):
                damaged.append(line)
            else:
                yield line

    for entry in importer.entries(whole()):
        yield from damaged
        damaged.clear()
        yield entry
    yield from damaged


def _lines(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        magic = file.read(4)
        file.seek(0)
        if magic[:2] == b"\x1f\x8b":
            with gzip.open(file) as unpacked:
                yield from _bounded(unpacked)  # type: ignore[arg-type]
        else:
            yield from _bounded(file)


def _bounded(file: IO[bytes]) -> Iterator[bytes]:
    while line := file.readline(LONGEST_LINE):
        yield line


def _parsed(lines: Iterable[bytes]) -> Iterator[Line | Damaged]:
    for number, raw in enumerate(lines, 1):
        if not raw.strip():
            continue
        try:
            text = raw.decode("utf-8")
        except UnicodeDecodeError:
            yield Damaged(number, "not UTF-8")
            continue
        parsed = _json(text)
        if isinstance(parsed, dict):
            yield number, parsed
        else:
            yield Damaged(number, parsed if isinstance(parsed, str) else "not an object")


def _json(text: str) -> object:
    """Parse a line; a single backslash that begins no escape is taken for the character itself."""
    try:
        return json.loads(text)
    except ValueError as error:
        why = f"not JSON: {error}"
    except RecursionError:
        return "nested too deep"
    try:
        return json.loads(_BAD_ESCAPE.sub(r"\\\\", text))
    except (ValueError, RecursionError):
        return why
