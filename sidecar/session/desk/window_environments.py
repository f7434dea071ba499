"""Keeps windows' environments."""

import asyncio
from collections.abc import Container

from sidecar.core.errors import Cancelled
from sidecar.session.environment import Environment
from sidecar.session.meter.pause import logged
from sidecar.store.journal import Store
from sidecar.workspace.workspaces import Workspaces

STOPPING = "the daemon is stopping"


class WindowEnvironments:
    """Environments by window; `stores`: by store, what follows its folders."""

    def __init__(self) -> None:
        self.group: asyncio.TaskGroup | None = None
        self.stores: dict[Store, Workspaces] = {}
        self._entered: list[Environment] = []
        self._left: list[Environment] = []
        self._closed = False

    async def enter(self, environment: Environment) -> None:
        """After `close`, ends the environment and raises Cancelled."""
        if self._closed:
            await environment.end()
            if environment.store not in self.stores:
                await environment.store.close()
            raise Cancelled(STOPPING)
        self._entered.append(environment)
        if environment.store not in self.stores:
            self.stores[environment.store] = environment.workspaces
            assert self.group is not None
            # Where that fails, no folder is followed any more, but all windows go on.
            self.group.create_task(logged(environment.workspaces.run))

    @property
    def entered(self) -> tuple[Environment, ...]:
        return (*self._entered,)

    def leave(self, environment: Environment) -> None:
        """Lets an environment end with its last session."""
        if environment in self._entered:
            self._left.append(environment)

    def is_left(self, environment: Environment) -> bool:
        return environment in self._left

    async def end_unused(self, used: Container[Environment]) -> None:
        # Another call may end some while this one waits.
        while environment := next((one for one in self._left if one not in used), None):
            self._left.remove(environment)
            self._entered.remove(environment)
            await environment.end()

    async def close(self) -> None:
        self._closed = True
        entered, self._entered, self._left = self._entered, [], []
        # Servers of one that do not end take seconds.
        await asyncio.gather(*(environment.end() for environment in entered))
        for store, workspaces in self.stores.items():
            await workspaces.close()
            await store.close()
