"""Finds text in a static prompt that breaks the next start's cache.

Skips versions, plain years, colours, ratios, known ports, model ids. A date may be meant: callers
decide.
"""

import re
from collections.abc import Callable
from typing import Literal, TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.late_pattern import late_pattern

VolatileKind: TypeAlias = Literal[
    "date", "time", "epoch", "id", "temporary path", "git hash", "port", "process id"
]
EPHEMERAL = 32_768
"""Ports from here on are the system's choice; those below, people's."""


@dataclass(frozen=True, slots=True)
class Volatile:
    """A volatile text; `offset` is in characters."""

    kind: VolatileKind
    text: str
    offset: int


def volatile(text: str) -> tuple[Volatile, ...]:
    found = [
        Volatile(rule.kind, match["v"], match.start("v"))
        for rule in _RULES
        for match in rule.pattern.finditer(text)
        if rule.check(match["v"])
    ]
    found.sort(key=lambda one: (one.offset, -len(one.text)))
    kept: list[Volatile] = []
    end = 0
    for one in found:
        if one.offset >= end:
            kept.append(one)
            end = one.offset + len(one.text)
    return tuple(kept)


def _any(_: str) -> bool:
    return True


def _mixed(text: str) -> bool:
    return any(c.isdigit() for c in text) and any(c.isalpha() for c in text)


def _is_id(text: str) -> bool:
    return len(set(text)) > 4


def _is_ephemeral(port: str) -> bool:
    return EPHEMERAL <= int(port) <= 65_535


def _is_made_up(path: str) -> bool:
    return "var/folders" in path or any(map(_is_random, re.split(r"[/\\]", path)))


def _is_random(name: str) -> bool:
    if re.fullmatch(r"tmp[a-z0-9_]{8}", name) or name.startswith("pytest-of-"):
        return True
    tokens = re.split(r"[-_.]", name)
    return any((len(t) >= 6 and _mixed(t)) or (len(t) >= 4 and t.isdigit()) for t in tokens)


@dataclass(frozen=True, slots=True)
class _Rule:
    kind: VolatileKind
    pattern: re.Pattern[str]
    check: Callable[[str], bool] = _any


_YEAR = r"(?:19|20)\d\d"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?"
    r"|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_WEEKDAY = r"(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?\.?"
_ISO = rf"{_YEAR}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])"
_CLOCK = r"(?:[01]?\d|2[0-3]):[0-5]\d"
_SECONDS = r":[0-5]\d(?:[.,]\d+)?"
_ZONE = r" ?(?:Z|UTC|GMT|CES?T|[ECMP][SD]T|[+-][01]\d:?[0-5]\d)"
_ALONE = r"(?<![\w.:/@-])"
"""Not within a word, version, path or id."""


def _rule(kind: VolatileKind, pattern: str, check: Callable[[str], bool] = _any) -> _Rule:
    return _Rule(kind, late_pattern(pattern), check)


_RULES: tuple[_Rule, ...] = (
    _rule("time", rf"{_ALONE}(?P<v>{_ISO}[T ]{_CLOCK}(?:{_SECONDS})?(?:{_ZONE})?)(?![\w:])"),
    _rule("time", rf"{_ALONE}(?P<v>{_CLOCK}{_SECONDS}(?:{_ZONE})?)(?![\w:])"),
    _rule("time", rf"{_ALONE}(?P<v>{_CLOCK}(?:{_ZONE}| ?(?i:[ap]\.?m\b\.?)))(?![\w:])"),
    _rule("time", rf"(?i:\b(?:time|clock|now)\b)[^\n\w]{{1,4}}(?:is )?(?P<v>{_CLOCK})(?![\w:])"),
    _rule("date", rf"{_ALONE}(?P<v>{_ISO})(?![\w-])"),
    _rule("date", rf"{_ALONE}(?P<v>{_YEAR}/(?:0?[1-9]|1[0-2])/{_DAY})(?![\w/])"),
    _rule("date", rf"{_ALONE}(?P<v>{_DAY}([./]){_DAY}\2{_YEAR})(?![\w/])(?!\.\d)"),
    _rule("date", rf"\b(?P<v>(?i:{_MONTH}) {_DAY}(?:st|nd|rd|th)?,? {_YEAR})\b"),
    _rule("date", rf"\b(?P<v>{_DAY}(?:st|nd|rd|th|\.)? (?:of )?(?i:{_MONTH}),? {_YEAR})\b"),
    _rule("date", rf"\b(?P<v>{_WEEKDAY},? (?:{_MONTH} {_DAY}|{_DAY} {_MONTH}))\b"),
    _rule("epoch", r"(?<![\w.,-])(?P<v>1[5-9]\d{8}(?:\d{3})?)(?!\w|[.,-]\d)"),
    _rule(
        "id",
        r"(?<![\w-])(?P<v>[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})(?![\w-])",
        _is_id,
    ),
    _rule("id", r"(?<![\w-])(?P<v>01[0-9A-HJKMNP-TV-Z]{24})(?![\w-])", _mixed),
    _rule(
        "temporary path",
        r"(?<![\w.])(?P<v>(?:/private)?/(?:tmp|var/tmp|var/folders|dev/shm)(?:/[\w.@+-]*[\w@+-])+)",
        _is_made_up,
    ),
    _rule(
        "temporary path",
        r"\b(?P<v>[A-Za-z]:\\(?:[^\\\s\"'<>|]+\\){0,8}[Tt]e?mp(?:\\[\w.@+-]*[\w@+-])+)",
        _is_made_up,
    ),
    _rule("git hash", r"(?<![\w/#@:-])(?P<v>[0-9a-f]{40})(?![\w-])", _mixed),
    _rule(
        "git hash",
        r"(?i:\b(?:commit|head|revision|rev|sha1?|parent)\b)[\s:=(`'\"]{1,4}(?:is |at )?[`'\"]?"
        r"(?P<v>[0-9a-f]{7,12})(?![\w-])",
        _mixed,
    ),
    _rule("git hash", r"(?m:^)[ *|]{0,6}(?P<v>[0-9a-f]{7,12}) (?=\S)", _mixed),
    _rule(
        "port",
        r"(?:\blocalhost|\b127\.0\.0\.1|\b0\.0\.0\.0|\[::1?\]|(?i:\bport)):? ?(?P<v>\d{5})(?!\w)",
        _is_ephemeral,
    ),
    _rule("process id", r"(?i:\bpid\b|\bprocess id\b)[ :=#]{1,3}(?:is )?(?P<v>\d{2,7})(?!\w)"),
)
