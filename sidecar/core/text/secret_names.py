"""Tells secrets by variable name and by value."""

import re
from base64 import b64decode

_VARIABLE = re.compile(
    r"(?:.*_)?(?:KEY|TOKEN|PAT|PASS)"
    r"|.*(?:API_?KEYS?|(?:AUTH|ACCESS|_)TOKEN)(?:_?\d+)?"
    r"|.*(?:SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|_ACCESS_KEY).*"
    r"|(?:MYSQL|SNOWSQL)_PWD|SSHPASS|DOCKER_AUTH_CONFIG|NPM_CONFIG_.*_AUTH|REDISCLI_AUTH"
    r"|BW_SESSION|OP_SESSION_.+|TF_TOKEN_.+|AZURE_STORAGE_CONNECTION_STRING",
    re.IGNORECASE | re.DOTALL,
)
_BUNDLERS_HOST = re.compile(r"BUNDLE_(?!BUILD__|LOCAL__|MIRROR__)\w+__\w+")
_LOGIN = re.compile(r"[^\s:/]+:[^\s:/]+")
_PATH = re.compile(r"(?:~|\.{0,2})/|[A-Za-z]:[\\/]")


def is_secret(name: str, value: str) -> bool:
    """Whether a name is a secret's, or the value a login under a Bundler host's."""
    if _VARIABLE.fullmatch(name):
        return True
    return bool(_BUNDLERS_HOST.fullmatch(name) and _LOGIN.fullmatch(value))


def is_random(value: str) -> bool:
    """Whether letters and digits alternate three times, unlike in code."""
    kinds = re.sub(r"[A-Za-z]+", "a", re.sub(r"[0-9]+", "0", value))
    return len(re.findall("a0|0a", kinds)) >= 3


def is_login(value: str) -> bool:
    """Whether a value is `name:password` in base64, as in HTTP."""
    try:
        return b":" in b64decode(value, validate=True)
    except ValueError:
        return False


def is_path(value: str) -> bool:
    return _PATH.match(value) is not None and not is_random(value)
