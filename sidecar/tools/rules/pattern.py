"""Patterns of rules: text in which `STAR` stands for any characters."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from posixpath import normpath

from sidecar.core.text.visible import plain_path
from sidecar.tools.rules.shell_words import STAR

MOST_FOLDERS = 7
"""Pieces of a rule between its first `/**/`; of others each stands for some folder."""


def literal(text: str) -> str:
    return re.sub(r"[\\*]", r"\\\g<0>", text)


@lru_cache(maxsize=1024)
def with_stars(pattern: str) -> str:
    """Writes `STAR` for `*`, and escaped characters as themselves."""
    found = re.findall(r"\\[\\*]|\*+|.", pattern.replace(STAR, ""), re.DOTALL)
    return "".join(STAR if p.startswith("*") else p[1:] if len(p) == 2 else p for p in found)


def fits(pattern: str, text: str) -> bool:
    """Matches without regular expressions: two stars on a long command take them hours."""
    head, *rest = pattern.split(STAR)
    if not rest:
        return text == head
    *middle, tail = rest
    at, end = len(head), len(text) - len(tail)
    if at > end or not (text.startswith(head) and text.endswith(tail)):
        return False
    for piece in middle:
        at = text.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True


def stands_for(pattern: str, word: str) -> bool:
    """Matches as `fits`, but no option for a name, as in `foo *.py`."""
    is_name = pattern.startswith(STAR) and pattern.strip(STAR)
    return fits(pattern, word) and not (is_name and word.startswith("-"))


def climbs(pattern: str, word: str) -> bool:
    """Whether `..` stands in a word, or where the first star begins: `-C*` and `-C..`."""
    behind = word[pattern.index(STAR) :]
    return ".." in re.split(r"[/=:,\s]", f"{word}/{behind}")


@lru_cache(maxsize=512)
def rejected_paths(pattern: str) -> tuple[str, ...]:
    """Gives the forms of a rejecting rule's path, to be compared with plain paths."""
    # Some disks find `A` as `a`.
    forms = (plain_path(normpath(with_stars(one))) for one in _without_folders(pattern))
    return tuple(dict.fromkeys(forms))


def _without_folders(pattern: str) -> Iterator[str]:
    """Yields `src/x` of `src/**/x`, too."""
    pieces = re.sub(r"/(?:\*{2,}/)+", "/**/", pattern).split("/**/")
    pieces[MOST_FOLDERS:] = ["/**/".join(pieces[MOST_FOLDERS:])] * (len(pieces) > MOST_FOLDERS)
    for between in product(("/**/", "/"), repeat=len(pieces) - 1):
        yield pieces[0] + "".join(map("".join, zip(between, pieces[1:], strict=True)))


def upward(path: str) -> Iterator[str]:
    top = "/" if path.startswith("/") else ""
    while path.strip("/"):
        yield path
        path = path.rpartition("/")[0]
    yield top
