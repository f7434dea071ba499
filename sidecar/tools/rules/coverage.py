"""Decides whether a rule's `*` covers a command's words."""

import re
import unicodedata
from collections.abc import Mapping

from sidecar.core.text.visible import as_found
from sidecar.tools.rules.ordinary_files import ODD, is_ordinary
from sidecar.tools.rules.runs_later import runs_later
from sidecar.tools.rules.tables.plain_paths import is_plain, without_line
from sidecar.tools.rules.tables.program import MANY, NO_OPERAND, Program
from sidecar.tools.rules.tables.programs import PROGRAMS, TRUSTED
from sidecar.tools.rules.tables.programs_git import GIT

_NOTHING: Mapping[str, Program] = {}
_UNKNOWN = Program("")
_SIGNS = re.compile(r"[^A-Za-z]")
_ENDING = re.compile(r"\.(?:exe|com|cmd|bat|ps1|phar|appimage|[cm]?js)$")
_MACHINE = re.compile(r"^.+-(?=(?:gcc|g\+\+|clang|c\+\+|cpp|cc|ld|as)(?:[-.\d]|$))")
"""What a compiler is for, before its name: `x86_64-linux-gnu-gcc`."""
_SCRIPTS = re.compile(r"\.(?:sh|bash|py|rb|pl|ts|lua|fish)$")
_SYSTEMS = re.compile(r"(?:/\S*/s?bin/)?[^/]+")
_GIT_VALUED = (
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--config-env",
    "--attr-source",
)
"""Options of git with a value in the next word."""


def known(name: str) -> Program | None:
    """Finds a program by name or path, without GNU's `g` before and a version behind.

    Programs that run others also by a longer name, as `python3.13t`.
    """
    base = _ENDING.sub("", name.rsplit("/", 1)[-1].casefold())
    for spelt in (base, re.sub(r"-[.\d]+$", "", base), re.sub(r"[-.\d]+$", "", base)):
        for one in (spelt, spelt[1:] if spelt.startswith("g") else ""):
            if one in PROGRAMS:
                return PROGRAMS[one]
    if not is_systems(name) or _SCRIPTS.search(base):
        return None
    found = PROGRAMS.get(re.split(r"[-._\d]", _MACHINE.sub("", base))[0])
    return found if found and found.first == NO_OPERAND else None


def is_systems(name: str) -> bool:
    """Whether PATH or a folder of programs has a program: `./test` is another."""
    return bool(_SYSTEMS.fullmatch(name))


def uncovered(words: tuple[str, ...], named: int) -> str:
    """Says why a rule's `*` does not cover words; "" if covered.

    `named`: number of words spelt out in the rule.
    """
    program = known(words[0])
    if program is None:
        return ""
    if program.walks and not all(map(is_plain, words[1:])):
        odd = next(word for word in words[1:] if not is_plain(word))
        return f"`{odd}` is neither a plain path within the folder nor a text without `/`"
    if not (program.subcommands or program.named):
        return _judged(program, words[1:], words[0])
    at = next((i for i, word in enumerate(words) if i and not word.startswith("-")), len(words))
    if problem := _judged(program, words[1:at], words[0]):
        return problem
    if at == len(words):
        return "" if program.subcommands else f"`{words[0]}`: {program.why}"
    for size in (2, 1):
        name = " ".join(words[at : at + size])
        found = (program.named if named >= at + size else _NOTHING).get(name)
        found = found or program.subcommands.get(name)
        if found is not None:
            rest = words[at + size :]
            if found.scripts and any(word[:1] != "-" for word in words[at + size : named]):
                found = found.scripts
            return _judged(found, rest, f"{words[0]} {name}")
    if words[at] in program.named:
        return f"a rule must name `{words[0]} {words[at]}` itself"
    return f"`{words[0]} {words[at]}`: {program.why}"


def written(words: tuple[str, ...]) -> tuple[str, ...]:
    names = words[1:] if _acting(words).writes else ()
    # `a.ts:12` is a line of a file.
    return tuple(dict.fromkeys(one for name in names for one in (name, without_line(name))))


def changes(words: tuple[str, ...]) -> bool:
    """Whether a command may change files, also by the folder's code; not if unknown."""
    program, found = known(words[0]), _acting(words)
    if program is GIT and " ".join(words[1:3]) in ("stash list", "stash show"):
        return False
    return found.writes or found.rewrites or program in TRUSTED.values()


def walks(words: tuple[str, ...]) -> bool:
    """Whether a program, except git, goes through folders or writes through links there."""
    program = known(words[0]) if words else None
    if program is None or program is GIT:
        return False
    return program.walks or _acting(words).rewrites


def reads_by_git(words: tuple[str, ...]) -> bool:
    """Whether git only reads, by a subcommand under `*`; not `remote`, which may fetch."""
    if not words or known(words[0]) is not GIT:
        return False
    rest = behind_options(words)
    return rest[:1] != ("remote",) and any(" ".join(rest[:n]) in GIT.subcommands for n in (1, 2))


