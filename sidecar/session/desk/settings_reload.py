"""Applies changed settings to open sessions."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from pathlib import Path

from sidecar.config.layers import Resolved
from sidecar.config.loading import WORKSPACE_FILE
from sidecar.config.reload import CurrentSettings, Stamps, stamps
from sidecar.session.lifecycle.session import Session
from sidecar.tools.rules.permission import Rules

logger = logging.getLogger("sidecar.session")

EVERY = 2.0
"""Seconds between looks at the files: few, replaced in many ways."""
LONGEST_WAIT = 60.0
"""Seconds until what failed is tried again."""


async def follow(
    files: Sequence[Path],
    read: Callable[[], Awaitable[None]],
    known: Stamps,
    every: float = EVERY,
) -> None:
    """Calls `read` after each change of the files, until cancelled.

    `known` are their stamps before the last read.
    """
    wait = every
    while True:
        await asyncio.sleep(wait)
        now = await asyncio.to_thread(stamps, files)
        if now == known:
            continue
        try:
            await read()
        except Exception:
            # What could not be read may forbid something.
            wait = min(2 * wait, LONGEST_WAIT)
            logger.exception("settings could not be read again")
            continue
        wait, known = every, now


def passed_over(folder: Path, workspace: Path | None) -> str:
    """Tells of settings in a session's folder that its window ignores. Blocks."""
    file = folder / WORKSPACE_FILE
    if stamps([file]) == (None,) or (workspace is not None and workspace.resolve() == folder):
        return ""
    whose = "no folder" if workspace is None else workspace
    return f"{file} does not count in this session: its window has the settings of {whose}."


def take_over(settings: CurrentSettings, sessions: Iterable[Session], resolved: Resolved) -> None:
    result = settings.take(resolved)
    rules, known = result.config.permissions, tuple(sessions)
    for session in known:
        session.permissions.configure(Rules(rules.allow, rules.reject))
    # No failure to tell one keeps the rules from another.
    for session in known:
        if result.told and not session.opened().read_only:
            text = " ".join(("The settings were read again.", *result.told))
            session.notify("warning" if result.bad else "info", text)
