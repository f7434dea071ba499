"""An edit's change as a bounded unified diff."""

from difflib import SequenceMatcher, unified_diff

from sidecar.core.dataclass import dataclass
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
    middle = _middle(before, after)
    names = in_header(f"a/{path}"), in_header(f"b/{path}")
    if middle.most_lines > _MAX_COMPARED:
        deletions, additions = (_count(one) - middle.around for one in middle.texts)
        note = f"[{deletions} lines replaced by {additions}: too many to compare]"
        return EditDiff(f"--- {names[0]}\n+++ {names[1]}\n{note}\n", additions, deletions)
    removed, added = (one.removesuffix("\n").split("\n") if one else [] for one in middle.texts)
    lines = list(unified_diff(removed, added, *names, lineterm="", n=_CONTEXT))
    additions = sum(line.startswith("+") for line in lines[2:])
    deletions = sum(line.startswith("-") for line in lines[2:])
    shown = [_moved(line, middle.first)[:MAX_LINE] for line in lines[:MAX_DIFF_LINES]]
    if len(lines) > MAX_DIFF_LINES:
        shown.append(f"[… {len(lines) - MAX_DIFF_LINES} more lines]")
    return EditDiff("".join(f"{line}\n" for line in shown), additions, deletions)


def hunks(before: str, after: str) -> tuple[tuple[str, str], ...]:
    """Returns the pieces that differ (before, after), with three lines of context.

    Beyond `_MAX_COMPARED` lines, one piece.
    """
    middle = _middle(before, after)
    if middle.most_lines > _MAX_COMPARED:
        return (middle.texts,)
    old, new = (one.splitlines(keepends=True) for one in middle.texts)
    groups = SequenceMatcher(None, old, new).get_grouped_opcodes(_CONTEXT)
    return tuple(
        ("".join(old[group[0][1] : group[-1][2]]), "".join(new[group[0][3] : group[-1][4]]))
        for group in groups
    )


def equal(one: str, other: str) -> int:
    """Returns how many first letters are the same."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        half = (low + high + 1) // 2
        low, high = (half, high) if one[low:half] == other[low:half] else (low, half - 1)
    return low


@dataclass(frozen=True, slots=True)
class _Middle:
    """Lines of two texts that differ, with up to `_CONTEXT` equal ones at both ends.

    `first`: lines before; `around`: equal lines at the ends.
    """

    texts: tuple[str, str]
    first: int
    around: int

    @property
    def most_lines(self) -> int:
        return max(map(_count, self.texts))


def _middle(before: str, after: str) -> _Middle:
    """Skips equal lines before any is split off: comparing takes quadratic time at worst."""
    start = before.rfind("\n", 0, equal(before, after)) + 1
    same = equal(before[start:][::-1], after[start:][::-1])
    if not all(_begins_line(text, len(text) - same) for text in (before, after)):
        line_end = before.find("\n", len(before) - same)
        same = len(before) - line_end - 1 if line_end >= 0 else 0
    end = len(before) - same
    first, last = start, end
    for _ in range(_CONTEXT):
        first = before.rfind("\n", 0, max(0, first - 1)) + 1
        last = before.find("\n", last) + 1 or len(before)
    texts = before[first:last], after[first : len(after) - len(before) + last]
    around = _count(before[first:start]) + _count(before[end:last])
    return _Middle(texts, before.count("\n", 0, first), around)


def _begins_line(text: str, at: int) -> bool:
    return at == 0 or text[at - 1] == "\n"


def _count(text: str) -> int:
    return text.count("\n") + (text[-1:] not in ("\n", ""))


def _moved(line: str, by: int) -> str:
    if not line.startswith("@@") or not by:
        return line
    return " ".join(_shift(word, by) if word[0] in "+-" else word for word in line.split(" "))


def _shift(word: str, by: int) -> str:
    start, _, length = word[1:].partition(",")
    return f"{word[0]}{int(start) + by}{',' if length else ''}{length}"
