"""Shows settings to people, without secrets."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path

from sidecar.config.layers import Origin, Resolved
from sidecar.config.setting import Setting
from sidecar.config.settings import ANSWER_TOKENS, SETTINGS, Config, value_of
from sidecar.core.parts import Json, JsonObject
from sidecar.core.text.redaction import REDACTED, Redaction

HIDDEN = "(set, not shown)"
"""For a key, or a value that may hold one."""


def sample() -> str:
    """Writes a TOML configuration with every setting commented out."""
    lines = [
        "# Sidecar's settings. Everything is at its default: take away a # to set something.",
        "# `sidecar config check` says what is wrong, `sidecar config show --origin` what holds.",
    ]
    table = ""
    # Tables come last: in TOML, lines after a table's name belong to the table.
    for one in sorted(SETTINGS.values(), key=lambda one: "." in one.name):
        owner, _, key = one.name.rpartition(".")
        if owner != table:
            table = owner
            lines += ["", f"# [{owner}]"] if owner else []
        lines += ["", f"# {one.meaning}"] if not owner else [f"# {one.meaning}"]
        lines.append(f"# {key} = {_example(one)}")
    return "\n".join(lines) + "\n"


def _example(one: Setting) -> str:
    given = _EXAMPLES.get(one.name, told(one.default))
    if isinstance(given, bool):
        return str(given).lower()
    if isinstance(given, list):
        return json.dumps(given)
    return str(given) if isinstance(given, int | float) else f'"{given}"' if given != {} else "{}"


_EXAMPLES: Mapping[str, Json] = {
    "window": 200_000,
    "max_tokens": ANSWER_TOKENS,
    "delegate.tokens": 1_000_000,
    "delegate.cost": "0.50",
    "workspace_trusted": True,
    "mcp_servers": {},
    "providers": {},
}


def told(value: object) -> Json:
    """Makes JSON of a value: amounts and paths as strings, sets sorted."""
    match value:
        case None | bool() | int() | float():
            return value
        case Decimal() | Path():
            return str(value)
        case str():
            return str(value)
        case Mapping():
            return {str(key): told(each) for key, each in value.items()}
        case frozenset():
            return [*sorted(str(each) for each in value)]
        case tuple() | list():
            return [told(each) for each in value]
        case _:
            return {name: told(each) for name, each in _fields(value)}


def _fields(value: object) -> Iterator[tuple[str, object]]:
    for name in getattr(type(value), "__dataclass_fields__", {}):
        yield name, getattr(value, name)


def given(resolved: Resolved, config: Config) -> JsonObject:
    """Returns `{value, origin: [{layer, at}], pending?}` by name.

    `pending` is the value from the next start on.
    """
    found: JsonObject = {}
    for name, origins in resolved.origins.items():
        one = SETTINGS[name]
        value, later = value_of(config, name), value_of(resolved.config, name)
        about: JsonObject = {"value": shown(one, value), "origin": places(origins)}
        if value != later:
            about["pending"] = shown(one, later)
        found[name] = about
    return found


def places(origins: Sequence[Origin]) -> list[Json]:
    return [{"layer": each.layer.kind, "at": str(each)} for each in origins]


def shown(one: Setting, value: object) -> Json:
    if one.secret:
        if isinstance(value, tuple):
            # Servers by name: their commands, addresses and headers may hold keys.
            return [each.name for each in value]
        return HIDDEN if value else ""
    return Redaction().value(told(public(value) if isinstance(value, str) else value))


def in_words(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def public(text: str) -> str:
    return _LOGIN.sub(rf"\g<1>{REDACTED}@", text)


_LOGIN = re.compile(r"(https?://)[^/@\s]+@")
