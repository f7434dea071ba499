"""Entries of the tables of programs."""

from collections.abc import Mapping
from dataclasses import field

from sidecar.core.dataclass import dataclass

MANY = 10_000
"""Operands where there may be any number."""
NO_OPERAND = r"(?!)"


@dataclass(frozen=True, slots=True)
class Program:
    """The words of a program covered by `*`.

    `why`: effects of all others. `options`: covered, with any value or, as `--x=y`, this one; short
    ones are joinable letters, unless `whole`, as in find; `any_option`: all; `joined`: pattern of
    others, with a value in the same word, as git's `-Sx`. `operands`: pattern of other words, at
    most `most`; `first`: of the first word; `script`: of the first non-option; `scripts`: instead,
    if the rule names that one, as in `npm run test *`. `nowhere`: pattern forbidden in any word.
    `writes`: words must not lead to hidden files, outside, or to files that run later, unless
    `unwritten` matches all words so far; `creates`: paths must be of a known kind, too. `rewrites`:
    files change whatever the words name. `walks`: goes through folders, and reads words its own
    way: they must be plain (`plain_paths`). `subcommands`: covered; those in `named` only if the
    rule names them.
    """

    why: str
    options: frozenset[str] = frozenset()
    whole: bool = False
    any_option: bool = False
    joined: str = NO_OPERAND
    operands: str = r"[\s\S]*"
    most: int = MANY
    first: str = ""
    script: str = ""
    nowhere: str = ""
    writes: bool = False
    unwritten: str = NO_OPERAND
    creates: bool = False
    rewrites: bool = False
    walks: bool = False
    scripts: "Program | None" = None
    subcommands: Mapping[str, "Program"] = field(default_factory=dict)
    named: Mapping[str, "Program"] = field(default_factory=dict)


def options(*groups: str) -> frozenset[str]:
    """Makes a set of options; `abc`: letters; `--long` and `-single`: themselves."""
    found: set[str] = set()
    for word in " ".join(groups).split():
        found.update({word} if word.startswith("-") else {f"-{letter}" for letter in word})
    return frozenset(found)
