"""Which variables of the environment a child process is given: all but those that hold keys."""

from collections.abc import Mapping

from sidecar.core.redaction import SHORTEST
from sidecar.core.secret_names import names_secret


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Leave out variables that look like keys by their names, and others that hold the same."""
    kept = {name: value for name, value in environment.items() if not _is_kept_back(name)}
    held = {value for name, value in environment.items() if _is_kept_back(name)}
    secrets = tuple(value for value in held if len(value) >= SHORTEST)
    return {name: value for name, value in kept.items() if not any(one in value for one in secrets)}


def _is_kept_back(name: str) -> bool:
    # Headers for the provider may hold a key, whatever they are called; an address is no secret.
    return names_secret(name) or name.upper().startswith("ANTHROPIC_")
