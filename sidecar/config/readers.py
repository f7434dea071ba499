"""Reads values of settings, with error messages."""

import os
import re
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from sidecar.config.mcp_settings import read_servers
from sidecar.config.provider_settings import read_providers
from sidecar.config.rejecting_rules import WITH_COMMANDS, doubted
from sidecar.config.setting import Reader
from sidecar.core.conversation.wishes import ANY_AGENT, Preserve
from sidecar.core.prompt.budget import ZoneStarts

HARDER = ("low", "medium", "high", "xhigh", "max")
"""Levels of thinking; without one, the model decides."""
LogLevel: TypeAlias = Literal["debug", "info", "warning", "error"]


class Secret(str):
    """A key, hidden by `repr` from logs and errors."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'[redacted]'"


NO_KEY = Secret("")


def kind_of(value: object) -> str:
    names = {bool: "a boolean", int: "a number", float: "a number", str: "a string"}
    return names.get(type(value), "a list" if isinstance(value, list) else "a table")


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"must be a string, not {kind_of(value)}.")  # noqa: TRY004 - one error for all
    return value.strip()


def _name(value: object) -> str:
    text = _text(value)
    if not text:
        raise ValueError("is empty. Leave it out for the default.")
    return text


def _secret(value: object) -> Secret:
    return Secret(_text(value))


def _url(value: object) -> str:
    text = _text(value).rstrip("/")
    if text and not text.startswith(("http://", "https://")):
        raise ValueError("must begin with http:// or https://.")
    return text


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"must be true or false, not {kind_of(value)}.")  # noqa: TRY004 - same
    return value


def count(least: int, most: int = 1_000_000_000) -> Reader:

    def read(value: object) -> int:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool):
            raise ValueError(f"must be a whole number, not {kind_of(value)}.")  # noqa: TRY004 - same
        if not least <= value <= most:
            raise ValueError(f"must be from {least} to {most}, not {value}.")
        return value

    return Reader(f"{least:,} to {most:,}" if most < 1_000_000_000 else f"{least:,} or more", read)


def _dollars(value: object) -> Decimal:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError(f"must be an amount of USD, not {kind_of(value)}.")  # noqa: TRY004 - same
    try:
        amount = Decimal(str(value).strip())
    except InvalidOperation:
        raise ValueError("must be an amount of USD, such as 0.50.") from None
    if not amount.is_finite() or amount <= 0:
        raise ValueError("must be more than 0 USD.")
    return amount


def _folder(value: object) -> Path:
    try:
        path = Path(_name(value)).expanduser()
    except RuntimeError as error:
        raise ValueError("names the home folder of nobody.") from error
    if not path.is_absolute():
        raise ValueError("must be an absolute path.")
    return path


def _file(value: object) -> str:
    return "" if value == "" else str(_folder(value))


def _recipients(value: object) -> tuple[str, ...]:
    keys = _list_of_texts(value)
    for key in keys:
        if not key.startswith(("age1", "ssh-ed25519 ", "ssh-rsa ")):
            raise ValueError(f"must be public keys, of age (age1…) or ssh, not {key!r:.40}.")
    return keys


def _list_of_texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
        raise ValueError(f"must be a list of texts, not {kind_of(value)}.")
    return tuple(value)


def _effort(value: object) -> str:
    text = _text(value).lower()
    if text not in ("", *HARDER):
        raise ValueError(f"must be one of {', '.join(HARDER)}, or empty.")
    return text


def _level(value: object) -> str:
    text = _name(value).lower()
    if text not in get_args(LogLevel):
        raise ValueError(f"must be one of {', '.join(get_args(LogLevel))}.")
    return text


def _policy(value: object) -> str:
    """Imports policies only here, as few settings name any."""
    from sidecar.core.policies import policies  # noqa: PLC0415 - see above

    text = _name(value)
    if text in policies():
        return text
    near = get_close_matches(text, policies(), n=1)
    meant = f"Did you mean {near[0]!r}? " if near else ""
    raise ValueError(f"{text!r} is no policy. {meant}There are {', '.join(policies())}.")


def _list(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(rule, str) and rule for rule in value):
        raise ValueError('must be a list of rules, such as ["write_file", "shell:git status *"].')
    return tuple(value)


def _rules(value: object) -> tuple[str, ...]:
    return tuple(map(_at_home, _list(value)))


def _at_home(rule: str) -> str:
    tool, colon, text = rule.partition(":")
    name, at, folder = tool.partition("@")
    if name.strip().casefold() not in (*WITH_COMMANDS, "execute"):
        text = _without_tilde(text.strip())
    return f"{name}{at}{_without_tilde(folder)}{colon}{text}"


def _without_tilde(path: str) -> str:
    if path != "~" and not path.startswith("~/"):
        return path
    home = os.path.realpath(os.path.expanduser("~"))
    return re.sub(r"[\\*]", r"\\\g<0>", home) + path[1:]


def _zone_starts(value: object) -> ZoneStarts:
    numbers = value if isinstance(value, list | tuple) else ()
    shares = [float(n) for n in numbers if isinstance(n, int | float) and not isinstance(n, bool)]
    if len(shares) != 3 or len(numbers) != 3 or not 0 < shares[0] < shares[1] < shares[2] < 1:
        raise ValueError("must be three rising shares between 0 and 1, such as [0.5, 0.75, 0.9].")
    return shares[0], shares[1], shares[2]


def _preserve(value: object) -> Mapping[str, Preserve]:
    if not isinstance(value, Mapping):
        raise ValueError('must be a table, such as {tools = ["skill"], patterns = ["^PLAN"]}.')  # noqa: TRY004 - same
    parts = {*LISTED, "focus"}
    tables = {ANY_AGENT: value} if parts & set(value) else value
    return {str(agent): _kept(table) for agent, table in tables.items()}


def _preserve_texts(value: object) -> Mapping[str, Preserve]:
    tables = _preserve(value)
    if any(one.patterns for one in tables.values()):
        raise ValueError(
            "may hold texts and tools in a workspace, but no patterns: one can be made to search "
            "for ever. Set them in your own configuration file."
        )
    return tables


LISTED = ("patterns", "tools", "texts")


def _kept(table: object) -> Preserve:
    if not isinstance(table, Mapping):
        raise ValueError("must hold patterns, tools or texts, each a list, or focus.")  # noqa: TRY004 - same
    given = {key: _list(value) for key, value in table.items() if key != "focus"}
    unknown = set(given) - set(LISTED)
    if unknown:
        has = "patterns, tools, texts and focus"
        raise ValueError(f"has {has}, not {', '.join(sorted(unknown))}.")
    return Preserve(
        given.get("patterns", ()),
        frozenset(given.get("tools", ())),
        given.get("texts", ()),
        _text(table.get("focus", "")),
    )


TEXT = Reader("text", _text)
NAME = Reader("name", _name)
SECRET = Reader("key", _secret)
URL = Reader("http address", _url)
FLAG = Reader("true or false", _flag)
DOLLARS = Reader("USD", _dollars)
FOLDER = Reader("absolute path", _folder)
FILE = Reader("absolute path, or empty", _file)
RECIPIENTS = Reader("list of public keys", _recipients)
EFFORT = Reader(", ".join(HARDER), _effort)
LEVEL = Reader(", ".join(get_args(LogLevel)), _level)
POLICY = Reader("policy", _policy)
ZONES = Reader("three shares", _zone_starts)
RULES = Reader("list of rules", _rules)
REJECTING = Reader(RULES.kind, _rules, doubted)
PRESERVE = Reader("table, or tables by agent", _preserve)
PRESERVE_TEXTS = Reader(PRESERVE.kind, _preserve_texts)
SERVERS = Reader("tables by name", read_servers)
PROVIDERS = Reader("tables by name", read_providers)
