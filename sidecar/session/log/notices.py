"""What people should read: told when it comes, and kept for who opens the session later."""

from typing import cast

from sidecar.core.parts import SessionId
from sidecar.session.log.channel import Channel
from sidecar.session.log.events import Notice
from sidecar.session.log.session_log import SessionLog
from sidecar.store.format.values import Record

NOTICE = "notice"
"""The record's kind: `{seq, level, text}`. It changes nothing that a model or a plan sees."""


def give_notice(log: SessionLog, channel: Channel, level: str, text: str) -> None:
    """Tell watchers something, at level info, warning or error; it is durable with what follows."""
    seq = channel.next_seq()
    log.put_aside(NOTICE, {"seq": seq, "level": level, "text": text})
    channel.publish(Notice(log.row.id, seq, level, text))


def from_record(session_id: SessionId, record: Record) -> Notice:
    """Give a notice as it was told."""
    body = record.body
    return Notice(session_id, cast("int", body["seq"]), str(body["level"]), str(body["text"]))