def behind_options(words: tuple[str, ...]) -> tuple[str, ...]:
    rest = words[1:]
    while known(words[0]) is GIT and rest and rest[0].startswith("-"):
        rest = rest[2 if rest[0] in _GIT_VALUED else 1 :]
    return rest


def without_pager(words: tuple[str, ...], rule: tuple[str, ...]) -> tuple[str, ...]:
    named = rule[1:] and rule[1][:1].isalpha()
    if named and words[1:2] == ("--no-pager",) and known(words[0]) is GIT:
        return words[0], *words[2:]
    return words


def led_astray(words: tuple[str, ...], path: str) -> str:
    """Says why a command must not follow a link to a path, or ""."""
    if runs_later(path) or is_hidden(path):
        return "which runs later or is hidden"
    return ODD if _acting(words).creates and _is_unknown(path) else ""


def _acting(words: tuple[str, ...]) -> Program:
    program = known(words[0]) if words else None
    if program is None:
        return _UNKNOWN
    name = next((word for word in words[1:] if not word.startswith("-")), "")
    found = program.named.get(name) or program.subcommands.get(name) or program
    # Words behind a script's name are what its program gets.
    return found.scripts or found


def wider(words: tuple[str, ...]) -> tuple[str, ...]:
    """Returns the leading words after which `*` is safe.

    Empty if unknown, or not the system's program.
    """
    bare = re.sub(r"^(?:/usr/local|/usr)?/bin/", "", words[0])
    program = PROGRAMS.get(bare)
    if program is None or program in TRUSTED.values() or uncovered(words, 0):
        return ()
    size = 1
    if program.subcommands:
        size = 3 if len(words) > 2 and " ".join(words[1:3]) in program.subcommands else 2
        # A rule that names such a subcommand covers what changes something, too.
        if size == 2 <= len(words) and words[1] in program.named:
            return ()
    return words[:size] if len(words) >= size and words[size - 1][:1] != "-" else ()


def _judged(program: Program, words: tuple[str, ...], name: str) -> str:
    operands, ended = 0, False
    if program.first and not re.fullmatch(program.first, words[0] if words else ""):
        return f"`{name}`: {program.why}"
    for index, word in enumerate(words):
        if program.first and not index:
            continue
        # Python reads letters of another width as its own.
        plain = unicodedata.normalize("NFKC", word)
        if program.nowhere and any(re.search(program.nowhere, one) for one in (word, plain)):
            return f"`{name} {word}`: {program.why}"
        if word.startswith("-") and word != "-":
            # To some programs an option behind an operand is a file, to all one behind `--`.
            if not _is_covered(program, word) or (program.most < MANY and ended):
                return f"`{name} {word}`: {program.why}"
            if "--" in words[:index] and not re.fullmatch(program.operands, word):
                return f"`{name} {word}`: {program.why}"
            if program.writes and _leads_away(program, word):
                return _away(name, word)
            ended = ended or word == "--"
            continue
        operands, ended = operands + 1, True
        pattern = program.script if program.script and operands == 1 else program.operands
        if operands > program.most or not re.fullmatch(pattern, word):
            return f"`{name} {word}`: {program.why}"
        told = "" if " " in "".join(words[: index + 1]) else " ".join(words[: index + 1])
        commit = re.fullmatch(program.unwritten, told)
        if program.writes and not commit and _leads_away(program, word):
            return _away(name, word)
        if program.creates and _is_unknown(word):
            return f"`{name} {word}` may write a file {ODD}"
    return ""


def _away(name: str, word: str) -> str:
    return f"`{name} {word}` may write a hidden file, what runs later, or elsewhere"


def _is_covered(program: Program, word: str) -> bool:
    if program.any_option or word == "--" or re.fullmatch(program.joined, word):
        return True
    if program.whole or word.startswith("--"):
        return word in program.options or word.partition("=")[0] in program.options
    # Joined letters, maybe with a value: each must be an option itself, since any may take a value.
    # A path inside would go unchecked.
    letters = _SIGNS.sub("", word)
    return "/" not in word and all(f"-{letter}" in program.options for letter in letters)


def _leads_away(program: Program, word: str) -> bool:
    """Whether a word may name more than an ordinary file.

    In git a leading `:` leads beyond the folder; globs expand to unseen names, but words of a
    program that `walks` hold none.
    """
    # Go's `./...` is no hidden name.
    word = word.removesuffix("/...") if program.walks else word
    unseen = not program.walks and re.search(r"[*?\[\\]", word)
    if word.startswith(("/", ":")) or "/-" in word or unseen:
        return True
    if runs_later(word) or runs_later(without_line(word.partition("::")[0])):
        return True
    return is_hidden(word)


def _is_unknown(path: str) -> bool:
    """Whether a file's kind is unknown; a bare name may be no file, as in `make test`."""
    plain = "/".join(part for part in path.split("/") if part not in ("", "."))
    return bool(re.search("[./]", plain)) and not is_ordinary(plain)


def is_hidden(path: str) -> bool:
    # To some disks letters of another width are the same.
    normalized = unicodedata.normalize("NFKC", as_found(path))
    return any(part.startswith(".") and part != "." for part in normalized.split("/"))
