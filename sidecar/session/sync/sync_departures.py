"""Makes what is sent of a session: a packed bundle of what its ref lacks, without likely keys."""

import asyncio
from dataclasses import replace

from sidecar.core.conversation.fact import Fact
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest
from sidecar.core.parts import JsonObject
from sidecar.core.text.redaction import Redaction
from sidecar.core.text.visible import many
from sidecar.session.environment import Environment
from sidecar.session.lifecycle.fork import ForkCut
from sidecar.session.log.losses import unsigned
from sidecar.session.session_settings import synced_as
from sidecar.session.sync.sync_history import (
    History,
    history_here,
    history_of,
    news_of,
    piece_of,
    settled_cut,
)
from sidecar.session.sync.sync_refs import packed
from sidecar.session.transfer.bundle_export import (
    ALL,
    FILES_WITHHELD,
    cleaned,
    gathered,
)
from sidecar.session.transfer.bundle_files import withheld_in
from sidecar.store.format.bundles import Bundle
from sidecar.store.format.values import SessionRow, Stored
from sidecar.store.journal import Store


@dataclass(frozen=True, slots=True)
class Local:
    """A session here, whole, and what of it may be sent."""

    name: str
    stored: Stored
    cut: ForkCut
    history: History

    @property
    def row(self) -> SessionRow:
        return self.stored.session

    @property
    def title(self) -> str:
        return self.row.title or self.row.id


@dataclass(frozen=True, slots=True)
class Departure:
    """A packed piece with so many `messages` and contents of `files`.

    `about` is what its commit says of the session.
    """

    data: bytes
    messages: int
    redacted: int
    about: JsonObject
    files: int = 0
    notes: tuple[str, ...] = ()


async def named_rows(store: Store) -> dict[str, SessionRow]:
    """Gives all folders' sessions by their names on refs."""
    page = await store.sessions.page(cwd=None, before=None, limit=ALL)
    return {synced_as(row): row for row in reversed(page.rows)}


async def local_of(store: Store, name: str, row: SessionRow) -> Local:
    """Reads a session. Raises BadRequest where its log is damaged."""
    stored = await store.logs.load(row.id)
    if stored.problems:
        raise BadRequest(f"{len(stored.problems)} entries of it are damaged: `sidecar verify`")
    cut = settled_cut(stored)
    return Local(name, stored, cut, history_here(stored, cut, name))


async def departure_of(
    environment: Environment,
    local: Local,
    there: Bundle | None,
    project: str,
    secrets: tuple[str, ...],
    *,
    snapshots: bool = False,
) -> Departure | None:
    """Makes the piece that `there` lacks, of a folder of `project`; `None` if it lacks nothing.

    With `snapshots`, what files held goes along. `secrets` are taken out.
    """
    known = None if there is None else history_of(there)
    names, start = news_of(local.history, known)
    new = tuple(message for message in local.cut.messages if message.id in names)
    if not new and len(local.history.records) == start:
        return None
    cut, now = replace(local.cut, messages=new), environment.clock.now()
    held = (there.files if there else None) or {}
    bundle = await gathered(environment.store, local.stored, cut, now, held if snapshots else None)
    facts: tuple[Fact, ...] = () if there is None else there.facts
    piece = piece_of(bundle, local.history, start, local.name, facts)
    turns = len({message.turn_id for message in local.cut.messages})
    piece = replace(piece, session=replace(piece.session, turns=turns))
    before = 0 if there is None else there.redacted

    def made() -> Departure:
        clean = cleaned(piece, Redaction(secrets), held)
        if before:
            # Its thinking follows texts that are others there.
            clean = replace(clean, messages=tuple(map(unsigned, clean.messages)))
        about = _about(local.name, clean, Redaction(secrets).text(project))
        left = withheld_in(clean.messages) if snapshots else 0
        notes = (FILES_WITHHELD.format(states=many(left, "state")),) if left else ()
        count = len(clean.files or ())
        return Departure(packed(clean), len(new), clean.redacted, about, count, notes)

    return await asyncio.to_thread(made)


def _about(name: str, piece: Bundle, project: str) -> JsonObject:
    row = piece.session
    return {
        "sidecar": "session",
        "version": 1,
        "name": name,
        "title": row.title,
        "folder": row.cwd,
        "project": project,
        "updated": row.updated,
        "turns": row.turns,
    }
