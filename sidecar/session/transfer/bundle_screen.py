"""Bundles may come from anybody: only texts and their presentation get in.

Removed or refused: contents of files, tools allowed without asking, invalid settings, and
references to later records, which would send readers round in circles.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from msgspec import structs

from sidecar.core.conversation.turns import is_settled
from sidecar.core.errors import BadRequest
from sidecar.core.parts import Json, JsonObject, Message, Part, PatchPart, StepFinishPart
from sidecar.core.policies import policies
from sidecar.core.prompt.prompt import ToolOrigin
from sidecar.core.text.visible import whole_letters
from sidecar.session.epochs.static_prompt import tool_shape
from sidecar.session.lifecycle.config_options import EFFORTS
from sidecar.store.format.bundles import Bundle
from sidecar.store.format.log_records import MOST
from sidecar.store.format.record_codec import LogRecord, checked, write
from sidecar.store.format.view_records import (
    EpochRecord,
    FilesRestoredRecord,
    PinRecord,
    ReachedRecord,
    RewriteRecord,
    TalkRestoredRecord,
    ToolShape,
)
from sidecar.tools.builtin_tools import BY_NAME

TITLE: Final = 1_000
"""Characters kept of a title."""
_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,200}")
_COST = re.compile(r"[0-9]{1,12}(\.[0-9]{1,18})?")
_SWITCHES = ("autoCompact", "autoContinue")


def screened(bundle: Bundle) -> Bundle:
    """A bundle without anything active or pointing elsewhere.

    Raises: BadRequest: impossible in an export.
    """
    try:
        return _screened(bundle)
    except ValueError as error:
        raise odd(f"a record is not as Sidecar writes it ({error})") from error


def odd(why: str) -> BadRequest:
    """An error for a bundle never made by an export."""
    return BadRequest(
        f"this bundle cannot be taken in: {why}. Export the session again, with a Sidecar that "
        "is not newer than this one",
        "params.path",
    )


def _screened(bundle: Bundle) -> Bundle:
    parts = {part.id for message in bundle.messages for part in message.parts}
    for message in bundle.messages:
        _check_message(message)
    records = [checked(record) for record in bundle.records]
    _check_order(records)
    if not any(isinstance(record, EpochRecord) for record in records):
        raise odd("its log has no beginning")
    row = bundle.session
    if row.cost is not None and not _COST.fullmatch(row.cost):
        raise odd("what it cost is no number")
    messages = tuple(
        replace(message, parts=tuple(map(without_snapshots, message.parts)))
        for message in bundle.messages
    )
    row = replace(row, title=whole_letters(row.title, TITLE), settings=_settings(row.settings))
    harmless = tuple(
        write(_harmless(record))
        for record in records
        if not isinstance(record, PinRecord) or record.part_id in parts
    )
    return replace(bundle, session=row, messages=messages, records=harmless)


def without_snapshots(part: Part) -> Part:
    """Keep only names in a patch part: snapshot numbers belong to one store."""
    return replace(part, detail={}) if isinstance(part, PatchPart) and part.detail else part


def without_files(record: LogRecord) -> LogRecord:
    """A record without snapshots and change sets."""
    match record:
        case FilesRestoredRecord() | TalkRestoredRecord():
            return structs.replace(record, sets=[])
        case ReachedRecord():
            return structs.replace(record, snapshot=None, sets=[])
        case _:
            return record


def acts_outside(records: Iterable[LogRecord]) -> bool:
    """Whether the newest epoch has tools of an editor or of MCP servers."""
    epochs = [record for record in records if isinstance(record, EpochRecord)]
    return bool(epochs) and any(tool.origin != "builtin" for tool in epochs[-1].tools)


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


def _check_order(records: Sequence[LogRecord]) -> None:
    """Rewrites and restores must be unique, and refer to earlier ones only."""
    notes: set[str] = set()
    rewrites: set[str] = set()
    restores: set[str | None] = {None}
    for record in records:
        match record:
            case RewriteRecord(compaction_id=name):
                made = {note.id for note in record.notes}
                if made & notes or name in rewrites:
                    raise odd("two of its rewrites are the same")
                if not set(record.retired) <= notes:
                    raise odd("a rewrite refers to a later one")
                notes |= made
                rewrites.add(name)
            case FilesRestoredRecord(restore_id=name) | TalkRestoredRecord(restore_id=name):
                if name in restores or record.undoes not in restores:
                    raise odd("a restore refers to a later one")
                restores.add(name)
            case _:
                pass


def _harmless(record: LogRecord) -> LogRecord:
    if isinstance(record, EpochRecord):
        return structs.replace(record, tools=tuple(map(_asking, record.tools)))
    return without_files(record)


def _asking(tool: ToolShape) -> ToolShape:
    """A built-in tool as here; any other tool asks.

    Name, description and schema, as the model reads them, stay.
    """
    ours = BY_NAME.get(tool.name) if tool.origin == "builtin" else None
    if ours is not None:
        told = {"description": tool.description, "input_schema": tool.input_schema}
        return structs.replace(tool_shape(ours), **told)
    if tool.output_limit is not None and not 0 <= tool.output_limit <= MOST:
        raise odd("the limit of a tool's output is none")
    origin: ToolOrigin = "mcp" if tool.origin == "mcp" else "client"
    return structs.replace(tool, kind="execute", read_only=False, origin=origin)


def _settings(given: JsonObject) -> JsonObject:
    """Valid settings only; the rest is configured here."""
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
