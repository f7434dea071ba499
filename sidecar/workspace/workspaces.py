"""Holds buffers, instructions, snapshots."""

from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import JsonObject
from sidecar.workspace.buffers import Buffers
from sidecar.workspace.instructions_watch import InstructionsWatch
from sidecar.workspace.shared_snapshots import SharedSnapshots

ReadFacts: TypeAlias = Callable[[str, bool, JsonObject], Awaitable[str]]
"""(folder, trusted, the editor's state) -> date, git and that state, for the model."""


@dataclass(frozen=True, slots=True)
class Workspaces:
    """What sessions share; `variables`: the daemon's, for tools.

    Without `snapshots` no change can be undone.
    """

    buffers: Buffers
    facts: ReadFacts
    variables: Mapping[str, str]
    instructions: InstructionsWatch
    snapshots: SharedSnapshots | None = None

    def status(self) -> JsonObject:
        followed = [] if self.snapshots is None else self.snapshots.status()
        return {**self.instructions.status(), "workspaces": followed}

    async def own(self, real: Path, text: str) -> None:
        if self.snapshots is not None:
            await self.snapshots.own(real, text)

    async def read_anew(self, folder: str) -> None:
        if self.snapshots is not None:
            await self.snapshots.read_anew(folder)

    async def run(self) -> None:
        if self.snapshots is not None:
            await self.snapshots.run()

    async def close(self) -> None:
        if self.snapshots is not None:
            await self.snapshots.close()
