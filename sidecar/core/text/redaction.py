"""Removes keys and passwords, only of known shapes: a wrong hit spoils text."""

import re
from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from functools import lru_cache, partial
from itertools import count
from operator import is_
from typing import TypeVar, cast

from sidecar.core.dataclass import dataclass
from sidecar.core.late_pattern import late_pattern
from sidecar.core.parts import KeptText, Media, ReasoningPart
from sidecar.core.text.secret_names import is_login, is_path, is_random, is_secret

REDACTED = "[redacted]"
SHORTEST = 8
"""Characters; a shorter secret may be any word."""

T = TypeVar("T")

_AS_NAMED = r"s?(?:\\{0,3}[\"'])?\s{0,3}[:=]\s{0,3}(?:\\{0,3}[\"'])?"
"""Between a name and its value, in code, settings and nested JSON."""
_KINDS_OF_KEY = "|".join(
    rf"(?<={kind}key)|(?<={kind}[_-]key)"
    for kind in ("api", "auth", "access", "secret", "private", "client", "encryption", "signing")
)
"""Looked for backwards from each "key": much quicker."""
_NAMED: tuple[tuple[str, str], ...] = (
    (
        "access",
        rf"(?i:secret[_-]?access[_-]?key){_AS_NAMED}"
        r"(?P<value>(?=[A-Za-z/+]*[0-9])[A-Za-z0-9/+]{40})(?![\w/+=.(-])",
    ),
    (
        "authorization",
        rf"(?i:authorization{_AS_NAMED}basic\s)(?P<value>[A-Za-z0-9+/]{{4,}}={{0,2}})",
    ),
    *(
        (marker, rf"(?i:{name}){_AS_NAMED}(?P<value>[\w+/.-]{{20,}}={{0,2}})")
        for marker, name in (
            ("key", rf"key(?:{_KINDS_OF_KEY})"),
            ("token", "token"),
            ("secret", "secret"),
            ("pass", "pass(?:word|wd|phrase)"),
        )
    ),
)
"""Values told by their names alone, such as `API_KEY=…`."""
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
    ("ABSK", r"ABSK(?<![A-Za-z0-9+/_-]ABSK)[A-Za-z0-9+/]{60,}={0,2}(?![A-Za-z0-9+/=_-])"),
    ("bedrock-api-key-", r"bedrock-api-key-[A-Za-z0-9+/=_-]{20,}"),
    ("AIza", r"AIza(?<![A-Za-z0-9+/_-]AIza)[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    ("ya29.", r"ya29\.[A-Za-z0-9_-]{20,}"),
    ("xox", r"xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("GOCSPX-", r"GOCSPX-(?<![\w-]GOCSPX-)[A-Za-z0-9_-]{20,}"),
    # Groq, xAI, Perplexity, Replicate, SendGrid, DigitalOcean
    ("gsk_", r"gsk_(?<![\w-]gsk_)[A-Za-z0-9]{32,}"),
    ("xai-", r"xai-(?<![\w-]xai-)[A-Za-z0-9]{32,}"),
    ("pplx-", r"pplx-(?<![\w-]pplx-)[A-Za-z0-9]{32,}"),
    ("r8_", r"r8_(?<![\w-]r8_)[A-Za-z0-9]{32,}"),
    ("SG.", r"SG\.(?<![\w.-]SG\.)[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}(?![\w-])"),
    ("_v1_", r"do[oprt]_v1_(?<![\w-]do[oprt]_v1_)[a-f0-9]{64}"),
    # Shopify, Figma, Linear, Notion, NVIDIA, Databricks, Vault, age, Azure's storage
    ("shp", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    ("figd_", r"figd_(?<![\w-]figd_)[A-Za-z0-9_-]{32,}"),
    ("lin_api_", r"lin_api_[A-Za-z0-9]{32,}"),
    ("ntn_", r"ntn_(?<![\w-]ntn_)[A-Za-z0-9]{40,}"),
    ("nvapi-", r"nvapi-(?<![\w-]nvapi-)[A-Za-z0-9_-]{40,}"),
    ("dapi", r"dapi(?<![\w-]dapi)[a-f0-9]{32}(?:-\d)?(?!\w)"),
    ("hvs.", r"hvs\.(?<![\w.-]hvs\.)[A-Za-z0-9_-]{24,}"),
    ("AGE-SECRET-KEY-", r"AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{58,}"),
    ("AccountKey=", r"AccountKey=(?P<value>[A-Za-z0-9+/]{40,}={0,2})"),
    # JSON web tokens, private keys in PEM, also cut off, and of PGP
    ("eyJ", r"eyJ(?<![\w-]eyJ)[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    (
        "PRIVATE KEY",
        r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----"
        r"(?:(?:(?!-----BEGIN)[^\"]){1,20000}?-----END (?:[A-Z]+ )*"
        r"PRIVATE KEY(?: BLOCK)?-----|(?:(?:\s|\\{1,3}n){1,4}[A-Za-z0-9+/]{16,}={0,2}){1,400})",
    ),
    # A password in an address, `Authorization: Bearer …`, `API_KEY=…` and the like
    ("://", r"://[^\s:/@\"'<>]{1,100}:(?P<value>[^\s:/@\"'<>{}$]{6,200})(?=@[\w.-])"),
    ("bearer ", r"(?i:bearer )(?P<value>[A-Za-z0-9._~+/-]{20,}=*)"),
    *_NAMED,
)
"""A text within any such key, in lower case where the key may have any, and the key."""
_CHECKS: dict[str, Callable[[str], bool]] = {
    **dict.fromkeys(
        ("sk-", "key", "token", "secret", "pass", "figd_", "nvapi-", "hvs."), is_random
    ),
    "authorization": is_login,
}
"""Shapes shared with code and plain words, and a test for keys."""
_ANY_CASE = frozenset(("bearer ", *(marker for marker, _ in _NAMED)))
_PATTERNS = tuple((marker, late_pattern(pattern)) for marker, pattern in _SHAPES)
_AS_WRITTEN = tuple(one for one in _PATTERNS if one[0] not in _ANY_CASE)
_IN_ANY_CASE = tuple(one for one in _PATTERNS if one[0] in _ANY_CASE)
"""The last of all, in the same order."""
_NUMBERS = (int, float)
_SHORTEST_SHAPE = 12
"""Characters of the shortest match: an address with a password of six."""
_SHORT = 64
"""Characters of names, ids and kinds, which come again and again in a value."""
_BY_NAME = tuple((marker, late_pattern(pattern)) for marker, pattern in _NAMED)


@dataclass(slots=True)
class Redaction:
    """Removes secrets and counts them; `known` secrets are removed anywhere."""

    known: tuple[str, ...] = ()
    count: int = 0

    def text(self, text: str) -> str:
        for secret in self.known:
            if secret in text:
                self.count += text.count(secret)
                text = text.replace(secret, REDACTED)
        if len(text) < _SHORTEST_SHAPE:
            return text
        for marker, pattern in _likely(text):
            text = pattern.sub(partial(self._instead, marker), text)
        return text

    def value(self, value: T) -> T:
        """Cleans every text in a frozen value or JSON, except images and signed data."""
        return cast("T", self._walk(value))

    def _walk(self, value: object, name: str = "") -> object:
        if value is None or isinstance(value, _NUMBERS):
            return value
        match value:
            case str() | KeptText():
                text = str(value)
                return self._field(name, self.text(text)) if name else self.text(text)
            case Media():
                return value
            case ReasoningPart(text=text):
                clean = self.text(text)
                return value if clean == text else replace(value, text=clean)
            case dict():
                return self._fields(value)
            case list():
                return [self._walk(one, name) for one in value]
            case tuple():
                walked = tuple([self._walk(one, name) for one in value])
                return value if all(map(is_, walked, value)) else walked
            case _ if hasattr(value, "__dataclass_fields__"):
                return self._inside(value)
            case _:
                return value

    def _fields(self, given: dict[object, object]) -> dict[object, object]:
        clean: dict[object, object] = {}
        for key, one in given.items():
            name = self.text(key) if isinstance(key, str) else key
            if name != key and (name in clean or name in given):
                # Two redacted keys must not become one field.
                name = next(new for n in count(2) if (new := f"{name} {n}") not in clean)
            clean[name] = self._walk(one, name if isinstance(name, str) else "")
        return clean

    def _field(self, name: str, text: str) -> str:
        before = f"{name}: "
        for marker, pattern in _patterns_of(name):
            clean = pattern.sub(partial(self._instead, marker), before + text)
            text = clean.removeprefix(before)
        return text

    def _inside(self, value: object) -> object:
        # Any frozen dataclass of ours; the cast only satisfies the type checker.
        found = cast("Redaction", value)
        kind: type = type(value)
        changed: dict[str, object] = {}
        for name in _names(kind):
            before = getattr(found, name)
            # Most of a large value are numbers.
            if before is None or isinstance(before, _NUMBERS):
                continue
            after = self._walk(before)
            if after is not before and after != before:
                changed[name] = after
        return replace(found, **changed) if changed else value  # type: ignore[arg-type] # its own

    def _instead(self, marker: str, found: re.Match[str]) -> str:
        key = _key(marker, found)
        if not key:
            return found[0]
        self.count += 1
        return found[0].removesuffix(key) + REDACTED


def holds_key(text: str) -> bool:
    """Whether a text has a key's shape; ignores passwords in addresses."""
    return any(
        _key(marker, found)
        for marker, pattern in _likely(text)
        if marker != "://"
        for found in pattern.finditer(text)
    )


def _key(marker: str, found: re.Match[str]) -> str:
    key: str = found.groupdict().get("value") or found[0]
    return key if marker not in _CHECKS or _CHECKS[marker](key) else ""


def _likely(text: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return _known_likely(text) if len(text) <= _SHORT else _found_likely(text)


def _found_likely(text: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    lower = text.lower()
    found = [one for one in _AS_WRITTEN if one[0] in text]
    return (*found, *[one for one in _IN_ANY_CASE if one[0] in lower])


_known_likely = lru_cache(4096)(_found_likely)


@lru_cache(256)
def _names(kind: type) -> tuple[str, ...]:
    return tuple(one.name for one in fields(kind))


@lru_cache(256)
def _patterns_of(name: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    return tuple((marker, pattern) for marker, pattern in _BY_NAME if marker in name.lower())


def secrets_in(variables: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Returns secret values, longest first; no paths, none under `SHORTEST`."""
    found = {
        value
        for name, value in variables
        if is_secret(name, value) and len(value) >= SHORTEST and not is_path(value)
    }
    return tuple(sorted(found, key=lambda value: (-len(value), value)))
