"""Whether a window shares a daemon by default. Imports little: windows wait.

The tap of a wrapped agent asks, too, and imports the standard library alone.
"""

import os
import sys
from collections.abc import Mapping
from typing import Any

DEFAULT = True
"""The setting `shared` of whoever has not set it, as in `config.settings`."""
CLOUDS = ("bedrock", "vertex")
"""Providers whose account is always looked for in the process's variables."""
ACCOUNT = ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS")
"""Variables of an account that the provider's library reads from the process."""
MOST_BYTES = 256 * 1024


def is_unwanted(variables: Mapping[str, str]) -> bool:
    """Whether nobody wants a daemon that is shared."""
    return _is_unwanted(variables, _own_settings(variables, "shared"))


def why_alone(variables: Mapping[str, str]) -> str | None:
    """`None` to try; else why a window has its own daemon, empty where nobody wants another."""
    settings = _own_settings(variables, "shared", "provider")
    if _is_unwanted(variables, settings):
        return ""
    provider = settings.get("provider")
    name = provider.get("name") if isinstance(provider, dict) else None
    if isinstance(name, str) and name.strip() in CLOUDS:
        return f"the provider {name.strip()} takes its account from a window's variables"
    if given := [one for one in ACCOUNT if variables.get(one)]:
        return f"an account comes from {' and '.join(given)}"
    return None


def own_file(variables: Mapping[str, str]) -> str:
    """The user's settings, where `platformdirs` has them, which takes a mebibyte."""
    mac = "~/Library/Application Support"
    usual = os.path.expanduser(mac if sys.platform == "darwin" else "~/.config")
    named = variables.get("XDG_CONFIG_HOME", "").strip()
    folder = named if os.path.isabs(named) else usual
    return os.path.join(folder, "sidecar", "config.toml")


def _is_unwanted(variables: Mapping[str, str], settings: Mapping[str, Any]) -> bool:
    in_ci = variables.get("CI", "").lower() not in ("", "0", "false")
    return in_ci or settings.get("shared", DEFAULT) is not True


def _own_settings(variables: Mapping[str, str], *names: str) -> dict[str, Any]:
    """As `config.loading` reads them, which takes five times as long; empty if unreadable.

    Without any of `names` in it the file has nothing to say.
    """
    path = own_file(variables)
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > MOST_BYTES:
            return {}
        with open(path, encoding="utf-8") as file:
            text = file.read()
        if not any(name in text for name in names):
            return {}
        import tomllib  # noqa: PLC0415 - most have no such file

        return tomllib.loads(text)
    except (OSError, ValueError, RecursionError):
        return {}
