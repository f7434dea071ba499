"""Spells out characters that could steer a terminal."""

import json
import re
import unicodedata
from functools import lru_cache
from itertools import pairwise

from sidecar.core.parts import Json

UNSEEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp", "Zs"})
"""Categories without shape: controls, directions, half characters, line ends, and blanks.

A shell takes no blank but the plain one for an end of a word.
"""
ZWJ = "\u200d"
_PASSED_OVER = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2065\u3164\uffa0"
    "\ufe00-\ufe0f\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
"""Letters, besides category Cf, that some disks pass over."""
_SHAPELESS = re.compile(
    f"{_PASSED_OVER.pattern}|[\u2800\ufffc\U000133fc\U00013430-\U00013455\U00016fe4\U0001d159]"
)
"""Other letters that are drawn as nothing: blanks, fillers, joiners of hieroglyphs."""
_PRESENTATION = ("\ufe0e", "\ufe0f")
"""Choose between text and picture of the symbol before them."""
JOINERS = frozenset({"\u200c", ZWJ})
"""Hold words and emoji together, and steer nothing."""


def visible(text: str, keep: str = "") -> str:
    r"""Spells out hidden and steering characters, except `keep`.

    Controls become pictures such as `␛`, bytes outside UTF-8 `\xe9`, others `\u202e`.
    """
    if _is_seen(text.translate(str.maketrans("", "", keep)) if keep else text):
        return text
    return "".join(
        c if c in keep or not _unseen(c, before) else _spelt(c)
        for before, c in pairwise(f" {text}")
    )


def visible_lines(text: str) -> str:
    return visible(text, keep="\n\t")


def visible_message(text: str) -> str:
    """Works as `visible_lines`, but breaks Markdown links, which may run VS Code's commands."""
    return visible_lines(text).replace("](", "] (")


def visible_json(value: Json, indent: int | None = None) -> str:
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    if _is_seen(text):
        return text
    # A line end here is indentation: line ends in strings are escaped already.
    return "".join(
        c if c == "\n" or not _unseen(c, before) else _escaped(c)
        for before, c in pairwise(f" {text}")
    )


def as_found(name: str) -> str:
    """Removes unseen letters, which some disks pass over."""
    if name.isascii():
        return name
    seen = "".join(letter for letter in name if unicodedata.category(letter) != "Cf")
    return _PASSED_OVER.sub("", seen)


@lru_cache(maxsize=4_096)
def plain_path(path: str) -> str:
    """Gives one spelling to paths that disks may take for the same file.

    Case, width, unseen letters and last dots do not count.
    """
    found = unicodedata.normalize("NFKC", as_found(path)).casefold()
    return "/".join([part.rstrip(". ") for part in found.split("/")])


def mended(text: str) -> str:
    """Puts U+FFFD for half characters, with which some readers of JSON refuse a whole message."""
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def whole_letters(text: str, most: int) -> str:
    """Cuts to `most` characters, splitting no letter, emoji or flag."""
    end = min(most, len(text))
    while 0 < end < len(text) and _joined(text, end):
        end -= 1
    return text[:end]


def one_line(text: str, most: int) -> str:
    """Outside text as a title: `most` characters of one line."""
    return whole_letters(" ".join(mended(text).split()), most)


def clipped(text: str, most: int) -> str:
    return text if len(text) <= most else f"{whole_letters(text, most - 1)}…"


def _joined(text: str, at: int) -> bool:
    before, letter = text[at - 1], text[at]
    if _is_half_a_flag(letter):
        flags = 0
        while flags < at and _is_half_a_flag(text[at - 1 - flags]):
            flags += 1
        return flags % 2 == 1
    tone = "\U0001f3fb" <= letter <= "\U0001f3ff"
    tag = "\U000e0020" <= letter <= "\U000e007f"
    marks = unicodedata.category(letter) in ("Mn", "Me", "Mc")
    return tone or tag or marks or ZWJ in (before, letter)


def _is_half_a_flag(letter: str) -> bool:
    return "\U0001f1e6" <= letter <= "\U0001f1ff"


def _is_seen(text: str) -> bool:
    return text.isprintable() and (text.isascii() or not _SHAPELESS.search(text))


def _unseen(letter: str, before: str) -> bool:
    # Behind ASCII both would part words, signs and comments that look as if they stood alone.
    if letter in _PRESENTATION and not before.isascii() and not _SHAPELESS.match(before):
        return unicodedata.category(before) not in ("So", "Sm")
    return _SHAPELESS.match(letter) is not None or (
        not letter.isprintable()
        and (letter not in JOINERS or before.isascii())
        and unicodedata.category(letter) in UNSEEN
    )


def _spelt(letter: str) -> str:
    code = ord(letter)
    if code < 0x20:
        return chr(0x2400 + code)
    if letter == "\x7f":
        return "␡"
    # Half a character stands for a byte in the names of files.
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else ascii(letter)[1:-1]


def _escaped(letter: str) -> str:
    return "\\u007f" if letter == "\x7f" else json.dumps(letter)[1:-1]


def many(number: int, what: str) -> str:
    """Counts things in English."""
    return f"{number:,} {what}" if number == 1 else f"{number:,} {what}s"
