"""An edit's change as a bounded unified diff."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, unified_diff

from sidecar.core.text.line_diff import in_header

MAX_DIFF_LINES = 200
MAX_LINE = 500
_MAX_COMPARED = 4000
_CONTEXT = 3


@dataclass(frozen=True, slots=True)
class EditDiff:
    """A diff, cut after `MAX_DIFF_LINES`; the counts are of the whole."""

    diff: str
    additions: int
    deletions: int


def compare(path: str, before: str, after: str) -> EditDiff:
    """Beyond `_MAX_COMPARED` lines, only counts."""
    old, new = _lines(before), _lines(after)
    # Equal lines at both ends are skipped first: comparing takes quadratic time at worst.
    head = equal(old, new)
    tail = equal(old[head:][::-1], new[head:][::-1])
    first = max(0, head - _CONTEXT)
    old_end, new_end = len(old) - max(0, tail - _CONTEXT), len(new) - max(0, tail - _CONTEXT)
    removed, added = old[first:old_end], new[first:new_end]
    names = in_header(f"a/{path}"), in_header(f"b/{path}")
    if max(len(removed), len(added)) > _MAX_COMPARED:
        deletions, additions = len(old) - head - tail, len(new) - head - tail
        note = f"[{deletions} lines replaced by {additions}: too many to compare]"
        return EditDiff(f"--- {names[0]}\n+++ {names[1]}\n{note}\n", additions, deletions)
    lines = list(unified_diff(removed, added, *names, lineterm="", n=_CONTEXT))
    additions = sum(line.startswith("+") for line in lines[2:])
    deletions = sum(line.startswith("-") for line in lines[2:])
    shown = [_moved(line, first)[:MAX_LINE] for line in lines[:MAX_DIFF_LINES]]
    if len(lines) > MAX_DIFF_LINES:
        shown.append(f"[… {len(lines) - MAX_DIFF_LINES} more lines]")
    return EditDiff("".join(f"{line}\n" for line in shown), additions, deletions)


def hunks(before: str, after: str) -> tuple[tuple[str, str], ...]:
    """Returns the pieces that differ (before, after), with three lines of context.

    Beyond `_MAX_COMPARED` lines, one piece.
    """
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    head = equal(old, new)
    tail = equal(old[head:][::-1], new[head:][::-1])
    first, last = max(0, head - _CONTEXT), max(0, tail - _CONTEXT)
    old, new = old[first : len(old) - last], new[first : len(new) - last]
    if max(len(old), len(new)) > _MAX_COMPARED:
        return (("".join(old), "".join(new)),)
    groups = SequenceMatcher(None, old, new).get_grouped_opcodes(_CONTEXT)
    return tuple(
        ("".join(old[group[0][1] : group[-1][2]]), "".join(new[group[0][3] : group[-1][4]]))
        for group in groups
    )


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def equal(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((index for index, (a, b) in pairs if a != b), min(len(one), len(other)))


def _moved(line: str, by: int) -> str:
    if not line.startswith("@@") or not by:
        return line
    return " ".join(_shift(word, by) if word[0] in "+-" else word for word in line.split(" "))


def _shift(word: str, by: int) -> str:
    start, _, length = word[1:].partition(",")
    return f"{word[0]}{int(start) + by}{',' if length else ''}{length}"
