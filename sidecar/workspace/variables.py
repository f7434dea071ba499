"""Prepares child processes' environments, finds programs, and ends children."""

import asyncio
import os
import re
import shlex
import shutil
import site
import stat
import sys
import unicodedata
from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from string import Template
from urllib.parse import unquote

from sidecar.core.dataclass import dataclass
from sidecar.core.text.redaction import SHORTEST, holds_key
from sidecar.core.text.secret_names import is_secret
from sidecar.workspace.paths import ways_to

_BORDERS = re.compile(r"[\s:;,=@|&'\"()<>]+")
_PATH = re.compile(r"(?:\.{1,2}|~)?/.*", re.DOTALL)
"""Behind an option's letters, such as `-r./x`."""
_QUOTED = re.compile(r"[\\'\"]")
"""Signs that keep blanks in a word."""
_CONFIGURES = re.compile(r"(?!npm_config_local_prefix$).*CONF(?:IG|S?(?:_|$))", re.IGNORECASE)
"""Variables called after a configuration; npm's prefix is its package."""
_CALLS = re.compile(
    r"(?:HOST(?:NAME|TYPE)?|USER(?:NAME)?|LOGNAME|NAME|COMPUTERNAME|LANG(?:UAGE)?|LC_\w+|TZ|"
    r"(?:COLOR)?TERM|TERM_PROGRAM)"
)
"""Variables with a machine's, user's, language's or terminal's name."""

FETCHING_NOTHING = {"GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none"}
"""Keep git from fetching for a partial clone; git before 2.45 knows the second."""

ENDING = 5.0
"""Seconds for a killed child to be gone."""
EXTERNAL_DIFF = "GIT_EXTERNAL_DIFF"
ENVIRONMENTS = 8
"""Environments whose harmless variables are remembered, one for each window."""


def naming(real: Path, root: Path, environment: Mapping[str, str]) -> str:
    """Names the variable whose value, or a word of it, is a resolved file; else "".

    Words count relative to the root and through links; with a `/`, also without the file's ending.
    Variables called after a configuration may name a folder around the file.
    """
    base, linked = Path(os.path.realpath(root)), _has_others(real)
    whole, without = {_plain(str(real))}, {_plain(str(real)), _plain(os.path.splitext(real)[0])}
    last = {_plain(os.path.basename(one)) for one in (real, os.path.splitext(real)[0])}
    home, is_link = os.path.expanduser("~"), cache(os.path.islink)
    for word in _words_of(tuple(environment.items()), str(base), home):
        # Behind a link alone the name is another, so that most words take one look.
        similar = word.last in last or is_link(word.at)
        if (
            (similar and _plain(os.path.realpath(word.at)) in (without if word.slash else whole))
            or (linked and _is_same(word.at, real))
            or (word.configures and _holds(real, word.text, base))
        ):
            return word.variable
    return ""


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of a variable's value, its path below the root, and that path's plain end.

    `slash`: whether the word has one; `configures`: whether the variable is called after a
    configuration.
    """

    variable: str
    text: str
    at: str
    last: str
    slash: bool
    configures: bool


@lru_cache(maxsize=8)
def _words_of(environment: tuple[tuple[str, str], ...], base: str, home: str) -> tuple[_Word, ...]:
    given = {**dict(environment), "PWD": base}
    found: list[_Word] = []
    for name, value in environment:
        if "/" not in value and _CALLS.fullmatch(name):
            continue
        configures = _CONFIGURES.match(name) is not None
        for word in _words(Template(value).safe_substitute(given) if "$" in value else value):
            spelt = home + word[1:] if re.match("~(/|$)", word) else os.path.expanduser(word)
            at = os.path.normpath(os.path.join(base, spelt))
            last = _plain(os.path.basename(at))
            found.append(_Word(name, word, at, last, "/" in word, configures))
    return tuple(found)


def _is_same(at: str, real: Path) -> bool:
    with suppress(OSError, ValueError):
        return os.path.samefile(at, real)
    return False


def _has_others(real: Path) -> bool:
    try:
        found = real.stat()
    except OSError:
        return False
    return found.st_nlink > 1 and stat.S_ISREG(found.st_mode)


def _words(value: str) -> set[str]:
    value = value.replace("file://localhost/", "file:///")
    words = {value, *value.split(os.pathsep), *_BORDERS.split(value)}
    if _QUOTED.search(value):
        with suppress(ValueError):
            words.update(shlex.split(value))
    words |= {unquote(word) for word in words if "%" in word}
    words |= {joined[1] for word in words if (joined := re.fullmatch(r"-[A-Za-z](.+)", word))}
    return {*words, *(found[0] for word in words if (found := _PATH.search(word)))} - {""}


def _plain(name: str) -> str:
    # To some disks these are the same.
    return unicodedata.normalize("NFKC", name).casefold()


def _holds(real: Path, word: str, base: Path) -> bool:
    led = Path(os.path.realpath(base / os.path.expanduser(word)))
    if not real.is_relative_to(led):
        return False
    # A home folder, and what is above, holds all of a user's work.
    return not Path(os.path.realpath(os.path.expanduser("~"))).is_relative_to(led)


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Leaves out variables named like secrets, shaped like keys, or with a secret's value."""
    return dict(_without_secrets(tuple(environment.items())))


