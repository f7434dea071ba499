"""Exports sessions: only durable, settled content, and no likely key."""

import asyncio
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from pathlib import Path

from sidecar.config.settings import secrets_of
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest
from sidecar.core.parts import (
    Millis,
    Part,
    SessionId,
    SubtaskPart,
    ToolCompleted,
    ToolError,
    ToolPart,
)
from sidecar.core.text.digest import digest
from sidecar.core.text.redaction import Redaction
from sidecar.core.text.visible import many
from sidecar.session.environment import Environment
from sidecar.session.lifecycle.fork import ForkCut, cut_at, settings_at
from sidecar.session.log.losses import unsigned
from sidecar.session.transfer.bundle_files import (
    held_contents,
    leaving,
    with_entries,
    with_records,
    withheld_in,
    without_keys,
)
from sidecar.session.transfer.bundle_screen import without_files, without_snapshots
from sidecar.store.connection import bundle_file
from sidecar.store.connection.store_files import EXPORTS, make_folder
from sidecar.store.format.bundles import Bundle, lines_of
from sidecar.store.format.record_codec import read, write
from sidecar.store.format.rows import whole_output
from sidecar.store.format.values import Stored
from sidecar.store.journal import Store

SUFFIX = ".sidecar"
ALL = 1_000_000

FILES_LEFT_OUT = (
    "The contents of the folder's files are not in it: a session that is imported from it can go "
    "back in the conversation, but not in files, to what was before."
)
FILES_GO = (
    "What {states} of files held is in it ({size:,} bytes): who takes it in with snapshots "
    "can go back in files, where these are there as they were."
)
FILES_WITHHELD = "{states} left out: with a likely key, too large, or not stored any more."
SUBTASKS_LEFT_OUT = "What its subtasks said on their way is not in it, only what they answered."


@dataclass(frozen=True, slots=True)
class Exported:
    """An exported file: `size` in bytes, keys `redacted`, `notes` on omissions."""

    path: Path
    size: int
    redacted: int
    notes: tuple[str, ...]


async def export_session(
    environment: Environment,
    session_id: SessionId,
    path: str | None,
    *,
    overwrite: bool,
    snapshots: bool = False,
    windows: Iterable[Environment] = (),
) -> Exported:
    """Writes a durable file whole; `path` is a file or folder, by default in `EXPORTS`.

    With `snapshots`, what its checkpoints need of files goes along. Secrets of other `windows` are
    taken out, too: the session may be theirs.

    Raises UnknownSession, BadRequest for a path that exists or cannot be written, StorageFailed.
    """
    store, now = environment.store, environment.clock.now()
    stored = await store.logs.load(session_id)
    target = await asyncio.to_thread(_target, store.folder / EXPORTS, session_id, path, now)
    bundle = await gathered(store, stored, cut_at(stored, None), now, {} if snapshots else None)
    redaction = Redaction(known_secrets((environment, *windows)))

    def write() -> tuple[int, Bundle]:
        clean = cleaned(bundle, redaction)
        return bundle_file.write(target, lines_of(clean), replace=overwrite), clean

    try:
        size, clean = await asyncio.to_thread(write)
    except FileExistsError:
        raise BadRequest(
            f"{target} is there already: choose another path, or set overwrite", "params.path"
        ) from None
    except OSError as error:
        why = error.strerror or str(error)
        raise BadRequest(f"{target} cannot be written: {why}", "params.path") from error
    return Exported(target, size, clean.redacted, tuple(_notes(stored, clean)))


async def gathered(
    store: Store,
    stored: Stored,
    cut: ForkCut,
    now: Millis,
    known: Mapping[str, bytes] | None = None,
) -> Bundle:
    """Bundles the cut part with outputs and facts, uncleaned.

    With `known`, what files held, too, but for these contents, which are there already.
    """
    names = {whole_output(part) for message in cut.messages for part in message.parts} - {None}
    session_id, rows = stored.session.id, store.outputs
    outputs = {name: await rows.read(name) for name in names if name is not None}
    gone = await rows.gone_of(session_id)
    found = await store.facts.find(session_id=session_id, limit=ALL)
    row = replace(stored.session, revision=cut.until, settings=settings_at(stored, cut.until))
    records = tuple(record for record in stored.records if record.revision <= cut.until)
    files = None if known is None else await held_contents(store, cut.messages, records, known)
    return Bundle(
        replace(row, turns=len({message.turn_id for message in cut.messages})),
        cut.messages,
        records,
        {name: data for name, data in outputs.items() if data is not None},
        tuple(one.fact for one in found if cut.before is None or one.fact.at < cut.before),
        now,
        gone={name: gone[name] for name, data in outputs.items() if data is None and name in gone},
        files=files,
    )


