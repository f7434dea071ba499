"""Decides how to undo the agent's part at a path, or at a rename's two."""

from dataclasses import replace
from typing import Literal, TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.files.changeset import same, same_content
from sidecar.core.files.reconcile import OTHERS, Choices, HeldState, without
from sidecar.core.files.strands import Strand
from sidecar.core.files.tree import MIB, TreeEntry

FateKind: TypeAlias = Literal["restored", "merged", "partly", "skipped", "conflict"]
"""`partly`: some hunks alone are taken back."""

_ASKED = " Changes made since are overwritten, as asked."
_UNKNOWN = (
    f"It changed while a command of the agent ran: by that command, or by {OTHERS}. Nobody can tell"
)
_TAKEN = " What changed while a command ran is taken for the agent's, as asked."


@dataclass(frozen=True, slots=True)
class PathVerdict:
    """A path's fate, and its new entry if changed."""

    fate: FateKind
    reason: str
    entry: TreeEntry | None = None
    content: bytes | None = None

    @property
    def acts(self) -> bool:
        return self.fate in ("restored", "merged")


def undo(strand: Strand, choices: Choices) -> PathVerdict:
    return _hindrance(strand, choices) or _undone(strand, choices)


def undo_rename(new: Strand, old: Strand, choices: Choices) -> tuple[PathVerdict, PathVerdict]:
    """Undoes a rename; others' later changes move back with the file."""
    at_new, at_old = undo(new, choices), undo(old, choices)
    may_merge = choices.on_conflict == "merge" and new.changed and at_old.fate == "restored"
    # Unsaved text at the old path is the file as before, not the merged one.
    may_merge = may_merge and old.path not in choices.dirty
    if may_merge and _hindrance(new, choices) is None:
        held = without(new, old.target, choices)
        if isinstance(held, str):
            at_new = PathVerdict("conflict", held)
        else:
            at_new = PathVerdict("restored", "", new.target)
            at_old = _merged(held, old)
    if at_new.acts and at_old.acts:
        back, moved = f"Moved back to {shown(old.path)}.", f"Moved back from {shown(new.path)}."
        if new.target is not None:
            back = f"{_how(new, choices)} What came there is moved back to {shown(old.path)}."
        if at_old.fate == "merged":
            moved = f"{moved} {at_old.reason}"
        if choices.on_conflict == "overwrite" and (new.changed or old.changed):
            back += _ASKED
        at_new, at_old = replace(at_new, reason=back), replace(at_old, reason=moved)
    return at_new, at_old


def with_it(other: PathVerdict, path: bytes) -> PathVerdict:
    return PathVerdict(
        other.fate, f"It was renamed together with {shown(path)}, which has to stay as it is."
    )


def in_the_way(choices: Choices, reason: str) -> PathVerdict:
    return PathVerdict("skipped" if choices.on_conflict == "keep" else "conflict", reason)


def shown(path: bytes) -> str:
    return path.decode("utf-8", "backslashreplace")


def _hindrance(strand: Strand, choices: Choices) -> PathVerdict | None:
    now = strand.now
    if now is not None and now.lost == "ignored":
        reason = "The ignore rules leave it out now, so it is not known what became of it."
        return PathVerdict("skipped", reason)
    if not strand.parts:
        return _unknown(strand, choices) or PathVerdict("skipped", _nothing_left(strand))
    target = strand.target
    holds = now is not None and target is not None and same_content(now, target)
    if target is not None and target.lost and not holds:
        return _lost_before(target, choices)
    if strand.path in choices.dirty and not _is_shown(strand, choices):
        return in_the_way(choices, "It is open in the editor with changes that are not saved.")
    if now is None or not now.lost or holds:
        return None
    gone = f"What it holds now is not stored: {_why(now, choices)}. It could not be brought back"
    if strand.changed:
        return in_the_way(choices, f"{gone}, and {OTHERS} changed it since.")
    if choices.on_conflict == "overwrite":
        return None
    return PathVerdict("skipped", f"{gone}; choose to overwrite if it may go.")


def _lost_before(before: TreeEntry, choices: Choices) -> PathVerdict:
    return PathVerdict("skipped", f"What it held before is not stored: {_why(before, choices)}.")


def _unknown(strand: Strand, choices: Choices) -> PathVerdict | None:
    if strand.unknown is None or strand.taken:
        return None
    before = strand.unknown.old
    if before is not None and before.lost:
        return _lost_before(before, choices)
    if choices.on_conflict == "keep":
        return PathVerdict("skipped", f"Left as it is. {_UNKNOWN}.")
    choose = "keep leaves it as it is, overwrite takes it for the agent's"
    return PathVerdict("conflict", f"{_UNKNOWN}: {choose}.")


