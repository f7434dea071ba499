"""Sweeps the store hourly, by one daemon, in slices with pauses.

A quota acts an hour after its warning; a folder's snapshot quota at once if snapshots grow by a
tenth meanwhile.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace

from sidecar.config.retention import Retention
from sidecar.core.dataclass import dataclass
from sidecar.core.errors import SidecarError, StorageFailed
from sidecar.core.files.tree import MIB
from sidecar.core.parts import JsonObject, Millis
from sidecar.session.log.change_records import shown
from sidecar.session.log.events import AlertChanged
from sidecar.session.transfer.archive import Archived, Ground, archive, settle
from sidecar.session.transfer.erasure import clear_free, erase
from sidecar.session.transfer.quotas import Quota, is_near, near_quotas
from sidecar.store.connection.free_pages import Space
from sidecar.store.content.chains import HeldSpace
from sidecar.store.content.outputs import Freed
from sidecar.store.retention.retention_due import RetentionPlan
from sidecar.store.retention.sweeper import KeepingRows

logger = logging.getLogger("sidecar.session")

LOOK = 60.0
"""Seconds between checks whether a sweep is due."""
AT_ONCE = 16
"""Outputs per transaction; most have ten kilobytes, compressed."""
PAUSE = 0.02
FOLDER_QUOTA = "snapshots.workspace_mib"
MUCH_FREE = 16 * MIB
"""Bytes of free pages kept for reuse, or a tenth of the file, if more: returning is work."""

SweepProgress = Callable[[str, int, int], None]
"""(work, done, total): bytes or pieces."""


@dataclass(frozen=True, slots=True)
class SweptSessions:
    """What was swept; `skipped` tells of sessions not archived, `space` of the file."""

    outputs: Freed
    sessions: tuple[Archived, ...]
    skipped: tuple[str, ...]
    space: Space

    @property
    def size(self) -> int:
        """Freed bytes."""
        return self.outputs.size + sum(one.freed for one in self.sessions)


def quiet(_: str, __: int, ___: int) -> None: ...


async def carry_out(
    ground: Ground, plan: RetentionPlan, tell: SweepProgress = quiet
) -> SweptSessions:
    """Removes outputs, then archives sessions, in slices; a cancel between is safe.

    StorageFailed undoes nothing.
    """
    store, count, size = ground.store, 0, 0
    for start in range(0, len(plan.outputs), AT_ONCE):
        gone = await store.outputs.let_go(plan.outputs[start : start + AT_ONCE])
        count, size = count + gone.count, size + gone.size
        tell("outputs", min(start + AT_ONCE, len(plan.outputs)), len(plan.outputs))
        await asyncio.sleep(PAUSE)
    done: list[Archived] = []
    skipped: list[str] = []
    whole = [one for one in plan.sessions if one.parent is None]
    for number, session in enumerate(whole, 1):
        try:
            done += await archive(ground, session.id)
        except SidecarError as error:
            skipped.append(f"{session.id} stays: {error.message}")
        tell("sessions", number, len(whole))
        await asyncio.sleep(PAUSE)
    space = await store.pages.space()
    return SweptSessions(Freed(count, size), tuple(done), tuple(skipped), space)


async def shrink(ground: Ground, tell: SweepProgress = quiet) -> Space:
    """Shrinks the store's file in slices; a cancel between is safe."""
    pages = ground.store.pages
    before = (await pages.space()).free
    await clear_free(pages, lambda free: tell("space", before - free, before))
    await pages.empty_log()
    return await pages.space()


async def see_time_pass(keeping: KeepingRows) -> None:
    """Advances the store's record of time, and logs a wrong clock."""
    try:
        noticed = await keeping.look()
    except StorageFailed as error:
        # Whoever works meets the same error, and louder.
        logger.warning("what passes of time cannot be noted: %s", error)
        return
    if noticed:
        logger.warning("%s", noticed)


