"""Confirms a model's claims by the log: facts, which outlive the session."""

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import field

from sidecar.core.conversation.call_outcome import result_text
from sidecar.core.conversation.fact import Fact, Speaker, fact_id, normalised
from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.claims import LONGEST, Claim
from sidecar.core.ledger.guidance import HANDED_ON, SESSION_LINK
from sidecar.core.parts import (
    FilePart,
    Message,
    MessageId,
    Millis,
    Part,
    ReasoningPart,
    TextPart,
    ToolPart,
    TurnId,
)
from sidecar.core.text.identifiers import names_in
from sidecar.core.text.json_text import strings
from sidecar.core.text.sentences import statements

LEAST_QUOTE = 10
"""A quote of fewer characters stands nearly everywhere and so says nothing."""

MOST_STATED = 3
"""Statements that a rule of the user's may take."""


def supported(
    claims: Iterable[Claim],
    messages: Sequence[Message],
    foreign: Set[MessageId] = frozenset(),
) -> tuple[tuple[Fact, ...], tuple[str, ...]]:
    """Gives distinct facts, and reasons against the other claims.

    `foreign`: messages of other sessions, which count as a tool's.
    """
    facts: dict[str, Fact] = {}
    dropped: list[str] = []
    said: list[_Said] | None = None
    for claim in claims:
        if said is None:
            said = _gathered(messages, foreign)
        found = _source(claim, said)
        if isinstance(found, str):
            dropped.append(f"{claim.kind}: {claim.content}: {found}")
            continue
        fact = _fact(claim, *found)
        if facts.setdefault(fact_id(fact), fact) is not fact:
            dropped.append(f"{claim.kind}: {claim.content}: said twice")
    return tuple(facts.values()), tuple(dropped)


_GAP = re.compile(r"\s*(?:\u2026|\.\.\.|\[\u2026\]|\[\.\.\.\])\s*")
_URL = re.compile(r"https?://[^\s<>\"'`)\]]+")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,:]\d+)+(?![\w])|(?<![\w.])\d{2,}(?![\w])")

_WORD = re.compile(r"\w\w")
_ITEM = re.compile(r"\A[-*+] ")


@dataclass(slots=True)
class _Said:
    turn: TurnId
    at: Millis
    who: Speaker
    texts: list[str] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)

    def holds(self, pieces: Sequence[str]) -> bool:
        return any(_in_order(pieces, text) for text in self.texts)

    def names(self, name: str) -> bool:
        return any(_stands(name, text) for text in self.texts)


def _gathered(messages: Iterable[Message], foreign: Set[MessageId]) -> list[_Said]:
    said: list[_Said] = []
    for message in messages:
        if message.status == "discarded":
            continue
        by: dict[Speaker, _Said] = {}
        for part in message.parts:
            for speaker, text in _texts(part):
                who: Speaker = "tool" if message.id in foreign else speaker
                one = by.setdefault(who, _Said(message.turn_id, message.created, who))
                one.texts.append(normalised(text))
                one.raw.append(text)
        said.extend(by.values())
    return said


def _texts(part: Part) -> Iterator[tuple[Speaker, str]]:
    match part:
        case TextPart(text=text, source="model") | ReasoningPart(text=text):
            yield "model", text
        case TextPart(text=text, source="context"):
            yield "tool", text
        case TextPart(text=text):
            # What another session found out bears itself out nowhere else.
            yield "user", text.partition(HANDED_ON)[0]
        case FilePart(uri=uri) if uri.startswith(SESSION_LINK):
            pass
        case FilePart():
            yield "tool", f"{part.uri}\n{part.text or ''}"
        case ToolPart():
            yield "model", f"{part.name}\n" + "\n".join(strings(part.input))
            yield "tool", result_text(part)
        case _:
            pass


def _fact(claim: Claim, one: _Said, who: Speaker) -> Fact:
    if who != "user" or claim.kind not in ("constraint", "decision"):
        return Fact(claim.kind, claim.content, one.turn, one.at, who)
    # Later sessions take it for the user's rule: nobody else words it, and nobody shortens it.
    for words in ((normalised(claim.content),), _pieces(claim.quote)):
        if sum(map(len, words)) >= LEAST_QUOTE:
            for plain, text in zip(one.texts, one.raw, strict=True):
                if _in_order(words, plain) and (found := _stated(words, text)):
                    return Fact(claim.kind, found, one.turn, one.at, who)
    return Fact(claim.kind, claim.content, one.turn, one.at, "nobody")


def _stated(pieces: Sequence[str], text: str) -> str:
    """Gives the fewest whole statements that hold all pieces; empty if none or too long."""
    spans = tuple(statements(text))
    for more in range(MOST_STATED):
        for (start, _), (_, end) in zip(spans, spans[more:], strict=False):
            said = " ".join(text[start : min(end, start + 2 * LONGEST)].split())
            if (
                len(said) <= LONGEST
                and end - start <= 2 * LONGEST
                and _in_order(pieces, normalised(said))
            ):
                return _ITEM.sub("", said).encode("utf-8", "replace").decode()
    return ""


def _pieces(quote: str) -> tuple[str, ...]:
    return tuple(piece for piece in map(normalised, _GAP.split(quote)) if piece)


def _source(claim: Claim, said: Sequence[_Said]) -> tuple[_Said, Speaker] | str:
    named = _named(claim.content)
    nowhere = [name for name in named if not any(one.names(name) for one in said)]
    if nowhere:
        return f"{', '.join(nowhere[:3])} stands nowhere in the conversation"
    pieces = _pieces(claim.quote)
    if sum(map(len, pieces)) >= LEAST_QUOTE:
        quoted = [one for one in said if one.holds(pieces)]
        if not quoted:
            return "what it quotes was never said"
        return _best(quoted, said, named)
    if not named:
        return "it quotes nothing and names nothing that could be looked up"
    for one in said:
        if one.names(named[0]) and _held(named, said, one.turn) == len(named):
            return one, "nobody"
    return "what it names does not stand together in any turn"


def _best(
    found: Sequence[_Said], said: Sequence[_Said], named: Sequence[str]
) -> tuple[_Said, Speaker]:
    """Prefers the source whose turn has most names, then people, then the first."""
    held = {turn: _held(named, said, turn) for turn in {one.turn for one in found}}
    best = min(found, key=lambda one: (-held[one.turn], one.who == "tool"))
    return best, best.who


def _held(named: Sequence[str], said: Sequence[_Said], turn: TurnId) -> int:
    there = [one for one in said if one.turn == turn]
    return sum(any(one.names(name) for one in there) for name in named)


def _named(content: str) -> tuple[str, ...]:
    urls = {url.rstrip(".,;:") for url in _URL.findall(content)}
    rest = _URL.sub(" ", content)
    found = {*urls, *names_in(rest), *_NUMBER.findall(rest)}
    return tuple(sorted(name for raw in found if (name := normalised(raw))))


def _stands(name: str, text: str) -> bool:
    """Whether a text has a whole name: 15 is not in 1500, nor `run` in `rerun`."""
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(name) : at + len(name) + 1]
        if not (_WORD.match(name[0] + before) or _WORD.match(name[-1] + after)):
            return True
        at = text.find(name, at + 1)
    return False


def _in_order(pieces: Sequence[str], text: str) -> bool:
    at = 0
    for piece in pieces:
        at = text.find(piece, at)
        if at < 0:
            return False
        at += len(piece)
    return True
