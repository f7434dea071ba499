"""Encode and decode core values. Names keep their meaning; later fields have defaults."""

from typing import assert_never, get_args

from sidecar.core.parts import (
    CompactionPart,
    FilePart,
    Media,
    Message,
    MessageId,
    MessageStatus,
    OpaquePart,
    Output,
    Part,
    PartId,
    PatchPart,
    ReasoningPart,
    Role,
    SessionId,
    StepFinishPart,
    StepStartPart,
    SubtaskPart,
    TextPart,
    TextSource,
    ToolCompleted,
    ToolError,
    ToolFailure,
    ToolPart,
    ToolPending,
    ToolRunning,
    ToolState,
    TurnId,
    Usage,
)
from sidecar.core.text.json_text import to_json
from sidecar.store.format.fields import BodyBroken, Fields
from sidecar.store.format.packing import Packed, Plain, ReadBlob, pack, unpack
from sidecar.store.format.values import Record, SessionRow

KEPT = "kept"
"""In a patch's detail: hashes of contents that came from another machine, kept with the part."""

ROLES: tuple[Role, ...] = get_args(Role)
STATUSES: tuple[MessageStatus, ...] = get_args(MessageStatus)
SOURCES: tuple[TextSource, ...] = get_args(TextSource)
FAILURES: tuple[ToolFailure, ...] = get_args(ToolFailure)


def session_fields(row: SessionRow) -> dict[str, Plain]:
    return {
        "id": row.id,
        "cwd": row.cwd,
        "title": row.title,
        "created": row.created,
        "updated": row.updated,
        "revision": row.revision,
        "seq": row.seq,
        "turns": row.turns,
        "cost": row.cost,
        "settings": to_json(row.settings),
    }


def decode_session(body: bytes, read: ReadBlob) -> SessionRow:
    """Raises BodyBroken."""
    return read_session(unpack(body, read))


def read_session(fields: Fields) -> SessionRow:
    return SessionRow(
        id=SessionId(fields.text("id")),
        cwd=fields.text("cwd"),
        title=fields.text("title", ""),
        created=fields.number("created"),
        updated=fields.number("updated"),
        revision=fields.number("revision"),
        seq=fields.number("seq"),
        turns=fields.number("turns", 0),
        cost=fields.text_or_none("cost"),
        settings=fields.opaque_object("settings"),
    )


def message_fields(message: Message) -> dict[str, Plain]:
    return {
        "id": message.id,
        "turn": message.turn_id,
        "role": message.role,
        "created": message.created,
        "status": message.status,
        "model": message.model,
    }


def decode_message(body: bytes, read: ReadBlob, parts: tuple[Part, ...] = ()) -> Message:
    """Raises BodyBroken."""
    return read_message(unpack(body, read), parts)


def read_message(fields: Fields, parts: tuple[Part, ...] = ()) -> Message:
    return Message(
        id=MessageId(fields.text("id")),
        turn_id=TurnId(fields.text("turn")),
        role=fields.choice("role", ROLES),
        parts=parts,
        created=fields.number("created"),
        status=fields.choice("status", STATUSES),
        model=fields.text("model", ""),
    )


def record_fields(record: Record) -> dict[str, Plain]:
    return {
        "revision": record.revision,
        "kind": record.kind,
        "at": record.at,
        "body": to_json(record.body),
    }


def decode_record(body: bytes, read: ReadBlob) -> Record:
    """Raises BodyBroken."""
    return read_record(unpack(body, read))


def read_record(fields: Fields) -> Record:
    return Record(
        revision=fields.number("revision"),
        kind=fields.text("kind"),
        at=fields.number("at"),
        body=fields.opaque_object("body"),
    )


def encode_part(part: Part, position: int, *, spill: bool = True) -> Packed:
    """The hash covers `position`; `spill=False` keeps long texts inside."""
    return pack(part_fields(part), spill=spill, previous=str(position))


def whole_output(part: Part) -> str | None:
    if not isinstance(part, ToolPart) or not isinstance(part.state, ToolCompleted | ToolError):
        return None
    return None if part.state.output is None else part.state.output.whole


def blobs_of(part: Part) -> set[str]:
    """Contents that a part keeps: its whole output, or what came with a patch from elsewhere."""
    if isinstance(part, PatchPart):
        kept = part.detail.get(KEPT)
        return {one for one in kept if isinstance(one, str)} if isinstance(kept, list) else set()
    whole = whole_output(part)
    return set() if whole is None else {whole}


def part_fields(part: Part) -> dict[str, Plain]:
    match part:
        case TextPart():
            fields: dict[str, Plain] = {"type": "text", "text": part.text, "source": part.source}
        case ReasoningPart():
            metadata = to_json(part.metadata)
            fields = {"type": "reasoning", "text": part.text, "metadata": metadata}
        case ToolPart():
            fields = {
                "type": "tool",
                "call": part.call_id,
                "name": part.name,
                "input": to_json(part.input),
                "state": _state_fields(part.state),
            }
        case FilePart():
            media = None if part.media is None else _media_fields(part.media)
            fields = {"type": "file", "uri": part.uri, "name": part.name}
            fields |= {"media": media, "text": part.text}
        case OpaquePart():
            fields = {"type": "opaque", "block": to_json(part.block)}
        case StepStartPart():
            fields = {"type": "step_start", "model": part.model}
        case StepFinishPart():
            fields = {
                "type": "step_finish",
                "stop": part.stop,
                "usage": _usage_fields(part.usage),
                "cost": part.cost,
                "started": part.started,
            }
        case PatchPart():
            files: list[Plain] = [{"path": path, "change": change} for path, change in part.files]
            fields = {"type": "patch", "files": files, "detail": to_json(part.detail)}
        case CompactionPart():
            fields = {"type": "compaction", "compaction": part.compaction_id, "cause": part.cause}
        case SubtaskPart():
            fields = {"type": "subtask", "child": part.child, "task": part.task}
            fields["result"] = part.result
        case _:
            assert_never(part)
    if isinstance(part, TextPart | ToolPart) and part.metadata:
        fields["metadata"] = to_json(part.metadata)
    return {"id": part.id, **fields}


