"""Spells a command in other ways, to compare with a rejecting rule.

Well-meaning models put commands behind `sudo`, paths or options, or into `sh -c`; no comparison
stops those hidden on purpose.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import dropwhile, islice, pairwise
from posixpath import normpath

from sidecar.core.dataclass import dataclass
from sidecar.tools.rules.coverage import behind_options, is_systems, uncovered
from sidecar.tools.rules.shell_words import (
    assigned,
    fed_texts,
    handing_on,
    hides_programs,
    is_plain,
    simple_commands,
    unescaped,
    without_options,
)
from sidecar.tools.rules.tables.programs import NAMING, SHELLS
from sidecar.tools.rules.tables.runners import (
    ANYWHERE,
    BY_BARE_NAME,
    CODE_OPTION,
    FIND_OPTIONS,
    JOINED_VALUE,
    JOINING,
    KEEPING,
    LONE_OPTIONS,
    MANAGING,
    OF_CODE,
    PASSING,
    PREFIXES,
    READERS,
    RUNNING,
    SEARCHES,
    TEXT_READERS,
)

MOST_TEXTS = 150
"""Texts within a command, for each runner again; more hide programs."""
MOST_WORDS = 20_000
"""Looked at in all texts, each command's beside those of its runner."""
MOST_BEFORE = 30
"""Words before a command: options and values of its runner."""
_READING_FILES = SHELLS | {".", "source"}
_LONE_DASH = re.compile(r"(?<=[ \t])-(?=[ \t]*\d?[<>])")
_NOTHING = re.compile("")
_SIGNS = re.compile(r"[;&|\n]+")
_RUN_BY = re.compile(
    r"--(?:exec|command|entrypoint|extcmd|run|shell)=|(?:EXEC|SYSTEM|SHELL):", re.I
)
"""Options, and addresses of socat."""
_TEXT = re.compile(r"[\s\"'\\]")
"""A sign that no single name has."""
_JOINED = re.compile(r"^(?:-[A-Za-z](?=\S*\s)|--[\w-]+=)")
"""An option with its value in the same word, as in `env -S'git push'`."""
_NO_PROGRAM = re.compile(
    r"|-.*|\w+=.*|[\d.]+(?:e[\d+-]+)?[smhd]?|inf(?:inity)?|0x\w+|\S*\$.*", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Spellings:
    """A command's spellings, for comparison.

    `whole`: as typed; `texts`: each simple command; `commands`: their words. `unread`: texts that a
    program may run, though no table says where; `together`: words of commands that may take one
    another's text. `hidden`: a program's name is unreadable.
    """

    whole: str
    texts: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]
    unread: tuple[str, ...]
    together: tuple[str, ...]
    hidden: bool


@lru_cache(maxsize=16)
def other_spellings(command: str, words: tuple[str, ...], folder: str = "") -> Spellings:
    """Returns a command as typed, and each simple command within as plain words.

    `words`: of the whole command, if simple; `folder`: where it runs, "" for the root.
    """
    found = _Reading(command, words, folder)
    while found.left and len(found.seen) < MOST_TEXTS:
        found.read(*found.left.pop())
    found.is_hidden |= bool(found.left)
    texts, commands, unread = tuple(found.texts), tuple(found.commands), tuple(found.unread)
    whole, together = command.strip(), tuple(found.together)
    return Spellings(whole, texts, commands, unread, together, found.is_hidden)


