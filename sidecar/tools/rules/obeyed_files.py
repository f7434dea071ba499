"""Files that an allowed command obeys: settings in its folder, and those that its rule names. Pure.

Programs look for settings in the folder where they are started, as in a project's root.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache
from posixpath import basename, join, normpath

from sidecar.tools.rules.pattern import with_stars
from sidecar.tools.rules.shell_words import STAR, plain_words
from sidecar.tools.tool_contract import Access


def as_obeyed(access: Access, allow: tuple[str, ...]) -> Access:
    """With the names that an edited file has to commands which rules allow."""
    if access.kind != "edit":
        return access
    found = {name for rule in allow for name in _names_to(rule, access.shown)}
    return replace(access, linked=(*access.linked, *sorted(found - {*access.shown})))


def _names_to(rule: str, shown: tuple[str, ...]) -> Iterator[str]:
    folder, named = _started(rule)
    for path in shown:
        if folder and path.startswith(f"{folder}/"):
            yield path.removeprefix(f"{folder}/")
        if path in named:
            yield basename(path)


@lru_cache(maxsize=512)
def _started(rule: str) -> tuple[str, frozenset[str]]:
    """Its folder, empty for the root, and paths that words without a `*` may name."""
    tool, _, pattern = rule.partition(":")
    name, _, folder = tool.partition("@")
    if name not in ("*", "shell", "execute"):
        return "", frozenset()
    place = normpath(folder or ".")
    words = plain_words(with_stars(pattern), rule=True)[1:]
    given = (word.rpartition("=")[2] for word in words if STAR not in word)
    return place if folder else "", frozenset(normpath(join(place, word)) for word in given)
