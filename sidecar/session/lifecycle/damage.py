"""Opens sessions that lost records."""

from collections.abc import Sequence

from sidecar.core.parts import SessionId
from sidecar.session.environment import Environment
from sidecar.session.epochs import epochs, known_instructions
from sidecar.session.lifecycle.log_window import read_window
from sidecar.session.log.session_log import SessionLog
from sidecar.store.format.log_records import BegunAgainRecord
from sidecar.store.format.values import Stored
from sidecar.store.format.view_records import EpochRecord
from sidecar.tools.builtin_tools import BUILTIN


async def open_log(
    environment: Environment, session_id: SessionId, *, writes: bool
) -> tuple[SessionLog, Sequence[str]]:
    """Opens a log, or its window if enough; returns problems of unreadable records.

    Hold the lease, or another daemon may write meanwhile. Raises UnknownSession.
    """
    store, clock = environment.store, environment.clock
    window = await read_window(store, clock, session_id) if writes else None
    if window is not None:
        return window, ()
    found = await store.logs.load(session_id)
    log = SessionLog(store, Stored(found.session, (), ()), clock.now)
    problems = log.become(found)
    if writes:
        await begin_if_lost(environment, log)
    return log, problems


async def begin_if_lost(environment: Environment, log: SessionLog) -> None:
    """Begins an epoch with built-in tools if the log has none readable."""
    if log.last_record(EpochRecord) is not None:
        return
    trusted = environment.trust(log.row.cwd).granted
    static = await known_instructions.begin(environment, log.row, trusted, BUILTIN, None)
    epochs.begin(log, static, environment.clock.new_id("cmp"), "damaged")
    await log.writer.commit(BegunAgainRecord())
