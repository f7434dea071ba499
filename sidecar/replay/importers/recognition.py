"""Finds recordings below a path, and the importer that reads one."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from importlib import import_module
from itertools import chain, islice
from pathlib import Path
from pkgutil import iter_modules
from typing import Protocol, TypeAlias

from sidecar.core.errors import BadRequest
from sidecar.core.ledger.units import RECORDED_SUMMARY
from sidecar.core.parts import JsonObject, Message, MessageId, PartId, TextPart, TurnId
from sidecar.replay import importers as package
from sidecar.replay.bill import BilledRequest, counted_once
from sidecar.replay.importers.json_lines import NumberedLine, read_document, read_lines
from sidecar.replay.importers.own_store import (
    EXPORT,
    STORE_FILE,
    exported_transcript,
    find_store,
    is_export,
    stored_sessions,
    stored_transcript,
)
from sidecar.replay.importers.recording import opening
from sidecar.replay.transcript import Compacted, DamagedLine, Transcript, TranscriptEntry

FIRST = 20
"""Lines for recognizing a format."""
SUFFIXES = (".jsonl", ".json", ".ndjson", ".gz", ".zst", EXPORT)
"""Suffixes of recordings in folders; a named file may have any."""


class Importer(Protocol):
    """The interface of importers."""

    FORMAT: str

    def recognises(self, first: Sequence[JsonObject]) -> bool: ...

    def entries(self, lines: Iterable[NumberedLine]) -> Iterator[TranscriptEntry]: ...


ReadRequests: TypeAlias = Callable[[Iterable[NumberedLine]], Iterator[BilledRequest]]
"""An importer's `bill`, where lines tell more of what was paid for than messages keep."""


@cache
def importers() -> tuple[Importer, ...]:
    found = sorted(module.name for module in iter_modules(package.__path__))
    modules = (import_module(f"{package.__name__}.{name}") for name in found)
    return tuple(module for module in modules if hasattr(module, "FORMAT"))


def find_files(path: Path) -> Iterator[Path]:
    if not path.is_dir():
        yield path
        return
    for found in sorted(path.rglob("*")):
        named = found.suffix in SUFFIXES or found.name == STORE_FILE
        if named and found.is_file() and storage_above(found) is None:
            yield found


def storage_above(path: Path) -> Path | None:
    """Finds the folder in which opencode keeps sessions in pieces, above a path."""
    for folder in path.parents:
        if (
            folder.name == "storage"
            and (folder / "message").is_dir()
            and (folder / "part").is_dir()
        ):
            return folder
    return None


def find_recordings(path: Path) -> Iterator[Path]:
    """Gives a path for `open_transcript` per session; in stores `STORE/ID`.

    Includes unreadable files.
    """
    for file in find_files(path):
        try:
            store = _store(file)
            rows = stored_sessions(store[0]) if store and not store[1] else []
        except BadRequest:
            rows = []
        yield from [file / row.id for row in rows] or [file]


def open_transcript(
    path: Path, format_name: str = "", each: Callable[[], None] = lambda: None
) -> Transcript:
    """`each` is called per line, and may raise.

    Raises BadRequest if unreadable.
    """
    store = _store(path)
    if store is not None:
        return stored_transcript(*store)
    if not format_name and is_export(path):
        return exported_transcript(path)
    importer, first, lines = _opened(path, format_name, each)
    if importer is not None:
        head, entries = opening(_good(first)), _begun(_read(importer, chain(first, lines)))
        name = importer.FORMAT
        return Transcript(name, _name(path), entries, str(path), head.title, head.cwd, head.session)
    known = ", ".join(importer.FORMAT for importer in importers())
    raise BadRequest(f"{path} is no recording of a session that is known here: {known}", "path")


def read_bill(path: Path) -> list[BilledRequest]:
    """What a recording says was paid for, once each; empty where its messages say all.

    Raises BadRequest if unreadable.
    """
    if _store(path) is not None or is_export(path):
        return []
    importer, first, lines = _opened(path, "", lambda: None)
    bill: ReadRequests | None = getattr(importer, "bill", None)
    if bill is None:
        return []
    return counted_once(bill(line for line in chain(first, lines) if isinstance(line, tuple)))


def _opened(
    path: Path, format_name: str, each: Callable[[], None]
) -> tuple[Importer | None, list[NumberedLine | DamagedLine], Iterator[NumberedLine | DamagedLine]]:
    """The importer, the lines that showed which, and the lines behind them."""
    try:
        lines: Iterator[NumberedLine | DamagedLine] = read_lines(path, each)
        first = list(islice(lines, FIRST))
        importer = _importer(first, format_name)
        if importer is None and first and isinstance(first[0], DamagedLine):
            # If the first line is no JSON, the whole file may be.
            first, lines = list(read_document(path)), iter(())
            importer = _importer(first, format_name)
    except OSError as error:
        raise BadRequest(f"{path} cannot be read: {error}", "path") from None
    return importer, first, lines


def _importer(first: Sequence[NumberedLine | DamagedLine], format_name: str) -> Importer | None:
    good = _good(first)
    for importer in importers():
        if format_name == importer.FORMAT or (not format_name and importer.recognises(good)):
            return importer
    return None


def _good(lines: Iterable[NumberedLine | DamagedLine]) -> list[JsonObject]:
    return [line[1] for line in lines if not isinstance(line, DamagedLine)]


def _store(path: Path) -> tuple[Path, str] | None:
    try:
        return find_store(path)
    except OSError as error:
        raise BadRequest(f"{path} cannot be read: {error}", "path") from None


def _name(path: Path) -> str:
    return path.name.split(".jsonl")[0].split(".json")[0]


def _begun(entries: Iterator[TranscriptEntry]) -> Iterator[TranscriptEntry]:
    begun = False
    for entry in entries:
        if isinstance(entry, Compacted) and entry.summary.strip() and not begun:
            said = TextPart(PartId("p0.0"), RECORDED_SUMMARY + entry.summary.strip(), "context")
            yield Message(MessageId("m0"), TurnId("t0"), "user", (said,), entry.at)
            begun = True
            continue
        begun = begun or isinstance(entry, Message)
        yield entry


def _read(
    importer: Importer, lines: Iterable[NumberedLine | DamagedLine]
) -> Iterator[TranscriptEntry]:
    damaged: list[DamagedLine] = []

    def whole() -> Iterator[NumberedLine]:
        for line in lines:
            if isinstance(line, DamagedLine):
                damaged.append(line)
            else:
                yield line

    for entry in importer.entries(whole()):
        yield from damaged
        damaged.clear()
        yield entry
    yield from damaged
