"""The texts of a command for comparison with a rejecting rule. Pure.

A well-meaning model puts a command behind `sudo`, a path or options, or into `sh -c`; no comparison
stops one that hides a command.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise

from sidecar.tools.rules.coverage import behind_options, is_systems, uncovered
from sidecar.tools.rules.shell_words import (
    assigned,
    fed_texts,
    handing_on,
    hides_programs,
    is_plain,
    simple_commands,
    without_options,
)
from sidecar.tools.rules.tables.programs import NAMING, READING, RUNNERS, SHELLS

MOST_BEFORE = 30
"""Words before a command: options and values of its runner."""
_NAMES = (
    "sudo doas env command builtin exec eval coproc trap nohup time gtime timeout gtimeout nice "
    "ionice setsid stdbuf xargs watch caffeinate unbuffer su runuser pkexec taskset chrt strace "
    "script systemd-run chronic entr npx bunx pnpx uvx uv poetry run ! { if then elif "
    "else while until do . source"
)
_BEFORE = frozenset(_NAMES.split()) | SHELLS
"""Programs and words of the shell's that run the command behind."""
_ANYWHERE = (RUNNERS | {"ssh", "sshpass", "mosh", "autossh", "wsl", "cmake"}) - _BEFORE
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
_SEARCHES = (
    dict.fromkeys(("find", "gfind", "fd", "fdfind", "git"), _NARROW)
    | dict.fromkeys(_EXECUTES.split(), _WIDE)
    | dict.fromkeys(("npm", "pnpm", "yarn", "bun"), _WIDE - {"--"})
)
"""By program, words before a command, as in `git bisect run`; behind those of the wide ones it
begins at any word."""
_READERS = SHELLS | RUNNERS | _BEFORE | _ANYWHERE | {*_EXECUTES.split(), "gcloud", "heroku"}
"""Programs that may run the lines of a here-document, as `ssh` does."""
_READS_TEXT = SHELLS | {"eval", "watch", "su", "runuser"}
"""Programs that take a word for a shell's text."""
_BARE = {
    "yarn", "pnpm", "bun", "pdm", "corepack", "bundler", "composer", "gem", "snap", "rustup",
    "hatch",
}  # fmt: skip
"""Package managers that run an installed program by its name alone, or by a word of their own."""
_MANAGING = frozenset(
    {"add", "install", "i", "remove", "rm", "uninstall", "up", "update", "why", "info", "ls"}
)
_JOINING = frozenset({"ssh", "eval"})
"""Programs that put their words together, for a shell to read them anew."""
_KEEPS = (READING - _BEFORE) | {"git", "tee", "cd", "mkdir"}
"""Programs that run none of their words but where `_SEARCHES` says so; git's aliases hide."""
_PASSING = _BEFORE - SHELLS - _READS_TEXT - {".", "source", "exec", "entr", "env"}
"""Runners that take no text, and pass all words on to the next program."""
_CODE = re.compile(r"-(?!exec$)\w*c")
_OF_CODE = {
    "python",
    "python3",
    "psql",
    "mysql",
    "sqlite3",
    "gcc",
    "cc",
    "clang",
    "lsof",
    "kubectl",
}
"""Programs whose `-c` is followed by no text of a shell's."""
_SIGNS = re.compile(r"[;&|\n]+")
_RUN_BY = re.compile(r"--(?:exec|command|entrypoint|extcmd|run|shell)=")
_TEXT = re.compile(r"[\s\"'\\]")
"""A sign that no single name has."""
_JOINED = re.compile(r"^(?:-[A-Za-z](?=\S*\s)|--[\w-]+=)")
"""An option with its value in the same word, as in `env -S'git push'`."""
_NO_PROGRAM = re.compile(
    r"|-.*|\w+=.*|[\d.]+(?:e[\d+-]+)?[smhd]?|inf(?:inity)?|0x\w+|\S*\$.*", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Spellings:
    """Of a command, for comparison.

    `texts`: the commands within; `commands`: their words. `unread`: texts that a program may run,
    though no table says where. `hidden`: some program's name cannot be read.
    """

    texts: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]
    unread: tuple[str, ...]
    hidden: bool


