"""Work in the daemon's task group, done whole though the one who asks is cancelled."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


def begun(
    group: asyncio.TaskGroup | None, work: Callable[[], Awaitable[T]]
) -> asyncio.Task[T | Exception]:
    """Begins `work`, whose `outcome` may be asked for; RuntimeError as the daemon ends."""
    assert group is not None
    working = _working(work)
    try:
        return group.create_task(working)
    except RuntimeError:
        working.close()
        raise


async def outcome(task: asyncio.Task[T | Exception]) -> T:
    """Raises what the work raised; who is cancelled here leaves the work going."""
    done = await asyncio.shield(task)
    if isinstance(done, Exception):
        raise done
    return done


async def _working(work: Callable[[], Awaitable[T]]) -> T | Exception:
    """Returns a failure: raised, it would end the daemon's task group."""
    try:
        return await work()
    except Exception as error:  # noqa: BLE001 - see above
        return error
