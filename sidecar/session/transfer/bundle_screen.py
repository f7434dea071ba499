"""What a bundle may bring: words, and how they were shown. It may come from anybody.

What acts, allows or points elsewhere is taken out or refused: what it says of the contents of
files, tools that would run without asking, settings that are none, and records that refer to
what does not come before them, which would lead their readers round in circles.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, cast

from sidecar.core.conversation.turns import is_settled
from sidecar.core.errors import BadRequest
from sidecar.core.parts import Json, JsonObject, Message, Part, PatchPart, StepFinishPart
from sidecar.core.policies import policies
from sidecar.core.text.visible import whole_letters
from sidecar.session.epochs.epochs import EPOCH
from sidecar.session.epochs.static_prompt import static_from_json, tool_to_json
from sidecar.session.lifecycle.config_options import EFFORTS
from sidecar.session.log.change_records import REACHED
from sidecar.session.log.restore_records import from_record
from sidecar.session.log.rewrite_records import PINNED, REWRITE, from_json
from sidecar.session.log.session_log import RESTORED
from sidecar.session.transfer.record_shapes import check
from sidecar.store.format.bundles import Bundle
from sidecar.store.format.values import Record
from sidecar.tools.builtin_tools import BY_NAME

TITLE: Final = 1_000
"""Characters of a title that are kept."""
_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,200}")
_COST = re.compile(r"[0-9]{1,12}(\.[0-9]{1,18})?")
_SWITCHES = ("autoCompact", "autoContinue")


def screened(bundle: Bundle) -> Bundle:
    """Give a bundle as it may be taken in.

    Raises:
        BadRequest: it holds what no session that was exported holds.
    """
    try:
        return _screened(bundle)
    except ValueError as error:
        raise odd(f"a record is not as Sidecar writes it ({error})") from error


def odd(why: str) -> BadRequest:
    """Give the error for what no export has made."""
    return BadRequest(
        f"this bundle cannot be taken in: {why}. Export the session again, with a Sidecar that "
        "is not newer than this one",
        "params.path",
    )


def _screened(bundle: Bundle) -> Bundle:
    parts = {part.id for message in bundle.messages for part in message.parts}
    for message in bundle.messages:
        _check_message(message)
    for record in bundle.records:
        check(record)
    _check_order(bundle.records)
    records = tuple(
        _harmless(record)
        for record in bundle.records
        if record.kind != PINNED or record.body["partId"] in parts
    )
    if not any(record.kind == EPOCH for record in records):
        raise odd("its log has no beginning")
    row = bundle.session
    if row.cost is not None and not _COST.fullmatch(row.cost):
        raise odd("what it cost is no number")
    messages = tuple(
        replace(message, parts=tuple(map(without_snapshots, message.parts)))
        for message in bundle.messages
    )
    row = replace(row, title=whole_letters(row.title, TITLE), settings=_settings(row.settings))
    return replace(bundle, session=row, messages=messages, records=records)


def without_snapshots(part: Part) -> Part:
    """Leave of what changed in files only their names: snapshots are numbers of one store."""
    return replace(part, detail={}) if isinstance(part, PatchPart) and part.detail else part


def without_files(record: Record) -> Record:
    """Leave out what a record says of snapshots and of the contents of files."""
    match record.kind:
        case kind if kind == RESTORED:
            return replace(record, body={**record.body, "sets": []})
        case kind if kind == REACHED:
            return replace(record, body={})
        case _:
            return record


def acts_outside(records: Iterable[Record]) -> bool:
    """Whether a session has tools of an editor or of MCP servers."""
    static = next((r.body for r in reversed(tuple(records)) if r.kind == EPOCH), None)
    return static is not None and any(
        tool.origin != "builtin" for tool in static_from_json(static).tools
    )


def _check_message(message: Message) -> None:
    if not is_settled(message):
        raise odd("a message in it has not ended")
    for name in (message.id, message.turn_id, *(part.id for part in message.parts)):
        if not _NAME.fullmatch(name):
            raise odd("a name in it is none")
    for part in message.parts:
        if isinstance(part, StepFinishPart):
            counts = (getattr(part.usage, name) for name in part.usage.__slots__)
            if any(count < 0 for count in counts) or part.started < 0:
                raise odd("a count of tokens is none")
            if part.cost is not None and not _COST.fullmatch(part.cost):
                raise odd("what an answer cost is no number")


def _check_order(records: Sequence[Record]) -> None:
    """Raise unless rewrites and restores are each other's followers, and each there once."""
    notes: set[str] = set()
    rewrites: set[str] = set()
    restores: set[str] = set()
    for record in records:
        if record.kind == REWRITE:
            recorded = from_json(record.body)
            made = {note.id for note in recorded.rewrite.notes}
            if made & notes or recorded.rewrite.id in rewrites:
                raise odd("two of its rewrites are the same")
            if not set(recorded.rewrite.retired) <= notes:
                raise odd("a rewrite refers to a later one")
            notes |= made
            rewrites.add(recorded.rewrite.id)
        elif record.kind == RESTORED:
            restored = from_record(replace(record, body={**record.body, "sets": []}))
            if restored.id in restores or restored.undoes not in restores | {None}:
                raise odd("a restore refers to a later one")
            restores.add(restored.id)


def _harmless(record: Record) -> Record:
    if record.kind != EPOCH:
        return without_files(record)
    tools = static_from_json(record.body).tools
    given = cast("list[JsonObject]", record.body["tools"])
    return (
        replace(
            record,
            body={
                **record.body,
                "tools": [_asking(told) for told in map(tool_to_json, tools)],
            },
        )
        if given
        else record
    )


def _asking(told: JsonObject) -> JsonObject:
    """Let a tool be what it is here, whatever a bundle says of it; what is not ours asks.

    What a model is told of it, its name, description and schema, stays as it was.
    """
    ours = BY_NAME.get(str(told["name"])) if told["origin"] == "builtin" else None
    if ours is not None:
        known = tool_to_json(ours)
        return {**known, **{key: told[key] for key in ("name", "description", "inputSchema")}}
    origin = "mcp" if told["origin"] == "mcp" else "client"
    return {**told, "kind": "execute", "readOnly": False, "origin": origin}


def _settings(given: JsonObject) -> JsonObject:
    """Keep of the settings what they can be; all else is as it is configured here."""
    kept: JsonObject = {}
    for name in ("model", "agent"):
        if isinstance(value := given.get(name), str) and _NAME.fullmatch(value.replace("/", ".")):
            kept[name] = value
    if (policy := given.get("policy")) in tuple(policies()):
        kept["policy"] = policy
    if (effort := given.get("effort")) in EFFORTS:
        kept["effort"] = effort
    for name in ("window", "maxTokens"):
        if name in given and (given[name] is None or _is_count(given[name])):
            kept[name] = given[name]
    for name in _SWITCHES:
        if isinstance(switch := given.get(name), bool):
            kept[name] = switch
    return kept


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9
