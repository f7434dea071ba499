"""What people should read: told when it comes, and kept for who opens the session later."""

from sidecar.core.parts import SessionId
from sidecar.session.log.channel import Channel
from sidecar.session.log.events import Notice
from sidecar.session.log.session_log import SessionLog
from sidecar.store.format.log_records import NoticeLevel, NoticeRecord


def give_notice(log: SessionLog, channel: Channel, level: NoticeLevel, text: str) -> None:
    """Tell watchers something, at level info, warning or error; it is durable with what follows."""
    seq = channel.next_seq()
    log.put_aside(NoticeRecord(seq=seq, level=level, text=text))
    channel.publish(Notice(log.row.id, seq, level, text))


def from_record(session_id: SessionId, record: NoticeRecord) -> Notice:
    """Give a notice as it was told."""
    return Notice(session_id, record.seq, record.level, record.text)
