"""Files that an allowed command obeys: settings in its folder, and files named in its rule. Pure.

Programs also look for settings in folders above. A shell can build names in too many ways to
follow, so a rule's text is searched for each part of a file's path: more is asked about than
obeyed.
"""

import fnmatch
import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from posixpath import dirname, join, normpath, splitext
from typing import NamedTuple

from sidecar.core.text.visible import as_found, plain_path
from sidecar.tools.rules.coverage import known, uncovered, written
from sidecar.tools.rules.pattern import with_stars
from sidecar.tools.rules.shell_words import STAR, simple_commands
from sidecar.tools.tool_contract import Access

_HANDED = re.compile(r"[=<>|$`(@]")
"""Signs by which a rule without a `*` names files other than as words of its programs."""
_QUOTES = str.maketrans("", "", "'\"\\")
_QUOTED_VARIABLE = re.compile(r"\$(\w+)(?=[\"'])")
_OUTPUT = re.compile(r"\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`")
_VARIABLE = re.compile(rf"\$\{{[^{{}}]*\}}|\$(?:\w+|[@*])|\{{[^{{}}\s]*\}}|{STAR}")
_VARYING = re.compile(r"\[[^\]\s]*\]|%(?:[\d.-]*[a-zA-Z])?|[*?]")
_SOME = "\ue001"
"""In place of a variable or set, whose values stand elsewhere in a text, of a program's output or a
rule's star."""
_COMES_IN = re.compile(r"\$\(|`|\bread\b|\bxargs\b|\bparallel\b|-exec|\s-x\b|\$[\d@*]")
"""What a variable or `{}` alone may stand for: no text of the rule, but what a program tells."""
_PATTERN = re.compile(rf"[\w.+-]*(?:[*{_SOME}][\w.+-]*)+")
_STEP_AHEAD = re.compile(r"([^\s/]*)(/*)\Z")
"""A text's end: a step of a path, and slashes."""
_LITERAL = re.compile(r"[\w.=:,@-]*\w")
_LONGER = re.compile(r"\w[\w.-]*")
_ALONE = re.compile(r"(?:\A|[^\w.-])(?:-[\w.-]*)?\Z")
"""What is ahead of a name: no letter of it but an option's (`-Csite`)."""
_NAME_ON = re.compile(r"[\w-]|\.\w")
_FAR = 300
"""Characters looked at before a name."""


def as_obeyed(access: Access, allow: tuple[str, ...], led: tuple[str, ...]) -> Access:
    """Adds a written file's names to commands that rules allow.

    `led`: where links in paths of these rules lead.
    """
    told = _told(allow, led)
    if access.kind == "edit":
        paths: Iterable[str] = (*access.shown, *access.linked, *access.outside)
    else:
        named = written(access.words)
        paths = (normpath(join(one, name)) for one in access.shown for name in named)
    found = {name for path in paths for name in _names_from(told, path)}
    return replace(access, linked=(*access.linked, *sorted(found - {*access.shown})))


def _names_from(told: "_Told", path: str) -> Iterator[str]:
    steps = path.split("/")
    *folders, name = plain_path(path).split("/")
    # A rule may name a file without its ending.
    if told.names(name, folders) or told.names(splitext(name)[0], folders, is_stem=True):
        yield steps[-1]
    for number, folder in enumerate(folders, start=1):
        is_named = told.enters(folder)
        if is_named or folder in told.starts:
            yield "/".join(steps[number:])
        if is_named:
            # A program may go through folders: `find -exec`, `kubectl -R`.
            yield steps[-1]
    yield from (path[len(one) + 1 :] for one in told.outside if path.startswith(f"{one}/"))


