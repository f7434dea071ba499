"""Whether a window shares a daemon by default. Imports little: windows wait."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

DEFAULT = True
"""The setting `shared` of whoever has not set it, as in `config.settings`."""
CLOUDS = ("bedrock", "vertex")
"""Providers whose account is always looked for in the process's variables."""
ACCOUNT = ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_CUSTOM_HEADERS")
"""Variables of an account that the provider's library reads from the process."""
MOST_BYTES = 256 * 1024


def why_alone(variables: Mapping[str, str]) -> str | None:
    """`None` to try; else why a window has its own daemon, empty where nobody wants another."""
    if variables.get("CI", "").lower() not in ("", "0", "false"):
        return ""
    own = _own_settings()
    if own.get("shared", DEFAULT) is not True:
        return ""
    provider = own.get("provider")
    name = provider.get("name") if isinstance(provider, dict) else None
    if isinstance(name, str) and name.strip() in CLOUDS:
        return f"the provider {name.strip()} takes its account from a window's variables"
    if given := [one for one in ACCOUNT if variables.get(one)]:
        return f"an account comes from {' and '.join(given)}"
    return None


def _own_settings() -> dict[str, Any]:
    """As `config.loading` reads them, which takes five times as long; empty if unreadable."""
    import platformdirs  # noqa: PLC0415 - windows that say what they want need none

    path = Path(platformdirs.user_config_dir("sidecar", appauthor=False)) / "config.toml"
    try:
        if not path.is_file() or path.stat().st_size > MOST_BYTES:
            return {}
        import tomllib  # noqa: PLC0415 - most have no such file

        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
