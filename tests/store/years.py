"""A store through the years, and what goes of it with time."""

from dataclasses import replace
from pathlib import Path

from sidecar.config.retention import DAY, Retention
from sidecar.core.parts import MessageId, SessionId
from sidecar.store.content.outputs import Freed
from sidecar.store.format.values import PutMessage, PutPart, PutSession
from sidecar.store.journal import Store
from tests.store.contents import blob
from tests.store.samples import NOW, message, session, tool

LATER = NOW + 8 * DAY
WEEK = Retention()


class Years:
    """A store whose clock the test turns."""

    def __init__(self, folder: Path) -> None:
        self.now, self.folder = NOW, folder
        self.store = Store.open(folder, now=lambda: self.now)

    async def put(self, name: str, whole: bytes, at: int = NOW, part: str = "part_1") -> None:
        """A session with a call whose output was cut."""
        call = tool(part, "shown", whole)
        call = replace(call, state=replace(call.state, finished=at))
        await self.store.write(
            PutSession(replace(session(name, updated=at), created=min(at, self.now))),
            PutMessage(SessionId(name), message()),
            blob(whole),
            PutPart(SessionId(name), MessageId("msg_1"), 0, call),
        )

    async def sweep(self, rules: Retention = WEEK) -> list[str]:
        """Do what is due, check that it is what was said, and give whose outputs went."""
        plan = await self.store.keeping.plan(rules)
        done = await self.store.outputs.let_go(plan.outputs)
        assert done == Freed(len(plan.outputs), plan.outputs_size)
        assert (await self.store.verify()).problems == ()
        return [f"{one.session_id}/{one.part_id}" for one in plan.outputs]
