"""Folds a log up to a record; earlier messages stay unread."""

import json
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import accumulate
from pathlib import Path

from msgspec import structs

from sidecar import __version__, core
from sidecar.core.dataclass import dataclass
from sidecar.core.ledger.deeds import TodoProgress
from sidecar.core.ledger.ledger import Folding, OpenAttempt
from sidecar.core.ledger.milestone import Milestone, from_json, to_json
from sidecar.core.parts import (
    Json,
    JsonObject,
    Message,
    MessageId,
    PartId,
    SessionId,
    StepFinishPart,
    ToolPart,
)
from sidecar.core.text.digest import digest
from sidecar.store.format import record_codec
from sidecar.store.format.record_codec import LogRecord
from sidecar.store.format.values import Record
from sidecar.store.format.view_records import ViewRecord

CALL_BYTES = 8
"""Length of a call id's hash: two calls collide once in some hundred million logs."""


@dataclass(frozen=True, slots=True)
class Past:
    """A log up to `revision`, without the messages outside `window`.

    `messages` and `steps` count what is unread. `snapshot` and `branch` are the log's newest;
    `opened` has a key per epoch begun; `calls` hashes unread call ids; `records` are those still
    needed, narrowed to the window; `ledger` covers all messages. Histories from message `since` on
    need nothing unread; `None` if clocks make the order doubtful.
    """

    revision: int
    window: tuple[MessageId, ...]
    since: MessageId | None
    messages: int
    steps: int
    snapshot: int | None
    branch: str
    opened: frozenset[str]
    calls: bytes
    records: tuple[Record, ...]
    ledger: JsonObject
    todo: tuple[tuple[str, str, TodoProgress], ...]
    failed: tuple[tuple[PartId, str, tuple[str, ...]], ...]
    changes: int

    def folding(self) -> Folding:
        ledger = from_json(self.ledger).ledger
        todo = {key: (content, progress) for key, content, progress in self.todo}
        failed = {
            part_id: OpenAttempt(same, frozenset(missing)) for part_id, same, missing in self.failed
        }
        return Folding.resumed(ledger, todo, failed, self.changes)

    def has_call(self, call_id: str) -> bool:
        wanted, at = _call(call_id), -1
        while (at := self.calls.find(wanted, at + 1)) >= 0:
            if at % CALL_BYTES == 0:
                return True
        return False


def ledger_json(folding: Folding) -> JsonObject:
    nothing = SessionId("")
    return to_json(Milestone(nothing, "", 0, 0, folding.ledger()))


def encode(past: Past) -> bytes:
    records: list[Json] = [[r.revision, r.kind, r.at, r.body] for r in past.records]
    body: JsonObject = {
        "revision": past.revision,
        "window": [*past.window],
        "since": past.since,
        "messages": past.messages,
        "steps": past.steps,
        "snapshot": past.snapshot,
        "branch": past.branch,
        "opened": [*sorted(past.opened)],
        "calls": past.calls.hex(),
        "records": records,
        "ledger": past.ledger,
        "todo": [[*item] for item in past.todo],
        "failed": [[part_id, same, [*missing]] for part_id, same, missing in past.failed],
        "changes": past.changes,
    }
    # Escapes, so that what is no Unicode comes back as it was.
    return json.dumps(body, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def decode(data: bytes) -> Past:
    """Decodes a fold of the same code version."""
    body = json.loads(data)
    return Past(
        body["revision"],
        tuple(body["window"]),
        body["since"],
        body["messages"],
        body["steps"],
        body["snapshot"],
        body["branch"],
        frozenset(body["opened"]),
        bytes.fromhex(body["calls"]),
        tuple(Record(*record) for record in body["records"]),
        body["ledger"],
        tuple((key, content, progress) for key, content, progress in body["todo"]),
        tuple((PartId(key), same, tuple(missing)) for key, same, missing in body["failed"]),
        body["changes"],
    )


@cache
def version() -> str:
    """Hashes the code that makes folds: other versions' folds are not used. Blocks, once."""
    folders = (
        Path(core.__file__).parent,
        Path(__file__).parent,
        Path(record_codec.__file__).parent,
    )
    sources = sorted(path for folder in folders for path in folder.rglob("*.py"))
    known = __version__
    for path in sources:
        known = digest(path.read_bytes(), known)
    return known


def hashed_calls(messages: Iterable[Message]) -> bytes:
    """Joins hashes of `CALL_BYTES` each, skipping discarded messages."""
    return b"".join(
        _call(part.call_id)
        for message in messages
        if message.status != "discarded"
        for part in message.parts
        if isinstance(part, ToolPart)
    )


def _call(call_id: str) -> bytes:
    data = call_id.encode("utf-8", "surrogatepass")
    return bytes.fromhex(digest(data).rpartition(":")[2])[:CALL_BYTES]


def count_steps(messages: Iterable[Message]) -> int:
    return sum(isinstance(part, StepFinishPart) for m in messages for part in m.parts)


def step_starts(messages: Sequence[Message]) -> list[int]:
    """Counts steps ended before each message."""
    return list(accumulate((count_steps((m,)) for m in messages), initial=0))[:-1]


def narrowed(record: LogRecord, parts: frozenset[PartId], notes: frozenset[PartId]) -> LogRecord:
    if not isinstance(record, ViewRecord):
        return record
    return structs.replace(
        record,
        shown={name: how for name, how in record.shown.items() if name in parts},
        notes=tuple(note for note in record.notes if note.id in notes),
        retired=tuple(name for name in record.retired if name in notes),
    )
