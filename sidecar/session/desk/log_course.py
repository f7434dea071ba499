"""Reads a session's course, without writes: another process may have it open."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from decimal import Decimal
from typing import TypeAlias, assert_never

from sidecar.config.settings import DEFAULT_MODEL
from sidecar.core.conversation.call_outcome import failed
from sidecar.core.conversation.turns import tool_parts
from sidecar.core.dataclass import dataclass
from sidecar.core.parts import JsonObject, Message, Millis, StepFinishPart, Usage
from sidecar.core.prompt.budget import REGIONS, spread
from sidecar.core.prompt.pricing import ModelInfo, price
from sidecar.observe.report.course import (
    About,
    Aside,
    Course,
    CourseChange,
    CourseChangeKind,
    CourseRequest,
    Spent,
)
from sidecar.session.epochs.static_prompt import static_of
from sidecar.session.history.log_contents import PRESENTATION, contents
from sidecar.session.history.turn_lines import checkpoints, numbered, titles, turn_lines
from sidecar.session.log.rewrite_records import Recorded, recorded_in
from sidecar.session.meter.asked import asked_of
from sidecar.session.meter.kept_cache import usage_of
from sidecar.session.read_state import ReadState, gauge_of
from sidecar.session.session_settings import parent_of
from sidecar.session.view.past_sizes import PastStanding
from sidecar.session.view.view_history import Epoch
from sidecar.store.format.log_records import (
    OURS,
    AskedRecord,
    ForkedRecord,
    ImportedRecord,
    PingRecord,
    StepRecord,
)
from sidecar.store.format.record_codec import LogRecord
from sidecar.store.format.view_records import (
    EpochRecord,
    FilesRestoredRecord,
    ModelChangedRecord,
    RewriteRecord,
    TalkRestoredRecord,
    UndoneRecord,
    ViewRecord,
)

Clean: TypeAlias = Callable[[str], str]
"""Removes keys from a text, before any cut."""
_KINDS: Mapping[type[ViewRecord], CourseChangeKind] = {
    RewriteRecord: "rewrite",
    UndoneRecord: "undo",
    TalkRestoredRecord: "restore",
}
_Walked: TypeAlias = (
    EpochRecord
    | AskedRecord
    | PingRecord
    | ModelChangedRecord
    | RewriteRecord
    | UndoneRecord
    | FilesRestoredRecord
    | TalkRestoredRecord
)
"""Records on the context or its cost."""
WOULD_COST = DEFAULT_MODEL
"""Prices for sessions with free models only: otherwise all zero."""


def read_course(
    state: ReadState, clean: Clean, problems: Sequence[str] = (), *, sized: bool = True
) -> Course:
    """Oldest first; `clean` removes keys before texts are cut.

    Only if `sized`, requests are divided into regions, by rendering all ever sent again.
    """
    row = state.log.row
    priced_as = WOULD_COST if _is_free(state) else ""
    walk = _Walk(state, priced_as, sized)
    requests = tuple(walk.requests())
    gauge, count = gauge_of(state), state.models.count
    meter = gauge.read()
    calls = (part for message in state.log.messages for part in tool_parts(message))
    fails = frozenset(part.id for part in calls if failed(part))
    found = contents(state.log, state.view, count, gauge, meter, fails, clean)
    titled = titles(state.log.messages, clean)
    return Course(
        About(
            row.id,
            titled(row.title),
            clean(row.cwd),
            state.settings.model_id,
            state.settings.text("policy"),
            row.created,
            row.updated,
            row.revision,
            parent_of(row) or "",
            walk.recorded_by,
            priced_as,
        ),
        meter,
        state.settings.room().limit,
        requests,
        tuple(walk.asides),
        tuple(walk.changes),
        turn_lines(state.log, requests, walk.changes, fails, clean),
        found.tools,
        checkpoints(state.log, titled, clean),
        found.pieces,
        found.cuts,
        found.notes,
        found.messages,
        found.parts,
        tuple(clean(problem) for problem in problems),
    )


def _is_free(state: ReadState) -> bool:
    models = {m.model for m in state.log.messages if m.model} or {state.settings.model_id}
    probe = Usage(input=1_000_000, output=1_000_000)
    return all(price(state.models.info(model), probe) == 0 for model in models)


@dataclass(slots=True)
class _Walk:
    """Walks a log by time, each request in its own view."""

    state: ReadState
    priced_as: str
    sized: bool
    changes: list[CourseChange] = field(default_factory=list)
    asides: list[Aside] = field(default_factory=list)
    number: int = 0
    turn: int = 0

    @property
    def recorded_by(self) -> str:
        made = self.state.log.last_record(ImportedRecord)
        by = "" if made is None else made.format
        return "" if by == OURS else by

    def requests(self) -> Iterator[CourseRequest]:
        state, log = self.state, self.state.log
        turns, misses = numbered(log.messages), _misses(log.records)
        waiting = [record for record in log.records if isinstance(record, _Walked)]
        standing = self._begun(waiting)
        foreign = ForkedRecord | ImportedRecord if self.recorded_by else ForkedRecord
        paid_since = max((r.at for r in log.records if isinstance(r, foreign)), default=0)
        # One view follows each record that changes it, in the same order.
        views = iter(state.views.epochs()[1:])
        done = 0
        for message in log.messages:
            self.turn = turns[message.turn_id]
            while done < len(waiting) and waiting[done].at <= message.created:
                self._take(waiting[done], standing, views)
                done += 1
            asked = self._asked(message, standing, misses, paid_since)
            if asked is not None:
                yield asked
            if standing is not None:
                standing.add(message)
        for record in waiting[done:]:
            self._take(record, standing, views)

    def _begun(self, records: Sequence[_Walked]) -> PastStanding | None:
        """Returns the prompt before the first message, unless nothing asks for sizes."""
        state = self.state
        if not self.sized and all(_reported(m) for m in state.log.messages if _is_request(m)):
            return None
        first = next((record for record in records if isinstance(record, EpochRecord)), None)
        static = state.view.static if first is None else static_of(first)
        return PastStanding(static, state.models.count, 0 if first is None else first.at)

    def _asked(
        self,
        message: Message,
        standing: PastStanding | None,
        misses: Mapping[object, tuple[str, str]],
        paid_since: Millis,
    ) -> CourseRequest | None:
        if not _is_request(message):
            return None
        finish, spent = _reported(message), None
        raw = {} if standing is None else standing.raw
        if finish is not None:
            total = finish.usage.prompt
            own = finish.started >= paid_since
            spent = self._spent(message.model, finish.usage, finish.cost, own=own)
        else:
            total = round(sum(raw.values()) * self.state.view.calibration.factor)
        self.number += 1
        regions = spread(raw, total) if self.sized else {}
        return CourseRequest(
            self.number,
            self.turn,
            message.created,
            message.model,
            tuple(regions[region] for region in REGIONS if region in regions),
            spent,
            misses.get(message.id),
            message.id not in self.state.log.left,
            total,
        )

    def _spent(self, model: str, usage: Usage, cost: str | None, *, own: bool = True) -> Spent:
        info: ModelInfo = self.state.models.info(self.priced_as or model)
        whole = Usage(input=usage.prompt, output=usage.output)
        if own and not self.priced_as:
            paid = None if cost is None else Decimal(cost)
        else:
            paid = price(info, usage)
        return Spent(usage, paid, price(info, whole), own)

    def _take(self, record: _Walked, standing: PastStanding | None, views: Iterator[Epoch]) -> None:
        if standing is not None:
            _stand(record, standing, views)
        match record:
            case AskedRecord(purpose=purpose, model=model):
                self._aside(record.at, purpose, model, *asked_of(record))
            case PingRecord(cost=cost):
                self._aside(record.at, "ping", self.state.settings.model_id, usage_of(record), cost)
            case ModelChangedRecord():
                self._model_changed(record)
            case TalkRestoredRecord() | RewriteRecord() | UndoneRecord():
                self._changed(record, recorded_in(record))
            case EpochRecord() | FilesRestoredRecord():
                pass
            case _:
                assert_never(record)

    def _aside(self, at: Millis, purpose: str, model: str, usage: Usage, cost: str | None) -> None:
        spent = self._spent(model, usage, cost)
        self.asides.append(Aside(self.number, at, purpose, model, spent))

    def _model_changed(self, record: ModelChangedRecord) -> None:
        before, after = record.tokens_before, record.tokens_after
        if before is None or after is None:
            return
        self.changes.append(
            CourseChange(
                record.compaction_id,
                len(self.changes) + 1,
                self.number,
                self.turn,
                record.at,
                "model",
                record.cause,
                "",
                "another model has a cache of its own",
                before,
                after,
                None,
                (),
                0,
                "",
                opens=True,
                undone=False,
            )
        )

    def _changed(self, record: ViewRecord, recorded: Recorded) -> None:
        shown = recorded.rewrite.shown.values()
        counted = Counter(PRESENTATION[type(how)] for how in shown if how is not None)
        kind = _KINDS[type(record)]
        undone = kind == "rewrite" and self.state.views.is_undone(recorded.rewrite.id)
        self.changes.append(
            CourseChange(
                recorded.rewrite.id,
                len(self.changes) + 1,
                self.number,
                self.turn,
                record.at,
                kind,
                recorded.rewrite.cause,
                recorded.policy,
                recorded.reason,
                recorded.tokens_before,
                recorded.tokens_after,
                recorded.price,
                tuple(sorted(counted.items())),
                len(recorded.rewrite.notes),
                _told_by(recorded.summary),
                opens=recorded.opens,
                undone=undone,
            )
        )


def _is_request(message: Message) -> bool:
    if message.role != "assistant" or message.status in ("discarded", "open"):
        return False
    return message.status == "complete" or _reported(message) is not None


def _reported(message: Message) -> StepFinishPart | None:
    finish = next((p for p in message.parts if isinstance(p, StepFinishPart)), None)
    return finish if finish is not None and finish.usage.prompt > 0 else None


def _stand(record: _Walked, standing: PastStanding, views: Iterator[Epoch]) -> None:
    if isinstance(record, EpochRecord):
        standing.restate(static_of(record), record.at)
    if isinstance(record, FilesRestoredRecord | TalkRestoredRecord):
        standing.go_back(record.left, record.back)
    if isinstance(record, ViewRecord):
        standing.reshape(next(views).view)


def _misses(records: Sequence[LogRecord]) -> dict[object, tuple[str, str]]:
    return {
        record.message_id: (record.segment, record.reason or "")
        for record in records
        if isinstance(record, StepRecord) and record.segment is not None
    }


def _told_by(summary: JsonObject) -> str:
    by, cost = summary.get("by"), summary.get("cost")
    if not isinstance(by, str):
        return ""
    return f"{by}, {cost} USD" if isinstance(cost, str) and cost != "0" else by
