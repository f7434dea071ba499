"""Handles ACP's `session/prompt` and `session/cancel`: turns and slash commands."""

import asyncio
from collections.abc import Mapping

from sidecar.core.errors import SidecarError, innermost
from sidecar.core.parts import Json, JsonObject, SessionId
from sidecar.wire.acp import acp_params
from sidecar.wire.acp.acp_errors import turn_failed
from sidecar.wire.acp.acp_params import extra
from sidecar.wire.acp.acp_sessions import AcpMethod, Desk
from sidecar.wire.acp.slash_commands import CommandScene, SlashCommand, command_of, run
from sidecar.wire.dispatch import Ticket, structure
from sidecar.wire.messages import SessionPromptParams

STOP_REASONS = ("end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled")
USAGE = (
    "totalTokens",
    "inputTokens",
    "outputTokens",
    "thoughtTokens",
    "cachedReadTokens",
    "cachedWriteTokens",
)


def methods(desk: Desk) -> Mapping[str, AcpMethod]:
    running: dict[str, set[asyncio.Task[str]]] = {}

    async def prompt(params: acp_params.AcpPrompt, ticket: Ticket) -> Json:
        command = command_of(params.prompt)
        if command is not None:
            return await ordered(command, params.session_id, ticket)
        given: JsonObject = {
            **extra(params),
            "sessionId": params.session_id,
            "prompt": list(params.prompt),
        }
        desk.connection.log.unread("_meta.sidecar", given, SessionPromptParams)
        asked = structure(given, SessionPromptParams)
        await desk.watch(params.session_id)
        result = await desk.ours["session/prompt"](desk.connection, asked, ticket)
        assert isinstance(result, dict)
        return _answer(result)

    async def ordered(command: SlashCommand, session_id: str, ticket: Ticket) -> Json:
        session = await desk.watch(session_id)
        ticket.arrived.set()
        scene = CommandScene(desk.sessions, session, desk.connection, desk.connection.watch)
        tasks = running.setdefault(session_id, set())
        async with asyncio.TaskGroup() as group:
            task = group.create_task(_said(command, scene))
            tasks.add(task)
            ticket.on_cancel = lambda: _stop(task)
            if ticket.cancelled:
                task.cancel()
            await asyncio.wait({task})
            tasks.discard(task)
        if task.cancelled():
            return {"stopReason": "cancelled"}
        desk.connection.say(session_id, "agent_message_chunk", task.result())
        return {"stopReason": "end_turn"}

    async def cancel(params: acp_params.NamedSession, _: Ticket) -> Json:
        for task in tuple(running.get(params.session_id, ())):
            task.cancel()
        (await desk.sessions.get(SessionId(params.session_id))).prompts.cancel()
        return None

    return {
        "session/prompt": (acp_params.AcpPrompt, prompt),
        "session/cancel": (acp_params.NamedSession, cancel),
    }


def _stop(task: "asyncio.Task[str]") -> None:
    task.cancel()


async def _said(command: SlashCommand, scene: CommandScene) -> str:
    try:
        return await run(command, scene)
    except (SidecarError, ExceptionGroup) as error:
        inner = innermost(error)
        if not isinstance(inner, SidecarError):
            raise
        return f"`/{command.name}` did nothing: {inner.message}"


def _answer(result: JsonObject) -> JsonObject:
    ours = {k: v for k, v in result.items() if k not in ("stopReason", "usage", "error")}
    error, usage, reason = result.get("error"), result["usage"], result["stopReason"]
    assert isinstance(usage, dict)
    if reason == "error":
        about: JsonObject = {"turnId": result["turnId"], "revision": result["revision"]}
        raise turn_failed(error if isinstance(error, dict) else {}, about)
    if reason not in STOP_REASONS:
        # ACP's `refusal` is the model's; a call that the user refused just ends the turn.
        ours["stopReason"], reason = reason, "end_turn"
    ours["requests"] = usage.get("requests")
    return {
        "stopReason": reason,
        "usage": {name: usage[name] for name in USAGE},
        "_meta": {"sidecar": ours},
    }
