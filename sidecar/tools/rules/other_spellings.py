"""The texts of a command that a rule which rejects is compared with. Pure.

A model that means well puts a command behind `sudo`, a path or options, or into `sh -c`;
one that hides a command is stopped by no comparison of words.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import islice, pairwise

from sidecar.tools.rules.coverage import behind_options
from sidecar.tools.rules.shell_words import plain_words, simple_commands

MOST_BEFORE = 30
"""Words that may stand before a command: options and values of what runs it."""
_NAMES = (
    "sudo doas env command builtin exec eval coproc trap nohup time gtime timeout gtimeout nice "
    "ionice setsid stdbuf xargs watch caffeinate unbuffer sh bash dash zsh ksh fish busybox su "
    "runuser pkexec taskset chrt strace parallel script systemd-run chronic entr npx uv poetry run "
    "! if then elif else while until do"
)
_BEFORE = frozenset(_NAMES.split())
"""Programs and words of the shell's that run the command behind them."""
_SEARCHES = frozenset({"find", "gfind", "fd", "fdfind"})
_RUNNING = frozenset({"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"})
_CODE = re.compile(r"-\w*c")
_NO_PROGRAM = re.compile(r"-.*|\w+=.*|[\d.]+[smhd]?", re.DOTALL)


@lru_cache(maxsize=16)
def other_spellings(command: str, words: tuple[str, ...]) -> tuple[str, ...]:
    """As typed, and each simple command within as plain words, without what stands before it.

    `words`: those of the whole command if it is a simple one.
    """
    found = {command.strip(): None, " ".join(words): None}
    left, seen = [command], {command}
    while left:
        for one in simple_commands(left.pop()):
            starts = list(islice(_starts(one), MOST_BEFORE))
            for start in starts:
                found |= dict.fromkeys(_spelt(one[start:]))
            # `eval 'git push'`, `su me -c 'git push'`
            inner = {one[start] for start in starts if start and " " in one[start]}
            inner |= {text for option, text in pairwise(one) if _CODE.fullmatch(option)}
            left += inner - seen
            seen |= inner
    return tuple(found)


def rule_spellings(rule: str) -> tuple[str, ...]:
    """A rule as it is written, and with single blanks and without quotes."""
    return tuple(dict.fromkeys((rule, " ".join(plain_words(rule, rule=True)) or rule)))


def _starts(words: tuple[str, ...]) -> Iterator[int]:
    """Where a command may begin: at first, and behind each program or option that runs one."""
    searches = _name(words[0]) in _SEARCHES if words else False
    behind, value = bool(words), False
    for at, word in enumerate(words):
        if behind:
            yield at
            # Whether an option's value is the next word is not known.
            before = at > 0 and (value or bool(_NO_PROGRAM.fullmatch(word)))
            behind, value = before or _name(word) in _BEFORE, word.startswith("-")
        else:
            behind = searches and word in _RUNNING


def _spelt(words: tuple[str, ...]) -> Iterator[str]:
    name = _name(words[0])
    yield " ".join(words)
    yield " ".join((name, *words[1:]))
    yield " ".join((name, *behind_options((name, *words[1:]))))
    if name != "git":
        for start in islice(_behind_options(words), MOST_BEFORE):
            yield " ".join((name, *words[start:]))


def _behind_options(words: tuple[str, ...]) -> Iterator[int]:
    """Where a subcommand may stand, as in `kubectl -n x delete` and `cargo +nightly publish`."""
    value = False
    for at, word in enumerate(words[1:-1], 1):
        option = word.startswith(("-", "+"))
        if not (option or value):
            return
        yield at + 1
        value = option


def _name(word: str) -> str:
    return word.removeprefix("\\").rsplit("/", 1)[-1]
