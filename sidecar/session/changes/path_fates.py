"""A restore's paths: `{restored, merged, skipped, conflicts}`."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from sidecar.core.files.restore_plan import Fate
from sidecar.core.parts import Json, JsonObject
from sidecar.session.log.change_records import shown

Diffs: TypeAlias = Mapping[bytes, tuple[str, str, str]]
"""Unified diffs by path: the agent's, others' since, possibly either's."""


def files_of(fates: Sequence[Fate], diffs: Diffs, foreseen: Mapping[bytes, str]) -> JsonObject:
    def of(*names: str) -> list[Json]:
        return [_fared(fate, foreseen) for fate in fates if fate.fate in names]

    clashes: list[Json] = [conflict(fate, diffs) for fate in fates if fate.fate == "conflict"]
    return {
        "restored": of("restored", "partly"),
        "merged": of("merged"),
        "skipped": of("skipped"),
        "conflicts": clashes,
    }


def conflict(fate: Fate, diffs: Diffs) -> JsonObject:
    agents, users, unknown = diffs.get(fate.path, ("", "", ""))
    about: JsonObject = {"path": shown(fate.path), "reason": fate.reason}
    if agents or users:
        about |= {"agentDiff": agents, "userDiff": users}
    return {**about, "unknownDiff": unknown} if unknown else about


def nothing(fates: Sequence[Fate], notes: Sequence[str] = ()) -> str:
    """Says why nothing is restored; `notes` tell what snapshots do not hold."""
    if not fates:
        if not notes:
            return "there is nothing to do: everything is as it was then"
        held = "there is nothing to do: all that snapshots hold is as it was then."
        return " ".join((held, *notes))
    first, more = fates[0], len(fates) - 1
    rest = f" And {more} more, each with its reason." if more else ""
    return " ".join((f"there is nothing to do. {shown(first.path)}: {first.reason}{rest}", *notes))


def _fared(fate: Fate, foreseen: Mapping[bytes, str]) -> JsonObject:
    about: JsonObject = {"path": shown(fate.path), "reason": fate.reason}
    diff = foreseen.get(fate.path)
    return about if diff is None else {**about, "diff": diff}
