"""Figures of a whole log, the same from a window."""

import re
from collections.abc import Sequence

from sidecar.core.ledger.ledger import Folding
from sidecar.core.parts import Message, MessageId, Millis, TextPart
from sidecar.session.log.session_log import SessionLog
from sidecar.store.format.log_records import (
    OURS,
    ForkedRecord,
    ImportedRecord,
    InheritedRecord,
    LinkedRecord,
    TurnStartedRecord,
)

_BRANCH = re.compile(r"^Git branch: (.+)$", re.M)


def message_count(log: SessionLog) -> int:
    """Includes those left behind."""
    return len(log.messages) + (0 if log.past is None else log.past.messages)


def steps_before(log: SessionLog) -> int:
    """Counts the conversation's steps before those in memory."""
    return 0 if log.past is None else log.past.steps


def imported_at(log: SessionLog) -> Millis:
    """Returns a recording's import time, else 0: earlier requests were paid elsewhere."""
    came = log.last_record(ImportedRecord)
    return 0 if came is None or came.format == OURS else came.at


def opened_by(log: SessionLog) -> frozenset[str]:
    """Lists keys of records that began an epoch."""
    opened = log.openings()
    return opened if log.past is None else opened | log.past.opened


def ledger_start(log: SessionLog) -> tuple[Folding, MessageId | None]:
    """Also returns the last message heard."""
    if log.past is None:
        return Folding(), None
    # The newest turns are in every window.
    return log.past.folding(), log.past.window[-1]


def messages_after(log: SessionLog, last: MessageId | None) -> Sequence[Message] | None:
    """Lists messages after `last`, or all; `None` if `last` was withdrawn."""
    late: list[Message] = []
    for message in reversed(log.by_id.values()):
        if message.id == last:
            break
        late.append(message)
    else:
        if last is not None:
            return None
    return [message for message in reversed(late) if message.id not in log.left]


def foreign_messages(log: SessionLog) -> frozenset[MessageId]:
    """Finds imported and forked messages, and in a subtask all that look typed.

    Records decide: imported messages may bear any time. A window may count too many.
    """
    records, foreign = log.records, set[MessageId]()
    came = (i for i, r in enumerate(records, 1) if isinstance(r, ForkedRecord | ImportedRecord))
    begun = max(came, default=0)
    if begun:
        here = {r.turn_id for r in records[begun:] if isinstance(r, TurnStartedRecord)}
        foreign |= {message.id for message in log.messages if message.turn_id not in here}
    # People go on with inherited work themselves; any other link may be a subtask's.
    if log.last_record(LinkedRecord) and not log.last_record(InheritedRecord):
        foreign |= {message.id for message in log.messages if message.role == "user"}
    return frozenset(foreign)


def branch_in(context: str) -> str:
    match = _BRANCH.search(context)
    return match[1] if match else ""


def newest_branch(log: SessionLog) -> str:
    texts = (
        part.text
        for message in reversed(log.messages)
        for part in message.parts
        if isinstance(part, TextPart) and part.source == "context"
    )
    found = next((branch for text in texts if (branch := branch_in(text))), "")
    return found or ("" if log.past is None else log.past.branch)
