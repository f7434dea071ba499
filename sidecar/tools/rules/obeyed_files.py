"""Files that an allowed command obeys: settings in its folder, and those that its rule names. Pure.

Programs look for settings in the folder where they are started, as in a project's root, and above.
"""

import fnmatch
import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from pathlib import PurePosixPath
from posixpath import basename, dirname, join, normpath

from sidecar.tools.rules.coverage import known, uncovered
from sidecar.tools.rules.pattern import with_stars
from sidecar.tools.rules.shell_words import STAR, simple_commands
from sidecar.tools.rules.tables.program import NO_OPERAND
from sidecar.tools.tool_contract import Access

_SET = re.compile(r"\{[^{}]*,[^{}]*\}")
_BETWEEN = re.compile(r"[\s'\"=;&|()<>`{},:]+|(?<!\S)-[A-Za-z](?=[^\s-])")
"""What parts names in a text for shells, a letter before a name (`-tx.yaml`) too."""
_ENTERED = re.compile(r"\b(?:cd|pushd)\s+(?:-\w+\s+)*['\"]?([^\s'\"();&|]+)")


def as_obeyed(access: Access, allow: tuple[str, ...]) -> Access:
    """With the names that an edited file has to commands which rules allow."""
    if access.kind != "edit":
        return access
    places = _places(allow)
    paths = (*access.shown, *access.linked, *access.paths)
    found = {name for path in paths for name in _names_from(places, path)}
    return replace(access, linked=(*access.linked, *sorted(found - {*access.shown})))


def _names_from(places: re.Pattern[str], path: str) -> Iterator[str]:
    if places.fullmatch(path):
        yield basename(path)
    for slash in re.finditer("/", path):
        if places.fullmatch(path, 0, slash.start()):
            yield path[slash.end() :]


@lru_cache(maxsize=64)
def _places(allow: tuple[str, ...]) -> re.Pattern[str]:
    found = {place for rule in allow for place in _places_of(rule)} - {".", "/"}
    each = (fnmatch.translate(place).replace(".*", "[^/]*") for place in sorted(found))
    return re.compile("|".join(each) or NO_OPERAND)


def _places_of(rule: str) -> set[str]:
    """Folders in which a rule starts programs, those above, and names in words without a `*`.

    Nothing of commands that a `*` would cover too, since these obey no settings, or are known to.
    Of rules for files a folder outside (`write_file:/x/other/*`).
    """
    tool, _, pattern = rule.partition(":")
    name, _, folder = tool.partition("@")
    if name not in ("*", "shell", "execute"):
        outside, star, _ = with_stars(pattern).partition(STAR)
        return {dirname(outside)} if star and outside.startswith("/") else set()
    place, text = normpath(folder or "."), _SET.sub("*", with_stars(pattern).replace("\\", ""))
    folders = {place}
    named: set[str] = set()
    commands = [tuple(word for word in one if STAR not in word) for one in simple_commands(text)]
    if not all(not words or _obeys_nothing(words) for words in commands):
        at = place
        for into in _ENTERED.findall(text):
            at = normpath(join(at, into))
            folders |= {at, *(normpath(join(place, end)) for end in _ends(into))}
        # Also names in a text that `sh -c` gets.
        parts = (*chain(*commands), *_BETWEEN.split(text))
        named = {end for one in parts if one and STAR not in one for end in _ends(one)}
    above = {str(up) for one in folders for up in PurePosixPath(one).parents}
    return folders | above | {normpath(join(one, inner)) for one in folders for inner in named}


def _ends(path: str) -> Iterator[str]:
    """What a path may be below the workspace: of `~/proj/docs` also `docs`, and `proj/docs`."""
    yield path
    yield from (path[slash.end() :] for slash in re.finditer("/", path))


def _obeys_nothing(words: tuple[str, ...]) -> bool:
    return known(words[0]) is not None and not uncovered(words, 0)
