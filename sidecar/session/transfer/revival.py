"""Rebuilds a row and message heads from a damaged log."""

from functools import partial

from sidecar.config import Config
from sidecar.core.conversation.turns import first_line
from sidecar.core.parts import (
    JsonObject,
    Message,
    MessageId,
    Part,
    StepFinishPart,
    TextPart,
    TurnId,
)
from sidecar.store.format.log_records import DiscardedRecord, TurnStartedRecord
from sidecar.store.format.record_codec import named_by, read_all
from sidecar.store.format.values import SessionRow
from sidecar.store.repair.rebuilt_store import Headless, Revive


def reviving(config: Config) -> Revive:
    return Revive(session=partial(_session, config), message=_message)


def _session(config: Config, lost: Headless) -> SessionRow:
    """Takes a new session's settings; the cost is unknown."""
    models = [message.model for message in lost.messages if message.model]
    settings: JsonObject = {
        "model": models[-1] if models else config.model,
        "policy": config.policy,
        "window": None,
        "maxTokens": None,
        "agent": config.agent,
        "effort": "",
        "autoCompact": config.auto_compact,
        "autoContinue": config.auto_continue,
    }
    times = [message.created for message in lost.messages] or [lost.updated]
    updated = max(lost.updated, *times)
    return SessionRow(
        id=lost.id,
        cwd=lost.cwd,
        title=first_line(lost.messages),
        created=min(times),
        updated=updated,
        revision=max((record.revision for record in lost.records), default=0),
        # Clients have seen numbers below this one, which counts milliseconds.
        seq=updated,
        turns=len({message.turn_id for message in lost.messages if message.role == "user"}),
        cost=None,
        settings=settings,
    )


def _message(name: MessageId, parts: tuple[Part, ...], left: Headless) -> Message:
    """Makes a message for its parts; without a record it joins a neighbour's turn."""
    user = any(isinstance(p, TextPart) and p.source != "model" for p in parts)
    began = [record for record in read_all(left.records) if name in named_by(record)]
    named = [record.turn_id for record in began if isinstance(record, TurnStartedRecord)]
    before = [m for m in left.messages if m.id < name]
    near = (before or list(left.messages))[-1:]
    turn = named[0] if named else near[0].turn_id if near else f"turn_{name}"
    finished = user or any(isinstance(p, StepFinishPart) for p in parts)
    withdrawn = any(isinstance(record, DiscardedRecord) for record in began)
    return Message(
        id=name,
        turn_id=TurnId(turn),
        role="user" if user else "assistant",
        parts=(),
        created=began[0].at if began else near[0].created if near else left.updated,
        status="discarded" if withdrawn else "complete" if finished else "cut",
        model=near[0].model if near and not user else "",
    )
