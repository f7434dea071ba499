"""The sweep: once an hour, by one daemon among several, in slices with pauses between them.

It ends what was broken off, lets old outputs go, archives sessions where a rule says so, and
gives free pages back. A quota does not bite before there was a warning, an hour ahead at least;
that of a folder's snapshots bites without it, where they grow by a tenth within the hour.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace

from sidecar.config.retention import MIB, Retention
from sidecar.core.errors import SidecarError, StorageFailed
from sidecar.core.parts import JsonObject, Millis
from sidecar.session.log.change_records import shown
from sidecar.session.log.events import AlertChanged
from sidecar.session.transfer.archive import Archived, Ground, archive, settle
from sidecar.session.transfer.erasure import clear_free, erase
from sidecar.store.connection.free_pages import Space
from sidecar.store.content.chains import HeldSpace
from sidecar.store.content.outputs import Freed
from sidecar.store.retention.retention_due import RetentionPlan
from sidecar.store.retention.sweeper import KeepingRows

logger = logging.getLogger("sidecar.session")

LOOK = 60.0
"""Seconds between looks at whether a sweep is due."""
AT_ONCE = 16
"""Outputs in one transaction; most are some ten kilobytes, compressed."""
PAUSE = 0.02
WARN_AT = 0.8
"""The part of a quota from which on it is told that it will bite."""
FOLDER_QUOTA = "snapshots.workspace_mib"
MUCH_FREE = 16 * MIB
"""Free pages below this, or a tenth of the file, are left for what comes; giving back is work."""

Tell = Callable[[str, int, int], None]
"""(what is done, how much of it is, of how much): bytes or pieces."""


@dataclass(frozen=True, slots=True)
class SweptSessions:
    """What went. `skipped` says in sentences what could not be archived; `space` is the file's."""

    outputs: Freed
    sessions: tuple[Archived, ...]
    skipped: tuple[str, ...]
    space: Space

    @property
    def size(self) -> int:
        """Give the bytes that left the store."""
        return self.outputs.size + sum(one.freed for one in self.sessions)


@dataclass(frozen=True, slots=True)
class Quota:
    """A quota that is nearly used up, or more: `used` of `bound` MiB, and what to do."""

    name: str
    message: str
    action: str
    used: float
    bound: int


def quiet(_: str, __: int, ___: int) -> None:
    """Tell nobody."""


async def carry_out(ground: Ground, plan: RetentionPlan, tell: Tell = quiet) -> SweptSessions:
    """Do what is due, slice by slice; it may be cancelled between any two of them.

    Raises:
        StorageFailed: the store cannot be written; what was done until then stands.
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


async def shrink(ground: Ground, tell: Tell = quiet) -> Space:
    """Give all free pages back; it may be cancelled between any two slices."""
    pages = ground.store.pages
    before = (await pages.space()).free
    await clear_free(pages, lambda free: tell("space", before - free, before))
    await pages.empty_log()
    return await pages.space()


async def see_time_pass(keeping: KeepingRows) -> None:
    """Note in the store that time passes, and tell where the clock was found to be wrong."""
    try:
        noticed = await keeping.look()
    except StorageFailed as error:
        # Whoever works meets the same error, and louder.
        logger.warning("what passes of time cannot be noted: %s", error)
        return
    if noticed:
        logger.warning("%s", noticed)


class Sweeping:
    """Sweeps when that is due, until it is cancelled.

    `rules` are asked for each time; `snapshots_mib` is what snapshots of one folder may take, or 0
    for no bound. `warn` is given what people should know before it happens;
    `status` is filled with how it went, to be told.
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
        """End what was broken off, and then look again and again whether a sweep is due."""
        if self._ground.store.read_only:
            return
        await self._safely(self._resume)
        while True:
            await self._sleep(self._every)
            await self._safely(self.once)

    async def once(self) -> SweptSessions | None:
        """Sweep if that is due and nobody else does; gives what went."""
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
        """Warn of quotas that are nearly used up; gives the rules without those just warned of."""
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
    """Give what clients are told of a quota that is nearly used up."""
    used, bound = round(quota.used, 1), float(quota.bound)
    told = quota.name, "warning", None, quota.message, quota.action, used, bound
    return AlertChanged("raised", *told, at)


def near_quotas(rules: Retention, outputs: int, sessions: int) -> dict[str, Quota]:
    """Give the quotas that are nearly used up, by the names of their rules; sizes are bytes."""
    kinds = (
        (
            "outputs_mib",
            "Complete outputs of tools take",
            outputs,
            rules.outputs_mib,
            "the oldest of sessions that are not in use go; what was shown of them stays",
        ),
        (
            "sessions_mib",
            "Sessions take",
            sessions,
            rules.sessions_mib,
            "those that were used longest ago are archived",
        ),
    )
    return {
        name: Quota(
            f"retention.{name}",
            f"{what} {used / MIB:.1f} MiB of the {bound} that retention.{name} allows. Beyond "
            f"that, {then}.",
            f"See `sidecar prune --dry-run`, or set retention.{name} higher.",
            used / MIB,
            bound,
        )
        for name, what, used, bound, then in kinds
        if _is_near(used, bound)
    }


def near_folder_quotas(held: Iterable[HeldSpace], bound: int) -> dict[str, Quota]:
    """Give the quotas of folders' snapshots that are nearly used up; `bound` is MiB of each."""
    near = {shown(one.root): one.held for one in held if _is_near(one.held, bound)}
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


def _is_near(used: int, bound: int) -> bool:
    return bool(bound) and used > bound * MIB * WARN_AT