class _Told(NamedTuple):
    """What rules for commands say, as disks compare names; `outside`: folders of rules for files.

    `starts`: steps to the folders where they hold. `patterns`: of names that a shell makes up, with
    the text ahead and behind.
    """

    text: str
    starts: frozenset[str]
    patterns: tuple[tuple[re.Pattern[str], str, str], ...]
    outside: tuple[str, ...]

    def names(self, name: str, folders: Sequence[str], *, is_stem: bool = False) -> bool:
        """Whether a file of that name below these folders may be meant."""
        within = tuple(filter(None, folders))
        for ahead, behind in self._places(name):
            end = _STEP_AHEAD.search(ahead)
            step, slashes = end.groups() if end else ("", "")
            if is_stem and (not slashes or _NAME_ON.match(behind)):
                continue
            if not slashes and _LONGER.fullmatch(step):
                continue
            if not slashes or step.endswith(within) or not _LITERAL.fullmatch(step):
                return True
        return False

    def enters(self, folder: str) -> bool:
        """Whether the texts name a folder, or something below."""
        places = self._places(folder)
        return any(_ALONE.search(ahead) and not _NAME_ON.match(behind) for ahead, behind in places)

    def _places(self, name: str) -> Iterator[tuple[str, str]]:
        """Texts ahead of and behind each place of a name."""
        if not name:
            return
        yield from map(_around, re.finditer(re.escape(name), self.text))
        yield from ((a, b) for pattern, a, b in self.patterns if pattern.fullmatch(name))


def _around(found: re.Match[str]) -> tuple[str, str]:
    text = found.string
    return text[max(0, found.start() - _FAR) : found.start()], text[found.end() :][:_FAR]


@lru_cache(maxsize=64)
def _told(allow: tuple[str, ...], led: tuple[str, ...]) -> _Told:
    rules = [_place_and_text(rule) for rule in allow]
    texts = [*led, *(f"{place} {text}" for place, text in rules if text)]
    texts = [unicodedata.normalize("NFKC", as_found(text)).casefold() for text in texts]
    starts = frozenset(plain_path("/".join(place for place, _ in rules)).split("/")) - {""}
    outside = tuple(filter(None, map(_outside, allow)))
    return _Told("\n".join(texts), starts, tuple(chain(*map(_patterns, texts))), outside)


def _patterns(text: str) -> Iterator[tuple[re.Pattern[str], str, str]]:
    varied = {
        _VARYING.sub("*", _VARIABLE.sub(_SOME, one)) for one in (text, _OUTPUT.sub(_SOME, text))
    }
    for found in chain.from_iterable(map(_PATTERN.finditer, varied)):
        if found[0] != _SOME or _COMES_IN.search(text):
            yield re.compile(fnmatch.translate(found[0].replace(_SOME, "*"))), *_around(found)


def _place_and_text(rule: str) -> tuple[str, str]:
    """The folder where a rule starts programs, and its text without quotes.

    Omits texts of commands that a `*` would cover too: these obey no settings, or known ones.
    """
    tool, _, pattern = rule.partition(":")
    name, _, folder = tool.partition("@")
    if name not in ("*", "shell", "execute"):
        return "", ""
    text = with_stars(pattern)
    hands_on = STAR not in text and _HANDED.search(text)
    named = hands_on or not all(map(_obeys_nothing, _words(text)))
    text = _QUOTED_VARIABLE.sub(r"${\1}", text).translate(_QUOTES)
    return normpath(folder or "."), text if named else ""


def _outside(rule: str) -> str:
    """An outside folder where a rule lets files be written: `write_file:/x/other/*`."""
    tool, _, pattern = rule.partition(":")
    path, star, _ = with_stars(pattern).partition(STAR)
    is_folder = star and path.startswith("/") and not tool.startswith(("*", "shell", "execute"))
    return dirname(path) if is_folder else ""


def _words(text: str) -> Iterable[tuple[str, ...]]:
    return (tuple(word for word in one if STAR not in word) for one in simple_commands(text))


def _obeys_nothing(words: tuple[str, ...]) -> bool:
    if not words:
        return True
    name = words[0]
    is_own = "/" in name and not name.startswith(("/bin/", "/usr/", "/opt/"))
    return not is_own and known(name) is not None and not uncovered(words, 0)
