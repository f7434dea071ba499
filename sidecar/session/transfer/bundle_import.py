"""Imports a session from a bundle or another agent's recording, under a new id.

All is checked and assembled before one transaction stores it.
"""

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TypeVar, cast

from sidecar.config import Config
from sidecar.config.provider_settings import keeps_providers
from sidecar.core.conversation.turns import first_line
from sidecar.core.errors import BadRequest, Cancelled, SidecarError
from sidecar.core.parts import JsonObject, SessionId, SubtaskPart
from sidecar.core.prompt.prompt import broken_pairs
from sidecar.core.text.visible import whole_letters
from sidecar.session.changes.timeline import Timeline
from sidecar.session.compaction.session_handoff import ledger_of
from sidecar.session.environment import Environment
from sidecar.session.epochs import epochs, known_instructions
from sidecar.session.epochs.session_params import amiss, checked_folder, is_model_name
from sidecar.session.history.log_updates import LogReplay
from sidecar.session.lifecycle.assembly import caveats_of, compose, options_of, replay_of
from sidecar.session.log.events import Event
from sidecar.session.log.session_log import SessionLog
from sidecar.session.ownership import Ownership
from sidecar.session.read_state import gauge_of
from sidecar.session.transfer.archive import BACK, gone_outputs, is_own, take_back
from sidecar.session.transfer.bundle_export import SUBTASKS_LEFT_OUT
from sidecar.session.transfer.bundle_screen import (
    TITLE,
    OwnHead,
    Screened,
    acts_outside,
    odd,
    screened,
)
from sidecar.session.transfer.taken_recording import RECORDED, ReadRecording, left_out, paid_then
from sidecar.session.turn.model_access import ModelAccess
from sidecar.store.connection import bundle_file
from sidecar.store.content.changes import weight
from sidecar.store.format.bundles import Bundle, read_lines
from sidecar.store.format.log_records import OURS, CreatedRecord, ImportedRecord
from sidecar.store.format.record_codec import read_all, write
from sidecar.store.format.values import (
    AppendRecord,
    PutBlob,
    PutFacts,
    PutMessage,
    PutPart,
    PutSession,
    StoreChange,
    Stored,
)
from sidecar.tools.builtin_tools import BUILTIN

_T = TypeVar("_T")

FILES_STAY = (
    "Files were not in the bundle: in what was before the import, this session can go back in the "
    "conversation, but not in files."
)
TOOLS_ASK = (
    "Its editor's own tools and those of MCP servers ask before each call here, whatever they "
    "were said to do; what describes them to the model came with the bundle."
)
RETOLD = (
    "The system prompt, instructions and descriptions of Sidecar's own tools are those of here, "
    "not those of the bundle."
)
MODEL_LEFT = (
    "Its model was {left}; here it goes on with {model}, as behind provider.baseUrl a model's name "
    "may say who gets the conversation."
)


@dataclass(frozen=True, slots=True)
class ImportSource:
    """An empty `format` is detected."""

    path: str | None = None
    content: str | None = None
    format: str = ""


@dataclass(frozen=True, slots=True)
class Imported:
    """An imported session, with `notes` for people."""

    session_id: SessionId
    revision: int
    format: str
    notes: tuple[str, ...]


class _Work:
    """Runs an import's threads, which stop on cancel."""

    def __init__(self) -> None:
        self._given_up = threading.Event()

    def check(self) -> None:
        if self._given_up.is_set():
            raise Cancelled("the import was cancelled")

    def each(self, things: Iterable[_T]) -> Iterator[_T]:
        for thing in things:
            self.check()
            yield thing

    async def run(self, work: Callable[[], _T]) -> _T:
        try:
            return await asyncio.to_thread(work)
        except asyncio.CancelledError:
            self._given_up.set()
            raise


async def import_session(
    environment: Environment, source: ImportSource, cwd: str | None, root: Path | None
) -> Imported:
    """Imports a whole session durably.

    The folder is `cwd`, else the workspace `root`, never one named by the file. Raises BadRequest
    for a refused file, StorageFailed; nothing was stored then.
    """
    if cwd is None and root is None:
        raise BadRequest("say in cwd which folder the session is to work in", "params.cwd")
    folder = await asyncio.to_thread(checked_folder, cwd if cwd is not None else str(root))
    given = await asyncio.to_thread(_given, source)
    work = _Work()
    try:
        ours = await asyncio.to_thread(bundle_file.is_bundle, given)
        if ours and source.format in ("", OURS):
            return await _take_bundle(environment, work, given, folder)
        if source.format == OURS:
            raise BadRequest(
                "this is no bundle of Sidecar: leave format out, so that it is found out, or "
                "give a file that `session/export` wrote",
                "params.format",
            )
        return await _take_recording(environment, work, given, source.format, folder)
    except OSError as error:
        why = error.strerror or str(error)
        raise BadRequest(f"{source.path} cannot be read: {why}", "params.path") from error


