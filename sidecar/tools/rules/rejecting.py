"""Whether a rule that rejects commands hits one, or words that its program may run. Pure.

A rule is the pattern of a rejecting one, its `*` as `STAR`.
"""

import re
from itertools import takewhile

from sidecar.tools.rules.other_spellings import Spellings, program_name
from sidecar.tools.rules.pattern import fits
from sidecar.tools.rules.shell_words import STAR, plain_words, unescaped, without_options

_BEGINS = re.escape("\0\n;&|(`[{=!/\\\"'")
"""Signs that a command within a text may begin behind; a text's words are joined by NUL."""
_ENDS = re.compile(r"[;&|]|(?<!,)\n")
_LETTERS = re.compile(r"-[A-Za-z]{1,5}")


def hits(rule: str, spelt: Spellings) -> bool:
    """`git push *` hits `git push` too."""
    first, *rest = plain_words(rule, rule=True) or (rule,)
    named = first if STAR in first else program_name(first) or first
    spellings = {rule, " ".join((first, *rest)), " ".join((named, *rest))}
    if any(fits(one, text) or fits(one, f"{text} ") for one in spellings for text in spelt.texts):
        return True
    named_so = (words for words in spelt.commands if fits(named, program_name(words[0])))
    return any(_has_options(tuple(rest), words[1:]) for words in named_so)


def mentions(rule: str, unread: tuple[str, ...]) -> bool:
    """Whether the rule's words, up to its first `STAR`, stand where a program may run them.

    As a list of strings too (`["git", "push"]`). A rule of one word must begin a text of several,
    or stand behind `--`: `apt install curl` runs nothing.
    """
    words = plain_words(rule, rule=True) or tuple(rule.split())
    named = tuple(takewhile(lambda word: STAR not in word, words))
    if not named:
        return False
    name, *more = map(re.escape, (program_name(named[0]), *named[1:]))
    place = (
        rf"(?:^|[{_BEGINS}\s])"
        if more
        else rf"(?:^|[{_BEGINS}])\s*(?=\S*\s|[^\s\"']*[\"'],)|(?:^|\0)--\0"
    )
    first = rf"(?:{place}|(?:^|\0)-\w){name}(?:\.exe)?(?![\w.-])"
    behind = (rf"[\s\0\"',]{word}(?![\w-])" for word in more)
    wanted = [re.compile(one) for one in (first, *behind)]
    return any(_in_order(wanted, one) for text in unread for one in _ENDS.split(unescaped(text)))


def _in_order(wanted: list[re.Pattern[str]], text: str) -> bool:
    at = 0
    for one in wanted:
        found = one.search(text, at)
        if found is None:
            return False
        at = found.end()
    return True


def _has_options(rule: tuple[str, ...], words: tuple[str, ...]) -> bool:
    """Whether words have a rule's options, wherever these stand, and its other words.

    `x -fr` for `-rf *`; false of a rule without options.
    """
    options = {word for word in rule if word.startswith("-") and STAR not in word}
    others = tuple(word for word in rule if word not in options)
    named = tuple(takewhile(lambda word: word != STAR, others))
    values = {*others[len(named) :]} - {STAR}
    given = tuple(takewhile(lambda word: word != "--", words))
    return (
        bool(options)
        and all(_is_given(option, given) for option in options)
        and values <= {part for word in words for part in (word, word[2:], word.partition("=")[2])}
        and any(
            len(one) >= len(named) and all(map(fits, named, one)) for one in without_options(words)
        )
    )


def _is_given(option: str, words: tuple[str, ...]) -> bool:
    """Letters alone or joined with others, and before a value: `-XDELETE`."""
    if not _LETTERS.fullmatch(option):
        return any(word == option or word.startswith(f"{option}=") for word in words)
    short = [word for word in words if re.match(r"-\w", word)]
    joined = {letter for word in short if _LETTERS.fullmatch(word) for letter in word[1:]}
    return {*option[1:]} <= joined | {word[1] for word in short}
