"""Takes what looks like a key or a password out of whatever is handed to others. Pure.

Only shapes that keys have are taken: a wrong hit changes a text that somebody may need as it was.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import TypeVar, cast

from sidecar.core.parts import Media, ReasoningPart

REDACTED = "[redacted]"
SHORTEST = 8
"""Characters; a known secret that is shorter may be a word of any text."""

T = TypeVar("T")

_SHAPES: tuple[tuple[str, str], ...] = (
    # Anthropic, OpenAI, OpenRouter, Stripe
    ("sk-", r"sk-(?<![\w-]sk-)[A-Za-z0-9_-]{20,}"),
    ("k_live_", r"[sr]k_live_[A-Za-z0-9]{16,}"),
    ("k_test_", r"[sr]k_test_[A-Za-z0-9]{16,}"),
    # GitHub, GitLab, npm, PyPI, Hugging Face
    ("gh", r"gh(?<![\w-]gh)[pousr]_[A-Za-z0-9]{36,}"),
    ("github_pat_", r"github_pat_[A-Za-z0-9_]{22,}"),
    ("glpat-", r"glpat-[A-Za-z0-9_-]{20,}"),
    ("npm_", r"npm_(?<![\w-]npm_)[A-Za-z0-9]{36}(?!\w)"),
    ("pypi-", r"pypi-(?<![\w-]pypi-)[A-Za-z0-9_-]{50,}"),
    ("hf_", r"hf_(?<![\w-]hf_)[A-Za-z0-9]{30,}"),
    # AWS, Google, Slack
    ("AKIA", r"AKIA(?<![A-Za-z0-9+/_-]AKIA)[0-9A-Z]{16}(?![A-Za-z0-9+/=_-])"),
    ("ASIA", r"ASIA(?<![A-Za-z0-9+/_-]ASIA)[0-9A-Z]{16}(?![A-Za-z0-9+/=_-])"),
    ("AIza", r"AIza(?<![A-Za-z0-9+/_-]AIza)[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    ("ya29.", r"ya29\.[A-Za-z0-9_-]{20,}"),
    ("xox", r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    # JSON web tokens, private keys in PEM
    ("eyJ", r"eyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    (
        "PRIVATE KEY-----",
        r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----[^\"]{1,20000}?-----END (?:[A-Z]+ )*"
        r"PRIVATE KEY-----",
    ),
    # A password in an address, `Authorization: Bearer …`, `API_KEY=…` and the like
    ("://", r"://[^\s:/@\"'<>]{1,100}:(?P<value>[^\s:/@\"'<>{}$]{6,200})(?=@[\w.-])"),
    ("bearer ", r"(?i:bearer )(?P<value>[A-Za-z0-9._~+/-]{20,}=*)"),
    *(
        (
            marker,
            rf"(?i:{name})[\"']?\s{{0,3}}[:=]\s{{0,3}}[\"']?(?P<value>[\w+/.-]{{20,}}={{0,2}})",
        )
        for marker, name in (
            ("key", r"(?:api|auth|access|secret|private|client|encryption|signing)[_-]?key"),
            ("token", "token"),
            ("secret", "secret"),
        )
    ),
)
"""What a text with such a key has in it, in lower case where the key may have any, and the key."""
_RANDOM = frozenset(("sk-", "key", "token", "secret"))
"""Shapes that names in code have too, so that the key must look like chance."""
_ANY_CASE = frozenset(("bearer ", "key", "token", "secret"))
_PATTERNS = tuple((marker, re.compile(pattern)) for marker, pattern in _SHAPES)


@dataclass(slots=True)
class Redaction:
    """Goes through values and counts what was taken out; `known` are secrets to take wherever."""

    known: tuple[str, ...] = ()
    count: int = 0

    def text(self, text: str) -> str:
        """Give a text without its keys."""
        for secret in self.known:
            if secret in text:
                self.count += text.count(secret)
                text = text.replace(secret, REDACTED)
        lower = text.lower()
        for marker, pattern in _PATTERNS:
            if marker in (lower if marker in _ANY_CASE else text):
                text = pattern.sub(partial(self._instead, marker in _RANDOM), text)
        return text

    def value(self, value: T) -> T:
        """Give a frozen value, or JSON, with every text in it without its keys.

        Images and what a provider signed stay as they are: there, no text is a key.
        """
        return cast("T", self._walk(value))

    def _walk(self, value: object) -> object:
        match value:
            case str():
                return self.text(value)
            case Media():
                return value
            case ReasoningPart(text=text):
                clean = self.text(text)
                return value if clean == text else replace(value, text=clean)
            case dict():
                return {key: self._walk(one) for key, one in value.items()}
            case list():
                return [self._walk(one) for one in value]
            case tuple():
                return tuple(self._walk(one) for one in value)
            case _ if hasattr(value, "__dataclass_fields__"):
                return self._inside(value)
            case _:
                return value

    def _inside(self, value: object) -> object:
        # Any frozen value of ours; it is called one of these for the type's sake.
        found = cast("Redaction", value)
        before = {one.name: getattr(found, one.name) for one in fields(found)}
        after = {name: self._walk(one) for name, one in before.items()}
        changed = {name: one for name, one in after.items() if one != before[name]}
        return replace(found, **changed) if changed else value  # type: ignore[arg-type] # its own

    def _instead(self, must_be_random: bool, found: re.Match[str]) -> str:
        key = found.groupdict().get("value") or found[0]
        if must_be_random and not _is_random(key):
            return found[0]
        self.count += 1
        return found[0].removesuffix(key) + REDACTED


def secrets_in(variables: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Give the values of variables whose names say that they are secret, the longest first."""
    found = {value for name, value in variables if _SECRET.search(name) and len(value) >= SHORTEST}
    return tuple(sorted(found, key=lambda value: (-len(value), value)))


_SECRET = re.compile(r"(?i)(?:^|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)$")


def _is_random(value: str) -> bool:
    """Tell a key from a name in code: it has letters and digits, mixed more than once."""
    kinds = re.sub(r"[A-Za-z]+", "a", re.sub(r"[0-9]+", "0", value))
    return len(re.findall("a0|0a", kinds)) >= 3
