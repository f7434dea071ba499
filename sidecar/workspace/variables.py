"""Which variables of the environment a child process is given: all but those that hold keys."""

from collections.abc import Mapping
from fnmatch import fnmatchcase

from sidecar.core.redaction import SHORTEST

_SECRETS = (
    "ANTHROPIC_*", "*_API_KEY", "*_APIKEY", "API_KEY", "*_KEY", "*_TOKEN", "*SECRET*",
    "*PASSWORD*", "*PASSWD*", "*PASSPHRASE*", "*CREDENTIALS*", "*_ACCESS_KEY*", "*_PAT",
    "MYSQL_PWD",
)  # fmt: skip


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Leave out variables that look like keys by their names, and others that hold the same."""
    kept = {name: value for name, value in environment.items() if not _is_secret(name)}
    held = {value for name, value in environment.items() if _is_secret(name)}
    secrets = tuple(value for value in held if len(value) >= SHORTEST)
    return {name: value for name, value in kept.items() if not any(one in value for one in secrets)}


def _is_secret(name: str) -> bool:
    return any(fnmatchcase(name.upper(), pattern) for pattern in _SECRETS)