def _state_fields(state: ToolState) -> dict[str, Plain]:
    match state:
        case ToolPending():
            return {"type": "pending", "raw": state.raw}
        case ToolRunning():
            return {"type": "running", "started": state.started}
        case ToolCompleted():
            return {
                "type": "completed",
                "output": _output_fields(state.output),
                "started": state.started,
                "finished": state.finished,
                "title": state.title,
                "metadata": to_json(state.metadata),
            }
        case ToolError():
            return {
                "type": "error",
                "message": state.message,
                "failure": state.failure,
                "started": state.started,
                "finished": state.finished,
                "title": state.title,
                "metadata": to_json(state.metadata),
                "output": None if state.output is None else _output_fields(state.output),
            }
        case _:
            assert_never(state)


def _output_fields(output: Output) -> dict[str, Plain]:
    return {
        "text": output.text,
        "whole": output.whole,
        "total_bytes": output.total_bytes,
        "total_lines": output.total_lines,
        "media": [_media_fields(media) for media in output.media],
    }


def _media_fields(media: Media) -> dict[str, Plain]:
    return {"media_type": media.media_type, "data": media.data, "name": media.name}


def _usage_fields(usage: Usage) -> dict[str, Plain]:
    return {
        "input": usage.input,
        "cache_read": usage.cache_read,
        "cache_write_5m": usage.cache_write_5m,
        "cache_write_1h": usage.cache_write_1h,
        "output": usage.output,
        "thinking": usage.thinking,
        "requests": usage.requests,
    }


def decode_part(body: bytes, read: ReadBlob) -> Part:
    """Raises BodyBroken."""
    return read_part(unpack(body, read))


def read_part(fields: Fields) -> Part:  # noqa: PLR0911 - one return per part type
    part_id = PartId(fields.text("id"))
    match fields.text("type"):
        case "text":
            source, metadata = fields.choice("source", SOURCES), fields.opaque_object("metadata")
            return TextPart(part_id, fields.text("text"), source, metadata)
        case "reasoning":
            return ReasoningPart(part_id, fields.text("text"), fields.opaque_object("metadata"))
        case "tool":
            state = _state(fields.inner("state"))
            call, name, given = fields.text("call"), fields.text("name"), fields.opaque("input")
            return ToolPart(part_id, call, name, given, state, fields.opaque_object("metadata"))
        case "file":
            media = fields.inner_or_none("media")
            return FilePart(
                part_id,
                uri=fields.text("uri"),
                name=fields.text("name", ""),
                media=None if media is None else _media(media),
                text=fields.text_or_none("text"),
            )
        case "opaque":
            return OpaquePart(part_id, fields.opaque_object("block"))
        case "step_start":
            return StepStartPart(part_id, fields.text("model"))
        case "step_finish":
            return StepFinishPart(
                part_id,
                stop=fields.text("stop"),
                usage=_usage(fields.inner("usage")),
                cost=fields.text_or_none("cost"),
                started=fields.number("started", 0),
            )
        case "patch":
            files = tuple((f.text("path"), f.text("change")) for f in fields.many("files"))
            return PatchPart(part_id, files, fields.opaque_object("detail"))
        case "compaction":
            return CompactionPart(part_id, fields.text("compaction"), fields.text("cause"))
        case "subtask":
            child = SessionId(fields.text("child"))
            return SubtaskPart(part_id, child, fields.text("task"), fields.text("result", ""))
        case unknown:
            raise BodyBroken.unknown(f"part type {unknown!r:.40}")


def _state(fields: Fields) -> ToolState:
    match fields.text("type"):
        case "pending":
            return ToolPending(fields.text("raw", ""))
        case "running":
            return ToolRunning(fields.number("started"))
        case "completed":
            return ToolCompleted(
                output=_output(fields.inner("output")),
                started=fields.number("started"),
                finished=fields.number("finished"),
                title=fields.text("title", ""),
                metadata=fields.opaque_object("metadata"),
            )
        case "error":
            output = fields.inner_or_none("output")
            return ToolError(
                message=fields.text("message"),
                failure=fields.choice("failure", FAILURES),
                started=fields.number("started"),
                finished=fields.number("finished"),
                title=fields.text("title", ""),
                metadata=fields.opaque_object("metadata"),
                output=None if output is None else _output(output),
            )
        case unknown:
            raise BodyBroken.unknown(f"tool state {unknown!r:.40}")


def _output(fields: Fields) -> Output:
    return Output(
        held=fields.text("text"),
        whole=fields.text_or_none("whole"),
        total_bytes=fields.number("total_bytes", 0),
        total_lines=fields.number("total_lines", 0),
        media=tuple(_media(media) for media in fields.many("media")),
    )


def _media(fields: Fields) -> Media:
    return Media(fields.text("media_type"), fields.text("data"), fields.text("name", ""))


def _usage(fields: Fields) -> Usage:
    return Usage(
        input=fields.number("input", 0),
        cache_read=fields.number("cache_read", 0),
        cache_write_5m=fields.number("cache_write_5m", 0),
        cache_write_1h=fields.number("cache_write_1h", 0),
        output=fields.number("output", 0),
        thinking=fields.number("thinking", 0),
        requests=fields.number("requests", 0),
    )