def known_secrets(windows: Iterable[Environment]) -> tuple[str, ...]:
    found = (secrets_of(one.settings.config, one.workspaces.variables) for one in windows)
    return tuple(dict.fromkeys(chain.from_iterable(found)))


def _target(folder: Path, session_id: SessionId, given: str | None, now: Millis) -> Path:
    if given is None:
        try:
            make_folder(folder)
        except OSError as error:
            raise BadRequest(
                f"{folder} cannot be made: give a path to write to", "params.path"
            ) from error
    else:
        path = Path(given)
        if not path.is_absolute() or "\0" in given or not path.name:
            raise BadRequest(f"{given!r} is no absolute path of a file", "params.path")
        if not path.is_dir():
            if not path.parent.is_dir():
                raise BadRequest(f"there is no folder {path.parent}: make it", "params.path")
            return path
        folder = path
    at = datetime.fromtimestamp(now / 1000, UTC).strftime("%Y%m%d-%H%M%S")
    names = (f"{session_id}-{at}{more}{SUFFIX}" for more in ("", *(f"-{n}" for n in range(2, 99))))
    return next(folder / name for name in names if not (folder / name).exists())


def cleaned(bundle: Bundle, redaction: Redaction, known: Collection[str] = ()) -> Bundle:
    """Removes keys, and files' contents or those with keys; `known` are there already. Blocks."""
    files = None if bundle.files is None else without_keys(bundle.files, redaction)
    part_leaves, record_leaves = without_snapshots, without_files
    if files is not None:
        entry = leaving({*files, *known})
        part_leaves, record_leaves = partial(with_entries, entry), partial(with_records, entry)
    outputs: dict[str, bytes] = {}
    renamed = {name: name for name in bundle.gone}
    for name, data in bundle.outputs.items():
        clean = redaction.text(data.decode("utf-8", "surrogatepass")).encode(
            "utf-8", "surrogatepass"
        )
        renamed[name] = digest(clean)
        outputs[renamed[name]] = clean
    messages = [
        replace(
            message,
            parts=tuple(
                with_output(redaction.value(part_leaves(part)), renamed) for part in message.parts
            ),
        )
        for message in bundle.messages
    ]
    records = [redaction.value(write(record_leaves(read(record)))) for record in bundle.records]
    row, facts = redaction.value(bundle.session), redaction.value(bundle.facts)
    if redaction.count:
        # What was thought is signed for the text as it was, and would be refused with another.
        messages = [unsigned(message) for message in messages]
    return Bundle(
        row,
        tuple(messages),
        tuple(records),
        outputs,
        facts,
        bundle.made,
        redaction.count,
        bundle.gone,
        files,
    )


def with_output(part: Part, renamed: Mapping[str, str]) -> Part:
    """Gives a call its output's new hash, or none if missing."""
    match part:
        case ToolPart(state=(ToolCompleted() | ToolError()) as state) if (
            state.output is not None and state.output.whole is not None
        ):
            now = replace(state.output, whole=renamed.get(state.output.whole))
            return replace(part, state=replace(state, output=now))
        case _:
            return part


def files_told(bundle: Bundle) -> Iterable[str]:
    """Says what of files is in a cleaned bundle, and how much is not."""
    assert bundle.files is not None
    size = sum(map(len, bundle.files.values()))
    yield FILES_GO.format(states=many(len(bundle.files), "state"), size=size)
    if left := withheld_in(bundle.messages):
        yield FILES_WITHHELD.format(states=many(left, "state"))


def _notes(stored: Stored, bundle: Bundle) -> Iterable[str]:
    redacted = bundle.redacted
    if bundle.files is None:
        yield FILES_LEFT_OUT
    else:
        yield from files_told(bundle)
    if any(isinstance(part, SubtaskPart) for m in bundle.messages for part in m.parts):
        yield SUBTASKS_LEFT_OUT
    if stored.problems:
        yield (
            f"{len(stored.problems)} entries of its log cannot be read and are left out: run "
            "`sidecar verify`."
        )
    if redacted:
        were = (
            "1 text that looked like a key was"
            if redacted == 1
            else (f"{redacted} texts that looked like keys were")
        )
        yield f"{were} taken out. Look it over before you hand it on: no such search finds all."