class _Reading:
    """Collects the spellings of one command.

    `left`: texts still to be read, each with the words of its runner: `rm x` with `ssh host`, from
    `ssh host 'rm x'`.
    """

    def __init__(self, command: str, words: tuple[str, ...], folder: str) -> None:
        self._folder = folder
        self.texts = dict.fromkeys((command.strip(), " ".join(words)) if words else ())
        self.commands: dict[tuple[str, ...], None] = {}
        self.unread: list[str] = []
        self.together: list[str] = []
        self.is_hidden = hides_programs(command)
        self.words = 0
        self.left: list[tuple[str, tuple[str, ...]]] = []
        self.seen: set[tuple[str, tuple[str, ...]]] = set()
        self._later(command, ())
        self._later(command.replace("\\\n", ""), ())

    def read(self, text: str, runner: tuple[str, ...]) -> None:
        if not is_plain(text):
            self.unread += (text, _any_may_begin([text]))
        for name, value in assigned(text):
            self.unread += (value, f"{name}={value}")
        for readers, given in fed_texts(text):
            names = set(map(program_name, readers))
            self.is_hidden |= bool(names & TEXT_READERS) and hides_programs(given)
        for group, in_turn in handing_on(text):
            self._read_handed_on(group, in_turn, runner)
        folder = self._folder
        for one in reversed(simple_commands(text)):
            self._read_command(one, runner)
            folder = _entered(folder, one)
            if folder:
                self._read_in_folder(one, folder)

    def _read_command(self, words: tuple[str, ...], runner: tuple[str, ...]) -> None:
        starts = list(islice(_starts(words), MOST_BEFORE))
        names = [program_name(words[start]) for start in starts]
        outer = [runner[at:] for at, word in enumerate(runner) if program_name(word) in RUNNING]
        self.is_hidden |= max(len(starts), len(outer)) >= MOST_BEFORE
        if self._is_too_much(len(starts) * (len(outer) + 1) * (len(words) + len(runner))):
            return
        for start in starts:
            self.texts |= dict.fromkeys(_spelt(words[start:]))
            whole = (before + words[start:] for before in ((), *outer[:MOST_BEFORE]))
            self.commands |= dict.fromkeys(whole)
        # `eval 'git push'`, `su me -c 'git push'`, `env -S'git push'`
        joined = [(_JOINED.sub("", words[start]), start) for start in starts if start]
        texts = {text: at for text, at in joined if _TEXT.search(text)}
        if not all(
            _keeps(words[start:]) or name in PASSING
            for start, name in zip(starts, names, strict=True)
        ):
            behind = enumerate(pairwise(words), 1)
            of_code = not OF_CODE.isdisjoint(names)
            texts |= {
                text: at
                for at, (word, text) in behind
                if CODE_OPTION.fullmatch(word)
                if not of_code or TEXT_READERS & set(map(program_name, words[:at]))
            }
            run_by = ((word, found.end()) for word in words if (found := _RUN_BY.match(word)))
            given = ((word, word[end:]) for word, end in run_by)
            texts |= {
                text: words.index(word)
                for word, value in given
                for text in (value, value.partition(",")[0])
            }
            self.together.append("\0".join(words))
            # A rule may name the runner itself: `sudo rm *`.
            self.unread.append("\0".join(words[0 if names[0] in PREFIXES else 1 :]))
            if not _names_only(words[starts[-1] :]):
                self.unread.append(_any_may_begin(words[1:]))
        self.is_hidden |= any(_stands_for_program(words, at) for at in starts)
        of_shell = not (TEXT_READERS | JOINING).isdisjoint(names)
        self.is_hidden |= of_shell and any(map(hides_programs, texts))
        for text, at in texts.items():
            self._later(text, runner + _without_reader(words[:at]))
        for start, name in zip(starts, names, strict=True):
            if name in JOINING:
                self._later(" ".join(words[start + 1 :]), runner + words[: start + 1])

    def _read_handed_on(
        self, group: tuple[tuple[str, ...], ...], in_turn: bool, runner: tuple[str, ...]
    ) -> None:
        """Adds words that another command of a group may take.

        `in_turn`: each takes the text of those before.
        """
        takes, reads, of_shell = 0, dict[tuple[str, ...], int](), False
        for at, words in enumerate(group):
            if not words[0] or (in_turn and not at):
                continue
            names = {program_name(words[start]) for start in _starts(words)}
            takes = takes if names <= KEEPING else at if in_turn else len(group)
            if _reads(names):
                reads[runner + _without_reader(words)] = at if in_turn else len(group)
                of_shell |= not TEXT_READERS.isdisjoint(names)
        if takes:
            self.together.append("\0".join(word for one in group for word in one))
        for one in group[:takes]:
            self.unread += ("\0".join(one[1:]), _any_may_begin(one[1:]))
        for before, last in reads.items():
            for one in group[:last]:
                if self._is_too_much(len(one) + len(before)):
                    return
                given = [unescaped(word) for word in one[1:] if _TEXT.search(word)]
                self.is_hidden |= of_shell and any(map(hides_programs, given))
                for text in (*given, " ".join(one[1:])) if one[0] else given:
                    self._later(text, before)

    def _read_in_folder(self, words: tuple[str, ...], folder: str) -> None:
        """Reads words as run in a folder: `./x` in `bin` is `bin/x`."""
        for start in islice(_starts(words), MOST_BEFORE):
            program, *rest = words[start:]
            if program_name(program) in _READING_FILES:
                program, *rest = (*_operands(words[start:]), "")
            elif "/" not in program:
                continue
            if program[:1] not in "/~$":
                self.unread.append(_any_may_begin((normpath(f"{folder}/{program}"), *rest)))

    def _is_too_much(self, words: int) -> bool:
        self.words += words
        self.is_hidden |= self.words > MOST_WORDS
        return self.words > MOST_WORDS

    def _later(self, text: str, runner: tuple[str, ...]) -> None:
        # The grammar loses a lone dash there.
        text = _LONE_DASH.sub("'-'", text)
        if (text, runner) not in self.seen:
            self.seen.add((text, runner))
            self.left.append((text, runner))


