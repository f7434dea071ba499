"""Files that an allowed command obeys: settings in its folder, and those that its rule names. Pure.

Programs look for settings in the folder where they are started, as in a project's root, and above.
"""

import fnmatch
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import chain, islice
from pathlib import PurePosixPath
from posixpath import basename, dirname, join, normpath, splitext
from typing import NamedTuple

from sidecar.core.text.visible import plain_path
from sidecar.tools.rules.coverage import is_systems, known, uncovered, written
from sidecar.tools.rules.pattern import with_stars
from sidecar.tools.rules.shell_words import STAR, simple_commands
from sidecar.tools.rules.tables.program import NO_OPERAND
from sidecar.tools.tool_contract import Access

_HANDED = re.compile(r"[=<>$`(@]")
"""Signs by which a rule without a `*` names files other than as words of its programs."""
_ENTERED = re.compile(r"\b(?:cd|pushd)\s+(?:-\w+\s+)*['\"]?([^\s'\"();&|]+)")
_UNKNOWN = re.compile(r"\{[^{}]*,[^{}]*\}|\$\{[^{}]*\}|\$\w+")
"""Sets and variables, which may stand for any name."""
_PIECE = re.compile(r"[^\s'\"`;&|<>{}=:!#%^]+")
_INNER = re.compile(r"[\w./*?-]+")
_GLOB = re.compile(r"[*?\[]")
MOST_ENTERED = 30
"""Folders followed in one rule, in each of which all its names may lie."""
_PLAIN = re.compile(r"\w[\w./-]*")
_LETTER = re.compile(r"-[A-Za-z](?=[^-])")
"""An option before its value: `-tx.yaml`."""


def as_obeyed(access: Access, allow: tuple[str, ...]) -> Access:
    """With the names that a written file has to commands which rules allow."""
    places = _places(allow)
    if access.kind == "edit":
        # Of one outside a rule may tell the end alone: `~/conf/x.yaml`, `../conf/x.yaml`.
        outside = chain.from_iterable(map(_ends, access.outside))
        paths = (*access.shown, *access.linked, *access.paths, *outside)
    else:
        named = written(access.words)
        paths = tuple(normpath(join(one, name)) for one in access.shown for name in named)
    found = {name for path in paths for name in _names_from(places, path)}
    return replace(access, linked=(*access.linked, *sorted(found - {*access.shown})))


def _names_from(places: "_Places", path: str) -> Iterator[str]:
    # A rule may name a file without its ending.
    if places.hold(path) or places.hold(splitext(path)[0]):
        yield basename(path)
    for slash in re.finditer("/", path):
        if places.hold(path[: slash.start()]):
            yield path[slash.end() :]


class _Places(NamedTuple):
    """Folders and files, as disks may find them."""

    names: frozenset[str]
    patterns: re.Pattern[str]

    def hold(self, path: str) -> bool:
        plain = plain_path(path)
        return plain in self.names or bool(self.patterns.fullmatch(plain))


@lru_cache(maxsize=64)
def _places(allow: tuple[str, ...]) -> _Places:
    found = {plain_path(place) for rule in allow for place in _places_of(rule)} - {"", "/"}
    globs = (fnmatch.translate(one).replace(".*", "[^/]*") for one in found if _GLOB.search(one))
    return _Places(frozenset(found), re.compile("|".join(globs) or NO_OPERAND))


def _places_of(rule: str) -> set[str]:
    """Folders in which a rule starts programs, those above, and whatever its text may name.

    Nothing of commands that a `*` would cover too, since these obey no settings, or are known to.
    Of rules for files a folder outside (`write_file:/x/other/*`).
    """
    tool, _, pattern = rule.partition(":")
    name, _, folder = tool.partition("@")
    if name not in ("*", "shell", "execute"):
        outside, star, _ = with_stars(pattern).partition(STAR)
        return {dirname(outside)} if star and outside.startswith("/") else set()
    place, text = normpath(folder or "."), with_stars(pattern).replace("\\", "")
    folders = {place}
    named: set[str] = set()
    if (STAR not in text and _HANDED.search(text)) or not all(map(_obeys_nothing, _words(text))):
        texts = {text, _UNKNOWN.sub("*", text)}
        at = place
        for into in islice(chain.from_iterable(map(_ENTERED.findall, texts)), MOST_ENTERED):
            at = normpath(join(at, into))
            folders |= {at, *(normpath(join(place, end)) for end in _ends(into))}
        named = {end for one in texts for piece in _pieces(one) for end in _ends(piece) if piece}
    above = {str(up) for one in folders for up in PurePosixPath(one).parents}
    return folders | above | {normpath(join(one, inner)) for one in folders for inner in named}


def _words(text: str) -> Iterable[tuple[str, ...]]:
    return (tuple(word for word in one if STAR not in word) for one in simple_commands(text))


def _obeys_nothing(words: tuple[str, ...]) -> bool:
    if not words:
        return True
    return is_systems(words[0]) and known(words[0]) is not None and not uncovered(words, 0)


def _pieces(text: str) -> Iterator[str]:
    """Whatever may be a name in a text for a shell, also in one for `sh -c`, or behind `@`."""
    for piece in _PIECE.findall(text):
        if STAR in piece:
            yield piece.partition(STAR)[0].rpartition("/")[0]
        else:
            yield piece
            yield _LETTER.sub("", piece, count=1)
            yield from _INNER.findall(piece)
            yield from _PLAIN.findall(piece)


def _ends(path: str) -> Iterator[str]:
    """What a path may be below the workspace: of `~/proj/docs` also `docs`, and `proj/docs`."""
    yield path
    yield from (path[slash.end() :] for slash in re.finditer("/", path))
