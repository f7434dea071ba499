"""Turns and checkpoints, a line each."""

from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from decimal import Decimal

from sidecar.core.conversation.turns import first_line, title_of, tool_parts, turns
from sidecar.core.parts import Message, PartId, StepFinishPart, Usage
from sidecar.core.text.visible import visible
from sidecar.observe.report.course import (
    CourseChange,
    CourseCheckpoint,
    CourseFile,
    CourseRequest,
    CourseTurn,
)
from sidecar.session.changes.timeline import Timeline, typed
from sidecar.session.history.inspection import ENOUGH
from sidecar.session.log.change_records import shown
from sidecar.session.log.session_log import SessionLog
from sidecar.store.format.log_records import TurnEndedRecord


def numbered(messages: Iterable[Message]) -> Mapping[str, int]:
    names = dict.fromkeys(message.turn_id for message in messages)
    return {name: number for number, name in enumerate(names, 1)}


def titles(messages: Iterable[Message], clean: Callable[[str], str]) -> Callable[[str], str]:
    """Returns a cleaner of titles that also removes keys cut at the end."""
    cut: dict[str, str] = {}
    for turn in turns(messages):
        known = first_line(turn.messages)
        if (whole := _title(turn.messages, clean)) != known:
            cut[known] = whole

    def cleaned(title: str) -> str:
        for known, whole in cut.items():
            title = title.replace(known, whole)
        return clean(title)

    return cleaned


def turn_lines(
    log: SessionLog,
    requests: Sequence[CourseRequest],
    changes: Sequence[CourseChange],
    fails: Container[PartId],
    clean: Callable[[str], str],
) -> tuple[CourseTurn, ...]:
    asked: dict[int, list[CourseRequest]] = {}
    for request in requests:
        asked.setdefault(request.turn, []).append(request)
    changed = Counter(change.turn for change in changes)
    stops = {
        record.turn_id: record.stop_reason
        for record in log.records
        if isinstance(record, TurnEndedRecord)
    }
    lines = []
    for number, turn in enumerate(turns(log.messages), 1):
        own = asked.get(number, [])
        spent = [one.spent for one in own if one.spent is not None]
        costs = [one.cost for one in spent]
        calls = [part for message in turn.messages for part in tool_parts(message)]
        lines.append(
            CourseTurn(
                number,
                turn.id,
                turn.messages[0].created,
                _title(turn.messages, clean),
                len(own),
                len(calls),
                sum(part.id in fails for part in calls),
                _held(turn.messages),
                sum((one.usage for one in spent), Usage()),
                None if None in costs else sum((c for c in costs if c is not None), Decimal(0)),
                stops.get(turn.id, ""),
                changed[number],
                turn.messages[0].id not in log.left,
            )
        )
    return tuple(lines)


def checkpoints(
    log: SessionLog, titled: Callable[[str], str], clean: Callable[[str], str]
) -> tuple[CourseCheckpoint, ...]:
    timeline = Timeline(log.messages, log.records)
    stays = {"", *timeline.talk(len(timeline.events))}
    turns_of = numbered(log.messages)
    found = []
    for number, one in enumerate(timeline.checkpoints, 1):
        files = {
            (change.path, change.author): CourseFile(
                clean(visible(shown(change.path))), change.change, change.author
            )
            for made in one.sets
            for change in made.changes
        }
        found.append(
            CourseCheckpoint(
                number,
                one.id,
                one.kind,
                turns_of.get(one.turn_id, 0),
                one.at,
                titled(one.title),
                tuple(files.values()),
                one.message_id in stays,
            )
        )
    return tuple(found)


def _title(messages: Sequence[Message], clean: Callable[[str], str]) -> str:
    said = next((text for m in messages if m.role == "user" and (text := typed(m))), "")
    return title_of(clean(said[:ENOUGH])) or clean(first_line(messages))


def _held(messages: Sequence[Message]) -> int | None:
    ends = (p for m in reversed(messages) for p in m.parts if isinstance(p, StepFinishPart))
    last = next(ends, None)
    return None if last is None or not last.usage.prompt else last.usage.prompt + last.usage.output
