"""A restore's conversation and view."""

from collections.abc import Sequence

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Message, MessageId, StepFinishPart
from sidecar.core.prompt.visibility import Rewrite, fold_rewrites
from sidecar.session.changes.timeline import Point, Timeline, typed
from sidecar.session.log.channel import Channel
from sidecar.session.log.events import EpochChanged
from sidecar.session.log.restore_records import Restored
from sidecar.session.log.rewrite_records import Recorded
from sidecar.session.log.session_log import SessionLog
from sidecar.session.meter.compaction_price import CompactionPrice
from sidecar.session.turn.clock import Clock
from sidecar.session.view.model_view import ModelView
from sidecar.session.view.view_history import Views


@dataclass(frozen=True, slots=True)
class TalkMove:
    """Messages that leave, messages that return, rewrites in effect then."""

    left: tuple[MessageId, ...]
    back: tuple[MessageId, ...]
    standing: tuple[int, ...]
    then: tuple[Message, ...]
    prompt: str | None


class ConversationPlans:
    """Plans conversations, and moves the view."""

    def __init__(
        self,
        log: SessionLog,
        view: ModelView,
        views: Views,
        channel: Channel,
        clock: Clock,
        price: CompactionPrice,
    ) -> None:
        self._log = log
        self._view = view
        self._views = views
        self._channel = channel
        self._clock = clock
        self._price = price

    def plan(self, timeline: Timeline, point: Point) -> TalkMove | None:
        log, views = self._log, self._views
        current = [message.id for message in log]
        target = timeline.talk(point.talk)
        before, after = frozenset(current), frozenset(target)
        left = tuple(name for name in current if name not in after)
        back = tuple(name for name in target if name not in before)
        standing = views.standing_at(point.revision)
        same_view = fold_rewrites(r.rewrite for r in views.of(standing)) == views.view()
        if not left and not back and same_view:
            return None
        then = tuple(message for message in log.messages if message.id in after)
        prompt = None
        if left and log.by_id[left[0]].role == "user":
            prompt = typed(log.by_id[left[0]]) or None
        return TalkMove(left, back, standing, then, prompt)

    def recorded(self, restored: Restored, talk: TalkMove) -> Recorded:
        shown_then = fold_rewrites(r.rewrite for r in self._views.of(talk.standing))
        view = self._view.imagined()
        view.reshape(shown_then, None, self._clock.now())
        self._stand(view, talk.then)
        return Recorded(
            Rewrite(restored.id, "restore", {}),
            "",
            f"{'took back the return' if restored.undoes else 'went back'} to: {restored.title}",
            self._view.size(self._log).total,
            view.size(talk.then).total,
            None,
            sum(isinstance(p, StepFinishPart) for m in talk.then for p in m.parts),
            None,
            True,
            view.calibration.factor,
            view.calibration.observations,
            view.calibration.bias,
        )

    def stays(self, before: int) -> None:
        """Keeps the price of revision `before`: the conversation is the same."""
        self._price.stays(before, self._log.row.revision)

    def moved(self, recorded: Recorded) -> EpochChanged:
        """Moves the view after a durable restore; returns clients' event."""
        log, views = self._log, self._views
        self._view.reshape(views.view(), views.anchor, log.records[-1].at)
        self._stand(self._view, tuple(log))
        return EpochChanged(
            log.row.id,
            self._channel.next_seq(),
            recorded.rewrite.id,
            "completed",
            "restore",
            recorded.tokens_before,
            recorded.tokens_after,
        )

    def _stand(self, view: ModelView, messages: Sequence[Message]) -> None:
        """Anchors the view at the last answer, if sent in the same view."""
        view.anchor = None
        if (last := next(filter(_is_answer, reversed(messages)), None)) is not None:
            epochs = reversed(self._views.epochs())
            view.stand_on(last.id, next(e.view for e in epochs if e.since <= last.created))


def _is_answer(message: Message) -> bool:
    return any(isinstance(part, StepFinishPart) for part in message.parts)
