"""Reads recordings as JSON lines or one document, gzipped or not."""

import gzip
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, TypeAlias, cast

from sidecar.core.errors import BadRequest
from sidecar.core.parts import Json, JsonObject
from sidecar.core.text.json_text import TooDeep, TooMuch, escapes_mended, is_deep, read_all
from sidecar.replay.transcript import DamagedLine
from sidecar.store.format.signatures import GZIP, ZSTD

LONGEST_LINE: Final = 64 * 1024 * 1024
"""Bytes; longer lines are skipped, so files without line ends need no more memory."""
LARGEST_DOCUMENT: Final = 200 * 1024 * 1024
"""Unpacked bytes of a recording in one JSON value."""

NumberedLine: TypeAlias = tuple[int, JsonObject]

_MARK: Final = b"\xef\xbb\xbf"
_TORN: Final = (OSError, EOFError, zlib.error)


def read_lines(
    path: Path, each: Callable[[], None] = lambda: None
) -> Iterator[NumberedLine | DamagedLine]:
    """Gives (line number, object), without blank lines.

    `each` is called per line. Raises BadRequest for unsupported compression, and OSError.
    """
    with _opened(path) as file:
        for number, raw in _raw_lines(file):
            each()
            if isinstance(raw, DamagedLine):
                yield raw
            elif raw.strip():
                yield _object(number, raw)


def read_document(path: Path) -> list[NumberedLine | DamagedLine]:
    """Reads one JSON value; a list's objects count as lines.

    Raises BadRequest for no JSON or too large a file, and OSError.
    """
    with _opened(path) as file:
        try:
            raw = file.read(LARGEST_DOCUMENT + 1)
        except (EOFError, zlib.error) as error:
            raise BadRequest(f"{path} is cut off or damaged: {error}", "path") from None
    if len(raw) > LARGEST_DOCUMENT:
        raise BadRequest(
            f"{path} is no JSON lines, and for one document it is too large: "
            f"it may have {LARGEST_DOCUMENT >> 20} MiB",
            "path",
        )
    value = _parsed(raw.removeprefix(_MARK))
    match value:
        case DamagedLine(why=why):
            raise BadRequest(f"{path} is no recording of a session: {why}", "path")
        case dict():
            return [(1, value)]
        case list():
            return [(n, item) for n, item in enumerate(value, 1) if isinstance(item, dict)]
        case _:
            return []


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    with path.open("rb") as file:
        magic = file.read(4)
        file.seek(0)
        if magic == ZSTD:
            raise BadRequest(f"{path} is packed; unpack it first, with `zstd -d`", "path")
        if magic[:2] == GZIP:
            with gzip.open(file) as unpacked:
                yield cast("IO[bytes]", unpacked)
        else:
            yield file


def _raw_lines(file: IO[bytes]) -> Iterator[tuple[int, bytes | DamagedLine]]:
    number = 0
    while True:
        number += 1
        try:
            raw = file.readline(LONGEST_LINE)
            piece, too_long = raw, False
            while len(piece) == LONGEST_LINE and not piece.endswith(b"\n"):
                raw, too_long = b"", True
                piece = file.readline(LONGEST_LINE)
        except _TORN as error:
            yield (
                number,
                DamagedLine(number, f"the file is cut off or damaged from here on: {error}"),
            )
            return
        if too_long:
            yield number, DamagedLine(number, f"longer than {LONGEST_LINE >> 20} MiB")
        elif raw:
            yield number, raw
        else:
            return


def _object(number: int, raw: bytes) -> NumberedLine | DamagedLine:
    value = _parsed(raw.removeprefix(_MARK) if number == 1 else raw)
    match value:
        case DamagedLine(why=why):
            return DamagedLine(number, why)
        case dict():
            return number, value
        case _:
            return DamagedLine(number, "not an object")


def _parsed(raw: bytes) -> "Json | DamagedLine":
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        return DamagedLine(0, "not UTF-8")
    try:
        value = _loads(text)
    except TooDeep:
        return DamagedLine(0, "nested too deep")
    except ValueError as error:
        return DamagedLine(0, str(error))
    return DamagedLine(0, "nested too deep") if is_deep(value) else value


def _loads(text: str) -> Json:
    try:
        return read_all(text)
    except (TooDeep, TooMuch):
        raise
    except ValueError as error:
        why = f"not JSON: {error}"
    try:
        return read_all(escapes_mended(text))
    except ValueError:
        raise ValueError(why) from None
