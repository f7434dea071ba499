"""Runs commands in the client's terminals, shown in the tool calls."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Protocol

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import SidecarError
from sidecar.core.parts import Json, JsonObject, SessionId
from sidecar.tools.tool_contract import TerminalEnd

MOST_BYTES = 1024 * 1024
"""Last bytes of output kept by a terminal."""


class AskingClient(Protocol):
    """Awaits an answer; `late` takes that to a request cancelled meanwhile."""

    def __call__(
        self, method: str, params: JsonObject, late: Callable[[Json], None] | None = None
    ) -> Awaitable[Json]: ...


@dataclass(frozen=True, slots=True)
class AgentTerminals:
    """`post` awaits no answer; `show` takes session, call, terminal."""

    ask: AskingClient
    post: Callable[[str, JsonObject], None]
    show: Callable[[str, str, str], None]

    async def run(
        self,
        session_id: SessionId,
        call_id: str,
        command: tuple[str, ...],
        cwd: str,
        seconds: float,
        variables: Mapping[str, str],
    ) -> TerminalEnd:
        args: list[Json] = [*command[1:]]
        given: list[Json] = [{"name": name, "value": v} for name, v in variables.items()]
        asked: JsonObject = {
            "sessionId": session_id,
            "command": command[0],
            "args": args,
            "env": given,
            "cwd": cwd,
            "outputByteLimit": MOST_BYTES,
        }
        answer = await self.ask("terminal/create", asked, partial(self._end_late, session_id))
        terminal = _object(answer).get("terminalId")
        if not isinstance(terminal, str):
            raise SidecarError("the editor gave no id for its terminal")
        about: JsonObject = {"sessionId": session_id, "terminalId": terminal}
        self.show(session_id, call_id, terminal)
        try:
            return await self._followed(about, seconds)
        except asyncio.CancelledError:
            self.post("terminal/kill", about)
            raise
        finally:
            self.post("terminal/release", about)

    def _end_late(self, session_id: SessionId, answer: Json) -> None:
        """Ends a command that was cancelled before the client named its terminal."""
        terminal = _object(answer).get("terminalId")
        if isinstance(terminal, str):
            about: JsonObject = {"sessionId": session_id, "terminalId": terminal}
            self.post("terminal/kill", about)
            self.post("terminal/release", about)

    async def _followed(self, about: JsonObject, seconds: float) -> TerminalEnd:
        timed_out = False
        try:
            async with asyncio.timeout(seconds):
                await self.ask("terminal/wait_for_exit", about)
        except TimeoutError:
            timed_out = True
            await self.ask("terminal/kill", about)
        end = _object(await self.ask("terminal/output", about))
        status, text = _object(end.get("exitStatus")), end.get("output")
        code = status.get("exitCode")
        return TerminalEnd(
            text if isinstance(text, str) else "",
            code if isinstance(code, int) and not timed_out else None,
            cut=end.get("truncated") is True,
            timed_out=timed_out,
        )


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}
