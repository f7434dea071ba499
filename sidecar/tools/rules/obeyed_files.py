"""Files that an allowed command obeys: settings in its folder, and those that its rule names. Pure.

Programs look for settings in the folder where they are started, as in a project's root.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from posixpath import basename, dirname, join, normpath

from sidecar.tools.rules.coverage import known, uncovered
from sidecar.tools.rules.pattern import with_stars
from sidecar.tools.rules.shell_words import STAR, simple_commands
from sidecar.tools.tool_contract import Access


def as_obeyed(access: Access, allow: tuple[str, ...]) -> Access:
    """With the names that an edited file has to commands which rules allow."""
    if access.kind != "edit":
        return access
    places = {place for rule in allow for place in _places(rule)}
    paths = (*access.shown, *access.linked, *access.paths)
    found = {name for path in paths for name in _names_from(places, path)}
    return replace(access, linked=(*access.linked, *sorted(found - {*access.shown})))


def _names_from(places: set[str], path: str) -> Iterator[str]:
    if path in places:
        yield basename(path)
    at = path.find("/")
    while at >= 0:
        if path[:at] in places:
            yield path[at + 1 :]
        at = path.find("/", at + 1)


@lru_cache(maxsize=512)
def _places(rule: str) -> frozenset[str]:
    """Folders in which a rule starts programs, and what its words without a `*` may name.

    Nothing of commands that a `*` would cover too, since these obey no settings, or are known to.
    Of rules for files a folder outside (`write_file:/x/other/*`).
    """
    tool, _, pattern = rule.partition(":")
    name, _, folder = tool.partition("@")
    if name not in ("*", "shell", "execute"):
        above, star, _ = with_stars(pattern).partition(STAR)
        return frozenset({dirname(above)} if star and above.startswith("/") else ())
    place = normpath(folder or ".")
    found = {place}
    for words in reversed(simple_commands(with_stars(pattern))):
        plain = tuple(word for word in words[1:] if STAR not in word)
        named = {normpath(join(place, word.rpartition("=")[2])) for word in plain}
        if words[0] in ("cd", "pushd"):
            place = normpath(join(place, *(word for word in plain if word[:1] != "-")))
            found.add(place)
        elif known(words[0]) is None or uncovered((words[0], *plain), 0):
            found |= named
    return frozenset(found - {"."})
