"""What becomes of each path of a restore, as clients are told it."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from sidecar.core.parts import Json, JsonObject
from sidecar.core.rollback import Fate
from sidecar.session.patches import shown

Diffs: TypeAlias = Mapping[bytes, tuple[str, str]]
"""For a path in conflict: what the agent did, and what others did since, as unified diffs."""


def files_of(fates: Sequence[Fate], diffs: Diffs, foreseen: Mapping[bytes, str]) -> JsonObject:
    """Give every path in one of four lists: `{restored, merged, skipped, conflicts}`.

    `foreseen`: what would be done to a path, as a unified diff.
    """

    def of(name: str) -> list[Json]:
        return [_fared(fate, foreseen) for fate in fates if fate.fate == name]

    clashes: list[Json] = [conflict(fate, diffs) for fate in fates if fate.fate == "conflict"]
    return {
        "restored": of("restored"),
        "merged": of("merged"),
        "skipped": of("skipped"),
        "conflicts": clashes,
    }


def conflict(fate: Fate, diffs: Diffs) -> JsonObject:
    """Give a path that is in the way, with what the agent and what others did there."""
    agents, users = diffs.get(fate.path, ("", ""))
    about: JsonObject = {"path": shown(fate.path), "reason": fate.reason}
    return {**about, "agentDiff": agents, "userDiff": users} if agents or users else about


def nothing(fates: Sequence[Fate]) -> str:
    """Say that there is nothing to do, and why with the first path."""
    if not fates:
        return "there is nothing to do: everything is as it was then"
    first, more = fates[0], len(fates) - 1
    rest = f" And {more} more, each with its reason." if more else ""
    return f"there is nothing to do. {shown(first.path)}: {first.reason}{rest}"


def _fared(fate: Fate, foreseen: Mapping[bytes, str]) -> JsonObject:
    about: JsonObject = {"path": shown(fate.path), "reason": fate.reason}
    diff = foreseen.get(fate.path)
    return about if diff is None else {**about, "diff": diff}
