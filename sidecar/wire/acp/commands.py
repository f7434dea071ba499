"""The commands that people type as a prompt: `/compact`, `/rollback`, `/context`, `/handoff`."""

import re
from dataclasses import dataclass

from sidecar.core.parts import Json, JsonObject, SessionId
from sidecar.session.sessions import Sessions
from sidecar.wire.acp.telling import told_breakdown, told_compaction


@dataclass(frozen=True, slots=True)
class Command:
    """A command as it was typed: its name without the slash, and what follows."""

    name: str
    argument: str


def _described(name: str, description: str, hint: str = "") -> JsonObject:
    told: JsonObject = {"name": name, "description": description}
    return {**told, "input": {"hint": hint}} if hint else told


ADVERTISED: tuple[JsonObject, ...] = (
    _described("compact", "Make room in the context now", "what to keep, in your words"),
    _described("context", "Show what fills the context"),
)
"""As `available_commands_update` lists them."""

_NAMES = frozenset(str(command["name"]) for command in ADVERTISED)
_TYPED = re.compile(r"\s*/(\w+)(?:\s+(.*?))?\s*", re.DOTALL)


def command_of(prompt: list[JsonObject]) -> Command | None:
    """Give the command that a prompt is, or `None`; anything else with a slash is just text."""
    first: Json = prompt[0] if prompt else None
    if not isinstance(first, dict) or first.get("type") != "text":
        return None
    typed = _TYPED.fullmatch(str(first.get("text", "")))
    if typed is None or typed[1] not in _NAMES:
        return None
    return Command(typed[1], typed[2] or "")


async def run(command: Command, sessions: Sessions, session_id: SessionId) -> str:
    """Do what a command says; gives Markdown that tells what came of it.

    Raises:
        SidecarError: it cannot be done; the message says why.
    """
    session = await sessions.get(session_id)
    match command.name:
        case "compact":
            done = await session.rewriting.compact(
                None, None, dry_run=False, instructions=command.argument
            )
            return told_compaction(done)
        case "context":
            return told_breakdown(*session.rewriting.breakdown())
        case _:
            raise AssertionError(command.name)
