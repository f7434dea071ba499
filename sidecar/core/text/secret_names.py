"""What tells a secret: the name of the variable that holds it, and what its value looks like.

One list for those who keep such variables from children and those who take their values out of
what is handed to others. Pure.
"""

import re
from base64 import b64decode

_VARIABLE = re.compile(
    r"(?:.*_)?(?:KEY|APIKEY|TOKEN|PAT)"
    r"|.*(?:SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|_ACCESS_KEY).*"
    r"|MYSQL_PWD",
    re.IGNORECASE | re.DOTALL,
)
_PATH = re.compile(r"(?:~|\.{0,2})/|[A-Za-z]:[\\/]")


def names_secret(name: str) -> bool:
    """Tell whether a variable of the environment holds a secret, by its name."""
    return _VARIABLE.fullmatch(name) is not None


def is_random(value: str) -> bool:
    """Tell a key from a name in code: it has letters and digits, mixed more than once."""
    kinds = re.sub(r"[A-Za-z]+", "a", re.sub(r"[0-9]+", "0", value))
    return len(re.findall("a0|0a", kinds)) >= 3


def is_login(value: str) -> bool:
    """Tell whether it is what HTTP's basic authorization sends: a name and a password, packed."""
    try:
        return b":" in b64decode(value, validate=True)
    except ValueError:
        return False


def is_path(value: str) -> bool:
    """Tell a path, as of the file that a secret stands in, from a secret that begins like one."""
    return _PATH.match(value) is not None and not is_random(value)
