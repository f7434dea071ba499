"""Finds sentences in any script, as spans of characters."""

import re
from collections.abc import Iterator

from sidecar.core.late_pattern import late_pattern

LONGEST = 400
"""Characters of a sentence; longer stretches are cut between words or clauses."""
SHORT = 40
"""A text of fewer characters says too little."""
WRAPPED = 50
"""Characters; a longer line may go on in the next."""

_FULL = "\u3002\uff01\uff1f\uff61\u0964\u0965\u1362\u1367\u1368\u104a\u104b\u17d4\u17d5\u0f0d\u0f0e"
"""Ends that need no space behind."""
_MARKS = ".!?\u2026\u061f\u06d4\u0589\u037e\u203c\u2047\u2048\u2049"
_CLOSING = "\"'\u2019\u201d\u00bb\u203a)\\]\u300d\u300f\u3011\uff09\u3009\u300b*_`"
_END = late_pattern(
    rf"[{_FULL}{_MARKS}](?:(?<=[{_FULL}])[{_CLOSING}{_FULL}]*"
    rf"|(?<=[{_MARKS}])(?<![{_MARKS}]{{2}})[{_MARKS}]*+[{_CLOSING}]*+(?=\s|$))"
)
"""Begins with a set of characters, for a quick search. A row of dots is tried once."""
_ITEM = late_pattern(
    r"\s*(?:[-*+\u2022\u2023\u25aa\u25cf\u00b7\u2013\u2014\u30fb>|]\s*|#{1,6}\s"
    r"|\(?\w{1,3}[.)\u3001\uff0e]\s|[\u2460-\u2473])"
)
_INITIAL = late_pattern(r"(?:^|[\s(])(?:\w\.)*\w\.$|^\s*\(?\d{1,3}\.$")
"""A dot, but no end: `e.g.`, `z.B.`, `J.`, a list item's number."""
_CLAUSE = late_pattern(r"[,;:\uff0c\uff1b\uff1a\u3001\u060c\u061b]\s*|\s+")

_HEADING = late_pattern(r"#{1,6}\s.*|(\*\*|__)[^*_]+\1:?|\|.*|-{3,}")
_CLOSERS, _ASKING = "*_`\"')", ("?", "\uff1f", "\u061f")

_INTENDS = late_pattern(
    r"(?:(?:ok(?:ay)?|so|now|first|next|then|great|good|perfect)\b[,.!:]?\s+)*"
    r"(?:let me|let['\u2019]s|I(?:['\u2019]ll| will|['\u2019]m (?:going|now)| need to| should)\b)",
    re.I,
)
_INTERJECTED = 16
"""Characters of a sentence, as `Good idea.`, that only opens."""

Span = tuple[int, int]

_CLOSED = late_pattern(rf"[{_FULL}{_MARKS}][{_CLOSING}]*\Z")
_BLANK = late_pattern(r"\n\s*\n")


def sentences(text: str, longest: int = LONGEST) -> Iterator[Span]:
    for start, end in _paragraphs(text):
        at = start
        for match in _END.finditer(text, start, end):
            if _goes_on(text, at, match, end):
                continue
            yield from _pieces(text, at, match.end(), longest)
            at = match.end()
        yield from _pieces(text, at, end, longest)


def statements(text: str) -> Iterator[Span]:
    """Finds spans of whole sentences, each with its lines."""
    begun: int | None = None
    last = 0
    for start, end in sentences(text, len(text)):
        if begun is not None and _BLANK.search(text, last, start) and text[last - 1] != ":":
            yield begun, last
            begun = None
        begun = start if begun is None else begun
        last = end
        if _CLOSED.search(text[start:end]):
            yield begun, last
            begun = None
    if begun is not None:
        yield begun, last


def gist(text: str, most: int) -> str:
    """Returns the first sentences with content, in `most` characters."""
    plain = "\n".join(line for line in unfenced(text) if not is_heading(line))
    said: list[str] = []
    for start, end in sentences(plain):
        sentence = plain[start:end]
        if is_item(sentence) and not sentence.startswith("**"):
            sentence = _ITEM.sub("", sentence, count=1)
        if ends_open(sentence) or not sentence:
            continue
        said.append(sentence)
        if sum(map(len, said)) > most:
            break
    joined = " ".join(" ".join(said).split())
    return joined if len(joined) <= most else joined[: most - 1].rpartition(" ")[0] + "…"


def announces(text: str) -> bool:
    return ends_open(text) and len(gist(text, LONGEST)) < SHORT


def without_intentions(text: str) -> str:
    spans = sentences(text, len(text))
    told = (text[start:end] for start, end in spans)
    return " ".join(
        one for one in told if len(one) > _INTERJECTED and not _INTENDS.match(one.lstrip(_CLOSERS))
    )


def without_announcement(text: str) -> str:
    spans = list(sentences(text, len(text))) if ends_open(text) else []
    return text[: spans[-1][0]].rstrip() if len(spans) > 1 else text


def asks(text: str) -> bool:
    return text.rstrip(_CLOSERS).endswith(_ASKING)


def ends_open(text: str) -> bool:
    """Whether a text ends in an announcement, as `So:` and `**Costs:**`."""
    return text.rstrip().rstrip(_CLOSERS).endswith((":", "\uff1a"))


def unfenced(text: str) -> Iterator[str]:
    inside = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            inside = not inside
        elif line.strip() and not inside:
            yield line


def is_heading(line: str) -> bool:
    return _HEADING.fullmatch(line.strip()) is not None


def is_item(line: str) -> bool:
    return _ITEM.match(line) is not None


def _paragraphs(text: str) -> Iterator[Span]:
    start: int | None = None
    at = 0
    before = ""
    for line in text.splitlines(keepends=True):
        bare = line.strip()
        if start is not None and not _is_wrapped(before, bare):
            yield start, at
            start = None
        if bare and start is None:
            start = at
        before = bare
        at += len(line)
    if start is not None:
        yield start, at


def _is_wrapped(before: str, line: str) -> bool:
    if len(before) < WRAPPED or not line or is_item(line):
        return False
    return line[0].islower() or (line[0].isalpha() and not line[0].isupper())


def _goes_on(text: str, start: int, match: re.Match[str], end: int) -> bool:
    if not match[0].startswith((".", "\u2026")):
        return False
    after = text[match.end() : min(end, match.end() + 4)].lstrip()
    if after and after[0].islower():
        return True
    before = text[max(start, match.start() - 12) : match.start() + 1]
    return _INITIAL.search(before) is not None


def _pieces(text: str, start: int, end: int, longest: int) -> Iterator[Span]:
    while end - start > longest:
        cuts = list(_CLAUSE.finditer(text, start + longest // 2, start + longest))
        at = cuts[-1].end() if cuts else start + longest
        yield from _pieces(text, start, at, longest)
        start = at
    piece = text[start:end]
    bare = piece.strip()
    if bare:
        begin = start + piece.index(bare[0])
        yield begin, begin + len(bare)
