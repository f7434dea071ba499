"""What it takes to undo the agent's part of what became of files, and how each path fares. Pure."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from sidecar.core.tree import Entry

OnConflict: TypeAlias = Literal["refuse", "keep", "overwrite", "merge"]
FateKind: TypeAlias = Literal["restored", "merged", "skipped", "conflict"]


@dataclass(frozen=True, slots=True)
class Action:
    """A path to change; each stands once in a plan.

    `entry` is what is to stand there, `None` for nothing; `expect` what must stand there now, or
    nothing is to be done. `content` is merged bytes that `entry` names, instead of a stored blob.
    Where `entry` and `expect` hold the same and differ in mode, only the mode is to be set. Where
    they are of different kinds, what stands there goes first; a folder is empty by then. A folder
    is made so that files can be put into it, and gets its mode when they are there. Folders above
    that no action makes are there, or are to be made.
    """

    path: bytes
    entry: Entry | None
    expect: Entry | None
    content: bytes | None = None


@dataclass(frozen=True, slots=True)
class Fate:
    """How a path fares, and why, in words for people.

    Of a conflict: `theirs` is what stood there before the agent, `base` what the agent left, and
    `mine` what stands there now. The agent's part leads from `theirs` to `base`, the user's from
    `base` to `mine`.
    """

    path: bytes
    fate: FateKind
    reason: str
    mine: Entry | None = None
    base: Entry | None = None
    theirs: Entry | None = None


@dataclass(frozen=True, slots=True)
class RestorePlan:
    """Actions in the order in which they are to be done, and the fate of every path.

    Where conflicts are refused and there are some, there are no actions, and the fates tell what
    would be.
    """

    actions: tuple[Action, ...]
    fates: tuple[Fate, ...]

    @property
    def conflicts(self) -> tuple[Fate, ...]:
        """The paths that cannot be restored without a choice of the user."""
        return tuple(fate for fate in self.fates if fate.fate == "conflict")

    @property
    def nothing(self) -> bool:
        """Whether there is nothing to do, and nothing in the way of it."""
        return not self.actions and not self.conflicts
