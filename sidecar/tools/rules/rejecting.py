"""Decides whether a rejecting rule hits a command, or words its program may run.

Rules have `*` as `STAR`.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import takewhile
from posixpath import normpath
from typing import NamedTuple

from sidecar.tools.rules.coverage import behind_options, known
from sidecar.tools.rules.other_spellings import Spellings, names_of, program_name
from sidecar.tools.rules.pattern import fits
from sidecar.tools.rules.shell_words import STAR, plain_words, unescaped
from sidecar.tools.rules.tables.runners import PASSED_OVER, READERS, RUNNING, SEARCHES

MOST_TAILS = 20
_BEGINS = re.escape("\0\n;&|(`[{=!@/\\\"'")
"""Signs that a command within a text may begin behind; a text's words are joined by NUL."""
_ENDS = re.compile(r"[;&|]|(?<!,)\n")
_LETTERS = re.compile(rf"-([A-Za-z]{{1,5}}){STAR}?")
_SHORT = re.compile(r"-([A-Za-z0-9]+)")
"""Joined letters, maybe with a value: `-sXDELETE`."""
_PASSED = re.compile(r"[-+$]|\w+=")
_WITHIN = re.compile(rf"(?<=\w){STAR}(?=-)")
_IN_PROGRAM = re.compile(rf"^(\w+){STAR}(?=\w)")
_JOINING = re.compile(rf"{STAR}(?=\w)")
_LEADING = re.compile(rf"^{STAR}(?=--|-\w{{1,2}}$)")
_SCRIPT = re.compile(r"\.(?:py|js|mjs|cjs|ts|sh|bash|rb|php|pl)$")
_IN_BIN = re.compile(r"(?:^|/)s?bin/")
_DURATION = re.compile(r"[\d.]+[smhd]?")
_ASSIGNMENT = re.compile(r"\w+=")
_IN_ANY_PLACE = re.compile(r"-|\w+=")
"""Words that count wherever they stand: options, and such operands as `dd if=x` has."""
_RUNNERS = r"(?:(?:sudo|time|nohup|nice|env|exec|command|\w+=\S*|-\w+)\s+)*"
_EXECUTING = frozenset({"-exec", "-execdir", "-ok", "-okdir"})
_OF_FIND = _EXECUTING | {"-name", "-path", "-type", "-size", "-perm", "-user"}
"""Words that are no joined letters."""
_TARGETS = (
    "make gmake just task rake rails invoke fab ninja gradle gradlew mvn mvnw sbt ant gulp grunt "
    "turbo nx lerna mix run-s run-p npm-run-all earthly"
)
_OF_TARGETS = frozenset(_TARGETS.split())
"""Programs that do in turn what all of their words name."""
_SEPARATORS = re.compile(r"[\s\0\"'`();|&<>{}\[\],\\=]+")
_QUOTING = re.compile(r"\\\n|[\"'\\]")


class _Wanted(NamedTuple):
    """A rule's words behind its program.

    `named`: in order, up to the first star or option; `options`, `values`: those behind, in any
    order.
    """

    named: tuple[str, ...]
    options: tuple[str, ...]
    values: tuple[str, ...]


def hits(rule: str, spelt: Spellings) -> bool:
    """Whether a rule rejects a command; `git push *` hits `git push` too."""
    first, *rest = _words(rule)
    spellings = {rule, " ".join((first, *rest)), " ".join((_program(first), *rest))}
    texts: tuple[str, ...] = (spelt.whole, *spelt.texts)
    if STAR in rule.rstrip(STAR):
        # A star within stands for no other command, and more words change nothing.
        texts, more = spelt.texts, "" if rule.endswith(STAR) else f" {STAR}"
        spellings |= {one + more for one in spellings}
    if any(fits(one, text) or fits(one, f"{text} ") for one in spellings for text in texts):
        return True
    return any(_hits_words(one, spelt) for one in _forms(rule))


def _hits_words(rule: str, spelt: Spellings) -> bool:
    first, *rest = _words(rule)
    named, wanted = _program(first), _wanted(rest)
    return bool(wanted.options or rule.endswith(STAR)) and any(
        _has(wanted, words)
        for words in spelt.commands
        if any(fits(named, name) for name in _ways_to_spell(words[0]))
    )


def may_hit(rule: str, spelt: Spellings) -> bool:
    """Whether a command not hit by a rule may do what the rule rejects."""
    # `*git push*` is `git push *` here.
    forms = _forms(rule.lstrip(f"{STAR} "))
    return _has_all_words(rule, spelt.together) or any(
        _mentions(one, spelt.unread) for one in forms
    )


