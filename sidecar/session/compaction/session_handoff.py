"""What a session hands on to the next: its ledger and facts, and a draft to begin with.

Everything is read from the store, so that a session that runs, or that another daemon writes,
can be handed on as far as it is durable. No model takes part.
"""

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from sidecar.core.errors import BadRequest, StorageFailed
from sidecar.core.ledger.facts import Fact
from sidecar.core.ledger.inheritance import merged
from sidecar.core.ledger.ledger import Ledger, Said, read_ledger
from sidecar.core.ledger.milestone import Milestone, from_json, to_json
from sidecar.core.ledger.relevance import ranked
from sidecar.core.parts import Message, MessageId, SessionId, TurnId
from sidecar.core.summaries.handoff_draft import draft, said_so
from sidecar.session.log.held_log import left_behind
from sidecar.session.state import Environment
from sidecar.store.format.log_records import InheritedRecord
from sidecar.store.format.record_codec import LogRecord, read_all
from sidecar.store.format.values import SessionRow, Stored
from sidecar.workspace.present_state import read_branch

MOST_FACTS = 200


@dataclass(frozen=True, slots=True)
class WorkStanding:
    """How a session's work stands; `said` are the conversation's own decisions."""

    stored: Stored
    checkpoint: Milestone
    said: tuple[str, ...]

    @property
    def row(self) -> SessionRow:
        """The session's row."""
        return self.stored.session


@dataclass(frozen=True, slots=True)
class Inheritance:
    """What a session goes on from, as its log has it; `goal` is empty where it is the same."""

    title: str
    goal: str
    said: tuple[str, ...]
    checkpoint: Milestone


async def handoff(
    environment: Environment, session_id: SessionId, goal: str
) -> tuple[str, tuple[str, ...]]:
    """Give a draft for the first prompt of a session with this goal, and its files.

    The files are those that bear on the goal, the likeliest first.

    Raises:
        UnknownSession: there is no such session.
        BadRequest: the goal is empty.
    """
    if not goal.strip():
        raise BadRequest("say in goal what the next session is for", "params.goal")
    return drafted(await standing(environment, session_id), goal)


def drafted(standing: WorkStanding, goal: str) -> tuple[str, tuple[str, ...]]:
    """Give a draft and its files; see `handoff`."""
    checkpoint, messages = standing.checkpoint, standing.stored.messages
    wanted = goal if goal.strip() else _newest(checkpoint.ledger)
    files = ranked(checkpoint.ledger, messages, wanted)
    return draft(checkpoint, standing.row.title, wanted, files, standing.said), files


async def standing(environment: Environment, session_id: SessionId) -> WorkStanding:
    """Read how a session's work stands; raises UnknownSession."""
    stored = await environment.store.logs.load(session_id)
    records = read_all(stored.records)
    left = left_behind(records)
    stored = replace(stored, messages=tuple(m for m in stored.messages if m.id not in left))
    row = stored.session
    found = await environment.store.facts.find(session_id=session_id, limit=MOST_FACTS)
    facts = tuple(one.fact for one in found)
    branch = await asyncio.to_thread(read_branch, Path(row.cwd))
    now = environment.clock.now()

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
    """Give what a session goes on from; `None` where it began by itself.

    Raises:
        StorageFailed: the log has it and it cannot be read.
    """
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
    """Fold a session's ledger, that of the sessions whose work it goes on with included."""
    return with_inherited(read_ledger(messages), records)


def with_inherited(own: Ledger, records: Iterable[LogRecord]) -> Ledger:
    """Add the ledger of the sessions whose work this one goes on with."""
    before = inherited(records)
    return own if before is None else merged(_with_goal(before), own)


def inherited_record(standing: WorkStanding, goal: str) -> InheritedRecord:
    """Return the record that `inherited` reads; it is not numbered yet."""
    return InheritedRecord(
        source=standing.row.id,
        title=standing.row.title,
        goal=goal.strip(),
        said=standing.said,
        checkpoint=to_json(standing.checkpoint),
    )


def _with_goal(before: Inheritance) -> Ledger:
    """Give the ledger of before, with the goal that was set when the work was handed on."""
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
