"""Ranks files by relevance to a goal."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import field

from sidecar.core.conversation.call_outcome import result_text
from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.deeds import TouchedFile, deeds_of
from sidecar.core.ledger.ledger import Ledger
from sidecar.core.parts import Message, ToolPart
from sidecar.core.text.identifiers import names_in
from sidecar.core.text.json_text import strings

PATH_NAMED, FILE_NAMED, WORD_NAMED, HOLDS_NAME = 10.0, 6.0, 3.0, 4.0
"""What it counts when a goal has a file's path, its name, one of its words, or what stands in it.

The last two are shared by all files that they would point to.
"""
CHANGED = 2.0
OFTEN = 10
"""From so many uses on, a file counts as used all the time."""
SHORTEST = 4
"""Letters of a word that can point to a file."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_NAMED = re.compile(r"[\w@~.+\-/]+")


@dataclass(slots=True)
class _Use:
    count: int = 0
    last: int = 0
    holds: set[str] = field(default_factory=set)


def ranked(ledger: Ledger, messages: Iterable[Message], goal: str) -> tuple[str, ...]:
    """Gives existing files' paths, likeliest needed first."""
    known = [file for file in ledger.files if file.state != "deleted"]
    names = names_in(goal)
    uses, calls = _uses(messages, names)
    words = _words(goal)
    pointed = Counter(word for file in known for word in words & _words(file.path))
    held = Counter(name for file in known for name in uses.get(file.path, _Use()).holds)
    said = {token.removeprefix("./").rstrip(".") for token in _NAMED.findall(goal)}
    scored: list[tuple[float, int, str]] = []
    for order, file in enumerate(known):
        use = uses.get(file.path, _Use())
        name = file.path.rpartition("/")[2]
        score = CHANGED * file.changed
        score += min(use.count, OFTEN) / OFTEN + use.last / max(calls, 1)
        if any(token == file.path or _ends(file.path, token) for token in said):
            score += PATH_NAMED
        elif name in said:
            score += FILE_NAMED
        # Sorted, because sets are ordered differently in each process and sums are rounded.
        score += sum(WORD_NAMED / pointed[word] for word in sorted(words & _words(file.path)))
        score += sum(HOLDS_NAME / held[name] for name in sorted(use.holds))
        scored.append((-score, -order, file.path))
    return tuple(path for _, _, path in sorted(scored))


def _uses(messages: Iterable[Message], names: Iterable[str]) -> tuple[Mapping[str, _Use], int]:
    uses: dict[str, _Use] = {}
    calls = 0
    for message in messages:
        for part in message.parts:
            if not isinstance(part, ToolPart) or message.status == "discarded":
                continue
            calls += 1
            touched = {deed.path for deed in deeds_of(part) if isinstance(deed, TouchedFile)}
            if not touched:
                continue
            text = "\n".join((*strings(part.input), result_text(part)))
            found = {name for name in names if name in text}
            for path in touched:
                use = uses.setdefault(path, _Use())
                use.count, use.last = use.count + 1, calls
                use.holds |= {name for name in found if name not in path}
    return uses, calls


def _words(text: str) -> set[str]:
    found = (word.lower() for word in _WORD.findall(text))
    return {word.removesuffix("s") for word in found if len(word) >= SHORTEST}


def _ends(path: str, token: str) -> bool:
    return "/" in token and path.endswith(f"/{token}")