def _given(source: ImportSource) -> Path | bytes:
    if (source.path is None) == (source.content is None):
        raise BadRequest("give one of path and content", "params.path")
    if source.content is not None:
        return source.content.encode("utf-8", "surrogatepass")
    path = Path(source.path or "")
    if not path.is_absolute() or "\0" in str(path):
        raise BadRequest(f"{source.path!r} is no absolute path", "params.path")
    if path.is_dir():
        raise BadRequest(f"{path} is a folder: name one file in it", "params.path")
    if path.exists() and not path.is_file():
        # Opening a named pipe would wait for its writer.
        raise BadRequest(
            f"{path} is no file: write what it gives to one, and name that", "params.path"
        )
    return path


async def _take_bundle(
    environment: Environment, work: _Work, given: Path | bytes, folder: str
) -> Imported:
    own = environment.store.folder
    if isinstance(given, Path) and await asyncio.to_thread(is_own, own, given):
        back = await take_back(environment.store, given, environment.clock.now())
        if back is not None:
            return Imported(back.id, back.revision, OURS, (BACK.format(path=given),))
    config = environment.settings.config
    trusted = environment.trust(folder).granted
    told = await known_instructions.read(environment, folder, trusted, config.model)
    here = OwnHead(*told, model=config.model, may_choose=partial(_may_choose, config))
    screen = await work.run(lambda: screened(read_lines(work.each(bundle_file.read(given))), here))
    bundle = screen.bundle
    now, old = environment.clock.now(), bundle.session
    session_id = SessionId(environment.clock.new_id("ses"))
    last = bundle.records[-1]
    record = ImportedRecord(
        revision=last.revision + 1, at=now, format=OURS, source=old.id, redacted=bundle.redacted
    )
    row = replace(
        old,
        id=session_id,
        cwd=folder,
        created=now,
        updated=now,
        revision=record.revision,
        seq=0,
        turns=len({message.turn_id for message in bundle.messages}),
        settings=_settings(config, environment.models, old.settings),
    )
    stored = Stored(row, bundle.messages, (*bundle.records, write(record)))
    await _store(environment, work, stored, lambda: _changes(stored, bundle))
    return Imported(session_id, row.revision, OURS, tuple(_notes(screen, folder)))


async def _store(
    environment: Environment,
    work: _Work,
    stored: Stored,
    changes: Callable[[], Sequence[StoreChange]],
) -> None:
    def prepared() -> tuple[Sequence[StoreChange], int]:
        _try_on(environment, stored, work.check)
        made = changes()
        work.check()
        return made, sum(map(weight, made))

    made, size = await work.run(prepared)
    await environment.store.write(*made, size=size)


def _changes(stored: Stored, bundle: Bundle) -> list[StoreChange]:
    row = stored.session
    changes: list[StoreChange] = [PutSession(row)]
    changes += [PutBlob(name, data) for name, data in bundle.outputs.items()]
    for message in stored.messages:
        changes.append(PutMessage(row.id, replace(message, parts=())))
        changes += gone_outputs(row.id, message, bundle)
        changes += [PutPart(row.id, message.id, n, part) for n, part in enumerate(message.parts)]
    changes += [AppendRecord(row.id, record) for record in stored.records]
    # Nobody here has heard who said them, so they count for nothing beyond this session.
    facts = tuple(replace(fact, who="tool") for fact in bundle.facts)
    return [*changes, PutFacts(row.id, row.id, facts)] if facts else changes


def _may_choose(config: Config, model: str) -> bool:
    """A model's name may say who gets the conversation, as behind an address of the user's."""
    keeps = keeps_providers(model, config.model, config.providers)
    return keeps and not config.provider.base_url


def _settings(config: Config, models: ModelAccess, old: JsonObject) -> JsonObject:
    settings: JsonObject = {
        "model": config.model,
        "policy": config.policy,
        "window": config.window,
        "maxTokens": config.max_tokens,
        "agent": config.agent,
        "effort": config.effort,
        "autoCompact": config.auto_compact,
        "autoContinue": config.auto_continue,
    }
    given: JsonObject = {**settings, **old}
    if not is_model_name(str(given["model"])):
        given["model"] = config.model
    info = models.info(str(given["model"]))
    for name in ("window", "maxTokens"):
        if amiss(given, info):
            given[name] = settings[name]
    # What is configured here may be too small for the session's model.
    return {**given, "window": None, "maxTokens": None} if amiss(given, info) else given


