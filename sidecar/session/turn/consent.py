"""Whether calls may run."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Json, JsonObject, SessionId, ToolPart
from sidecar.core.prompt.prompt import ToolSpec
from sidecar.core.text.json_text import legible_numbers
from sidecar.session.changes.permissions import CallState, Permissions, QuestionOutcome
from sidecar.session.changes.session_trust import Trust
from sidecar.tools.tool_contract import Access, Client, PermissionOption


@dataclass(frozen=True, slots=True)
class Consent:
    """A turn's trust, rules and user."""

    session_id: SessionId
    client: Client
    trust: Trust
    permissions: Permissions

    async def ask(self, tool_call: JsonObject, options: tuple[PermissionOption, ...]) -> str | None:
        shown = {
            name: legible_numbers(one) for name, one in tool_call.items() if name == "rawInput"
        }
        with self.counted("waiting"):
            about = {**tool_call, **shown}
            return await self.client.request_permission(self.session_id, about, options)

    @contextmanager
    def counted(self, state: CallState) -> Iterator[None]:
        """Counts a call as waiting or working."""
        counts = self.permissions.calls
        counts[state] += 1
        try:
            yield
        finally:
            counts[state] -= 1

    async def settle(
        self,
        spec: ToolSpec,
        wanted: Access,
        part: ToolPart,
        foreseen: Callable[[], Awaitable[list[Json]]],
    ) -> QuestionOutcome | str:
        """Decides by the workspace's trust, then rules, then the user.

        `foreseen` returns the call's change as ACP content.
        """
        trusted = self.trust.granted
        if not trusted and spec.origin == "builtin" and spec.kind in ("edit", "execute"):
            trusted = await self.trust.settle(part, self.ask)

        async def ask(question: JsonObject, options: tuple[PermissionOption, ...]) -> str | None:
            change = await foreseen()
            return await self.ask({**question, "content": change} if change else question, options)

        return await self.permissions.settle(spec, wanted, part, ask, trusted=trusted)
