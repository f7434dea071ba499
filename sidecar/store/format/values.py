"""What is stored and how it may change: rows, records, changes, leases. Pure data."""

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from sidecar.core.ledger.facts import Fact
from sidecar.core.parts import JsonObject, Message, MessageId, Millis, Part, PartId, SessionId

SweepReason: TypeAlias = Literal["age", "quota"]
REASONS: tuple[SweepReason, ...] = get_args(SweepReason)


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session, but for its messages.

    `seq` is the highest sequence number that is reserved for the wire; `cost` is USD as a decimal
    string, or `None` when unknown; `settings` (model, tools, system text, …) is opaque here.
    """

    id: SessionId
    cwd: str
    title: str
    created: Millis
    updated: Millis
    revision: int
    seq: int
    turns: int
    cost: str | None
    settings: JsonObject


@dataclass(frozen=True, slots=True)
class Record:
    """An entry of a session's append-only log."""

    revision: int
    kind: str
    at: Millis
    body: JsonObject


@dataclass(frozen=True, slots=True)
class Stored:
    """A session as read: messages in the order of their first writing, records by revision.

    `problems` says, a sentence each, what could not be read; that is left out of the rest.
    """

    session: SessionRow
    messages: tuple[Message, ...]
    records: tuple[Record, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the session list; `next` is the cursor of the page after it, if there is one."""

    rows: tuple[SessionRow, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class PutSession:
    """Write a session's row, or write it anew."""

    row: SessionRow


@dataclass(frozen=True, slots=True)
class PutMessage:
    """Write a message's header; its parts come by `PutPart`. The session must be stored."""

    session_id: SessionId
    message: Message


@dataclass(frozen=True, slots=True)
class PutPart:
    """Write the part with this id, or write it anew. Its message must be stored.

    `final=False` is for a part that still grows: its long texts stay in its row, so that every
    save does not leave a blob behind.
    """

    session_id: SessionId
    message_id: MessageId
    position: int
    part: Part
    final: bool = True


@dataclass(frozen=True, slots=True)
class AppendRecord:
    """Append to a session's log; the revision must be larger than the last one there."""

    session_id: SessionId
    record: Record


@dataclass(frozen=True, slots=True)
class PutBlob:
    """Keep bytes under their `core.digest.digest`, once however often they are put.

    It belongs into one unit with the part that refers to it (`Output.whole`): a blob that nobody
    refers to may go when another session that held the same content is deleted.
    """

    hash: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Gone:
    """That a complete output of a tool was let go: when, why, beyond which bound (days, MiB)."""

    at: Millis
    why: SweepReason
    bound: int


@dataclass(frozen=True, slots=True)
class PutGone:
    """Know that the output which a part names as `hash` went; it comes before its `PutPart`."""

    session_id: SessionId
    part_id: PartId
    hash: str
    gone: Gone


@dataclass(frozen=True, slots=True)
class PutFacts:
    """Keep facts of a session; those that it has already are left as they are.

    `cwd` is the folder that may come to know them, if enough of its sessions bear them out.
    """

    session_id: SessionId
    cwd: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class DeleteSession:
    """Remove a session with everything that only it held; unknown sessions are ignored."""

    session_id: SessionId


@dataclass(frozen=True, slots=True)
class PutFold:
    """Keep what a log comes to up to a message and a revision, so that a resume need not read it.

    It is a cache: it may be thrown away at any time, and is, when what it was made from or the
    `version` of who made it is another.
    """

    session_id: SessionId
    revision: int
    newest: MessageId
    version: str
    body: bytes


@dataclass(frozen=True, slots=True)
class CopyLog:
    """Let a session that was just written begin as another did, without copies of what is long.

    It gets these messages of `source`, which must be settled, the records up to revision `until`
    and the facts of `before` that time, or all.
    """

    source: SessionId
    session_id: SessionId
    messages: tuple[MessageId, ...]
    until: int
    before: Millis | None = None


StoreChange: TypeAlias = (
    PutSession
    | PutMessage
    | PutPart
    | AppendRecord
    | PutBlob
    | PutGone
    | PutFacts
    | PutFold
    | DeleteSession
    | CopyLog
)


@dataclass(frozen=True, slots=True)
class Owner:
    """A process that writes a session. `token` is its own secret name for the lease.

    `started` says which process the pid meant (see `store.lease`), because pids are used again.
    """

    pid: int
    host: str
    started: str
    token: str


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What a verification looked at, in rows, and a sentence for everything that is wrong."""

    sessions: int
    messages: int
    parts: int
    records: int
    blobs: int
    problems: tuple[str, ...]
