"""Decides what becomes of a session: pure, over what is here, there, and was at the last sync."""

from typing import Literal, TypeAlias

from sidecar.core.dataclass import dataclass

Relation: TypeAlias = Literal["same", "ahead", "behind", "apart"]
"""Of what is here to what is there."""
Step: TypeAlias = Literal["nothing", "send", "take_new", "take_on", "part", "keep"]
"""`take_on`: append what is new there; `part`: become a fork; `keep`: the ref is gone, stay."""


@dataclass(frozen=True, slots=True)
class Mark:
    """The ref's commit and the session's revision as they agreed last, and where it works."""

    tip: str
    revision: int
    folder: str


@dataclass(frozen=True, slots=True)
class Sides:
    """One session: `here` its revision, `there` its ref's commit, if any.

    `wished`: by name, to be opened here. `relation` is known once both were read.
    """

    here: int | None
    there: str | None
    mark: Mark | None = None
    wished: bool = False
    relation: Relation | None = None


def is_settled_by_mark(sides: Sides) -> bool:
    """Whether nothing was written on either side since, so neither need be read."""
    mark = sides.mark
    return mark is not None and (sides.here, sides.there) == (mark.revision, mark.tip)


def step_for(sides: Sides) -> Step:
    """Decides once `relation` is known, where there are two sides."""
    if is_settled_by_mark(sides):
        return "nothing"
    if sides.here is None:
        return "take_new" if sides.there is not None and sides.wished else "nothing"
    if sides.there is None:
        gone = sides.mark is not None and sides.here == sides.mark.revision
        return "keep" if gone else "send"
    match sides.relation:
        case "ahead":
            return "send"
        case "behind":
            return "take_on"
        case "apart":
            return "part"
        case _:
            return "nothing"


def is_to_be_removed(there: str | None, mark: Mark | None) -> bool:
    """Whether a deleted or archived session's ref goes: only as it was left from here."""
    return there is not None and mark is not None and there == mark.tip
