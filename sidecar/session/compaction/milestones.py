"""Keeps milestones."""

import asyncio
import json
import logging
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias

from sidecar.core.conversation.fact import Fact
from sidecar.core.conversation.turns import is_settled, tool_parts
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import SidecarError
from sidecar.core.ledger.deeds import may_move_todos
from sidecar.core.ledger.drift import drift, to_check
from sidecar.core.ledger.ledger import Folding, Ledger
from sidecar.core.ledger.milestone import Milestone, from_json, may_replace, to_json, to_markdown
from sidecar.core.parts import Message, MessageId, SessionId
from sidecar.session.compaction.session_handoff import MOST_FACTS, with_inherited
from sidecar.session.environment import Environment
from sidecar.session.log.session_log import SessionLog
from sidecar.session.log.whole_log import ledger_start, messages_after, opened_by
from sidecar.session.ownership import Ownership
from sidecar.session.session_settings import SessionSettings
from sidecar.session.view.model_view import ModelView
from sidecar.store.connection.store_files import MILESTONES, make_folder
from sidecar.store.format.log_records import InheritedRecord
from sidecar.store.journal import Store
from sidecar.workspace.buffers import Buffers
from sidecar.workspace.files import legible, write_atomically
from sidecar.workspace.present_state import hash_files, read_branch

logger = logging.getLogger("sidecar.session")

MOST_LATE = 32
"""Messages of a turn that each step looks through again."""
PRESSURE = 0.85
"""The share of what may be in use at which the state is saved before a rewrite is forced."""
STATE = "state.json"
LONGEST_NAME = 255
"""Bytes of a folder's name that file systems take."""
MOST_BYTES = 64 * 1024 * 1024
"""Of a checkpoint that is read."""

Moment: TypeAlias = Literal["step", "turn", "compaction", "close"]
MilestoneReason: TypeAlias = Literal[
    "todo done", "files changed", "compaction", "close", "85 per cent"
]


@dataclass(frozen=True, slots=True)
class MilestoneMark:
    """What decides on a milestone; `done` names finished todos, `used` is a share of the limit."""

    revision: int = -1
    done: frozenset[str] = frozenset()
    changed: int = 0
    used: float = 0.0


def due(moment: Moment, last: MilestoneMark, now: MilestoneMark) -> MilestoneReason | None:
    match moment:
        case "compaction":
            return "compaction"
        case "close":
            return "close" if now.revision > last.revision else None
        case "turn" if now.changed > last.changed:
            return "files changed"
        case _:
            if now.done - last.done:
                return "todo done"
            return "85 per cent" if now.used >= PRESSURE > last.used else None


@dataclass(slots=True)
class OwnState:
    """What a session last wrote; `mark` tells the file from others'."""

    version: int = 0
    mark: tuple[int, ...] | None = None


class Milestones:
    """Writes milestones; failures raise nothing."""

    def __init__(
        self,
        environment: Environment,
        log: SessionLog,
        view: ModelView,
        settings: SessionSettings,
        ownership: Ownership,
    ) -> None:
        self._environment = environment
        self._log = log
        self._view = view
        self._settings = settings
        self._ownership = ownership
        self._reading: tuple[int, frozenset[MessageId]] | None = None
        self._last = MilestoneMark()
        self._saving = asyncio.Lock()
        self._own = OwnState()
        self._folding = Folding()
        self._heard: MessageId | None = None

    async def at(self, moment: Moment) -> bool:
        """Saves a due milestone; returns whether written.

        A step's is due after a finished todo or when the prompt crosses `PRESSURE`, a turn's also
        after file changes, and at closing if the log has grown.
        """
        if self._ownership.read_only or not any(True for _ in self._log):
            return False
        crossed = (self._used() >= PRESSURE) != (self._last.used >= PRESSURE)
        late = self._late()
        calls = (call for message in late for call in tool_parts(message))
        if moment == "step" and not crossed and not any(map(may_move_todos, calls)):
            if len(late) > MOST_LATE:
                self._hear()
            return False
        ledger = self.ledger()
        now = self._mark(ledger)
        why = due(moment, self._last, now)
        if why is None:
            # Back below `PRESSURE`, so that the next crossing counts again.
            if now.used < PRESSURE <= self._last.used:
                self._last = replace(self._last, used=now.used)
            return False
        saved = await self.save(why, ledger)
        # After a failed write `close` tries again, and not every step.
        self._last = now if saved else replace(now, revision=self._last.revision)
        return saved

    async def save(self, why: str, ledger: Ledger | None = None) -> bool:
        """Returns `False` on failure, or if a newer milestone is stored."""
        row, version = self._log.row, self._log.row.revision
        window, store = window_id(self._log), self._environment.store
        told = ledger if ledger is not None else self.ledger()
        at = self._environment.clock.now()
        async with self._saving:
            try:
                facts = await _facts(store, row.id)
                branch = await asyncio.to_thread(read_branch, Path(row.cwd))
                made = Milestone(row.id, window, version, at, told, facts, row.cwd, branch, why)
                return await asyncio.to_thread(write, store.folder, made, self._own)
            except (SidecarError, OSError, ValueError) as error:
                logger.warning("no checkpoint of session %s was written: %s", row.id, error)
                return False

    def _hear(self) -> None:
        for message in self._late():
            if message.status == "discarded":
                continue
            if not is_settled(message):
                break
            self._heard = message.id
            self._folding.hear(message)

    def ledger(self) -> Ledger:
        self._hear()
        inherited = self._log.last_record(InheritedRecord)
        return with_inherited(self._folding.ledger(), filter(None, (inherited,)))

    def _late(self) -> Sequence[Message]:
        log = self._log
        reading = log.readings, log.left
        late = messages_after(log, self._heard) if reading == self._reading else None
        if late is None:
            # The log was read anew after another daemon, a restore left messages behind, or the
            # last one heard could not be stored and was withdrawn.
            self._reading = reading
            self._folding, self._heard = ledger_start(log)
            late = messages_after(log, self._heard) or ()
        return late

    def folding(self) -> Folding:
        self._hear()
        return self._folding

    def _mark(self, ledger: Ledger) -> MilestoneMark:
        done = frozenset(ledger.todo.done)
        return MilestoneMark(self._log.row.revision, done, self._folding.changes, self._used())

    def _used(self) -> float:
        limit = self._settings.room().limit
        return self._view.size(self._log).total / limit if limit > 0 else 1.0


