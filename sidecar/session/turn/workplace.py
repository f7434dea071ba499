"""Where a turn's tools work."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest
from sidecar.session.changes.tracker import Tracking
from sidecar.session.interface import Recalled
from sidecar.session.turn.consent import Consent
from sidecar.tools.builtin_tools import BY_NAME
from sidecar.tools.tool_contract import Delegate, Progress, ToolContext
from sidecar.workspace.buffers import Buffers

RecallPart: TypeAlias = Callable[[str, int, int | None, str | None], Awaitable[Recalled]]
"""(part id, offset, limit, pattern) -> a piece of the part; see `context/recall`."""


@dataclass(frozen=True, slots=True)
class Workplace:
    """`variables` are the daemon's; `delegate` runs a subtask, if possible."""

    consent: Consent
    cwd: str
    buffers: Buffers
    variables: Mapping[str, str]
    tracking: Tracking
    recall: RecallPart
    delegate: Delegate | None

    def context(
        self, call_id: str, progress: Progress, granted: tuple[str, ...] = ()
    ) -> ToolContext:
        return ToolContext(
            session_id=self.consent.session_id,
            call_id=call_id,
            cwd=Path(self.cwd),
            buffers=self.buffers,
            client=self.consent.client,
            trusted=self.consent.trust.granted,
            progress=progress,
            recall=self._recalled,
            environment=self.variables,
            granted=granted,
            delegate=self.delegate,
            changes=self.tracking,
            kept_back=partial(self.consent.permissions.kept_back, BY_NAME["search"]),
        )

    async def _recalled(
        self, part_id: str, offset: int, limit: int | None, pattern: str | None
    ) -> str:
        try:
            found = await self.recall(part_id, offset, limit, pattern)
        except BadRequest as error:
            return error.message
        more = found.next_offset
        note = "" if more is None else f"\n[{found.total_bytes} bytes; go on with offset {more}]"
        return found.content + note
