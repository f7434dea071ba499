"""Parses a model's claimed facts, even from faulty JSON."""

import json
import re
from collections.abc import Iterator

from sidecar.core.conversation.fact import KINDS, FactKind
from sidecar.core.dataclass import dataclass
from sidecar.core.text.json_text import FAULTS, read_object, without_trailing_commas

MOST = 50
"""Claims that are taken from one reply."""
LONGEST = 400
"""Characters of a claim's content and of its quote."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A claimed fact; `quote`: the stated source, or empty."""

    kind: FactKind
    content: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class ReadClaims:
    """Claims, the rest of the reply, and parsing problems."""

    claims: tuple[Claim, ...]
    rest: str
    problems: tuple[str, ...] = ()


_TAGGED = re.compile(r"<facts\b[^>\n]*>(.*?)(?:</facts\s*>|\Z)", re.S | re.I)
_FENCED = re.compile(r"^[ \t]*```[ \t]*(\w*)[^\n]*\n(.*?)(?:^[ \t]*```[ \t]*$|\Z)", re.S | re.M)
_BARE = re.compile(r"""^[ \t]*(?:[-*][ \t]+)?\{(?=[^\n]*\bkind\b)(?=[^\n]*\bcontent\b).*$""", re.M)
_TITLE = re.compile(r"^[ \t]*(?:#{1,6}[ \t]*|\*\*)?facts:?(?:\*\*)?:?[ \t]*\n?\s*\Z", re.I | re.M)
_BARE_KEY = re.compile(r"([{,]\s*)([A-Za-z_]\w*)\s*:")
_CURLY = str.maketrans({"\u201c": '"', "\u201d": '"', "\u2018": "'", "\u2019": "'"})
_ENDS = ("}", '"}', '""}', "'}", "]}")
"""What a last line may lack that was cut off."""
REPAIRED = 4_000
"""Characters of a line that is worth a repair."""


def claims_in(reply: str) -> ReadClaims:
    """Reads at most `MOST` claims in `<facts>`, a fence, or lines of their own."""
    claims: list[Claim] = []
    problems: list[str] = []

    def take(text: str) -> bool:
        found, unread = _read(text)
        claims.extend(found)
        problems.extend(unread)
        return bool(found)

    def tagged(match: re.Match[str]) -> str:
        take(match[1])
        return ""

    def fenced(match: re.Match[str]) -> str:
        # Another kind of fence may belong to the text.
        if match[1].lower() == "facts" or _BARE.search(match[2]) or '"facts"' in match[2]:
            return "" if take(match[2]) or match[1].lower() == "facts" else match[0]
        return match[0]

    def bare(match: re.Match[str]) -> str:
        return "" if take(match[0]) else match[0]

    rest = _TAGGED.sub(tagged, reply)
    rest = _FENCED.sub(fenced, rest)
    rest = _BARE.sub(bare, rest)
    if claims:
        rest = _TITLE.sub("", rest)
    if len(claims) > MOST:
        problems.append(f"{len(claims) - MOST} facts more than the {MOST} that are taken")
    return ReadClaims(tuple(claims[:MOST]), rest.strip(), tuple(problems))


def _read(text: str) -> tuple[list[Claim], list[str]]:
    claims: list[Claim] = []
    problems: list[str] = []
    for value in objects_in(text):
        claim = _claim(value)
        if isinstance(claim, Claim):
            claims.append(claim)
        else:
            problems.append(claim)
    return claims, problems


def objects_in(text: str) -> Iterator[object]:
    """Reads JSON objects, repaired if need be; an unreadable line stays text."""
    decoder = json.JSONDecoder(strict=False)
    at, faults = text.find("{"), 0
    while at >= 0 and faults < FAULTS:
        value: object
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            line = text[at:].partition("\n")[0]
            value = _repaired(line.strip().rstrip(",;"))
            faults += value is None
            # If only the outer object is broken, the inner ones are still read.
            end = at + (len(line) if value is not None or line.count("{") == 1 else 1)
            if value is None and end > at + 1:
                value = line
        if value is not None:
            yield from _inner(value)
        at = text.find("{", end)


def _inner(value: object) -> Iterator[object]:
    listed = value.get("facts") if isinstance(value, dict) else None
    if isinstance(listed, list):
        yield from listed
    else:
        yield value


def _repaired(line: str) -> dict[object, object] | None:
    if len(line) > REPAIRED:
        return None
    plain = without_trailing_commas(line)
    keyed = _BARE_KEY.sub(r'\1"\2":', plain)
    for text in dict.fromkeys((plain, keyed, keyed.translate(_CURLY))):
        for end in ("", *_ENDS):
            value = read_object(text + end)
            if value is not None:
                return value
    return None


def _claim(value: object) -> Claim | str:
    if not isinstance(value, dict):
        return f"not a fact: {_short(str(value), 80)}"
    named = {str(key).lower(): inner for key, inner in value.items()}
    kind = re.sub(r"[\s-]+", "_", str(named.get("kind", "")).strip().lower())
    content, quote = named.get("content"), named.get("source", named.get("quote", ""))
    if kind not in KINDS:
        return f"no such kind of fact: {_short(kind, 40)!r}"
    if not isinstance(content, str) or not content.strip():
        return f"a fact of kind {kind} without content"
    said = quote if isinstance(quote, str) else ""
    return Claim(kind, _short(content, LONGEST), _short(said, LONGEST))


def _short(text: str, most: int) -> str:
    """Makes one line of valid UTF-8, as lone surrogates cannot be stored."""
    clean = text.encode("utf-8", "replace").decode("utf-8")
    return " ".join(clean.split())[:most]
