"""Stored values and changes: rows, records, leases."""

from typing import Literal, TypeAlias, get_args

from sidecar.core.conversation.fact import Fact
from sidecar.core.dataclass import dataclass
from sidecar.core.parts import JsonObject, Message, MessageId, Millis, Part, PartId, SessionId

SweepReason: TypeAlias = Literal["age", "quota"]
REASONS: tuple[SweepReason, ...] = get_args(SweepReason)


@dataclass(frozen=True, slots=True)
class SessionRow:
    """A session without messages.

    `seq`: highest number reserved for the wire; `cost`: USD as a decimal string, or `None`;
    `settings`: opaque here.
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
    """A session's messages by first writing, and records by revision.

    `problems`: sentences on unreadable data.
    """

    session: SessionRow
    messages: tuple[Message, ...]
    records: tuple[Record, ...]
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A page of sessions; `next`: a cursor."""

    rows: tuple[SessionRow, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class PutSession:
    """Insert or replace a session's row."""

    row: SessionRow


@dataclass(frozen=True, slots=True)
class PutMessage:
    """Insert or replace a message, without parts."""

    session_id: SessionId
    message: Message


@dataclass(frozen=True, slots=True)
class PutPart:
    """Insert or replace a stored message's part.

    `final=False`: growing; long texts stay in the row, not in blobs.
    """

    session_id: SessionId
    message_id: MessageId
    position: int
    part: Part
    final: bool = True


@dataclass(frozen=True, slots=True)
class AppendRecord:
    """A record with a higher revision."""

    session_id: SessionId
    record: Record


@dataclass(frozen=True, slots=True)
class PutBlob:
    """Store bytes once under their `core.text.digest.digest`.

    Belongs in one unit with its part (`Output.whole`): a blob without a part may be deleted when
    another session is.
    """

    hash: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Gone:
    """An output's removal; `bound`: the limit exceeded, in days for `age`, MiB for `quota`."""

    at: Millis
    why: SweepReason
    bound: int


@dataclass(frozen=True, slots=True)
class PutGone:
    """Note a part's output as removed, before the `PutPart`."""

    session_id: SessionId
    part_id: PartId
    hash: str
    gone: Gone


@dataclass(frozen=True, slots=True)
class PutFacts:
    """New facts, which other sessions in `cwd` may find too."""

    session_id: SessionId
    cwd: str
    facts: tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class DeleteSession:
    """Delete a session with everything only it holds; unknown ids are ignored."""

    session_id: SessionId


@dataclass(frozen=True, slots=True)
class PutFold:
    """Store a log's state up to a message and revision, for quick resumes.

    The fold is ignored once the log or `version` differs.
    """

    session_id: SessionId
    revision: int
    newest: MessageId
    version: str
    body: bytes


@dataclass(frozen=True, slots=True)
class PutCounts:
    """Replace a session's counts of texts by a `vocabulary`; may be lost any time."""

    session_id: SessionId
    vocabulary: str
    body: bytes


@dataclass(frozen=True, slots=True)
class CopyLog:
    """Copy a log's beginning to a new session, sharing blobs.

    Copies settled `messages`, records up to `until`, and facts before a time, or all.
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
    | PutCounts
    | DeleteSession
    | CopyLog
)


@dataclass(frozen=True, slots=True)
class Owner:
    """A process that writes a session; `token`: the lease's secret name.

    `started` tells reused pids apart.
    """

    pid: int
    host: str
    started: str
    token: str


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """The number of verified rows, and a sentence per problem."""

    sessions: int
    messages: int
    parts: int
    records: int
    blobs: int
    problems: tuple[str, ...]