def _notes(screen: Screened, folder: str) -> list[str]:
    bundle, notes = screen.bundle, [FILES_STAY]
    if screen.retold:
        notes.append(RETOLD)
    if screen.model_left:
        notes.append(
            MODEL_LEFT.format(left=screen.model_left, model=bundle.session.settings["model"])
        )
    if bundle.session.cwd != folder:
        notes.append(f"It worked in {bundle.session.cwd}; here it works in {folder}.")
    if bundle.redacted:
        notes.append(
            f"{bundle.redacted} keys were taken out when it was exported: where they stood, the "
            "model reads “[redacted]”."
        )
    if any(isinstance(part, SubtaskPart) for m in bundle.messages for part in m.parts):
        notes.append(SUBTASKS_LEFT_OUT)
    if acts_outside(read_all(bundle.records)):
        notes.append(TOOLS_ASK)
    return notes


async def _take_recording(
    environment: Environment, work: _Work, given: Path | bytes, format_name: str, folder: str
) -> Imported:
    # Loaded late: only few daemons ever read another agent's recordings.
    module = await asyncio.to_thread(import_module, "sidecar.session.transfer.foreign_import")
    read = cast("ReadRecording", module.read_recording)
    now, clock = environment.clock.now(), environment.clock
    name = clock.new_id("imported").removeprefix("imported_")
    recording = await work.run(lambda: read(given, format_name, name, now, work.check))
    title = whole_letters(recording.title or first_line(recording.messages), TITLE)
    config = environment.settings.config
    settings = _settings(config, environment.models, {"model": config.model})
    log = environment.new_log(folder, title, settings)
    trusted = environment.trust(folder).granted
    static = await known_instructions.begin(environment, log.row, trusted, BUILTIN, None)
    epochs.begin(log, static, clock.new_id("cmp"), "new")
    turns = len({message.turn_id for message in recording.messages})
    began, ended = recording.messages[0].created, recording.messages[-1].created
    then = {"turns": turns, "ended": ended, "cost": paid_then(recording, environment.models)}
    log.entry.configure({**settings, RECORDED: {**then, "by": recording.format}})
    log.entry.change(turns=turns, created=began or log.row.created)
    log.writer.note(ImportedRecord(format=recording.format))

    def fill() -> Stored:
        for message in work.each(recording.messages):
            log.writer.put(message)
        return Stored(log.row, log.messages, tuple(map(write, log.records)))

    stored = await work.run(fill)
    await _store(environment, work, stored, lambda: log.writer.unit(CreatedRecord()))
    notes = tuple(left_out(recording, settings["model"]))
    return Imported(log.row.id, log.row.revision, recording.format, notes)


def _try_on(environment: Environment, stored: Stored, check: Callable[[], None]) -> None:
    """Reads as on opening. Raises BadRequest if that could never succeed."""
    try:
        _read_all(environment, stored, check)
    except (BadRequest, Cancelled):
        raise
    except SidecarError as error:
        raise odd(error.message) from error
    except Exception as error:
        # Whatever a log from elsewhere does to its readers, it is refused.
        raise odd(f"its log cannot be read ({type(error).__name__})") from error


def _read_all(environment: Environment, stored: Stored, check: Callable[[], None]) -> None:
    log = SessionLog(environment.store, stored, environment.clock.now)
    check()
    state = compose(environment, log, Ownership(environment.store, log.row.id, None))
    check()
    prompt = state.view.prompt(tuple(log))
    check()
    if broken_pairs(prompt) or any(one.role != "user" for one in prompt.messages[:1]):
        raise odd("what it would send is no conversation")
    gauge_of(state).read()
    check()
    options_of(state, caveats_of(state)).described()
    timeline = Timeline(log.messages, log.records)
    timeline.talk(len(timeline.events))
    timeline.head_before(len(timeline.events))
    check()
    ledger_of(log, log.records)
    check()
    asyncio.run(_shown(replay_of(state), check))


async def _shown(replay: LogReplay, check: Callable[[], None]) -> None:
    async def nobody(_: Event) -> None:
        pass

    rest = await replay.tell(None, nobody)
    for _ in rest():
        check()