def _mentions(rule: str, unread: tuple[str, ...]) -> bool:
    """Whether a rule's words stand where a program may run them, with or without quotes.

    A list of strings counts too (`["git", "push"]`). Of a rule beginning with an assignment, only
    the assignment counts. A rule of one word must begin a text of several, or stand behind `--`:
    `apt install curl` runs nothing.
    """
    first, *rest = _words(rule)
    name, wanted = _program(first), _wanted(rest)
    if _ASSIGNMENT.match(first):
        name, wanted = first.casefold(), _wanted(())
    beginning = name.partition(STAR)[0]
    if not beginning:
        return False
    place = (
        rf"(?:^|[{_BEGINS}\s])"
        if any(wanted) or "=" in name or "/" in name
        else rf"(?:^|[{_BEGINS}])\s*{_RUNNERS}(?=\S*\s|[^\s\"']*[\"'],)"
        r"|(?:^|\0)--\0(?:[^\s\0]*/)?"
    )
    way = rf"(?:{place}|(?:^|\0)-\w){_starred(name)}[\d.]*(?:\.exe)?(?![\w.-])"
    program = re.compile(way, re.IGNORECASE)
    named = [re.compile(_word(word)) for word in wanted.named]
    behind = [re.compile(one) for word in (*wanted.options, *wanted.values) for one in _ways(word)]
    return any(
        _in_order([program, *named], one) and all(way.search(one) for way in behind)
        for text in unread
        for told in {unescaped(text), _QUOTING.sub("", text)}
        if beginning in told.casefold()
        for one in _ENDS.split(told)
    )


def _has_all_words(rule: str, together: tuple[str, ...]) -> bool:
    """Whether commands handing on text have all words of a rule for a runner.

    So `ssh prod 'sudo sh' <<<'rm x'` may be `ssh prod rm *`.
    """
    words = _words(_JOINING.sub(f"{STAR} ", rule))
    first, *rest = [word for word in words if word != "--"] or [""]
    if not _names_inner(program_name(first.strip(STAR)), rest):
        return False
    wanted = _wanted(rest)
    words = (_program(first), *wanted.named, *wanted.values)
    return any(
        all(_is_given(option, tuple(given)) for option in wanted.options)
        and all(any(fits(word, one) for one in given) for word in words)
        for given in map(_given_words, together)
    )


def _names_inner(program: str, words: Sequence[str]) -> bool:
    plain = [word.strip(STAR) for word in words if word.strip(STAR)]
    if inner := SEARCHES.get(program):
        return any(word in inner for word in plain) and not inner.issuperset(plain)
    return program in READERS and bool(plain)


@lru_cache(maxsize=64)
def _given_words(text: str) -> dict[str, None]:
    words = (word for word in _SEPARATORS.split(text) if word)
    return dict.fromkeys(way for word in words for way in (word, *_ways_within(word)))


@lru_cache(maxsize=256)
def _words(rule: str) -> tuple[str, ...]:
    return plain_words(rule, rule=True) or tuple(rule.split()) or ("",)


def _forms(rule: str) -> set[str]:
    """Splits words at stars: `push*--force*` is two, and `git*push*` one name or two."""
    rule = _WITHIN.sub(f"{STAR} ", rule)
    return {rule, _IN_PROGRAM.sub(rf"\1{STAR} ", rule)}


def _program(word: str) -> str:
    name = program_name(word)
    return name if name.strip(STAR) else normpath(word)


def _ways_to_spell(word: str) -> tuple[str, ...]:
    """Returns names of a program and ends of its path: `./bin/x` is `bin/x`, as in `../bin/x`."""
    path = normpath(word) if word else word
    return *names_of(word), path, *(() if path[:1] == "/" else _tails(path))


def _tails(path: str) -> Iterator[str]:
    # All of a long one would take gigabytes.
    steps = path.split("/")[1:][-MOST_TAILS:]
    return ("/".join(steps[at:]) for at in range(len(steps)))


@lru_cache(maxsize=1024)
def _ways_within(word: str) -> tuple[str, ...]:
    """Returns spellings of a later word: path, a program's names (`pip3`), a script's ends."""
    path = normpath(word) if word else word
    if _SCRIPT.search(word):
        return (path, *_tails(path))
    is_program = _IN_BIN.search(word) or known(word) or program_name(word) in READERS
    return (path, *names_of(word)) if is_program else (path,)


