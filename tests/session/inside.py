"""What a session holds, as tests look at it: where a session keeps a thing is said here alone."""

from collections.abc import Iterator
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest

from sidecar.core.conversation.fact import Fact
from sidecar.core.parts import Json, Message, PartId
from sidecar.core.plans.plan import Policy
from sidecar.core.prompt.prompt import Static
from sidecar.core.prompt.visibility import View
from sidecar.session.changes.tracker import Tracking
from sidecar.session.compaction.chosen_policy import ChosenPolicy
from sidecar.session.compaction.decision import Decisions
from sidecar.session.compaction.milestones import Milestones
from sidecar.session.compaction.planner import Planner
from sidecar.session.compaction.rewrite_commit import RewriteCommits
from sidecar.session.environment import Environment
from sidecar.session.epochs.lessons import Lessons
from sidecar.session.lifecycle import context_actions
from sidecar.session.lifecycle.session import Session
from sidecar.session.log.session_log import SessionLog
from sidecar.session.meter.gauge import Gauge
from sidecar.session.ownership import Ownership
from sidecar.session.read_state import gauge_of
from sidecar.session.session_settings import SessionSettings
from sidecar.session.state import State
from sidecar.session.turn.clock import Clock
from sidecar.session.view.model_view import ModelView
from sidecar.store.format.log_records import NoticeLevel, OptionRecord
from sidecar.store.format.values import Record, SessionRow
from tests.session.logged import logged

T = TypeVar("T")


def state(session: Session) -> State:
    """What it is made of."""
    return session._state


def log(session: Session) -> SessionLog:
    return state(session).log


def messages(session: Session) -> tuple[Message, ...]:
    """All messages, those too that were left behind."""
    return state(session).log.messages


def conversation(session: Session) -> list[Message]:
    """The messages of the conversation as it stands."""
    return list(state(session).log)


def parts(session: Session, kind: type[T]) -> list[T]:
    """The parts of a kind in the conversation as it stands."""
    return [p for m in state(session).log for p in m.parts if isinstance(p, kind)]


def records(session: Session, *kinds: str) -> list[Record]:
    """The records as the store has them, or those of some kinds."""
    return [one for one in logged(state(session).log) if not kinds or one.kind in kinds]


def row(session: Session) -> SessionRow:
    return state(session).log.row


def cost(session: Session) -> Decimal:
    """What the session has cost."""
    return Decimal(state(session).log.row.cost or 0)


def rewrites(session: Session) -> tuple[Any, ...]:
    """The rewrites in effect, oldest first."""
    return state(session).views.standing()


def view(session: Session) -> View:
    """What the rewrites come to."""
    return state(session).views.view()


def pinned(session: Session) -> frozenset[PartId]:
    return state(session).views.pinned


def static(session: Session) -> Static:
    """The beginning of its prompts."""
    return state(session).view.static


def owned(session: Session) -> Ownership:
    """Who writes it."""
    return state(session).ownership


def settings(session: Session) -> SessionSettings:
    return state(session).settings


def model_view(session: Session) -> ModelView:
    """What the model sees of the log, and how large it is."""
    return state(session).view


def policy(session: Session) -> Policy:
    return chosen(session).policy()


def chosen(session: Session) -> ChosenPolicy:
    """What it goes by."""
    return ChosenPolicy(state(session).settings, state(session).environment.settings)


def gauge(session: Session) -> Gauge:
    """A reader of its meter."""
    return gauge_of(state(session))


def planner(session: Session) -> Planner:
    """A planner of its own, that knows nothing yet."""
    held = state(session)
    current = held.environment.settings
    return Planner(
        held.log, held.view, held.views, held.settings, current, held.buffers, held.clock
    )


def decisions(session: Session) -> Decisions:
    """Who decides on its rewrites, with a planner that knows nothing yet."""
    held = state(session)
    return Decisions(planner(session), chosen(session), held.settings, held.clock)


def commits(session: Session) -> RewriteCommits:
    """Who makes its rewrites durable."""
    held = state(session)
    return RewriteCommits(held.log, held.view, held.views, held.channel, held.clock)


def environment(session: Session) -> Environment:
    """What all sessions of the daemon share."""
    return state(session).environment


def plan_prices(patch: pytest.MonkeyPatch, prices: Iterator[str]) -> None:
    """Have compactions by hand planned at these prices, however short the session is."""
    patch.setattr(context_actions, "may_free", lambda _: True)
    patch.setattr(
        Decisions,
        "by_hand",
        lambda *_: SimpleNamespace(recorded=SimpleNamespace(price=next(prices))),
    )


def clock(session: Session) -> Clock:
    return state(session).clock


def tracking(session: Session) -> Tracking:
    """Who changes the files while it is open."""
    return state(session).tracking


def milestones(session: Session) -> Milestones:
    """A writer of checkpoints of its own."""
    held = state(session)
    return Milestones(held.environment, held.log, held.view, held.settings, held.ownership)


def trust(session: Session, *, granted: bool) -> None:
    """Trust its workspace from now on, or do not."""
    state(session).trust.granted = granted


def configure(session: Session, name: str, value: Json) -> None:
    """Set an option without a word to anybody."""
    settings(session).change(name, value)


async def commit(session: Session, facts: tuple[Fact, ...] = ()) -> None:
    """Write down what waits, and what was learned."""
    await state(session).log.writer.commit(OptionRecord(), facts=facts)


async def learn(session: Session, *facts: Fact) -> None:
    """Keep facts as the record of a rewrite does that brought them, with all that comes of it."""
    await commit(session, facts)
    await promote(session)


async def promote(session: Session) -> None:
    """Keep what the session has learned for later sessions."""
    held = state(session)
    await Lessons(held.environment, held.log, held.channel, held.trust).promote()


def notice(session: Session, level: NoticeLevel, text: str) -> None:
    """Have the session tell its clients something of its own accord."""
    session.notify(level, text)
