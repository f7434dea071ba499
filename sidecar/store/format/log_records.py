"""A log's records: one frozen type for each kind.

On the disk names are camelCase, unless `field(name=…)` gives another; None fields are left out.
"""

from typing import Annotated, Any, Literal, TypeAlias

from msgspec import UNSET, Meta, Struct, UnsetType, field

from sidecar.core.parts import MessageId, Millis, PartId, TurnId
from sidecar.core.prompt.prompt import Ttl

MOST = 10**15
"""Tokens, bytes, steps or ms; more than any log counts."""

Signed: TypeAlias = Annotated[int, Meta(ge=-MOST, le=MOST)]
Cost: TypeAlias = Annotated[str, Meta(pattern=r"^-?[0-9]{1,12}(\.[0-9]{1,18})?$")]
"""USD, as a decimal number; negative is saved."""
NoticeLevel: TypeAlias = Literal["info", "warning", "error"]


class RecordHead(
    Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True, tag_field="#kind"
):
    """`revision`: place in the log, 0 before numbering; `at`: ms since 1970."""

    revision: int = field(default=0, name="#revision")
    at: Millis = field(default=0, name="#at")


class _OfMessage(RecordHead, frozen=True, kw_only=True):
    message_id: MessageId


class CreatedRecord(RecordHead, frozen=True, tag="created"):
    """The session's first changes were stored."""


class BegunAgainRecord(RecordHead, frozen=True, tag="begun_again"):
    """The log had lost its beginning and got another."""


class LinkedRecord(RecordHead, frozen=True, tag="linked", kw_only=True):
    """The session continues session `source`, or is its subtask."""

    source: str = field(name="from")


class ForkedRecord(RecordHead, frozen=True, tag="forked", kw_only=True):
    """Ends the part of a fork's log copied from `source`."""

    source: str = field(name="from")
    at_message_id: MessageId | None


OURS = "sidecar"
"""The format of a session of our own."""


class ImportedRecord(RecordHead, frozen=True, tag="imported", kw_only=True):
    """Ends the part read from a file; `redacted`: number of keys removed."""

    format: str = ""
    source: str | None = field(default=None, name="from")
    redacted: Signed | None = None


class InheritedRecord(RecordHead, frozen=True, tag="inherited", kw_only=True):
    """Work taken over from session `source`; `checkpoint` as in `core/ledger/milestone`."""

    source: str | None = field(default=None, name="from")
    title: str
    goal: str
    said: tuple[str, ...]
    checkpoint: dict[str, Any]


class OptionRecord(RecordHead, frozen=True, tag="option", kw_only=True):
    """A setting changed."""

    config_id: str = ""


class TurnStartedRecord(_OfMessage, frozen=True, tag="turn_started", kw_only=True):
    """A turn began with a user's message."""

    turn_id: TurnId


class FailureShape(Struct, frozen=True, rename="camel"):
    """`status`: the provider's HTTP status."""

    kind: str
    message: str
    retryable: bool
    status: Signed | UnsetType | None = UNSET


class TurnEndedRecord(RecordHead, frozen=True, tag="turn_ended", kw_only=True):
    """`stop_reason`: ACP's, `blocked`, or `error`."""

    turn_id: TurnId
    stop_reason: str = ""
    error: FailureShape | None = None


class SteeredRecord(_OfMessage, frozen=True, tag="steered"):
    """A user's message came while a turn ran."""


class _Request(RecordHead, frozen=True, kw_only=True):
    """The tokens expected from the cache; if fewer came, why."""

    predicted_read: Signed | None = None
    miss: str | None = None
    segment: str | None = None
    reason: str | None = None


class StepRecord(_Request, frozen=True, tag="step", kw_only=True):
    """A model's answer ended; `sdk`: the library reading it, with version."""

    message_id: MessageId
    read: Signed | None = None
    sdk: str = ""


class StepFailedRecord(_OfMessage, frozen=True, tag="step_failed", kw_only=True):
    """The provider failed during an answer; `failure`: kind of error."""

    failure: str = field(name="kind")


class DiscardedRecord(_OfMessage, frozen=True, tag="discarded", kw_only=True):
    """An answer was withdrawn and asked for again.

    Without a kind of `failure` the prompt was too long.
    """

    why: str = ""
    failure: str | None = field(default=None, name="kind")


class CutRecord(RecordHead, frozen=True, tag="cut", kw_only=True):
    """A turn was cancelled, or its daemon killed, in these messages."""

    message_ids: tuple[MessageId, ...]
    failure: str = ""


class ToolRecord(RecordHead, frozen=True, tag="tool", kw_only=True):
    """A tool call ended; `failure`: kind of error. `tokens`: raw estimate of the result's text."""

    part_id: PartId
    failure: str | None = None
    tokens: Signed | None = None


class PatchedRecord(_OfMessage, frozen=True, tag="patched"):
    """A step's file changes joined its answer."""


class DelegatedRecord(RecordHead, frozen=True, tag="delegated", kw_only=True):
    """A call began a subtask."""

    session_id: str
    call_id: str = ""


class UsageShape(Struct, frozen=True):
    """Tokens by price, named as in `core.parts.Usage`."""

    input: Signed = 0
    cache_read: Signed = 0
    cache_write_5m: Signed = 0
    cache_write_1h: Signed = 0
    output: Signed = 0
    thinking: Signed = 0
    requests: Signed = 0


class AskedRecord(RecordHead, frozen=True, tag="asked", kw_only=True):
    """A model was asked beside the conversation; `cost`, `foreseen`: USD, None if unknown.

    A subtask's requests (`session_id`) are summed up.
    """

    purpose: str = ""
    model: str = ""
    usage: UsageShape
    cost: Cost | None
    started: Signed | None = None
    session_id: str | None = None
    foreseen: Cost | None = None


class PingRecord(_Request, frozen=True, tag="ping", kw_only=True):
    """A request that kept a prompt cached; counts in tokens."""

    message_id: MessageId
    started: Signed
    cost: Cost | None = None
    why: str = ""
    uncached: Signed
    read: Signed
    write_5m: Signed = field(name="write5m")
    write_1h: Signed = field(name="write1h")


class CachingRecord(RecordHead, frozen=True, tag="caching", kw_only=True):
    """The session's pauses chose the static part's cache lifetime; costs in USD."""

    static_ttl: Ttl
    why: str = ""
    share: float = 0.0
    cost: float = 0.0
    saved: float = 0.0
    requests: Signed = 0


class NoticeRecord(RecordHead, frozen=True, tag="notice", kw_only=True):
    """A notice for people; `seq`: its number on the wire."""

    seq: Signed
    level: NoticeLevel
    text: str


class ToldRecord(RecordHead, frozen=True, tag="instructions_told", kw_only=True):
    """The model was told of changed instructions; `files`: hashes by path."""

    files: dict[str, str]


class ComparedRecord(RecordHead, frozen=True, tag="workspace_compared", kw_only=True):
    """The model was told of outside changes; `files`: states found, by path."""

    files: dict[str, str]


class RefusedRecord(RecordHead, frozen=True, tag="refused", kw_only=True):
    """A rewrite's plans were refused; sizes in tokens."""

    reasons: tuple[str, ...] = ()
    used: Signed = 0
    limit: Signed = 0
    window: Signed = 0


class UnknownRecord(RecordHead, frozen=True, kw_only=True):
    """A record of an unknown kind, or with fields unlike its kind's."""

    name: str
    body: dict[str, Any]
