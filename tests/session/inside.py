"""What a session holds, as tests look at it: where a session keeps a thing is said here alone."""

from decimal import Decimal
from typing import Any, TypeVar

from sidecar.core.ledger.facts import Fact
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
from sidecar.session.lifecycle.session import Session
from sidecar.session.log.channel import give_notice
from sidecar.session.log.session_log import SessionLog
from sidecar.session.ownership import Ownership
from sidecar.session.session_settings import SessionSettings
from sidecar.session.turn.clock import Clock
from sidecar.session.view.model_view import ModelView
from sidecar.store.format.log_records import NoticeLevel, OptionRecord
from sidecar.store.format.values import Record, SessionRow
from tests.session.logged import logged

T = TypeVar("T")


def log(session: Session) -> SessionLog:
    return session.state.log


def messages(session: Session) -> tuple[Message, ...]:
    """All messages, those too that were left behind."""
    return session.state.log.messages


def conversation(session: Session) -> list[Message]:
    """The messages of the conversation as it stands."""
    return list(session.state.log)


def parts(session: Session, kind: type[T]) -> list[T]:
    """The parts of a kind in the conversation as it stands."""
    return [p for m in session.state.log for p in m.parts if isinstance(p, kind)]


def records(session: Session, *kinds: str) -> list[Record]:
    """The records as the store has them, or those of some kinds."""
    return [one for one in logged(session.state.log) if not kinds or one.kind in kinds]


def row(session: Session) -> SessionRow:
    return session.state.log.row


def cost(session: Session) -> Decimal:
    """What the session has cost."""
    return Decimal(session.state.log.row.cost or 0)


def rewrites(session: Session) -> tuple[Any, ...]:
    """The rewrites in effect, oldest first."""
    return session.state.views.standing()


def view(session: Session) -> View:
    """What the rewrites come to."""
    return session.state.views.view()


def pinned(session: Session) -> frozenset[PartId]:
    return session.state.views.pinned


def static(session: Session) -> Static:
    """The beginning of its prompts."""
    return session.state.view.static


def owned(session: Session) -> Ownership:
    """Who writes it."""
    return session.state.ownership


def settings(session: Session) -> SessionSettings:
    return session.state.settings


def model_view(session: Session) -> ModelView:
    """What the model sees of the log, and how large it is."""
    return session.state.view


def policy(session: Session) -> Policy:
    return chosen(session).policy()


def chosen(session: Session) -> ChosenPolicy:
    """What it goes by."""
    return ChosenPolicy(session.state.settings, session.state.environment.settings)


def planner(session: Session) -> Planner:
    """A planner of its own, that knows nothing yet."""
    state, current = session.state, session.state.environment.settings
    return Planner(
        state.log, state.view, state.views, state.settings, current, state.buffers, state.clock
    )


def decisions(session: Session) -> Decisions:
    """Who decides on its rewrites, with a planner that knows nothing yet."""
    state = session.state
    return Decisions(planner(session), chosen(session), state.settings, state.clock)


def commits(session: Session) -> RewriteCommits:
    """Who makes its rewrites durable."""
    state = session.state
    return RewriteCommits(state.log, state.view, state.views, state.channel, state.clock)


def environment(session: Session) -> Environment:
    """What all sessions of the daemon share."""
    return session.state.environment


def clock(session: Session) -> Clock:
    return session.state.clock


def tracking(session: Session) -> Tracking:
    """Who changes the files while it is open."""
    return session.state.tracking


def milestones(session: Session) -> Milestones:
    """A writer of checkpoints of its own."""
    state = session.state
    return Milestones(state.environment, state.log, state.view, state.settings, state.ownership)


def trust(session: Session, *, granted: bool) -> None:
    """Trust its workspace from now on, or do not."""
    session.state.trust.granted = granted


def configure(session: Session, name: str, value: Json) -> None:
    """Set an option without a word to anybody."""
    settings(session).change(name, value)


async def commit(session: Session, facts: tuple[Fact, ...] = ()) -> None:
    """Write down what waits, and what was learned."""
    await session.state.log.writer.commit(OptionRecord(), facts=facts)


async def learn(session: Session, *facts: Fact) -> None:
    """Keep facts as the record of a rewrite does that brought them, with all that comes of it."""
    await commit(session, facts)
    await promote(session)


async def promote(session: Session) -> None:
    """Keep what the session has learned for later sessions."""
    state = session.state
    await Lessons(state.environment, state.log, state.channel, state.trust).promote()


def notice(session: Session, level: NoticeLevel, text: str) -> None:
    """Have the session tell its clients something of its own accord."""
    give_notice(session.state.log, session.state.channel, level, text)
