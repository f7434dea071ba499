"""What a rule's `*` covers of one program: the shape of an entry in the tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field

MANY = 10_000
"""Operands where there may be any number."""


@dataclass(frozen=True, slots=True)
class Program:
    """What a `*` covers of a program.

    `why`: what other options or words would do. `options`: those that are covered, short ones by
    their letters, which may be joined; with `whole` each is one word, as find has them, and with
    `any_option` all are. `operands`: what every other word must be, `most` how many there may be;
    `first` what the first word must be, `script` the first that is no option. With `passes`, all
    after `--` is covered. `nowhere`: what no word may hold, be it an option or not. `writes`:
    words lead to no hidden file, to nothing outside and to nothing that runs later; with `commits`
    the first may be HEAD or HEAD~1.
    `subcommands` are covered as such; those in `named` only where the rule's own words name them.
    """

    why: str
    options: frozenset[str] = frozenset()
    whole: bool = False
    any_option: bool = False
    operands: str = r"[\s\S]*"
    most: int = MANY
    first: str = ""
    script: str = ""
    passes: bool = False
    nowhere: str = ""
    writes: bool = False
    commits: bool = False
    subcommands: Mapping[str, "Program"] = field(default_factory=dict)
    named: Mapping[str, "Program"] = field(default_factory=dict)


def options(*groups: str) -> frozenset[str]:
    """Read options: `abc` are letters, `--long` and `-single` stand for themselves."""
    found: set[str] = set()
    for word in " ".join(groups).split():
        found.update({word} if word.startswith("-") else {f"-{letter}" for letter in word})
    return frozenset(found)
