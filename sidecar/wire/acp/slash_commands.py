"""Runs commands typed as a prompt: `/compact`, `/rollback`, `/context`, `/handoff`."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from sidecar.core.errors import BadRequest, NothingToDo, RestoreConflict
from sidecar.core.parts import Json, JsonObject
from sidecar.session.desk.sessions import Sessions
from sidecar.session.interface import Wish
from sidecar.session.lifecycle.session import Session
from sidecar.session.log.events import Watcher
from sidecar.tools.tool_contract import Client
from sidecar.wire.acp.markdown_answers import (
    told_breakdown,
    told_compaction,
    told_conflict,
    told_handoff,
    told_nothing,
    told_restore,
    told_turns,
)
from sidecar.wire.rollback_words import numbered, turns_back, wanted


@dataclass(frozen=True, slots=True)
class SlashCommand:
    """Name without slash, and the rest."""

    name: str
    argument: str


def _described(name: str, description: str, hint: str = "") -> JsonObject:
    told: JsonObject = {"name": name, "description": description}
    return {**told, "input": {"hint": hint}} if hint else told


ADVERTISED: tuple[JsonObject, ...] = (
    _described("compact", "Make room in the context now", "what to keep, in your words"),
    _described("context", "Show what fills the context"),
    _described(
        "rollback",
        "List the turns, or go back to before one: conversation, the agent's changes, or both",
        "turns back, e.g. 1; then files, conversation or both; keep, overwrite or merge; or redo",
    ),
    _described("handoff", "Open a fresh session that knows where the work stands", "the goal"),
)
"""In the form of `available_commands_update`."""

_NAMES = frozenset(str(command["name"]) for command in ADVERTISED)
_TYPED = re.compile(r"\s*/(\w+)(?:\s+(.*?))?\s*", re.DOTALL)


def command_of(prompt: list[JsonObject]) -> SlashCommand | None:
    """`None` for any other text."""
    first: Json = prompt[0] if prompt else None
    if not isinstance(first, dict) or first.get("type") != "text":
        return None
    typed = _TYPED.fullmatch(str(first.get("text", "")))
    if typed is None or typed[1] not in _NAMES:
        return None
    return SlashCommand(typed[1], typed[2] or "")


@dataclass(frozen=True, slots=True)
class CommandScene:
    """What a command acts on."""

    sessions: Sessions
    session: Session
    client: Client
    watcher: Watcher


async def run(command: SlashCommand, scene: CommandScene) -> str:
    """A Markdown report; raises SidecarError."""
    return await _ACTS[command.name](command.argument.strip(), scene)


async def _compact(instructions: str, scene: CommandScene) -> str:
    rewriting = scene.session.rewriting
    done = await rewriting.compact(None, None, dry_run=False, instructions=instructions)
    return told_compaction(done)


async def _context(_: str, scene: CommandScene) -> str:
    return told_breakdown(*await scene.session.rewriting.breakdown())


async def _rollback(words: str, scene: CommandScene) -> str:
    session = scene.session
    redo = words.split()[:1] == ["redo"]
    scope, on_conflict, number = wanted(words.removeprefix("redo") if redo else words)
    try:
        if redo:
            done = await session.rollback.redo(Wish("both", on_conflict=on_conflict))
            return told_restore("Went forth again", done)
        turns = await turns_back(session)
        if number is None:
            return told_turns(turns)
        message = numbered(turns, number).message_id
        done = await session.rollback.restore(Wish(scope, None, message, on_conflict))
    except RestoreConflict as conflict:
        found = conflict.data.get("conflicts")
        return told_conflict(f"/rollback {words}", found if isinstance(found, list) else [])
    except NothingToDo as nothing:
        if told := told_nothing(nothing.data.get("files")):
            return told
        raise
    return told_restore("Went back", done)


async def _handoff(goal: str, scene: CommandScene) -> str:
    if not goal:
        raise BadRequest("say what the fresh session is to do, as in `/handoff write the docs`")
    made = await scene.sessions.handoff(
        scene.session.id, goal, scene.client, scene.watcher, go_on=True
    )
    if made.session_id is not None:
        # The client does not have the new session open; the next to open it becomes its writer.
        await scene.sessions.close(made.session_id)
    return told_handoff(made)


_ACTS: dict[str, Callable[[str, CommandScene], Awaitable[str]]] = {
    "compact": _compact,
    "context": _context,
    "rollback": _rollback,
    "handoff": _handoff,
}