class Sweeping:
    """Sweeps until cancelled.

    `rules` are read each time; `snapshots_mib` is per folder (0: unbounded). `warn` hears quotas
    before they act; `status` is for `daemon/status`.
    """

    def __init__(
        self,
        ground: Ground,
        rules: Callable[[], Retention],
        warn: Callable[[Quota], None],
        status: JsonObject,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        every: float = LOOK,
        snapshots_mib: int = 0,
    ) -> None:
        self._ground = ground
        self._rules = rules
        self._warn = warn
        self._sleep = sleep
        self._every = every
        self._snapshots_mib = snapshots_mib
        self._status = status

    async def run(self) -> None:
        """Finishes interrupted work, then looks every `every` seconds."""
        if self._ground.store.read_only:
            return
        await self._safely(self._resume)
        while True:
            await self._sleep(self._every)
            await self._safely(self.once)

    async def once(self) -> SweptSessions | None:
        """Sweeps if due, and no other daemon does."""
        ground = self._ground
        keeping, token = ground.store.keeping, ground.owner.token
        await see_time_pass(keeping)
        if not await keeping.claim(ground.owner):
            return None
        whole = False
        try:
            await self._resume()
            plan = await keeping.plan(await self._bites())
            done = await carry_out(ground, plan)
            if done.space.free > max(MUCH_FREE, done.space.size // 10):
                await shrink(ground)
            whole = True
        finally:
            await keeping.swept(token, whole=whole)
        self._status["sweptAt"] = ground.now()
        for sentence in done.skipped:
            logger.warning("%s", sentence)
        if done.outputs.count or done.sessions:
            logger.info(
                "swept: %d outputs and %d sessions, %d bytes",
                done.outputs.count,
                len(done.sessions),
                done.size,
            )
        return done

    async def _resume(self) -> None:
        await settle(self._ground)
        await erase(self._ground)

    async def _bites(self) -> Retention:
        """Warns of quotas nearly used up; returns rules without those just warned of."""
        rules, keeping = self._rules(), self._ground.store.keeping
        outputs, sessions = await keeping.used()
        held = await self._ground.store.snapshots.held()
        near = near_quotas(rules, outputs, sessions)
        told = {**near, **near_folder_quotas(held, self._snapshots_mib)}
        known = await keeping.warned(told)
        self._status["outputsBytes"] = outputs
        self._status["sessionsBytes"] = sessions
        self._status["warnings"] = [quota.message for quota in told.values()]
        for name, quota in told.items():
            if name not in known:
                self._warn(quota)
        return replace(rules, **{name: 0 for name in near if name not in known})

    async def _safely(self, act: Callable[[], Awaitable[object]]) -> None:
        try:
            await act()
        except (SidecarError, OSError) as error:
            # Tried again with the next sweep; whoever works meets the same error, and louder.
            logger.warning("the store was not swept: %s", error)


def quota_event(quota: Quota, at: Millis) -> AlertChanged:
    used, bound = round(quota.used, 1), float(quota.bound)
    told = quota.name, "warning", None, quota.message, quota.action, used, bound
    return AlertChanged("raised", *told, at)


def near_folder_quotas(held: Iterable[HeldSpace], bound: int) -> dict[str, Quota]:
    """Returns nearly used quotas; `bound` is MiB per folder."""
    near = {shown(one.root): one.held for one in held if is_near(one.held, bound)}
    return {
        f"{FOLDER_QUOTA} {folder}": Quota(
            FOLDER_QUOTA,
            f"Snapshots of {folder} take {used / MIB:.1f} MiB of the {bound} that {FOLDER_QUOTA} "
            "allows. From nine tenths on, the oldest go: files cannot go back to them any more.",
            f"Set {FOLDER_QUOTA} higher and start Sidecar anew, if you want to go back that far.",
            used / MIB,
            bound,
        )
        for folder, used in near.items()
    }
