"""A session's records as the store has them, for tests that look at what is on the disk."""

from collections.abc import Iterable, Mapping

from sidecar.core.parts import Json
from sidecar.session.log.rewrite_records import Recorded, recorded_in, written
from sidecar.session.log.session_log import SessionLog
from sidecar.store.format.record_codec import (
    LogRecord,
    checked,
    fields_of_record,
    read_all,
    write,
)
from sidecar.store.format.values import Record
from sidecar.store.format.view_records import RewriteRecord


def logged(log: SessionLog) -> list[Record]:
    """The records of a log, oldest first."""
    return as_stored(*log.records)


def as_stored(*records: LogRecord) -> list[Record]:
    return [write(record) for record in records]


def survives(record: LogRecord) -> bool:
    """Whether a record is read from the disk as what was written."""
    return checked(write(record)) == record


def rewrite_of(recorded: Recorded) -> RewriteRecord:
    """The record of a rewrite."""
    return written(recorded, RewriteRecord)


def body_of(recorded: Recorded) -> Mapping[str, Json]:
    """What the store keeps of a rewrite."""
    return fields_of_record(rewrite_of(recorded))


def rewrites_in(records: Iterable[Record]) -> list[Recorded]:
    """The rewrites among stored records."""
    return [recorded_in(r) for r in read_all(records) if isinstance(r, RewriteRecord)]
