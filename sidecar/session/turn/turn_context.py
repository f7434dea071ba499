"""A running turn's dependencies, handed down by the session."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from sidecar.core.parts import Json, JsonObject, MessageId, Millis, PartId, SessionId, TurnId
from sidecar.core.prompt.prompt import Purpose, ToolSpec
from sidecar.session.changes.permissions import Permissions
from sidecar.session.changes.session_trust import Trust
from sidecar.session.changes.tracker import Tracking
from sidecar.session.interface import Recalled
from sidecar.session.log.channel import Channel, give_notice
from sidecar.session.log.session_log import SessionLog
from sidecar.session.turn.model_access import ModelAccess
from sidecar.session.view.cache_state import CacheWatch
from sidecar.session.view.model_view import ModelView
from sidecar.tools.tool_contract import Client, Delegate, PermissionOption, ToolAnswer
from sidecar.workspace.buffers import Buffers


@dataclass(frozen=True, slots=True)
class Clock:
    """The time and new ids, from `daemon.py`; `new_id` takes a prefix like `msg`.

    `sleep` takes seconds, and uses another clock than `now`.
    """

    now: Callable[[], Millis]
    new_id: Callable[[str], str]
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def part_id(self) -> PartId:
        """Mint a part's id."""
        return PartId(self.new_id("part"))

    def message_id(self) -> MessageId:
        """Mint a message's id."""
        return MessageId(self.new_id("msg"))

    def turn_id(self) -> TurnId:
        """Mint a turn's id."""
        return TurnId(self.new_id("turn"))


CallMcp: TypeAlias = Callable[[str, Json], Awaitable[ToolAnswer]]
"""(an MCP server's tool, its input) -> the answer, errors included."""


class MakeRoom(Protocol):
    """Lets the policy rewrite the view; returns whether it did."""

    async def __call__(self, *, opens_turn: bool = False, overflowed: bool = False) -> bool:
        """Rewrite; `overflowed`: the provider refused the prompt's length."""
        ...


@dataclass(frozen=True, slots=True)
class TurnContext:
    """A turn's dependencies. `max_tokens` bounds each answer, `max_steps` the turn.

    `environment`: the daemon's variables. `make_room` lets the policy rewrite the view. `gate` is
    held while an answer streams. `goes_on`: continue after a rewrite in mid-turn. `purpose` labels
    the requests; `delegate` runs a subtask; `call_mcp` calls an MCP server's tool.
    """

    session_id: SessionId
    turn_id: TurnId
    cwd: str
    trust: Trust
    log: SessionLog
    view: ModelView
    cached: CacheWatch
    channel: Channel
    clock: Clock
    models: ModelAccess
    max_tokens: int
    effort: str
    max_steps: int
    tools: Mapping[str, ToolSpec]
    permissions: Permissions
    client: Callable[[], Client]
    buffers: Buffers
    recall: Callable[[str, int, int | None, str | None], Awaitable[Recalled]]
    environment: Mapping[str, str]
    meter_changed: Callable[[], None]
    make_room: MakeRoom
    gate: asyncio.Lock
    tracking: Tracking
    goes_on: bool = True
    purpose: Purpose = "turn"
    delegate: Delegate | None = None
    call_mcp: CallMcp | None = None

    async def ask(self, tool_call: JsonObject, options: tuple[PermissionOption, ...]) -> str | None:
        """Ask the user through the connected editor."""
        return await self.client().request_permission(self.session_id, tool_call, options)

    def notice(self, text: str) -> None:
        """Notify people, at level info."""
        give_notice(self.log, self.channel, "info", text)
