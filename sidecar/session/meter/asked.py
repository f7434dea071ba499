"""Requests beside the conversation, as logged."""

from collections.abc import Sequence

from msgspec import structs

from sidecar.core.parts import TurnId, Usage
from sidecar.store.format.log_records import AskedRecord, TurnStartedRecord
from sidecar.store.format.record_codec import LogRecord


def asked_since(
    records: Sequence[LogRecord], turn_id: TurnId
) -> tuple[tuple[Usage, str | None], ...]:
    found: list[tuple[Usage, str | None]] = []
    for record in reversed(records):
        if isinstance(record, TurnStartedRecord) and record.turn_id == turn_id:
            break
        if isinstance(record, AskedRecord):
            found.append(asked_of(record))
    return tuple(reversed(found))


def asked_of(record: AskedRecord) -> tuple[Usage, str | None]:
    return Usage(**structs.asdict(record.usage)), record.cost
