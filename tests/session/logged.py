"""A session's records as the store has them, for tests that look at what is on the disk."""

from sidecar.session.log.session_log import SessionLog
from sidecar.store.format.record_codec import write
from sidecar.store.format.values import Record


def logged(log: SessionLog) -> list[Record]:
    """The records of a log, oldest first."""
    return [write(record) for record in log.records]