@lru_cache(maxsize=ENVIRONMENTS)
def _without_secrets(variables: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    """Cached: each command asks of the same variables."""
    kept = [(name, value) for name, value in variables if not _is_kept_back(name, value)]
    secrets = [value for _, value in {*variables} - {*kept} if len(value) >= SHORTEST]
    return tuple(pair for pair in kept if not any(one in pair[1] for one in secrets))


def program(name: str, environment: Mapping[str, str]) -> str | None:
    """Skips PATH's relative folders, perhaps a workspace's."""
    return shutil.which(name, path=absolute_path(environment))


def absolute_path(environment: Mapping[str, str]) -> str:
    return os.pathsep.join(filter(os.path.isabs, environment.get("PATH", "").split(os.pathsep)))


def path_apart(environment: Mapping[str, str], workspace: Path) -> str:
    """As `absolute_path`, without folders or links in a workspace, unless that holds the home."""
    roots = [Path(os.path.realpath(workspace)), Path(os.path.abspath(workspace))]
    if Path(os.path.realpath(os.path.expanduser("~"))).is_relative_to(roots[0]):
        return absolute_path(environment)

    def is_apart(one: str) -> bool:
        # A link may lead into the workspace, and one in there out of it again.
        ways = [Path(way) for way in (*ways_to(Path(one)), os.path.realpath(one))]
        return bool(one) and not any(way.is_relative_to(root) for way in ways for root in roots)

    return os.pathsep.join(filter(is_apart, absolute_path(environment).split(os.pathsep)))


def shed_import_paths(workspace: Path) -> None:
    """Takes a workspace's folders off `sys.path`: a late import would run its files.

    PYTHONPATH or editable installs add such folders. Sidecar's and Python's own stay.
    """
    real, own = os.path.realpath(workspace), os.path.realpath(Path(__file__).parents[2])
    pythons = {*site.PREFIXES, sys.base_prefix, site.USER_SITE or sys.prefix}
    stay = [os.path.realpath(one) for one in pythons]
    sys.path[:] = [
        entry
        for entry, at in [(one, Path(os.path.realpath(one))) for one in sys.path]
        if str(at) == own or not at.is_relative_to(real) or any(map(at.is_relative_to, stay))
    ]


def for_git(
    environment: Mapping[str, str], settings: Iterable[tuple[str, str]] = ()
) -> dict[str, str]:
    """Keeps git from running programs named by a folder's files.

    Bare repositories only if named; no file monitor, pager or diff program. `settings`: more of
    git's.
    """
    kept = {name: value for name, value in environment.items() if not _names_setting(name)}
    own = re.compile(r"GIT_CONFIG_KEY_\d+")
    pairs = [
        (key, value)
        for name, key in sorted(environment.items())
        if own.fullmatch(name)
        and (value := environment.get(name.replace("KEY", "VALUE"))) is not None
    ]
    pairs += [("safe.bareRepository", "explicit"), ("core.fsmonitor", "false"), *settings]
    for index, (key, value) in enumerate(pairs):
        kept[f"GIT_CONFIG_KEY_{index}"] = key
        kept[f"GIT_CONFIG_VALUE_{index}"] = value
    kept["GIT_CONFIG_COUNT"] = str(len(pairs))
    return {**kept, "GIT_PAGER": "cat", "GIT_TERMINAL_PROMPT": "0"}


def _names_setting(name: str) -> bool:
    numbered = re.fullmatch(r"GIT_CONFIG_(?:KEY|VALUE)_\d+", name) is not None
    return numbered or name in ("GIT_CONFIG_COUNT", EXTERNAL_DIFF)


def _is_kept_back(name: str, value: str) -> bool:
    # Headers for the provider may hold a key under any name; an address is no secret.
    return is_secret(name, value) or name.upper().startswith("ANTHROPIC_") or holds_key(value)


async def ended(process: asyncio.subprocess.Process) -> None:
    """Kills a child that runs yet, and waits for its end.

    asyncio tells an end only once the child's pipes are read to theirs.
    """
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
    with suppress(TimeoutError):
        async with asyncio.timeout(ENDING):
            for stream in (process.stdout, process.stderr):
                while stream is not None and await stream.read(64 * 1024):
                    pass
            await process.wait()
