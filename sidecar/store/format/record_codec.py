"""Decodes stored records to their types, and encodes them."""

import logging
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TypeAlias, cast, get_args

from msgspec import Struct, ValidationError, convert, to_builtins

from sidecar.core.parts import Json, JsonObject, MessageId
from sidecar.store.format.log_records import (
    AskedRecord,
    BegunAgainRecord,
    CachingRecord,
    ComparedRecord,
    CreatedRecord,
    CutRecord,
    DelegatedRecord,
    DiscardedRecord,
    ForkedRecord,
    ImportedRecord,
    InheritedRecord,
    LinkedRecord,
    NoticeRecord,
    OptionRecord,
    PatchedRecord,
    PingRecord,
    RefusedRecord,
    SteeredRecord,
    StepFailedRecord,
    StepRecord,
    ToldRecord,
    ToolRecord,
    TurnEndedRecord,
    TurnStartedRecord,
    UnknownRecord,
)
from sidecar.store.format.values import Record
from sidecar.store.format.view_records import (
    EpochRecord,
    FilesRestoredRecord,
    ModelChangedRecord,
    PinRecord,
    ReachedRecord,
    RewriteRecord,
    TalkRestoredRecord,
    UndoneRecord,
)

LogRecord: TypeAlias = (
    CreatedRecord | BegunAgainRecord | LinkedRecord | ForkedRecord | ImportedRecord
    | InheritedRecord | OptionRecord | TurnStartedRecord | TurnEndedRecord | SteeredRecord
    | StepRecord | StepFailedRecord | DiscardedRecord | CutRecord | ToolRecord | PatchedRecord
    | DelegatedRecord | AskedRecord | PingRecord | CachingRecord | NoticeRecord | ToldRecord
    | ComparedRecord | EpochRecord | ModelChangedRecord | RefusedRecord | RewriteRecord
    | UndoneRecord | PinRecord | FilesRestoredRecord | TalkRestoredRecord | ReachedRecord
    | UnknownRecord
)  # fmt: skip
"""Every record there is."""

_TYPES: Mapping[str, type[LogRecord]] = MappingProxyType(
    {
        str(one.__struct_config__.tag): one
        for one in get_args(LogRecord)
        if one not in (TalkRestoredRecord, UnknownRecord)
    }
)


class _Names(Struct, rename="camel"):
    message_id: str | None = None
    message_ids: tuple[str, ...] = ()
    turn_id: str | None = None
    part_id: str | None = None


_MAY_BE_LESS = frozenset({"bias", "seq", "status", "figures", "summary", "checkpoint", "tools"})
"""Fields that may be below zero."""
logger = logging.getLogger("sidecar.store")
_HEAD = ("#kind", "#revision", "#at")


def fields_of_record(record: LogRecord) -> JsonObject:
    if isinstance(record, UnknownRecord):
        return record.body
    body: JsonObject = to_builtins(record, enc_hook=list)
    return {name: _plain(value) for name, value in body.items() if name not in _HEAD}


def _plain(value: object) -> Json:
    match value:
        case list() | tuple():
            return [_plain(one) for one in value]
        case dict():
            return {name: _plain(one) for name, one in value.items()}
        case _:
            return cast("Json", value)


def write(record: LogRecord) -> Record:
    named = record.name if isinstance(record, UnknownRecord) else record.__struct_config__.tag
    return Record(record.revision, str(named), record.at, fields_of_record(record))


def read(record: Record) -> LogRecord:
    """An unknown kind or shape becomes an UnknownRecord."""
    try:
        return _typed(record)
    except ValidationError as error:
        logger.warning("record %d (%s) cannot be read: %s", record.revision, record.kind, error)
        return UnknownRecord(
            revision=record.revision, at=record.at, name=record.kind, body=record.body
        )


def read_all(records: Iterable[Record]) -> tuple[LogRecord, ...]:
    return tuple(map(read, records))


def checked(record: Record) -> LogRecord:
    """Decodes foreign records; an unknown kind becomes an UnknownRecord.

    Raises ValueError for fields unlike the kind's, ids that are no text, and counts below zero.
    """
    try:
        typed = _typed(record)
        if isinstance(typed, UnknownRecord):
            convert(record.body, _Names)
    except ValidationError as error:
        raise ValueError(f"{record.kind}: {error}") from error
    if name := _negative(record.body):
        raise ValueError(f"{record.kind}: {name} is negative")
    return typed


def _typed(record: Record) -> LogRecord:
    kind, body = record.kind, record.body
    shape = _TYPES.get(kind, UnknownRecord)
    if shape is FilesRestoredRecord and "standing" in body:
        shape = TalkRestoredRecord
    elif shape is UnknownRecord:
        body = {"name": kind, "body": body}
    return convert({**body, "#revision": record.revision, "#at": record.at}, shape)


def _negative(value: Json, name: str = "") -> str:
    match value:
        case dict():
            found = (_negative(one, key) for key, one in value.items() if key not in _MAY_BE_LESS)
        case list():
            found = (_negative(one, name) for one in value)
        case int() if value < 0:
            return name or "a number"
        case _:
            return ""
    return next(filter(None, found), "")


def named_by(record: LogRecord) -> tuple[MessageId, ...]:
    match record:
        case (
            TurnStartedRecord(message_id=name) | SteeredRecord(message_id=name)
            | StepRecord(message_id=name) | StepFailedRecord(message_id=name)
            | DiscardedRecord(message_id=name) | PatchedRecord(message_id=name)
            | PingRecord(message_id=name)
        ):  # fmt: skip
            return (name,)
        case CutRecord(message_ids=names):
            return names
        case UnknownRecord(body=body):
            many = body.get("messageIds")
            ids = many if isinstance(many, list) else [body.get("messageId")]
            return tuple(MessageId(one) for one in ids if isinstance(one, str))
        case _:
            return ()


def comes_with(record: LogRecord) -> tuple[MessageId, ...]:
    """Names messages written or ended together with a record."""
    return () if isinstance(record, PingRecord | UnknownRecord) else named_by(record)
