"""Trust in workspaces."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from sidecar.core.parts import JsonObject, ToolPart
from sidecar.session.changes.permissions import AskUser
from sidecar.tools.tool_contract import PermissionOption
from sidecar.workspace import trust

OPTIONS = (
    PermissionOption("distrust", "Do not trust it", "reject_once"),
    PermissionOption("trust_once", "Trust it for now", "allow_always"),
    PermissionOption("trust_always", "Trust this folder", "allow_always"),
)
"""The first trusts nothing, and none is `allow_once`. So clients that answer by themselves, by kind
or with the first option, trust no folder. Trusting options are `allow_always`: everything that
runs later rests on them."""


async def nowhere(folder: Path) -> None:
    """Applies no settings."""


class Trust:
    """Trusts a workspace by the editor's word, `said`, or else by the user's.

    The user is asked once, before the first tool; `always` is kept on disk. `tell` returns once a
    trusted folder's settings hold.
    """

    def __init__(
        self,
        said: bool | None,
        workspace: Path,
        data: Path,
        tell: Callable[[Path], Awaitable[None]] = nowhere,
    ) -> None:
        self._workspace = workspace
        self._data = data
        self._tell = tell
        self._asking = asyncio.Lock()
        self._settled = said is not None
        self.granted = trust.is_trusted(data, workspace, said)

    def standing(self) -> trust.StartingPlaces:
        return trust.standing(self._data, self._workspace, trusted=self.granted)

    async def settle(self, call: ToolPart, ask: AskUser) -> bool:
        async with self._asking:
            if not self.granted and not self._settled:
                chosen = await ask(self._question(call), OPTIONS)
                if chosen == "trust_always":
                    await asyncio.to_thread(trust.trust, self._data, self._workspace)
                if chosen in ("trust_once", "trust_always"):
                    # Before any call is granted: the folder's settings may reject that very one.
                    await self._tell(self._workspace)
                    self.granted = True
                self._settled = chosen in [option.option_id for option in OPTIONS]
        return self.granted

    def _question(self, call: ToolPart) -> JsonObject:
        return {
            "toolCallId": call.call_id,
            "title": f"Trust the folder {self._workspace}? Then the agent may run and change "
            "things in it, asking each time unless a rule allows it, and the folder's own "
            "settings hold where it is the window's. A folder below that is opened by itself is "
            "asked about by itself.",
            "kind": "other",
            "status": "pending",
            "_meta": {
                "sidecar": {
                    "question": "trust",
                    "folder": str(self._workspace),
                    "partId": call.id,
                }
            },
        }
