"""The texts of a command for comparison with a rejecting rule. Pure.

A well-meaning model puts a command behind `sudo`, a path or options, or into `sh -c`; no comparison
stops one that hides a command.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, pairwise

from sidecar.tools.rules.coverage import behind_options
from sidecar.tools.rules.programs import RUNNERS, SHELLS
from sidecar.tools.rules.shell_words import fed_texts, plain_words, simple_commands, without_options

MOST_BEFORE = 30
"""Words before a command: options and values of its runner."""
_NAMES = (
    "sudo doas env command builtin exec eval coproc trap nohup time gtime timeout gtimeout nice "
    "ionice setsid stdbuf xargs watch caffeinate unbuffer su runuser pkexec taskset chrt strace "
    "script systemd-run chronic entr npx bunx pnpx uvx uv poetry run ! { if then elif "
    "else while until do"
)
_BEFORE = frozenset(_NAMES.split()) | SHELLS
"""Programs and words of the shell's that run the command behind."""
_ANYWHERE = (RUNNERS | {"ssh", "sshpass", "mosh", "autossh", "wsl"}) - _BEFORE
"""Programs that run a command beginning at any of their words."""
_NARROW = frozenset(
    {"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch", "foreach", "run"}
)
_WIDE = frozenset({"exec", "run", "dlx", "x", "--", "-c", "--run", "--command"})
_EXECUTES = (
    "npm pnpm yarn bun bundle pdm pipenv hatch rye pixi pipx conda mamba micromamba nix nix-shell "
    "tox nox volta docker podman nerdctl docker-compose podman-compose kubectl oc lxc vagrant "
    "machinectl flatpak"
)
_SEARCHES = dict.fromkeys(("find", "gfind", "fd", "fdfind", "git"), _NARROW) | dict.fromkeys(
    _EXECUTES.split(), _WIDE
)
"""By program, words before a command, as in `git bisect run`; behind those of the wide ones it
begins at any word."""
_READERS = SHELLS | RUNNERS | _BEFORE | _ANYWHERE | {*_EXECUTES.split(), "gcloud", "heroku"}
"""Programs that may run the lines of a here-document, as `ssh` does."""
_CODE = re.compile(r"-(?!exec$)\w*c")
_JOINED = re.compile(r"^(?:-[A-Za-z](?=\S* )|--[\w-]+=)")
"""An option with its value in the same word, as in `env -S'git push'`."""
_NO_PROGRAM = re.compile(r"-.*|\w+=.*|[\d.]+[smhd]?|0x\w+|\S*\$.*", re.DOTALL)


@lru_cache(maxsize=16)
def other_spellings(command: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """As typed, and each simple command within as plain words, without anything before.

    `words`: of the whole command, if simple.
    """
    found = {command.strip(): None, " ".join(words): None}
    left, seen = [command], {command}
    while left:
        text = left.pop()
        inner = {given for names, given in fed_texts(text) if any(map(_runs_text, names))}
        for one in simple_commands(text):
            starts = list(islice(_starts(one), MOST_BEFORE))
            for start in starts:
                found |= dict.fromkeys(_spelt(one[start:]))
            # `eval 'git push'`, `su me -c 'git push'`, `env -S'git push'`
            within = (_JOINED.sub("", one[start]) for start in starts if start)
            inner |= {word for word in within if " " in word}
            inner |= {code for option, code in pairwise(one) if _CODE.fullmatch(option)}
            inner |= {word.partition("=")[2] for word in one if word.startswith("--exec=")}
        left += inner - seen
        seen |= inner
    return tuple(found)


def rule_spellings(rule: str) -> tuple[str, ...]:
    """As written, and with single blanks and without quotes."""
    return tuple(dict.fromkeys((rule, " ".join(plain_words(rule, rule=True)) or rule)))


def _starts(words: tuple[str, ...]) -> Iterator[int]:
    """Where a command may begin: at first, and behind each program or option that runs one."""
    anywhere, behind, value = False, bool(words), False
    searched: frozenset[str] = frozenset()
    for at, word in enumerate(words):
        if anywhere:
            yield at
        elif behind:
            yield at
            anywhere = _name(word) in _ANYWHERE
            searched = _SEARCHES.get(_name(word), searched)
            # Whether an option's value is the next word is not known.
            before = at > 0 and (value or bool(_NO_PROGRAM.fullmatch(word)))
            behind, value = before or _name(word) in _BEFORE, word.startswith("-")
        else:
            behind = word in searched
            anywhere = behind and searched == _WIDE


def _spelt(words: tuple[str, ...]) -> Iterator[str]:
    name = _name(words[0])
    yield " ".join(words)
    yield " ".join((name, *words[1:]))
    for one in without_options(behind_options((name, *words[1:]))):
        yield " ".join((name, *one))


def _runs_text(name: str) -> bool:
    return _name(name) in _READERS


def _name(word: str) -> str:
    return word.removeprefix("\\").rsplit("/", 1)[-1].removesuffix(".exe")
