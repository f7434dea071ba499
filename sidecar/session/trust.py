"""Whether a session's workspace may run things: as the editor says, or as the user answered."""

import asyncio
from pathlib import Path

from sidecar.core.parts import JsonObject, ToolPart
from sidecar.session.permissions import AskUser
from sidecar.tools.contract import PermissionOption
from sidecar.workspace import trust

OPTIONS = (
    PermissionOption("trust_once", "Trust it for now", "allow_once"),
    PermissionOption("trust_always", "Trust this folder", "allow_always"),
    PermissionOption("distrust", "Do not trust it", "reject_once"),
)


class Trust:
    """The trust in one workspace.

    `said` is what the editor said, which settles it. Otherwise the user is asked once, when a
    tool would first run or change something, and `always` is remembered in the data folder.
    """

    def __init__(self, said: bool | None, workspace: Path, data: Path) -> None:
        self._workspace = workspace
        self._data = data
        self._asking = asyncio.Lock()
        self._settled = said is not None
        self.granted = trust.is_trusted(data, workspace) if said is None else said

    async def settle(self, call: ToolPart, ask: AskUser) -> bool:
        """Give whether the workspace is trusted, asking if nobody has said yet."""
        async with self._asking:
            if not self.granted and not self._settled:
                chosen = await ask(self._question(call), OPTIONS)
                self._settled = chosen is not None
                self.granted = chosen in ("trust_once", "trust_always")
                if chosen == "trust_always":
                    await asyncio.to_thread(trust.trust, self._data, self._workspace)
        return self.granted

    def _question(self, call: ToolPart) -> JsonObject:
        return {
            "toolCallId": call.call_id,
            "title": f"Trust {self._workspace}? Then the agent may run and change things in it, "
            "asking each time unless a rule allows it.",
            "kind": "other",
            "status": "pending",
            "rawInput": call.input,
            "_meta": {"sidecar": {"partId": call.id, "reason": "workspace_trust"}},
        }
