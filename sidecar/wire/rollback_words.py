"""Reads a rollback's words: `[turns back] [scope] [handling of conflicts]`."""

from collections.abc import Sequence
from typing import cast

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest
from sidecar.core.files.reconcile import OnConflict
from sidecar.core.text.visible import whole_letters
from sidecar.session.history.checkpoint_list import ListedCheckpoint
from sidecar.session.interface import Done, Scope
from sidecar.session.lifecycle.session import Session

SCOPES = ("both", "files", "conversation")
CONFLICTS = ("refuse", "keep", "overwrite", "merge")


def wanted(words: str) -> tuple[Scope, OnConflict, int | None]:
    """In any order; raises BadRequest."""
    scope, on_conflict, number = "both", "refuse", None
    for word in words.split():
        if word in SCOPES:
            scope = word
        elif word in CONFLICTS:
            on_conflict = word
        elif word.isdecimal():
            number = int(word)
        else:
            known = ", ".join((*SCOPES, *CONFLICTS))
            raise BadRequest(f"{word!r} is not known: give a number of turns, or {known}")
    return cast("Scope", scope), cast("OnConflict", on_conflict), number


@dataclass(frozen=True, slots=True)
class UndoableTurn:
    """A turn's checkpoint, first message, title and changed paths."""

    checkpoint_id: str
    message_id: str
    title: str
    paths: tuple[str, ...]


async def turns_back(session: Session) -> list[UndoableTurn]:
    """Newest first; raises BadRequest without any."""
    found = (await session.checkpoints.listed()).checkpoints
    turns = [
        UndoableTurn(
            one.checkpoint.id,
            one.checkpoint.message_id,
            _title(one),
            _changed(found, one.checkpoint.turn_id),
        )
        for one in reversed(found)
        if one.checkpoint.kind == "turn" and not one.left
    ]
    if not turns:
        raise BadRequest("there is no turn to go back to yet")
    return turns


def numbered(turns: list[UndoableTurn], number: int) -> UndoableTurn:
    """1 is the newest; raises BadRequest beyond the last."""
    if not 1 <= number <= len(turns):
        raise BadRequest(f"this session has {len(turns)} turns: give a number up to that")
    return turns[number - 1]


def _title(one: ListedCheckpoint) -> str:
    return whole_letters(one.checkpoint.title, 60) or "without words"


def _changed(found: Sequence[ListedCheckpoint], turn_id: str) -> tuple[str, ...]:
    steps = (one for one in found if one.checkpoint.turn_id == turn_id)
    files = (file for one in steps if one.checkpoint.kind != "turn" for file in one.files)
    return tuple(dict.fromkeys(str(file["path"]) for file in files))


def paths(done: Done, fate: str) -> list[str]:
    return [one.path.decode("utf-8", "replace") for one in done.fates if one.fate == fate]


def summary(done: Done) -> str:
    parts = [] if done.prompt is None else ["the conversation"]
    for fate, word in (("restored", "restored"), ("merged", "merged"), ("conflict", "in conflict")):
        names = paths(done, fate)
        if names:
            shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if names[3:] else "")
            parts.append(f"{shown} {word}")
    return "; ".join(parts) or "nothing of the files"
