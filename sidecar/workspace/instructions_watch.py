"""Notices changed files of instructions.

Compares hashes every few seconds, too: edits over a network or behind a link may cause no event.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import JsonObject
from sidecar.core.text.digest import digest
from sidecar.workspace.instructions import NAMES, Instruction, instruction_folders, user_folder

if TYPE_CHECKING:
    from watchfiles import Change

logger = logging.getLogger("sidecar.workspace")

EVERY = 5.0
"""Seconds between looks where no events come."""
STEP_MS = 200
"""Milliseconds of gathering events, and between checks for the end."""
MOST_FOLDERS = 256
"""With events; further ones are checked every few seconds."""

ReadInstructions: TypeAlias = Callable[[str, bool], Awaitable[tuple[Instruction, ...]]]
SeenInstructions: TypeAlias = Callable[[tuple[Instruction, ...]], None]


def hashes(instructions: Sequence[Instruction]) -> Mapping[str, str]:
    """By path, without lone surrogates."""
    return {name_of(one.path): digest(one.text.encode()) for one in instructions}


def name_of(path: str) -> str:
    """Replaces lone surrogates, for requests and the store."""
    return path.encode("utf-8", "replace").decode("utf-8")


@dataclass(slots=True)
class _Follower:
    cwd: str
    trusted: Callable[[], bool]
    seen: SeenInstructions
    known: Mapping[str, str] | None = None


class InstructionsWatch:
    """Watches all workspaces in one thread."""

    def __init__(
        self, read: ReadInstructions, user: Path | None = None, every: float = EVERY
    ) -> None:
        self.read = read
        self._user = user_folder() if user is None else user
        self._every = every
        self._followers: dict[str, _Follower] = {}
        self._folders: tuple[Path, ...] = ()
        self._moved = asyncio.Event()
        self._looking = asyncio.Lock()
        self._mode = "off"

    def follow(
        self,
        key: str,
        cwd: str,
        trusted: Callable[[], bool],
        seen: SeenInstructions,
    ) -> None:
        self._followers[key] = _Follower(cwd, trusted, seen)
        self._moved.set()

    def forget(self, key: str) -> None:
        if self._followers.pop(key, None) is not None:
            self._moved.set()

    def status(self) -> JsonObject:
        """Returns `{mode, folders}`; `mode`: `events`, `polling`, `idle`, or `off` before `run`."""
        return {"mode": self._mode, "folders": len(self._folders)}

    async def run(self) -> None:
        async with asyncio.TaskGroup() as group:
            while True:
                self._moved = moved = asyncio.Event()
                self._folders = await asyncio.to_thread(self._wanted)
                if not self._followers:
                    self._mode = "idle"
                    await moved.wait()
                    continue
                # It takes a tenth of a second, which the editor's first answer would wait for.
                await asyncio.to_thread(import_module, "watchfiles")
                # This begins when the next line waits: when the watch stands, so nothing is lost.
                group.create_task(self._look(moved))
                if not await self._by_events(moved):
                    await self._by_polling(moved)

    async def _by_events(self, moved: asyncio.Event) -> bool:
        from watchfiles import awatch  # noqa: PLC0415 - loaded in a thread, when it is first needed

        folders = self._folders[:MOST_FOLDERS]
        if not folders:
            return False
        self._mode = "events"
        events = awatch(
            *folders,
            watch_filter=_is_instruction,
            step=STEP_MS,
            stop_event=moved,
            rust_timeout=round(self._every * 1000),
            yield_on_timeout=True,
            recursive=False,
        )
        failed: BaseException | None = None
        try:
            async with aclosing(events):
                async for _ in events:
                    await self._look(moved)
        except* (OSError, RuntimeError) as group:
            # No more watches available, a folder disappeared before being watched, or a name is
            # invalid in UTF-8. Some errors come bare, others from a task group.
            failed = group.exceptions[0]
        if failed is not None:
            logger.info("instructions are looked at every %g s: %s", self._every, failed)
        return failed is None

    async def _by_polling(self, moved: asyncio.Event) -> None:
        self._mode = "polling"
        while not moved.is_set():
            with suppress(TimeoutError):
                async with asyncio.timeout(self._every):
                    await moved.wait()
            await self._look(moved)

    async def _look(self, moved: asyncio.Event) -> None:
        found: dict[tuple[str, bool], tuple[Instruction, ...]] = {}
        async with self._looking:
            for key, follower in tuple(self._followers.items()):
                place = (follower.cwd, follower.trusted())
                if place not in found:
                    found[place] = await self.read(*place)
                now = hashes(found[place])
                if now != follower.known and self._followers.get(key) is follower:
                    follower.known = now
                    follower.seen(found[place])
        if await asyncio.to_thread(self._wanted) != self._folders:
            moved.set()

    def _wanted(self) -> tuple[Path, ...]:
        workspaces = dict.fromkeys(follower.cwd for follower in tuple(self._followers.values()))
        folders = (f for cwd in workspaces for f in instruction_folders(Path(cwd), self._user))
        return tuple(dict.fromkeys(folders))


def _is_instruction(_change: "Change", path: str) -> bool:
    return Path(path).name in NAMES