def _wanted(rule: Sequence[str]) -> _Wanted:
    rule = [_LEADING.sub("", word).removeprefix("./") for word in rule]
    named = tuple(takewhile(lambda word: not (word == STAR or _IN_ANY_PLACE.match(word)), rule))
    behind = [word for word in rule[len(named) :] if word != STAR]
    # `--context=prod` is `--context prod` too, and `--` no option.
    parts = [
        part for word in behind for part in (word.split("=", 1) if word[:1] == "-" else [word])
    ]
    options = tuple(part for part in parts if part.startswith("-") and part != "--")
    return _Wanted(named, options, tuple(part for part in parts if part not in (*options, STAR)))


def _starred(word: str) -> str:
    gap = r"[^\s\0\"',]*"
    first, *within = map(re.escape, word.split(STAR))
    last = f"{gap}{within.pop()}" if within else ""
    # Each star but the last takes as little as it can, for good: else a long word takes minutes.
    return f"{first}{''.join(f'(?>{gap}?{piece})' for piece in within)}{last}"


def _word(word: str) -> str:
    folders = "" if word.startswith(STAR) else r"(?:[^\s\0\"',]*/)?"
    return rf"[\s\0\"',]{folders}{_starred(word)}(?![\w-])"


def _ways(word: str) -> Iterator[str]:
    """Yields patterns that must all be found: one per letter of an option, wherever placed."""
    if letters := _LETTERS.fullmatch(word):
        yield from (rf"[\s\0\"',]-\w*{letter}" for letter in letters[1])
    else:
        yield rf"[\s\0\"',=]{_starred(word)}" if word.startswith("-") else _starred(word)


def _in_order(wanted: list[re.Pattern[str]], text: str) -> bool:
    at = 0
    for one in wanted:
        found = one.search(text, at)
        if found is None:
            return False
        at = found.end()
    return True


def _has(wanted: _Wanted, command: tuple[str, ...]) -> bool:
    program, *words = command
    runs = program_name(program) in RUNNING
    ended = not runs and "--" not in wanted.values
    given = tuple(takewhile(lambda word: not ended or word != "--", words))
    # `build/` is `build`, `/bin/rm` is `rm`.
    parts = {part for word in words for part in (word, word.partition("=")[2], *_ways_within(word))}
    joined = [word for word in words if _SHORT.match(word)]
    named = behind_options(command)
    return (
        all(_is_given(option, given) for option in wanted.options)
        and all(
            any(fits(value, part) for part in parts)
            or any(fits(f"{STAR}{value}", one) for one in joined)
            for value in wanted.values
        )
        and _stand_in(wanted.named, named, any_behind=program_name(program) in _OF_TARGETS)
    )


def _stand_in(named: tuple[str, ...], words: Sequence[str], *, any_behind: bool) -> bool:
    """Whether words begin with `named`, but for options, their values, and variables.

    `any_behind`: whatever stands between.
    """
    found = [{0}, *(set[int]() for _ in words), set[int]()]
    for at, word in enumerate(words):
        for count in found[at]:
            if count == len(named):
                return True
            # `prisma@5` is `prisma`; mix takes a list with commas.
            plain = (word, word.rpartition("@")[0] or word, word.removesuffix(","))
            spelt = (*plain, *_ways_within(word))
            if any(fits(named[count], one) for one in spelt):
                found[at + 1].add(count + 1)
            # A variable may hold options; `timeout 5` runs what stands behind.
            is_runner = program_name(word) in PASSED_OVER or _DURATION.fullmatch(word)
            if any_behind or is_runner or _PASSED.match(word):
                found[at + 1].add(count)
                found[at + 2] |= set() if "=" in word or is_runner else {count}
    return len(named) in found[len(words)]


def _is_given(option: str, words: Sequence[str]) -> bool:
    """Whether words hold an option, also joined with letters or a value: `-XDELETE`."""
    letters = _LETTERS.fullmatch(option)
    if not letters or option in _OF_FIND:
        # `-auto-approve` is `--auto-approve`.
        like = _EXECUTING if option in _EXECUTING else {option, f"-{option}", option[1:]} - {"-"}
        given = {one for word in words for one in (word, word.partition("=")[0]) if one[:1] == "-"}
        return any(fits(option, one) for option in like for one in given)
    short = "".join(found[1] for word in words if (found := _SHORT.match(word)))
    # `rm -Rf` is `rm -rf`.
    return set(letters[1].replace("R", "r")) <= set(short.replace("R", "r"))