def _is_shown(strand: Strand, choices: Choices) -> bool:
    """Whether the editor shows the content to write, so nothing unsaved is lost."""
    target = strand.target
    if target is None or target.kind != "file" or target.hash != choices.dirty[strand.path]:
        return False
    # A merge may write something else.
    return not (strand.changed and choices.on_conflict == "merge")


def _nothing_left(strand: Strand) -> str:
    if not strand.ever:
        return f"Only {OTHERS} changed it."
    return "Nothing is left to undo: what was changed here was taken back already."


def _undone(strand: Strand, choices: Choices) -> PathVerdict:
    if choices.on_conflict == "refuse" and (unknown := _unknown(strand, choices)) is not None:
        return unknown
    if not strand.changed:
        return PathVerdict("restored", _how(strand, choices), strand.target)
    if strand.target is None and strand.now is not None and strand.now.is_folder:
        # A folder is removed only if empty, so nothing of others' is lost.
        return PathVerdict("restored", _how(strand, choices), None)
    match choices.on_conflict:
        case "refuse":
            return PathVerdict("conflict", _clash(strand, choices))
        case "keep":
            return PathVerdict("skipped", f"Left as it is. {_clash(strand, choices)}")
        case "overwrite":
            return PathVerdict("restored", _how(strand, choices) + _ASKED, strand.target)
        case "merge":
            held = without(strand, strand.target, choices)
            return PathVerdict("conflict", held) if isinstance(held, str) else _merged(held, strand)


def _merged(held: HeldState, strand: Strand) -> PathVerdict:
    if same(held.entry, strand.now):
        return PathVerdict("skipped", "Nothing of what was changed here is left in it.")
    places = "1 place marked in it needs"
    if held.clashes > 1:
        places = f"{held.clashes} places marked in it need"
    marked = f" {places} a decision." if held.clashes else ""
    reason = f"Undone beside the changes made since, which stay.{marked}"
    return PathVerdict("merged", reason, held.entry, held.content)


def _doer(strand: Strand, choices: Choices) -> str:
    return "the restore" if strand.path in choices.restored else "the agent"


def _how(strand: Strand, choices: Choices) -> str:
    told = _told(strand, choices)
    return told + _TAKEN if strand.taken and strand.unknown is not None else told


def _told(strand: Strand, choices: Choices) -> str:
    doer, target, now = _doer(strand, choices), strand.target, strand.now
    if target is None:
        empty = ", and it is empty now" if now is not None and now.is_folder else ""
        return f"Removed: {doer} had made it{empty}."
    if now is None:
        return f"Brought back as it was before {doer} changed or removed it."
    if same_content(now, target):
        return f"Its mode is again what it was before {doer} changed it."
    return f"Again as it was before {doer} changed it."


def _clash(strand: Strand, choices: Choices) -> str:
    doer = _doer(strand, choices).capitalize()
    if strand.now is None:
        return f"{doer} changed it, and {OTHERS} removed it since."
    if strand.left is None:
        return f"{doer} removed it, and {OTHERS} made it anew since."
    if strand.target is None:
        return f"{doer} made it, and {OTHERS} changed it since."
    if same_content(strand.left, strand.now):
        return f"{doer} changed it, and {OTHERS} changed its mode since."
    return f"{doer} changed it, and {OTHERS} changed it since."


def _why(entry: TreeEntry, choices: Choices) -> str:
    size, limits = _size(entry.size), choices.limits
    match entry.lost:
        case "large":
            most = ""
            if limits is not None:
                tracked = f"or {_size(limits.tracked)} where git tracks it"
                most = f", and at most {_size(limits.untracked)} of a file, {tracked}, are"
            return f"it has {size}{most}"
        case "full":
            most = ""
            if limits is not None:
                one, all_of_it = _size(limits.snapshot), _size(limits.workspace)
                most = f" ({one} for one snapshot, {all_of_it} for the workspace)"
            return f"there was no room left for its {size}{most}"
        case "unreadable":
            return "there was no right to read it"
        case "unstable":
            return "it changed whenever it was read"
        case "unread":
            return "it changed before it was first read"
        case "withheld":
            return "it did not come along from another machine"
        case "ignored" | None:
            return "the ignore rules left it out"


def _size(number: int) -> str:
    if number < MIB:
        return f"{number:,} bytes"
    return f"{number / MIB:.1f}".removesuffix(".0") + " MiB"
