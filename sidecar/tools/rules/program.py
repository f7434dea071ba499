"""An entry of the tables of programs: the words covered by a rule's `*`."""

from collections.abc import Mapping
from dataclasses import dataclass, field

MANY = 10_000
"""Operands where there may be any number."""
NO_OPERAND = r"(?!)"


@dataclass(frozen=True, slots=True)
class Program:
    """The words of a program covered by `*`.

    `why`: effects of all other options and words. `options`: covered options, short ones as
    letters, which may be joined; with `whole` each is one word, as in find; `any_option`: all are
    covered. `operands`: pattern of every other word, at most `most`; `first`: pattern of the first
    word, `script` of the first that is no option; `scripts`: the entry instead where the rule names
    that one, as in `npm run test *`. `nowhere`: pattern forbidden in any word. `writes`: words must
    not lead to hidden files, outside, or to files that run later; HEAD or HEAD~1 is a commit behind
    options that `commits` matches, each with a blank; `creates`: a word with a folder or an ending
    must be a file of a known kind, too. `rewrites`: files change whatever the words name.
    `subcommands` are covered; those in `named` only if the rule's own words name them.
    """

    why: str
    options: frozenset[str] = frozenset()
    whole: bool = False
    any_option: bool = False
    operands: str = r"[\s\S]*"
    most: int = MANY
    first: str = ""
    script: str = ""
    nowhere: str = ""
    writes: bool = False
    commits: str = NO_OPERAND
    creates: bool = False
    rewrites: bool = False
    scripts: "Program | None" = None
    subcommands: Mapping[str, "Program"] = field(default_factory=dict)
    named: Mapping[str, "Program"] = field(default_factory=dict)


def options(*groups: str) -> frozenset[str]:
    """Parse options: `abc` are letters, `--long` and `-single` stand for themselves."""
    found: set[str] = set()
    for word in " ".join(groups).split():
        found.update({word} if word.startswith("-") else {f"-{letter}" for letter in word})
    return frozenset(found)
