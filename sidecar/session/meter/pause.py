"""Work that the next prompt cancels."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeAlias, TypeVar

logger = logging.getLogger("sidecar.session")

T = TypeVar("T")

PauseWork: TypeAlias = Callable[[], Awaitable[None]]


async def pause(coming: Awaitable[T], group: asyncio.TaskGroup, *works: PauseWork) -> T:
    """Runs `works` until `coming` is there."""
    tasks = [group.create_task(logged(work)) for work in works]
    try:
        return await coming
    finally:
        for task in tasks:
            task.cancel()


async def logged(work: PauseWork) -> None:
    """Logs failures: none is worth a session."""
    try:
        await work()
    except Exception:
        logger.exception("work beside the turns failed")