@lru_cache(maxsize=16)
def other_spellings(command: str, words: tuple[str, ...]) -> Spellings:
    """As typed, and each simple command within as plain words, without anything before.

    `words`: of the whole command, if simple.
    """
    found = dict.fromkeys((command.strip(), *((" ".join(words),) if words else ())))
    commands: list[tuple[str, ...]] = []
    unread: list[str] = []
    hidden = hides_programs(command)
    left, seen = [command], {command}
    while left:
        text = left.pop()
        if not is_plain(text):
            unread += (text, _any_may_begin([text]))
        for name, value in assigned(text):
            unread += (value, f"{name}={value}")
        fed = [(set(map(program_name, names)), given) for names, given in fed_texts(text)]
        inner = {given for names, given in fed if names & _READERS}
        for group, in_turn in handing_on(text):
            for one in _handed_on(group, in_turn, frozenset()):
                unread += ("\0".join(one[1:]), _any_may_begin(one[1:]))
            for one in _handed_on(group, in_turn, _READERS):
                inner |= {word for word in one[1:] if _TEXT.search(word)}
                inner |= {" ".join(one[1:])} if one[0] else set()
        hidden |= any(names & SHELLS and hides_programs(given) for names, given in fed)
        for one in simple_commands(text):
            starts = list(islice(_starts(one), MOST_BEFORE))
            hidden |= len(starts) == MOST_BEFORE
            for start in starts:
                found |= dict.fromkeys(_spelt(one[start:]))
            # `eval 'git push'`, `su me -c 'git push'`, `env -S'git push'`
            within = {_JOINED.sub("", one[start]) for start in starts if start}
            texts = {word for word in within if _TEXT.search(word)}
            commands += (one[start:] for start in starts)
            if not all(_keeps(one[start:]) or one[start] in _PASSING for start in starts):
                if not any(program_name(one[start]) in _OF_CODE for start in starts):
                    texts |= {code for option, code in pairwise(one) if _CODE.fullmatch(option)}
                texts |= {word.partition("=")[2] for word in one if _RUN_BY.match(word)}
                # A rule may name the runner itself: `sudo rm *`.
                unread.append("\0".join(one if program_name(one[0]) in _BEFORE else one[1:]))
                if not _names_only(one[starts[-1] :]):
                    unread.append(_any_may_begin(one[1:]))
            of_shell = any(program_name(one[start]) in _READS_TEXT for start in starts)
            hidden |= any(_stands_for_program(one, at) for at in starts)
            hidden |= of_shell and any(map(hides_programs, texts))
            inner |= texts
            joining = (start for start in starts if program_name(one[start]) in _JOINING)
            inner |= {" ".join(one[start + 1 :]) for start in joining}
        left += inner - seen
        seen |= inner
    return Spellings(tuple(found), tuple(commands), tuple(unread), hidden)


def _handed_on(
    group: tuple[tuple[str, ...], ...], in_turn: bool, readers: frozenset[str]
) -> tuple[tuple[str, ...], ...]:
    """Commands whose words another of a group may take; `readers`: only one of these.

    `in_turn`: each takes the text of those before.
    """
    places = []
    for at, words in enumerate(group):
        names = {program_name(words[start]) for start in _starts(words)} if words[0] else set()
        takes = not names.isdisjoint(readers) if readers else not names <= _KEEPS
        if takes and (at or not in_turn):
            places.append(at)
    if not places:
        return ()
    return group[: places[-1]] if in_turn else group


def _any_may_begin(words: Sequence[str]) -> str:
    """Of a text that is not read, and for programs that are not known only to name others."""
    return "\0--\0".join(("", *(part for word in words for part in _SIGNS.sub(" ", word).split())))


def _names_only(words: tuple[str, ...]) -> bool:
    """Whether a program's words may name another that is not run, as in `apt install curl`."""
    name = program_name(words[0])
    if name not in _BARE:
        return name in NAMING
    return next((word for word in words[1:] if not word.startswith("-")), "") in _MANAGING


def _keeps(words: tuple[str, ...]) -> bool:
    """Whether a program runs none of its words."""
    name = program_name(words[0])
    if name not in _KEEPS or not is_systems(words[0]):
        return False
    if name == "cd":
        return True
    # `git -C sub commit`; with `-c` its settings run programs.
    plain = words if "-c" in words else (name, *behind_options(words))
    return not uncovered(plain, len(plain))


def _starts(words: tuple[str, ...]) -> Iterator[int]:
    """Where a command may begin: at first, and behind each program or option that runs one."""
    anywhere, behind, value = False, bool(words), False
    searched: frozenset[str] = frozenset()
    for at, word in enumerate(words):
        if anywhere:
            yield at
        elif behind:
            yield at
            if word == "command" and set(words[at + 1 : at + 2]) & {"-v", "-V"}:
                return
            anywhere = program_name(word) in _ANYWHERE
            searched = _SEARCHES.get(program_name(word), searched)
            # Whether an option's value is the next word is not known.
            before = at > 0 and (value or bool(_NO_PROGRAM.fullmatch(word)))
            behind, value = before or program_name(word) in _BEFORE, word.startswith("-")
            if word in searched:
                behind, anywhere = True, searched != _NARROW
        else:
            behind = word in searched
            anywhere = behind and searched != _NARROW


def _stands_for_program(words: tuple[str, ...], at: int) -> bool:
    """Whether a variable stands right behind what runs the next word, as in `sudo $x`."""
    last = words[at - 1] if at else ""
    is_value = _NO_PROGRAM.fullmatch(last) and last[:1] not in '-$"'
    runs_next = is_value or program_name(last) in _BEFORE | _NARROW
    return bool(runs_next and re.match(r"\w*[$`](?!\w+=)", words[at]))


def _spelt(words: tuple[str, ...]) -> Iterator[str]:
    for spelt in (words[0], *names_of(words[0])):
        yield " ".join((spelt, *words[1:]))
    name = program_name(words[0])
    for rest in without_options(behind_options((name, *words[1:]))):
        yield " ".join((name, *rest))


def names_of(word: str) -> tuple[str, ...]:
    """A program's name, and this without its version's parts: `python3.12`, `python3`, `python`."""
    name = program_name(word)
    return name, re.sub(r"\.\d+$", "", name), name.rstrip("0123456789.") or name


def program_name(word: str) -> str:
    """In small letters: some disks find `Git` as `git`."""
    return word.removeprefix("\\").rsplit("/", 1)[-1].casefold().removesuffix(".exe")
