"""Finds sentences that forbid or require something, in some thirty languages.

Goes by words and signs: a false hit costs few tokens, a miss loses a rule.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice

from sidecar.core.dataclass import dataclass
from sidecar.core.late_pattern import late_pattern
from sidecar.core.text import rule_words
from sidecar.core.text.sentences import LONGEST, Span, is_item, sentences

FIRM, SOFT = 2, 1
"""How sure it is: a word that forbids or requires, or a mere negation, stress or condition."""
MOST_RULES = 2_000
"""Rules that are looked for in one text."""

_INDIC = "\u0900-\u0963\u0966-\u0dff\u064b-\u0652"
"""Vowel signs and other marks within words, which `\\w` does not count to them."""
_TOKEN = late_pattern(rf"[\w{_INDIC}]+(?:['-][\w{_INDIC}]+)*")
_SCRIPTS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3000-\u9fff\uac00-\ud7af"


@dataclass(frozen=True, slots=True)
class _Words:
    whole: frozenset[str]
    stems: Mapping[str, tuple[str, ...]]
    phrases: Mapping[str, re.Pattern[str]]
    endings: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str, endings: tuple[str, ...] = ()) -> "_Words":
        words = set(text.split())
        phrases: dict[str, list[str]] = {}
        for phrase in sorted(word for word in words if "+" in word):
            first, _, rest = phrase.partition("+")
            ending = rf"[\w{_INDIC}]*" if rest.endswith("*") else rf"(?![\w{_INDIC}])"
            body = re.escape(rest.rstrip("*")).replace(r"\+", r"\W+")
            phrases.setdefault(first, []).append(rf"\W+{body}{ending}")
        single = {word for word in words if "+" not in word}
        stems: dict[str, tuple[str, ...]] = {}
        for word in sorted(word for word in single if word.endswith("*")):
            stems[word[0]] = (*stems.get(word[0], ()), word[:-1])
        return cls(
            frozenset(word for word in single if not word.endswith("*")),
            stems,
            {first: late_pattern("|".join(rests)) for first, rests in phrases.items()},
            endings,
        )

    def has(self, word: str) -> bool:
        if word in self.whole or word.endswith(self.endings):
            return True
        if word[0] in rule_words.JOINED and word[1:] in self.whole:
            return True
        return word.startswith(self.stems.get(word[0], ()))

    def begin_in(self, words: Iterable[str], text: str) -> bool:
        if self.phrases.keys().isdisjoint(words):
            return False
        return any(
            (phrase := self.phrases.get(match[0])) is not None and phrase.match(text, match.end())
            for match in _TOKEN.finditer(text)
        )


def _solid(text: str) -> re.Pattern[str]:
    words = sorted(text.split(), key=lambda word: (-len(word), word))
    body = "|".join(re.escape(word).replace(r"\+", r"\s*") for word in words)
    return late_pattern(rf"(?=[{_SCRIPTS}])(?:{body})")


_FIRM_WORDS = _Words.of(rule_words.FIRM + rule_words.JOINING_FIRM, rule_words.FIRM_ENDINGS)
_SOFT_WORDS = _Words.of(rule_words.SOFT + rule_words.JOINING_SOFT)
_HEADING_WORDS = _Words.of(rule_words.HEADINGS)


@lru_cache(maxsize=8_192)
def _word_sureness(word: str) -> int:
    return FIRM if _FIRM_WORDS.has(word) else SOFT if _SOFT_WORDS.has(word) else 0


_SOLID = {2: _solid(rule_words.SOLID_FIRM), 1: _solid(rule_words.SOLID_SOFT)}
_SOLID_HEADINGS = _solid(rule_words.SOLID_HEADINGS)
_BEGINNING = late_pattern(rule_words.FIRM_BEGINNING)
_WITH_ZU = late_pattern(rule_words.FIRM_WITH_ZU)
_SHAPES = late_pattern("|".join(rule_words.FIRM_SHAPES))
_TELLS = late_pattern(
    r"\W*(?:the|this|our)\s+(?:[\w-]+\s+){1,3}?(?:uses|has|contains|provides|supports|consists)\b",
    re.I,
)
"""Begins a sentence that describes, as `The project uses X`."""
_AT = r"after|before|once|whenever|every time|each time|nach|vor|sobald|après|avant|después|antes"
_DIRECTS = late_pattern(
    rf"\W*(?:{_AT})\b[^`\n]{{2,60}}?[:,\u2014]\s[^`\n]{{0,30}}`[^`\n]+`|"
    rf"\W*(?:run|use|execute)\b[^`\n]{{0,20}}`[^`\n]+`[^`\n]{{0,20}}\b(?:{_AT}|instead of)\b",
    re.I,
)
"""An item that says when to run what: `After a change: `make test``."""
_NO_PROSE = late_pattern(
    "|".join((
        r"(?s:^[ \t]*(?:```|~~~).*?(?:^[ \t]*(?:```|~~~)[ \t]*$|\Z))",
        r"(?s:^[ \t]*(?:<!--.*?(?:-->|\Z)|/\*.*?(?:\*/|\Z)))|<!--[^\n]*?-->",
        r"^(?:diff --git .*|@@ -\d.*)(?:\n[^\S\n]*\S.*)*",
        rf"^(?:{'|'.join(rule_words.NO_PROSE)})$",
    )),
    re.M,
)  # fmt: skip
"""Fenced code, comments, diffs, and lines of code, logs and transcripts."""
_LEANS = late_pattern(
    rf"(?:{rule_words.OPENING})*(?:{rule_words.POINTING})(?!\w)|.*(?:{rule_words.POINTING_BACK})\W*$",
    re.S,
)
"""A sentence that says nothing without the one before."""
_WORD = late_pattern(r"[^\W\d_]{2,}")
_LOUD = late_pattern(r"[^\W\d_a-z]{3}")
_CURLY = str.maketrans({"\u2019": "'", "\u02bc": "'", "\u00a0": " "})


@dataclass(frozen=True, slots=True)
class RuleSentence:
    """A rule's place in characters (start, end); `sure` is `FIRM` or `SOFT`."""

    span: Span
    sure: int


