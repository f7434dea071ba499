"""What a log comes to up to a record: all that is needed of messages that are not read any more.

It is folded from the whole log, kept beside it, and can be thrown away at any time. What it
names as its window, and what came after it, is read; the rest is read when somebody needs it.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from pathlib import Path

from msgspec import structs

from sidecar import __version__, core
from sidecar.core.ledger.deeds import TodoProgress
from sidecar.core.ledger.ledger import Folding
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
"""Of the hash of a call's id: another call's has the same once in some hundred million logs."""


@dataclass(frozen=True, slots=True)
class Past:
    """A log up to `revision`, without the messages that are not in its `window`.

    Of those: how many there are, and of the conversation the `steps` that they end. `snapshot` is
    the newest that the log tells, `branch` the newest that its context names, `opened` all that
    began an epoch, `calls` the hashes of all calls' ids. `records` are those that are still
    needed, without what they say of parts that are not in the window. The ledger is of all
    messages up to here. From the turn that begins with the message `since` on, a history can be
    told by what is here; it is `None` where clocks make that doubtful.
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
    changes: int

    def folding(self) -> Folding:
        """Give the ledger in the making, to hear what came after."""
        ledger = from_json(self.ledger).ledger
        todo = {key: (content, progress) for key, content, progress in self.todo}
        return Folding.resumed(ledger, todo, self.changes)

    def has_call(self, call_id: str) -> bool:
        """Whether a call of before had this id."""
        wanted, at = _call(call_id), -1
        while (at := self.calls.find(wanted, at + 1)) >= 0:
            if at % CALL_BYTES == 0:
                return True
        return False


def ledger_json(folding: Folding) -> JsonObject:
    """Give a ledger in the making as JSON."""
    nothing = SessionId("")
    return to_json(Milestone(nothing, "", 0, 0, folding.ledger()))


def encode(past: Past) -> bytes:
    """Give the bytes that `decode` reads."""
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
        "changes": past.changes,
    }
    # Escapes, so that what is no Unicode comes back as it was.
    return json.dumps(body, ensure_ascii=True, separators=(",", ":")).encode("ascii")


def decode(data: bytes) -> Past:
    """Read what `encode` gave, by the same version of the code."""
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
        body["changes"],
    )


@cache
def version() -> str:
    """Name the code that makes folds and reads logs, by its bytes; blocks, once.

    What another version made is not used, so that a mended fold is made anew.
    """
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
    """Give the hashes of the ids of all calls that a prompt may hold."""
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
    """Count the model calls that ended."""
    return sum(isinstance(part, StepFinishPart) for m in messages for part in m.parts)


def step_starts(messages: Sequence[Message]) -> list[int]:
    """Say of each message how many steps had ended before it."""
    return list(accumulate((count_steps((m,)) for m in messages), initial=0))[:-1]


def narrowed(record: LogRecord, parts: frozenset[PartId], notes: frozenset[PartId]) -> LogRecord:
    """Give a record of the view without what it says of other parts and notes than these."""
    if not isinstance(record, ViewRecord):
        return record
    return structs.replace(
        record,
        shown={name: how for name, how in record.shown.items() if name in parts},
        notes=tuple(note for note in record.notes if note.id in notes),
        retired=tuple(name for name in record.retired if name in notes),
    )
