"""Hands a session's work to the next, and tells it to others.

All comes from the store, so any daemon's sessions can be handed on.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from urllib.parse import quote

from sidecar.core.conversation.fact import Fact
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest, StorageFailed
from sidecar.core.ledger.guidance import SESSION_LINK
from sidecar.core.ledger.inheritance import merged
from sidecar.core.ledger.ledger import Ledger, Said, read_ledger
from sidecar.core.ledger.milestone import Milestone, from_json, to_json
from sidecar.core.ledger.relevance import ranked
from sidecar.core.parts import FilePart, Message, MessageId, Part, SessionId, TurnId
from sidecar.core.summaries.handoff_draft import digest, draft, said_so
from sidecar.session.log.held_log import left_behind
from sidecar.session.turn.clock import Clock
from sidecar.store.format.log_records import InheritedRecord
from sidecar.store.format.record_codec import LogRecord, read_all
from sidecar.store.format.values import SessionRow, Stored
from sidecar.store.journal import Store
from sidecar.workspace.present_state import read_branch

MOST_FACTS = 200


@dataclass(frozen=True, slots=True)
class WorkStanding:
    """The state of a session's work; `said` are decisions from its conversation."""

    stored: Stored
    checkpoint: Milestone
    said: tuple[str, ...]

    @property
    def row(self) -> SessionRow:
        return self.stored.session


@dataclass(frozen=True, slots=True)
class Inheritance:
    """Work handed to a session; an empty `goal` keeps the former."""

    title: str
    goal: str
    said: tuple[str, ...]
    checkpoint: Milestone


async def handoff(
    store: Store, clock: Clock, session_id: SessionId, goal: str
) -> tuple[str, tuple[str, ...]]:
    """Drafts the first prompt for `goal`; ranks related files, likeliest first.

    Raises UnknownSession, or BadRequest for an empty goal.
    """
    if not goal.strip():
        raise BadRequest("say in goal what the next session is for", "params.goal")
    return drafted(await standing(store, clock, session_id), goal)


def drafted(standing: WorkStanding, goal: str) -> tuple[str, tuple[str, ...]]:
    """An empty `goal` means the session's newest."""
    checkpoint, messages = standing.checkpoint, standing.stored.messages
    wanted = goal if goal.strip() else _newest(checkpoint.ledger)
    files = ranked(checkpoint.ledger, messages, wanted)
    return draft(checkpoint, standing.row.title, wanted, files, standing.said), files


async def with_digests(parts: tuple[Part, ...], store: Store, clock: Clock) -> tuple[Part, ...]:
    """Puts digests in place of links to sessions. Raises UnknownSession."""
    return tuple([await _told(part, store, clock) for part in parts])


async def _told(part: Part, store: Store, clock: Clock) -> Part:
    if not isinstance(part, FilePart) or part.text is not None or part.media is not None:
        return part
    if not part.uri.startswith(SESSION_LINK):
        return part
    named = part.uri.removeprefix(SESSION_LINK).partition("#")[0]
    found = await standing(store, clock, SessionId(named))
    title = found.row.title
    text = await asyncio.to_thread(
        digest, found.checkpoint, title, found.said, found.stored.messages
    )
    return replace(
        part, uri=f"{SESSION_LINK}{named}#{quote(title or named, errors='replace')}", text=text
    )


async def standing(store: Store, clock: Clock, session_id: SessionId) -> WorkStanding:
    stored = await store.logs.load(session_id)
    records = read_all(stored.records)
    left = left_behind(records)
    stored = replace(stored, messages=tuple(m for m in stored.messages if m.id not in left))
    row = stored.session
    found = await store.facts.find(session_id=session_id, limit=MOST_FACTS)
    facts = tuple(one.fact for one in found)
    branch = await asyncio.to_thread(read_branch, Path(row.cwd))
    now = clock.now()

    def fold() -> tuple[Ledger, tuple[str, ...]]:
        return read_ledger(stored.messages), said_so(stored.messages)

    ledger, said = await asyncio.to_thread(fold)
    before = inherited(records)
    if before is not None:
        facts = _once((*before.checkpoint.facts, *facts))
        ledger = merged(_with_goal(before), ledger)
        said = tuple(dict.fromkeys((*said, *before.said)))
    made = Milestone(row.id, row.id, row.revision, now, ledger, facts, row.cwd, branch, "handoff")
    return WorkStanding(stored, made, said)


def inherited(records: Iterable[LogRecord]) -> Inheritance | None:
    """Returns work handed to the session. Raises StorageFailed if unreadable."""
    newest = (r for r in reversed(tuple(records)) if isinstance(r, InheritedRecord))
    record = next(newest, None)
    if record is None:
        return None
    try:
        checkpoint = from_json(record.checkpoint)
    except ValueError as error:
        raise StorageFailed(
            f"what this session goes on from cannot be read ({error}); run `sidecar verify`",
            kind="corrupt",
        ) from error
    return Inheritance(record.title, record.goal, record.said, checkpoint)


def ledger_of(messages: Iterable[Message], records: Iterable[LogRecord]) -> Ledger:
    return with_inherited(read_ledger(messages), records)


def with_inherited(own: Ledger, records: Iterable[LogRecord]) -> Ledger:
    before = inherited(records)
    return own if before is None else merged(_with_goal(before), own)


def inherited_record(standing: WorkStanding, goal: str) -> InheritedRecord:
    return InheritedRecord(
        source=standing.row.id,
        title=standing.row.title,
        goal=goal.strip(),
        said=standing.said,
        checkpoint=to_json(standing.checkpoint),
    )


def _with_goal(before: Inheritance) -> Ledger:
    ledger = before.checkpoint.ledger
    if not before.goal:
        return ledger
    said = Said(before.goal, TurnId(""), MessageId(""))
    return replace(ledger, directives=(*ledger.directives, said))


def _newest(ledger: Ledger) -> str:
    said = (*(() if ledger.goal is None else (ledger.goal,)), *ledger.directives)
    return said[-1].text if said else ""


def _once(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    return tuple({(fact.kind, fact.content): fact for fact in facts}.values())