def rules_in(text: str) -> tuple[RuleSentence, ...]:
    """Finds rules in order, each wording once, up to `MOST_RULES`; not in code, diffs or logs."""
    found = (RuleSentence(span, sure) for span, sure in _graded(text) if sure)
    return tuple(islice(found, MOST_RULES))


def standing(text: str, span: Span) -> Span | None:
    """Extends a rule's `span` by earlier sentences to which the rule points back.

    `It must stay` points back; `None` without anything to point at.
    """
    start, end = span
    if not _leans(text[start:end]):
        return span
    from_ = max(0, start - 2 * LONGEST)
    earlier = [(from_ + a, from_ + b) for a, b in sentences(text[from_:start])]
    last = end
    while end - start <= LONGEST and _leans(text[start:last]):
        first, before = earlier.pop() if earlier else (0, 0)
        is_first = first == before or text[before:start].count("\n") > 1
        if is_first or is_item(text[start:last]) or text.startswith(("```", "~~~"), first):
            return None
        start, last = first, before
    return start, end


def _leans(sentence: str) -> bool:
    return _LEANS.match(sentence.casefold().translate(_CURLY)) is not None


def each_once(rules: Iterable[str]) -> list[str]:
    """Keeps each wording once, and drops a rule that begins the next."""
    found: dict[str, str] = {}
    last = ""
    for rule in rules:
        if last and rule.startswith(found.get(last, "") or "\n"):
            del found[last]
        last = wording(rule) or rule
        found.setdefault(last, rule)
    return list(found.values())


def wording(rule: str) -> str:
    return " ".join(_TOKEN.findall(rule.casefold()))


def sureness(sentence: str) -> int:
    """Grades a sentence as a rule: `FIRM`, `SOFT` or 0."""
    plain = sentence.casefold()
    solid = not plain.isascii()
    if solid:
        plain = plain.translate(_CURLY)
        if _SHAPES.search(plain) or _SOLID[FIRM].search(plain):
            return FIRM
    words = set(_TOKEN.findall(plain))
    sure = max(map(_word_sureness, words), default=0)
    if sure == FIRM or _FIRM_WORDS.begin_in(words, plain) or _is_loud(sentence):
        return FIRM
    if _BEGINNING.match(plain) or ("zu" in words and _WITH_ZU.search(plain)):
        return FIRM
    if sure or _SOFT_WORDS.begin_in(words, plain):
        return SOFT
    return SOFT if solid and _SOLID[SOFT].search(plain) else 0


def _graded(text: str) -> Iterator[tuple[Span, int]]:
    seen: set[str] = set()
    listed = False
    for start, end in _unfenced(text):
        sentence = text[start:end]
        item = is_item(sentence) and not sentence.startswith("#")
        if not item:
            listed = _opens_rules(sentence)
        if sentence not in seen:
            seen.add(sentence)
            sure = sureness(sentence)
            if item and _DIRECTS.match(sentence):
                sure = FIRM
            if listed and item:
                sure = max(sure, SOFT if _TELLS.match(sentence) else FIRM)
            yield (start, end), sure


def _unfenced(text: str) -> Iterator[Span]:
    at = 0
    ends = (len(text), len(text))
    for fence, after in (*(match.span() for match in _NO_PROSE.finditer(text)), ends):
        for start, end in sentences(text[at:fence]):
            yield at + start, at + end
        at = after


def _opens_rules(sentence: str) -> bool:
    title = sentence.startswith("#") or sentence.rstrip("* ").endswith((":", "\uff1a"))
    short = len(sentence) <= 80
    if not title or not short:
        return False
    plain = sentence.casefold()
    if _SOLID_HEADINGS.search(plain):
        return True
    words = _TOKEN.findall(plain)
    return any(map(_HEADING_WORDS.has, words)) or _HEADING_WORDS.begin_in(words, plain)


def _is_loud(sentence: str) -> bool:
    if sentence.islower() or not _LOUD.search(sentence):
        return False
    words = _WORD.findall(sentence)
    loud = [word for word in words if word.isupper() and word.lower() != word]
    return len(loud) >= 3 and 2 * len(loud) >= len(words)


def size_of(text: str) -> int:
    """Counts bytes of UTF-8; a lone surrogate takes three."""
    return len(text.encode("utf-8", "surrogatepass"))
