"""Goes through a session's log as it was lived, for those who look at it later.

Each request is measured as the meter measures: what the provider reported, spread over the
estimates of what stood there then. Nothing is written, so a session that another process has open
can be looked at.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TypeAlias, cast

from sidecar.core.parts import JsonObject, Message, Millis, StepFinishPart, Usage
from sidecar.core.prompt.budget import REGIONS, budget, spread
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
from sidecar.session.epochs.epochs import CHANGED, EPOCH
from sidecar.session.epochs.static_prompt import static_from_json
from sidecar.session.history.log_contents import PRESENTATION, contents
from sidecar.session.history.turn_lines import checkpoints, numbered, titles, turn_lines
from sidecar.session.lifecycle.new_session import parent_of
from sidecar.session.log.restore_records import from_record
from sidecar.session.log.rewrite_records import REWRITE, UNDONE, Recorded, from_json
from sidecar.session.log.session_log import FORKED, IMPORTED, RESTORED
from sidecar.session.meter.gauge import read_meter
from sidecar.session.meter.pings import PING
from sidecar.session.meter.side_request import ASKED, asked_of
from sidecar.session.state import State
from sidecar.session.view.past_sizes import PastStanding
from sidecar.session.view.view_history import Epoch, is_turn
from sidecar.store.format.values import Record

Clean: TypeAlias = Callable[[str], str]
"""Takes keys out of a text, before it is cut short anywhere."""
OURS = "sidecar"
"""The format of what was our own session before it was imported."""
KINDS: Mapping[str, CourseChangeKind] = {REWRITE: "rewrite", UNDONE: "undo", RESTORED: "restore"}
WALKED = frozenset({*KINDS, CHANGED, EPOCH, ASKED, PING})
"""Records that say something of the context or of what it cost."""
WOULD_COST = "claude-opus-5-5"
"""At whose prices a session is shown whose models cost nothing: else there is nothing to see."""


def read_course(state: State, clean: Clean, problems: Sequence[str] = ()) -> Course:
    """Read what happened in a session, oldest first, and how it stands now.

    Texts go through `clean` before anything is cut from them; `problems` are what the store
    could not read.
    """
    row = state.log.row
    priced_as = WOULD_COST if _is_free(state) else ""
    walk = _Walk(state, priced_as)
    requests = tuple(walk.requests())
    meter = read_meter(state)
    found = contents(state, meter, clean)
    return Course(
        About(
            row.id,
            titles(state.log.messages, clean)(row.title),
            clean(row.cwd),
            state.model_id(),
            state.setting("policy"),
            row.created,
            row.updated,
            row.revision,
            parent_of(row) or "",
            walk.recorded_by,
            priced_as,
        ),
        meter,
        budget(state.window(), state.max_tokens()).limit,
        requests,
        tuple(walk.asides),
        tuple(walk.changes),
        turn_lines(state, requests, walk.changes, clean),
        found.tools,
        checkpoints(state, clean),
        found.pieces,
        found.cuts,
        found.notes,
        found.messages,
        found.parts,
        tuple(clean(problem) for problem in problems),
    )


def _is_free(state: State) -> bool:
    """Whether models answered, all of them for nothing."""
    models = {m.model for m in state.log.messages if m.model} or {state.model_id()}
    probe = Usage(input=1_000_000, output=1_000_000)
    return all(price(state.environment.info(model), probe) == 0 for model in models)


@dataclass(slots=True)
class _Walk:
    """One walk through a log. Records come between messages by their time, as after a restart."""

    state: State
    priced_as: str
    changes: list[CourseChange] = field(default_factory=list)
    asides: list[Aside] = field(default_factory=list)
    number: int = 0
    turn: int = 0

    @property
    def recorded_by(self) -> str:
        """Name the agent whose recording the session began as; empty where it did not."""
        made = self.state.log.last_record(IMPORTED)
        by = "" if made is None else str(made.body.get("format", ""))
        return "" if by == OURS else by

    def requests(self) -> Iterator[CourseRequest]:
        state, log = self.state, self.state.log
        turns, misses = numbered(log.messages), _misses(log.records)
        waiting = [record for record in log.records if record.kind in WALKED]
        first = next((record for record in waiting if record.kind == EPOCH), None)
        static = state.view.static if first is None else static_from_json(first.body)
        since = 0 if first is None else first.at
        standing = PastStanding(static, state.environment.count, since)
        foreign = (FORKED, IMPORTED) if self.recorded_by else (FORKED,)
        paid_since = max((r.at for r in log.records if r.kind in foreign), default=0)
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
            standing.add(message)
        for record in waiting[done:]:
            self._take(record, standing, views)

    def _asked(
        self,
        message: Message,
        standing: PastStanding,
        misses: Mapping[object, tuple[str, str]],
        paid_since: Millis,
    ) -> CourseRequest | None:
        """Give the request that a message answered, if a model was asked for it."""
        if message.role != "assistant" or message.status in ("discarded", "open"):
            return None
        finish = next((p for p in message.parts if isinstance(p, StepFinishPart)), None)
        reported = finish is not None and finish.usage.prompt > 0
        if not reported and message.status != "complete":
            return None
        raw, spent = standing.raw, None
        if finish is not None and reported:
            total = finish.usage.prompt
            own = finish.started >= paid_since
            spent = self._spent(message.model, finish.usage, finish.cost, own=own)
        else:
            total = round(sum(raw.values()) * self.state.view.calibration.factor)
        self.number += 1
        regions = spread(raw, total)
        return CourseRequest(
            self.number,
            self.turn,
            message.created,
            message.model,
            tuple(regions[region] for region in REGIONS),
            spent,
            misses.get(message.id),
            message.id not in self.state.log.left,
        )

    def _spent(self, model: str, usage: Usage, cost: str | None, *, own: bool = True) -> Spent:
        info: ModelInfo = self.state.environment.info(self.priced_as or model)
        whole = Usage(input=usage.prompt, output=usage.output)
        if own and not self.priced_as:
            paid = None if cost is None else Decimal(cost)
        else:
            paid = price(info, usage)
        return Spent(usage, paid, price(info, whole), own)

    def _take(self, record: Record, standing: PastStanding, views: Iterator[Epoch]) -> None:
        """Let the conversation be as a record made it, and remember what it says."""
        body = record.body
        if record.kind == EPOCH:
            standing.restate(static_from_json(body), record.at)
        elif record.kind == ASKED:
            usage, cost = asked_of(record)
            self._aside(record.at, str(body["purpose"]), str(body["model"]), usage, cost)
        elif record.kind == PING:
            names = ("uncached", "read", "write5m", "write1h")
            usage = replace(Usage(*(int(str(body[name])) for name in names)), requests=1)
            cost = cast("str | None", body["cost"])
            self._aside(record.at, "ping", self.state.model_id(), usage, cost)
        elif record.kind == CHANGED:
            self._model_changed(record)
        else:
            if record.kind == RESTORED:
                restored = from_record(record)
                standing.go_back(restored.left, restored.back)
            if record.kind != RESTORED or is_turn(record):
                standing.reshape(next(views).view)
                self._changed(record, from_json(body))

    def _aside(self, at: Millis, purpose: str, model: str, usage: Usage, cost: str | None) -> None:
        spent = self._spent(model, usage, cost)
        self.asides.append(Aside(self.number, at, purpose, model, spent))

    def _model_changed(self, record: Record) -> None:
        body = record.body
        before, after = body.get("tokensBefore"), body.get("tokensAfter")
        if not isinstance(before, int) or not isinstance(after, int):
            return
        self.changes.append(
            CourseChange(
                str(body["compactionId"]),
                len(self.changes) + 1,
                self.number,
                self.turn,
                record.at,
                "model",
                str(body["cause"]),
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

    def _changed(self, record: Record, recorded: Recorded) -> None:
        shown = recorded.rewrite.shown.values()
        counted = Counter(PRESENTATION[type(how)] for how in shown if how is not None)
        kind = KINDS[record.kind]
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


def _misses(records: Sequence[Record]) -> dict[object, tuple[str, str]]:
    """Give for each answer whose request missed the cache the segment and why."""
    return {
        record.body.get("messageId"): (str(record.body["segment"]), str(record.body["reason"]))
        for record in records
        if record.kind == "step" and "segment" in record.body
    }


def _told_by(summary: JsonObject) -> str:
    """Say who wrote a summary, and what that cost."""
    by, cost = summary.get("by"), summary.get("cost")
    if not isinstance(by, str):
        return ""
    return f"{by}, {cost} USD" if isinstance(cost, str) and cost != "0" else by
