"""Waits for what no event tells."""

import asyncio
from collections.abc import Callable

LIMIT = 30.0


async def until(reached: Callable[[], object], limit: float = LIMIT) -> None:
    """Look again and again whether something has come true; seconds."""
    async with asyncio.timeout(limit):
        while not reached():  # noqa: ASYNC110 - who calls this has no event
            await asyncio.sleep(0.005)
