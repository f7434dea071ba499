"""Imports a session from a bundle or another agent's recording, under a new id.

All is checked and assembled before one transaction stores it.
"""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TypeVar, cast

from sidecar.config import Config
from sidecar.config.provider_settings import keeps_providers
from sidecar.core.conversation.turns import first_line
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest
from sidecar.core.parts import SessionId, SubtaskPart
from sidecar.core.text.visible import many, one_line, visible
from sidecar.session.environment import Environment
from sidecar.session.epochs import epochs, known_instructions
from sidecar.session.epochs.session_params import checked_folder
from sidecar.session.session_settings import syncing_as
from sidecar.session.transfer.archive import BACK, gone_outputs, is_own, take_back
from sidecar.session.transfer.bundle_export import SUBTASKS_LEFT_OUT
from sidecar.session.transfer.bundle_screen import (
    TITLE,
    OwnHead,
    Screened,
    acts_outside,
    screened,
)
from sidecar.session.transfer.import_trial import ImportWork, settings_here, store_tried
from sidecar.session.transfer.taken_recording import RECORDED, ReadRecording, left_out, paid_then
from sidecar.store.connection import bundle_file
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
FILES_CAME = (
    "What {states} of files held came along: going back in files brings them into this "
    "folder, where it is as it was there."
)
FILES_LATER = "No going back to what runs or is obeyed later: {paths}."
FILES_THERE = (
    "It has what files held: import it with snapshots, if you trust who wrote it, to go back in "
    "files, too."
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


async def import_session(
    environment: Environment,
    source: ImportSource,
    cwd: str | None,
    root: Path | None,
    *,
    snapshots: bool = False,
) -> Imported:
    """Imports a whole session durably, with what a bundle says of files if `snapshots`.

    The folder is `cwd`, else the workspace `root`, never one named by the file. Raises BadRequest
    for a refused file, StorageFailed; nothing was stored then.
    """
    if cwd is None and root is None:
        raise BadRequest("say in cwd which folder the session is to work in", "params.cwd")
    folder = await asyncio.to_thread(checked_folder, cwd if cwd is not None else str(root))
    given = await asyncio.to_thread(_given, source)
    work = ImportWork()
    try:
        ours = await asyncio.to_thread(bundle_file.is_bundle, given)
        if ours and source.format in ("", OURS):
            return await _take_bundle(environment, work, given, folder, snapshots=snapshots)
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
    environment: Environment,
    work: ImportWork,
    given: Path | bytes,
    folder: str,
    *,
    snapshots: bool,
) -> Imported:
    own = environment.store.folder
    if isinstance(given, Path) and await asyncio.to_thread(is_own, own, given):
        back = await take_back(environment.store, given, environment.clock.now())
        if back is not None:
            return Imported(back.id, back.revision, OURS, (BACK.format(path=given),))
    here = await head_of(environment, folder)

    def read() -> tuple[Screened, bool]:
        bundle = read_lines(work.each(bundle_file.read(given)))
        return screened(bundle, here, snapshots=snapshots), bundle.files is not None

    screen, had = await work.run(read)
    made = await take_screened(environment, work, screen, folder)
    return replace(made, notes=(*made.notes, FILES_THERE)) if had and not snapshots else made


async def head_of(environment: Environment, folder: str) -> OwnHead:
    config, trusted = environment.settings.config, environment.trust(folder).granted
    told = await known_instructions.read(environment, folder, trusted, config.model)
    return OwnHead(*told, model=config.model, may_choose=partial(_may_choose, config))


async def take_screened(
    environment: Environment,
    work: ImportWork,
    screen: Screened,
    folder: str,
    synced: str = "",
) -> Imported:
    """Stores a screened bundle as a new session, called `synced` on git refs, if at all."""
    config, bundle = environment.settings.config, screen.bundle
    now, old = environment.clock.now(), bundle.session
    session_id = SessionId(environment.clock.new_id("ses"))
    named = syncing_as(session_id, synced) if synced else {}
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
        settings={**settings_here(config, environment.models, old.settings), **named},
    )
    stored = Stored(row, bundle.messages, (*bundle.records, write(record)))
    await store_tried(environment, work, stored, lambda: _changes(stored, bundle))
    return Imported(session_id, row.revision, OURS, tuple(_notes(screen, folder)))


def _changes(stored: Stored, bundle: Bundle) -> list[StoreChange]:
    row = stored.session
    changes: list[StoreChange] = [PutSession(row)]
    contents = {**bundle.outputs, **(bundle.files or {})}
    changes += [PutBlob(name, data) for name, data in contents.items()]
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


def files_taken(screen: Screened) -> Iterator[str]:
    if screen.bundle.files is None:
        yield FILES_STAY
        return
    if screen.bundle.files:
        yield FILES_CAME.format(states=many(len(screen.bundle.files), "state"))
    if screen.paths_left:
        yield FILES_LATER.format(paths=", ".join(map(visible, sorted(screen.paths_left)[:5])))


def _notes(screen: Screened, folder: str) -> list[str]:
    bundle, notes = screen.bundle, list(files_taken(screen))
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
    environment: Environment, work: ImportWork, given: Path | bytes, format_name: str, folder: str
) -> Imported:
    # Loaded late: only few daemons ever read another agent's recordings.
    module = await asyncio.to_thread(import_module, "sidecar.session.transfer.foreign_import")
    read = cast("ReadRecording", module.read_recording)
    now, clock = environment.clock.now(), environment.clock
    name = clock.new_id("imported").removeprefix("imported_")
    recording = await work.run(lambda: read(given, format_name, name, now, work.check))
    title = one_line(recording.title or first_line(recording.messages), TITLE)
    config = environment.settings.config
    settings = settings_here(config, environment.models, {"model": config.model})
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
    await store_tried(environment, work, stored, lambda: log.writer.unit(CreatedRecord()))
    notes = tuple(left_out(recording, settings["model"]))
    return Imported(log.row.id, log.row.revision, recording.format, notes)