def window_id(log: SessionLog) -> str:
    """Identifies an epoch."""
    return f"{log.row.id}:{max(1, len(opened_by(log)))}"


def folder_of(data_dir: Path, session_id: SessionId) -> Path:
    """Raises ValueError for an id unfit for a name."""
    long = len(session_id.encode("utf-8", "surrogatepass")) > LONGEST_NAME
    if long or not session_id or session_id.startswith(".") or set(session_id) & set("/\\\0"):
        raise ValueError(f"{session_id!r} is no session's id")
    return data_dir / MILESTONES / session_id


def write(data_dir: Path, checkpoint: Milestone, own: OwnState | None = None) -> bool:
    """Writes unless a newer milestone is stored; returns whether written. Blocks.

    What is still as `own` says is not read. OSError leaves the former `state.json`.
    """
    folder, version = folder_of(data_dir, checkpoint.session_id), checkpoint.state_version
    own = own or OwnState()
    known = own.mark is not None and own.mark == _mark(folder) and own.version <= version
    stored = None if known else read(data_dir, checkpoint.session_id)
    if stored is not None and not may_replace(stored, checkpoint):
        logger.warning(
            "a checkpoint of state %d was not written over state %d of session %s",
            version,
            stored.state_version,
            checkpoint.session_id,
        )
        return False
    make_folder(folder)
    real = folder.resolve()
    # The JSON is written last: a reader of the JSON finds both files complete.
    when = datetime.fromtimestamp(checkpoint.at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    write_atomically(real / "state.md", legible(to_markdown(checkpoint, when)), private=True)
    # On one line: an indent would have `dumps` run in Python, for four times as long.
    told = json.dumps(to_json(checkpoint), ensure_ascii=True)
    write_atomically(real / STATE, told + "\n", private=True)
    own.version, own.mark = version, _mark(real)
    return True


def _mark(folder: Path) -> tuple[int, ...] | None:
    with suppress(OSError):
        found = (folder / STATE).stat()
        return found.st_ino, found.st_mtime_ns, found.st_size
    return None


def read(data_dir: Path, session_id: SessionId) -> Milestone | None:
    """Returns `None` if missing or unreadable. Blocks."""
    try:
        path = folder_of(data_dir, session_id) / STATE
        with path.open("rb") as file:
            return from_json(json.loads(file.read(MOST_BYTES)))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        logger.warning("the checkpoint of session %s cannot be read: %s", session_id, error)
        return None


def remove(data_dir: Path, session_id: SessionId) -> None:
    """Ignores failures. Blocks."""
    with suppress(OSError, ValueError):
        folder = folder_of(data_dir, session_id)
        for name in (STATE, "state.md"):
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()


async def drifted(root: Path, buffers: Buffers, checkpoint: Milestone) -> tuple[str, ...]:
    ledger = checkpoint.ledger

    def look() -> tuple[Mapping[str, str | None], str]:
        return hash_files(to_check(ledger.files), root, buffers), read_branch(root)

    found, branch = await asyncio.to_thread(look)
    return drift(ledger.files, checkpoint.branch, found, branch)


async def _facts(store: Store, session: SessionId) -> tuple[Fact, ...]:
    found = await store.facts.find(
        session_id=session, cwd=None, kind=None, query=None, limit=MOST_FACTS
    )
    return tuple(one.fact for one in found)
