"""Bundles may come from anybody: only texts and their presentation get in.

Removed or refused are files' contents, tools allowed unasked, beginnings of prompts, invalid
settings, references forward, circles.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from msgspec import structs

from sidecar.config import OFFLINE_MODEL
from sidecar.core.conversation.turns import is_settled
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest
from sidecar.core.parts import (
    Json,
    JsonObject,
    Message,
    Part,
    PatchPart,
    StepFinishPart,
    ToolOrigin,
)
from sidecar.core.policies import policies
from sidecar.core.text.visible import one_line
from sidecar.session.epochs.static_prompt import (
    build_static,
    epoch_record,
    static_of,
    tool_shape,
)
from sidecar.session.lifecycle.config_options import EFFORTS
from sidecar.session.log.losses import unsigned
from sidecar.session.transfer.bundle_files import Arriving
from sidecar.session.transfer.taken_recording import RECORDED, RECORDING
from sidecar.store.format.bundles import LATEST, Bundle
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
from sidecar.workspace.instructions import Instruction

TITLE: Final = 1_000
"""Characters kept of a title."""
_NAME = re.compile(r"[A-Za-z0-9_.:-]{1,200}")
_COST = re.compile(r"[0-9]{1,12}(\.[0-9]{1,18})?")
_SWITCHES = ("autoCompact", "autoContinue")


@dataclass(frozen=True, slots=True)
class OwnHead:
    """Prompts' beginnings here; `model` stands for those that a stranger's file may not choose."""

    instructions: Sequence[Instruction] = ()
    learned: str = ""
    model: str = OFFLINE_MODEL
    may_choose: Callable[[str], bool] = lambda _: True


@dataclass(frozen=True, slots=True)
class Screened:
    """A safe bundle; `retold` if system text or our tools' texts were replaced.

    `model_left` names a model that may not be asked here, `paths_left` files that stay out of what
    can be gone back to.
    """

    bundle: Bundle
    retold: bool
    model_left: str = ""
    paths_left: frozenset[str] = frozenset()


def screened(bundle: Bundle, here: OwnHead, *, snapshots: bool = False) -> Screened:
    """Removes what is active or points elsewhere; sets our head of prompts.

    With `snapshots` what the bundle says of files is taken, where the user wants so.

    Raises BadRequest for content impossible in an export.
    """
    try:
        return _screened(bundle, here, Arriving(bundle.files or {}) if snapshots else None)
    except ValueError as error:
        raise odd(f"a record is not as Sidecar writes it ({error})") from error


def odd(why: str) -> BadRequest:
    return BadRequest(
        f"this bundle cannot be taken in: {why}. Export the session again, with a Sidecar that "
        "is not newer than this one",
        "params.path",
    )


def _screened(bundle: Bundle, here: OwnHead, files: Arriving | None) -> Screened:
    if bundle.files is None:
        files = None
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
    told = [
        _as_here(record, here) if isinstance(record, EpochRecord) else record for record in records
    ]
    retold = _heads(told) != _heads(records)
    messages = tuple(
        replace(
            message, parts=tuple(map(files.part if files else without_snapshots, message.parts))
        )
        # Thinking is bound to the text before it.
        for message in (map(unsigned, bundle.messages) if retold else bundle.messages)
    )
    settings = _settings(row.settings)
    given, left = settings.get("model"), ""
    if isinstance(given, str) and not here.may_choose(given):
        left = given if given != here.model else ""
        settings["model"] = here.model
    row = replace(row, title=one_line(row.title, TITLE), settings=settings)
    harmless = tuple(
        write((files.record if files else without_files)(record))
        for record in told
        if not isinstance(record, PinRecord) or record.part_id in parts
    )
    taken = replace(bundle, session=row, messages=messages, records=harmless, files=None)
    if files:
        messages, kept = files.held(messages)
        taken = replace(taken, messages=messages, files=kept)
    return Screened(taken, retold, left, frozenset(files.left if files else ()))


def without_snapshots(part: Part) -> Part:
    """Snapshot numbers belong to one store."""
    return replace(part, detail={}) if isinstance(part, PatchPart) and part.detail else part


def without_files(record: LogRecord) -> LogRecord:
    match record:
        case FilesRestoredRecord() | TalkRestoredRecord():
            return structs.replace(record, sets=[])
        case ReachedRecord():
            return structs.replace(record, snapshot=None, sets=[])
        case _:
            return record


def acts_outside(records: Iterable[LogRecord]) -> bool:
    """Whether the newest epoch has an editor's or MCP servers' tools."""
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
    """Checks that rewrites and restores are unique, referring to earlier ones."""
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


def _as_here(record: EpochRecord, here: OwnHead) -> EpochRecord:
    """Replaces words that pass for the operator's by our own and the folder's."""
    tools = tuple(map(_asking, record.tools))
    model = record.model if here.may_choose(record.model) else here.model
    own = structs.replace(record, tools=tools, model=model)
    static = build_static(model, static_of(own).tools, None, here.instructions, here.learned)
    return structs.replace(own, system=epoch_record(static, "", "").system)


def _heads(records: Iterable[LogRecord]) -> list[object]:
    return [
        (record.system, [(tool.name, tool.description, tool.input_schema) for tool in record.tools])
        for record in records
        if isinstance(record, EpochRecord)
    ]


def _asking(tool: ToolShape) -> ToolShape:
    """Takes built-in tools from here; others ask, with their own descriptions."""
    ours = BY_NAME.get(tool.name) if tool.origin == "builtin" else None
    if ours is not None:
        return tool_shape(ours)
    if tool.output_limit is not None and not 0 <= tool.output_limit <= MOST:
        raise odd("the limit of a tool's output is none")
    origin: ToolOrigin = "mcp" if tool.origin == "mcp" else "client"
    return structs.replace(tool, kind="execute", read_only=False, origin=origin)


def _settings(given: JsonObject) -> JsonObject:
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
    if isinstance(then := given.get(RECORDED), dict) and _is_recording(then):
        kept[RECORDED] = {name: then[name] for name in RECORDING}
    return kept


def _is_recording(then: JsonObject) -> bool:
    turns, ended, cost, by = (then.get(name) for name in RECORDING)
    is_bill = cost is None or (isinstance(cost, str) and _COST.fullmatch(cost) is not None)
    is_named = isinstance(by, str) and _NAME.fullmatch(by) is not None
    return _is_count(turns) and _is_time(ended) and is_bill and is_named


def _is_time(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LATEST


def _is_count(value: Json) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 10**9