def _operands(words: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dropwhile(lambda word: word.startswith("-"), words[1:]))


def _entered(folder: str, words: tuple[str, ...]) -> str:
    if words[0] not in ("cd", "pushd", "popd"):
        return folder
    into = next(iter(_operands(words)), "")
    below = normpath(f"{folder or '.'}/{into}") if into[:1] not in "/~$" else into
    return "" if below.startswith("..") or below == "." else below


def _reads(names: set[str]) -> bool:
    """Whether programs may run a given text, as `sudo sh` does, unlike `sudo tee`."""
    return bool(names & (READERS - PASSING)) or (bool(names & READERS) and not names & KEEPING)


def _without_reader(words: tuple[str, ...]) -> tuple[str, ...]:
    first = (program_name(word.partition(" ")[0]) for word in words)
    at = [at for at, name in enumerate(first) if name in TEXT_READERS]
    return words[: at[-1]] if at else words


def _any_may_begin(words: Sequence[str]) -> str:
    return "\0--\0".join(("", *(part for word in words for part in _SIGNS.sub(" ", word).split())))


def _names_only(words: tuple[str, ...]) -> bool:
    """Whether a program's words may name another without running it: `apt install curl`."""
    name = program_name(words[0])
    if name not in BY_BARE_NAME:
        return name in NAMING
    return next((word for word in words[1:] if not word.startswith("-")), "") in MANAGING


def _keeps(words: tuple[str, ...]) -> bool:
    name = program_name(words[0])
    if name not in KEEPING or not is_systems(words[0]):
        return False
    if name == "cd":
        return True
    # `git -C sub commit`; with `-c` its settings run programs.
    plain = words if "-c" in words else (name, *behind_options(words))
    return not uncovered(plain, len(plain))


def _starts(words: tuple[str, ...]) -> Iterator[int]:
    """Yields where commands may begin: first, and behind each runner or its option."""
    anywhere, behind, value = False, bool(words), False
    searched, lone = frozenset[str](), _NOTHING
    for at, word in enumerate(words):
        if anywhere:
            yield at
        elif behind:
            yield at
            if word == "command" and set(words[at + 1 : at + 2]) & {"-v", "-V"}:
                return
            anywhere = program_name(word) in ANYWHERE
            searched = SEARCHES.get(program_name(word), searched)
            # Whether an option's value is the next word is not known.
            before = at > 0 and (value or bool(_NO_PROGRAM.fullmatch(word)))
            behind, value = before or program_name(word) in PREFIXES, word.startswith("-")
            lone = LONE_OPTIONS.get(program_name(word), lone)
            value &= not (JOINED_VALUE.fullmatch(word) or lone.fullmatch(word))
            if word in searched:
                behind, anywhere = True, searched != FIND_OPTIONS
        else:
            behind = word in searched
            anywhere = behind and searched != FIND_OPTIONS


def _stands_for_program(words: tuple[str, ...], at: int) -> bool:
    last = words[at - 1] if at else ""
    is_value = _NO_PROGRAM.fullmatch(last) and last[:1] not in '-$"'
    runs_next = is_value or program_name(last) in PREFIXES | FIND_OPTIONS
    return bool(runs_next and re.match(r"\w*[$`](?!\w+=)", words[at]))


def _spelt(words: tuple[str, ...]) -> Iterator[str]:
    for spelt in (words[0], *names_of(words[0])):
        yield " ".join((spelt, *words[1:]))
    name = program_name(words[0])
    for rest in without_options(behind_options((name, *words[1:]))):
        yield " ".join((name, *rest))


def names_of(word: str) -> tuple[str, ...]:
    """Returns a program's name with less and less version: `python3.12`, `python3`, `python`."""
    name = program_name(word)
    return name, re.sub(r"\.\d+$", "", name), name.rstrip("0123456789.") or name


def program_name(word: str) -> str:
    """Names a program in lower case: some disks find `Git` as `git`."""
    return word.removeprefix("\\").rsplit("/", 1)[-1].casefold().removesuffix(".exe")
