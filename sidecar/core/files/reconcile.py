"""Takes the agent's part out of a path by a three-way merge."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import field, replace
from typing import Literal, TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.files.changeset import same, same_content
from sidecar.core.files.strands import Strand
from sidecar.core.files.tree import TreeEntry
from sidecar.core.text.digest import digest
from sidecar.core.text.merge import merge

OnConflict: TypeAlias = Literal["refuse", "keep", "overwrite", "merge"]

OTHERS = "you or another program"
_MY_NAME = "as it is now"
_THEIR_NAME = "as it was before"


@dataclass(frozen=True, slots=True)
class Sizes:
    """Limits in bytes, for an untracked or tracked file, a snapshot, a workspace."""

    untracked: int
    tracked: int
    snapshot: int
    workspace: int


@dataclass(frozen=True, slots=True)
class Choices:
    """The user's choices for a restore, and data needed for it.

    `dirty`: saved hashes of paths with unsaved text. `read` returns stored content by hash, or
    `None`. `markers`: leave clashes between markers. `restored`: paths that an earlier restore
    changed.
    """

    read: Callable[[str], bytes | None]
    on_conflict: OnConflict = "refuse"
    dirty: Mapping[bytes, str] = field(default_factory=dict)
    markers: bool = False
    limits: Sizes | None = None
    restored: Collection[bytes] = ()


@dataclass(frozen=True, slots=True)
class HeldState:
    """A path's state; `content` holds bytes not yet stored, `clashes` counts marked places."""

    entry: TreeEntry | None
    content: bytes | None = None
    clashes: int = 0


def without(strand: Strand, target: TreeEntry | None, choices: Choices) -> HeldState | str:
    """Returns the state without the agent's parts, or why there is none.

    `target` replaces the state before the agent's first part.
    """
    held = HeldState(strand.now)
    for at in range(len(strand.parts) - 1, -1, -1):
        part = strand.parts[at]
        if not part.agent:
            continue
        theirs = part.old if at else target
        if same(held.entry, part.new):
            held = HeldState(theirs)
            continue
        found = _three_way(part.new, held, theirs, choices)
        if isinstance(found, str):
            return found
        held = found
    entry = held.entry
    if entry is not None and entry.lost and not _holds(strand.now, entry):
        return "What it held before is not stored, so changes cannot be told apart."
    return held


def _holds(now: TreeEntry | None, entry: TreeEntry) -> bool:
    return now is not None and same_content(now, entry)


def _three_way(
    base: TreeEntry | None, mine: HeldState, theirs: TreeEntry | None, choices: Choices
) -> HeldState | str:
    now = mine.entry
    if now is None:
        return f"It was changed here, and {OTHERS} removed it since: that cannot be merged."
    if theirs is None:
        return f"It was made here, and {OTHERS} changed it since: that cannot be merged."
    if now.kind != theirs.kind:
        return f"It was a {theirs.kind} before and is a {now.kind} now: that cannot be merged."
    if base is None or base.kind != now.kind:
        base, mode = None, now.mode
    else:
        # A mode bit changed by either side is the inverse of the base's bit.
        mode = base.mode ^ ((now.mode ^ base.mode) | (theirs.mode ^ base.mode))
    if now.is_folder:
        return HeldState(TreeEntry(mode))
    if same_content(now, theirs) or (base is not None and same_content(theirs, base)):
        return replace(mine, entry=now._replace(mode=mode))
    if base is not None and same_content(now, base):
        return HeldState(theirs._replace(mode=mode))
    if now.kind == "link":
        return f"{OTHERS.capitalize()} let the link point elsewhere since."
    return _texts(base, mine, theirs, mode, choices)


def _texts(
    base: TreeEntry | None, mine: HeldState, theirs: TreeEntry, mode: int, choices: Choices
) -> HeldState | str:
    one = _bytes(mine.entry, choices) if mine.content is None else mine.content
    old, other = _bytes(base, choices), _bytes(theirs, choices)
    if old is None or one is None or other is None:
        return f"{OTHERS.capitalize()} changed it since, and not all that it held is stored."
    merged = merge(old, one, other, my_name=_MY_NAME, their_name=_THEIR_NAME)
    if merged == "binary":
        return f"{OTHERS.capitalize()} changed it since, and it is no text that can be merged."
    if merged == "large":
        return f"{OTHERS.capitalize()} changed it since, and it is too large to be merged."
    if merged.clashes and not choices.markers:
        return f"{OTHERS.capitalize()} changed the same lines since."
    entry = TreeEntry(mode, digest(merged.content), len(merged.content))
    return HeldState(entry, merged.content, mine.clashes + merged.clashes)


def _bytes(entry: TreeEntry | None, choices: Choices) -> bytes | None:
    if entry is None:
        return b""
    return choices.read(entry.hash) if entry.hash else None
