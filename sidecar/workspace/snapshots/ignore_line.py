"""One line of a rule file as an expression that matches as git's wildmatch does, by letters.

Each star but a step's last takes as little as possible, for good, and so do a path's `**`: no
line that a repository brings takes long.
"""

import re
from collections.abc import Iterator

from sidecar.core.dataclass import dataclass

_WILD = frozenset("*?[\\")
_CLASSES = {
    "alnum": "a-zA-Z0-9", "alpha": "a-zA-Z", "blank": " \t", "cntrl": "\0-\x1f\x7f",
    "digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~", "punct": "!-/:-@[-`{-~",
    "space": " \t-\r", "upper": "A-Z", "xdigit": "0-9A-Fa-f",
}  # fmt: skip
_CLASS = re.compile(r"\[:([^\]]{0,12}):\]")
_DEEPER = "(?:[^/]++/)*"


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of a rule file.

    `plain`: matches names at any depth, as no `/` stands before the end; otherwise whole paths.
    `literal`: the only name matched, or "". `piece`: text in every matching name, or "".
    """

    regex: "re.Pattern[str]"
    include: bool
    folders_only: bool
    plain: bool
    literal: str
    piece: str


def parsed(line: str) -> Pattern | None:
    """Returns `None` for comments, empty lines, and those that match nothing."""
    line = _trimmed(line.removesuffix("\r"))
    if line.startswith("#"):
        return None
    body = line.removeprefix("!")
    name = body.removesuffix("/")
    plain = "/" not in name
    try:
        signs = list(_signs(name.removeprefix("/")))
    except (IndexError, KeyError):
        return None
    if not signs:
        return None
    return Pattern(
        re.compile((_step(signs) if plain else _path(signs)) + r"\Z"),
        include=line == body,
        folders_only=name != body,
        plain=plain,
        literal=name if plain and _WILD.isdisjoint(name) else "",
        piece=_piece(name),
    )


def _trimmed(line: str) -> str:
    text = line.rstrip(" ")
    escaped = (len(text) - len(text.rstrip("\\"))) % 2
    return line[: len(text) + escaped]


def _piece(name: str) -> str:
    # After an escape or in brackets, text is another.
    certain = re.split(r"[\\\[]", name)[0]
    if "/" in name[len(certain) :]:
        return ""
    return max(re.split(r"[*?]+", certain.rpartition("/")[2]), key=len)


def _signs(text: str) -> Iterator[str]:
    """Yields `/`, `*`, and expressions of one letter; raises IndexError where text lacks."""
    at = 0
    while at < len(text):
        sign = text[at]
        at += 1
        match sign:
            case "\\":
                yield re.escape(text[at])
                at += 1
            case "?":
                yield "[^/]"
            case "[":
                letters, at = _letters(text, at)
                yield letters
            case "/" | "*":
                yield sign
            case _:
                yield re.escape(sign)


def _letters(text: str, at: int) -> tuple[str, int]:
    """Reads brackets from behind the first; raises KeyError for an unknown class."""
    negated = text[at] in "!^"
    start = at = at + negated
    found: list[str] = []
    before = ""
    while text[at] != "]" or at == start:
        named = _CLASS.match(text, at)
        if named:
            found.append(_CLASSES[named[1]])
            before, at = "", named.end()
            continue
        is_range = text[at] == "-" and before and text[at + 1] != "]"
        at += 1 if is_range else 0
        at += text[at] == "\\"
        letter = text[at]
        at += 1
        if not is_range:
            found.append(re.escape(letter))
        elif before <= letter:
            found.append(f"{re.escape(before)}-{re.escape(letter)}")
        before = "" if is_range else letter
    within = "".join(found)
    if not within:
        return ("[^/]" if negated else "(?!)"), at + 1
    return f"(?!/)[{'^' if negated else ''}{within}]", at + 1


def _path(signs: list[str]) -> str:
    groups = [""]
    for step in _split(signs, "/"):
        if len(step) > 1 and set(step) == {"*"}:
            groups.append("")
        else:
            groups[-1] += f"{_step(step)}/"
    first, *others = groups
    if not others:
        return first[:-1]
    between = "".join(f"(?>{_DEEPER}?{steps})" for steps in others[:-1] if steps)
    return first + between + (_DEEPER + others[-1][:-1] if others[-1] else "(?s:.+)")


def _step(signs: list[str]) -> str:
    first, *others = map("".join, _split(signs, "*"))
    if not others:
        return first
    between = "".join(f"(?>[^/]*?{letters})" for letters in others[:-1] if letters)
    return f"{first}{between}[^/]*{others[-1]}"


def _split(signs: list[str], at: str) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for sign in signs:
        if sign == at:
            parts.append([])
        else:
            parts[-1].append(sign)
    return parts
