"""Uncommitted changes of files that git took back."""

import re
from collections.abc import Iterable
from typing import TypeAlias

from sidecar.core.files.shell_writes import commands_alone
from sidecar.core.ledger.units import Unit
from sidecar.core.parts import PartId

MadeChange: TypeAlias = tuple[PartId, str]
"""A call and the path of a file, as the call spelled the path."""
_COMMITS = re.compile(r"\bgit(?: -[cC] \S+)* commit\b")


def taken_back(units: Iterable[Unit]) -> frozenset[MadeChange]:
    """Gives changes that git undid or stashed.

    New files, unknown to git, count only if a command names them.
    """
    standing: dict[MadeChange, bool] = {}
    aside: dict[MadeChange, bool] = {}
    lost: set[MadeChange] = set()
    for unit in units:
        for made in unit.replaced:
            if made.fate == "returned":
                standing |= aside
                aside = {}
            elif made.fate != "unknown":
                reached = {
                    change: new
                    for change, new in standing.items()
                    if made.may_reach(change[1])
                    and not (new and _base(change[1]) != _base(made.path))
                }
                standing = {one: new for one, new in standing.items() if one not in reached}
                if made.fate == "aside":
                    aside |= reached
                else:
                    lost |= reached.keys()
        for deed in unit.changed:
            standing[unit.part_id, deed.path] = deed.operation == "created"
        if standing and unit.means == "shell" and not unit.failed and _commits(unit.call):
            standing = {}
    return frozenset(lost | aside.keys())


def _commits(command: str) -> bool:
    return "git" in command and bool(_COMMITS.search(commands_alone(command)))


def _base(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]
