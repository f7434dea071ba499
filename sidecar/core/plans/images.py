"""Shows edited files in a note as they stand, by stretches of lines worth their tokens."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Sequence

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import PartId
from sidecar.core.plans.guard import NEWEST_STEPS
from sidecar.core.plans.knapsack import Piece
from sidecar.core.plans.plan import FileImage, Situation
from sidecar.core.plans.value import IMAGE_NEED, NEED_AGES, KnownLine
from sidecar.core.prompt.tokens import weigh
from sidecar.core.sights.seen_files import NEVER, SeenFile
from sidecar.core.text.line_diff import CONTROL

HEAD = (
    "[Files that you work on, as they stood when earlier parts were left out: all changes until "
    "then are in, those of the next steps too. Of each, what you read or wrote and are likely to "
    "need, between two fences: what stands there is the file's. ⋯ marks what is left out: read the "
    "file for that.]"
)
LAID_OUT = "; before a formatter ran"
_BACKTICKS = re.compile("`+")
_OPENS = re.compile(
    r"\s*(?:(?:export|default|public|private|protected|static|final|abstract|pub(?:\([^)]*\))?|async|"
    r"unsafe|override|internal)\s+)*(?:def|class|func|function|fn|impl|struct|interface|trait|enum|"
    r"module|sub|type)\b"
)
_IMPORTS = re.compile(
    r"\s*(?:$|import\b|from \S+ import\b|use \S+;|using \S+;|#include\b|package \S+$|[()]$|"
    r"} from\b|const .*\brequire\(|\"[\w./-]+\"$)"
)
_WORD = re.compile(r"\w\w")
NEAR = 12
"""Lines above and below a written one that are likely to be needed with it."""
LONGEST, SHORTEST = 60, 6
"""Lines of a stretch: a longer one is divided, a shorter one goes with the next."""
FEWEST = 10
"""Lines of an image, unless they are half of the file."""
ABOVE = 12
"""Lines above a stretch in which the line is sought that opens what the stretch is of."""
JOINED = 4
"""Known lines between two stretches that are shown with them."""
_KINDS: tuple[KnownLine, ...] = ("written", "near", "read")


@dataclass(frozen=True, slots=True)
class Stretch:
    """Known lines of a file, `start` to `end` (exclusive, from 0)."""

    path: str
    start: int
    end: int
    piece: Piece


def stretches(situation: Situation) -> list[Stretch]:
    """Gives known stretches of changed files, except what the newest steps read."""
    found = []
    step = situation.step
    for path, file in situation.files.changed():
        kinds = _kinds(file, step)
        for start, end in file.runs():
            begin = _past_imports(file.texts, kinds, start, end)
            for first, last in _divided(kinds, begin, end):
                # Closing braces alone tell nothing of a file.
                if not any(map(_WORD.search, filter(None, file.texts[first:last]))):
                    continue
                if kinds[first][0] != "read" or file.shown[first] < step - NEWEST_STEPS:
                    kind, age = kinds[first]
                    need = IMAGE_NEED[kind][age] / 1_000
                    tokens = weigh(_text(file, first, last), situation.factor)
                    # Without names: many small stretches would be taken for a name each.
                    piece = Piece(PartId(f"{path}:{first + 1}"), tokens, need)
                    found.append(Stretch(path, first, last, piece))
    return found


def _past_imports(
    texts: Sequence[str | None], kinds: Sequence[tuple[KnownLine, int]], start: int, end: int
) -> int:
    lines = range(start, end)
    shown = (n for n in lines if kinds[n][0] == "written" or not _IMPORTS.match(texts[n] or ""))
    first = next(shown, end)
    return first if first - start >= SHORTEST else start


def images(situation: Situation, chosen: Collection[Stretch]) -> tuple[FileImage, ...]:
    """Shows chosen stretches of files with enough, last changed last."""
    found: dict[str, list[tuple[int, int]]] = {}
    for one in chosen:
        found.setdefault(one.path, []).append((one.start, one.end))
    return tuple(
        _image(path, file, found[path], situation.factor)
        for path, file in situation.files.changed()
        if path in found and _is_worth_it(found[path], len(file.texts))
    )


def _is_worth_it(ranges: Iterable[tuple[int, int]], lines: int) -> bool:
    shown = sum(end - start for start, end in ranges)
    return shown >= FEWEST or 2 * shown >= lines


def images_note(shown: Iterable[FileImage]) -> str:
    texts = [one.text for one in shown]
    return "\n\n".join((HEAD, *texts)) if texts else ""


def _kinds(file: SeenFile, step: int) -> list[tuple[KnownLine, int]]:
    near = _near(file.written)
    # A step is weighed once: a file has thousands of lines and few steps.
    ages = {
        last: bisect_left(NEED_AGES, step - last) for last in {*file.written, *near, *file.shown}
    }
    written, beside, read = ({last: (kind, age) for last, age in ages.items()} for kind in _KINDS)
    return [
        written[wrote] if wrote != NEVER else beside[by] if by != NEVER else read[shown]
        for wrote, by, shown in zip(file.written, near, file.shown, strict=True)
    ]


def _near(written: Sequence[int]) -> list[int]:
    """Gives for unwritten lines the last step that wrote one within `NEAR` lines."""
    found = [NEVER] * len(written)
    places = [index for index, step in enumerate(written) if step != NEVER]
    after = (*places[1:], len(written))
    for before, place, behind in zip((-1, *places), places, after, strict=False):
        if behind - before == 2:
            # Between written lines, as most are in a file that was written whole.
            continue
        step = written[place]
        for index in range(max(before + 1, place - NEAR), place):
            found[index] = max(found[index], step)
        end = min(place + 1 + NEAR, behind)
        found[place + 1 : end] = [step] * (end - place - 1)
    return found


def _divided(kinds: Sequence[object], start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end:
        last = min(start + LONGEST, end)
        others = (n for n in range(start + SHORTEST, last) if kinds[n] != kinds[start])
        cut = next(others, last)
        yield start, cut
        start = cut


def _image(
    path: str, file: SeenFile, chosen: Iterable[tuple[int, int]], factor: float
) -> FileImage:
    ranges: list[tuple[int, int]] = []
    for known, end in sorted(chosen):
        start = _opening(file.texts, known)
        before = ranges[-1][1] if ranges else 0
        if ranges and start - before <= JOINED and None not in file.texts[before:start]:
            ranges[-1] = (ranges[-1][0], end)
        else:
            ranges.append((start, end))
    told = ", ".join(f"{start + 1}-{end}" for start, end in ranges)
    about = f", give or take {file.drift}" if file.drift else ""
    if any(file.may_differ(start, end) for start, end in ranges):
        about += LAID_OUT
    # A line of its own, so that the path can be copied; one only, whatever the name.
    lines = [CONTROL.sub("?", path), f"[lines {told}{about}]"]
    texts = [_text(file, start, end) for start, end in ranges]
    fence = _fence(texts)
    at = 0
    for (start, end), text in zip(ranges, texts, strict=True):
        lines += (*_gap(at, start), fence, text, fence)
        at = end
    lines += _gap(at, len(file.texts)) if file.ends else [f"⋯ from line {at + 1} on left out"]
    text = "\n".join(lines)
    shown = tuple((start + 1, end) for start, end in ranges)
    return FileImage(path, shown, text, weigh(text, factor))


def _opening(texts: Sequence[str | None], start: int) -> int:
    """Finds the line opening line `start`'s block, if all between is known."""
    for at in range(start, max(-1, start - ABOVE - 1), -1):
        text = texts[at]
        if text is None:
            break
        if at < start and _OPENS.match(text) and _indent(text) < _indent(texts[start] or ""):
            return at
    return start


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _fence(texts: Iterable[str]) -> str:
    """Gives a fence that no line of the texts closes."""
    runs = (len(run) for text in texts for run in _BACKTICKS.findall(text))
    return "`" * max(3, 1 + max(runs, default=0))


def _gap(start: int, end: int) -> Iterator[str]:
    if end - start == 1:
        yield f"⋯ line {end} left out"
    elif end > start:
        yield f"⋯ lines {start + 1}-{end} left out"


def _text(file: SeenFile, start: int, end: int) -> str:
    return "\n".join([text for text in file.texts[start:end] if text is not None])
