"""Tells words that every program reads alike.

Linters and test runners expand patterns, `~` and braces, split at signs and blanks, take a
backslash for a slash, fetch addresses. Plain relative paths, and texts without a slash, lead none
out of the folder unless two dots follow each other.
"""

import re

_SET = r"\{\w[\w-]*(?:[.,]\w[\w-]*)*\}"
_START = r"(?:\.(?=\w)|(?=[\w*{])|(?<=/)(?=@\w))"
_STEP = rf"{_START}(?:[\w*+-]|(?<!^)(?<![,!])@|{_SET}|(?<!^)\.(?=[\w*{{]))+"
"""A file's name, or a pattern of `*` and `{a,b}`. With a dot in front a `*` might be `..`."""
_PATH = rf"!?(?:\./)?{_STEP}(?:/{_STEP})*/?"
_PLACE = r"(?::\d+){1,2}"
_TEXT = r"(?:[\w ,=+'\"(){}|#!&*-]|(?<=\w)\.(?=\w)|:(?=[\w :]))+"
"""As of `-t 'adds (one|two)'`."""
_WORD = re.compile(
    rf"\.|\./|(?:\./|(?:\./)?{_STEP}(?:/{_STEP})*/)\.\.\.|{_PATH}(?:,{_PATH})*(?:{_PLACE})?|{_TEXT}"
)
_OPTION = re.compile(r"(--?\w[\w-]*)(?:=(.*))?|-|--", re.DOTALL)

_GROUP = r"\([\w-]+\)(?=/)"
_PARAMETER = r"\[{1,2}(?:\.{3})?[\w-]+\]{1,2}(?:\.\w[\w.-]*)?"
_OF_SVELTE = r"\+(?:page|layout|server|error)[\w.-]*"
_NAME = rf"(?:\.?\w[\w.,+@-]*|{_GROUP}|{_PARAMETER}|{_OF_SVELTE})"
NAMES = rf"(?:\./)*(?:\.|{_NAME})(?:/{_NAME})*/?"
"""Paths that a pattern, `xargs` or `sh -c` hands on as nothing else: no option (`-e1e x.txt`), no
command (`+!x.md` to vi, `!x` to ed, `a;b`), file of options (`@x/a.c`), address, setting (`x:y`,
`x=y`) or several (`x AGENTS.md`), no variable (`AGENTS$x.md`), no function (`()x.sh`), no pattern
of another's name (`[A]GENTS.md`), but pages' routes (`[id].ts`, `(group)/`, `+page.ts`)."""


def is_plain(word: str) -> bool:
    """Of an option `--x=y`, whether `y` is."""
    option = _OPTION.fullmatch(word)
    given = option[2] if option else word
    return (option is not None and not given) or bool(_WORD.fullmatch(given))


def without_line(name: str) -> str:
    """Leaves out lines behind a file's name: `a.ts:12:3` is `a.ts`."""
    while (found := name.rpartition(":"))[1] and found[2].isdecimal():
        name = found[0]
    return name
