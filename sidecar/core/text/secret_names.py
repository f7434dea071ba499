"""Tells secrets by variable name and by value."""

import re
from base64 import b64decode

_VARIABLE = re.compile(
    r"(?:.*_)?(?:KEY|TOKEN|PAT|PASS)"
    r"|.*(?:API_?KEYS?|(?:AUTH|_)TOKEN)(?:_?\d+)?"
    r"|.*(?:SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|_ACCESS_KEY).*"
    r"|MYSQL_PWD|DOCKER_AUTH_CONFIG|NPM_CONFIG_.*_AUTH",
    re.IGNORECASE | re.DOTALL,
)
_PATH = re.compile(r"(?:~|\.{0,2})/|[A-Za-z]:[\\/]")


def names_secret(name: str) -> bool:
    """Whether an environment variable's name says secret."""
    return _VARIABLE.fullmatch(name) is not None


def is_random(value: str) -> bool:
    """Whether letters and digits alternate three times, as in keys but not in code."""
    kinds = re.sub(r"[A-Za-z]+", "a", re.sub(r"[0-9]+", "0", value))
    return len(re.findall("a0|0a", kinds)) >= 3


def is_login(value: str) -> bool:
    """Whether a value is `name:password` in base64, as in HTTP."""
    try:
        return b":" in b64decode(value, validate=True)
    except ValueError:
        return False


def is_path(value: str) -> bool:
    """Whether a value is a path, such as a key file's, rather than a key with a slash."""
    return _PATH.match(value) is not None and not is_random(value)
