"""Reads and writes the few ACP lines that concern us. Imports the standard library alone."""

import json
import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sidecar.core.dataclass import dataclass

UP = (b"session/prompt", rb"session\/prompt", b"_sidecar/", rb"_sidecar\/")
"""Names in the editor's lines; some writers of JSON escape a slash."""
DOWN = (b"available_commands_update",)
OWN = "_sidecar/checkpoint/"
"""How methods begin that are answered here; others of ours are the agent's, which may know them."""
LIST = "available_commands_update"
TURNS = "turns back, e.g. 1"

COMMANDS: Mapping[str, tuple[str, str]] = {
    "checkpoints": ("List the turns to go back to", ""),
    "rollback": (
        "Take back what the agent changed in files since a turn",
        f"{TURNS}; keep, overwrite or merge",
    ),
    "redo": ("Take back the last going back", "keep, overwrite or merge"),
    "diff": ("Show what changed in the files", f"{TURNS}; without, the last"),
    "meter": ("Show how full the agent's context is", ""),
}
"""What each does, and the hint at words behind it."""
_TYPED = re.compile(r"\s*/([\w-]+)(?:\s+(.*))?", re.DOTALL)
_ASIDE = "sidecar-"


@dataclass(frozen=True, slots=True)
class Typed:
    """A command of ours, by its plain name, and the words behind it."""

    name: str
    words: str


def read(line: bytes) -> dict[str, Any] | None:
    """A message, or `None` for what is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def written(message: Mapping[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def params_of(message: Mapping[str, Any]) -> dict[str, Any]:
    params = message.get("params")
    return params if isinstance(params, dict) else {}


def session_of(message: Mapping[str, Any]) -> str:
    name = params_of(message).get("sessionId")
    return name if isinstance(name, str) else ""


def offered(agents: Collection[str]) -> dict[str, str]:
    """Our commands' plain names, by those they are offered under; none hides one of `agents`."""
    return {_ASIDE + name if name in agents else name: name for name in COMMANDS}


def listed(message: Mapping[str, Any]) -> list[str] | None:
    """Names of the agent's own commands, or `None` if the message lists none."""
    update = params_of(message).get("update")
    if not isinstance(update, dict) or update.get("sessionUpdate") != LIST:
        return None
    commands = update.get("availableCommands")
    if not isinstance(commands, list):
        return None
    return [str(one.get("name")) for one in commands if isinstance(one, dict)]


def with_ours(message: Mapping[str, Any]) -> bytes:
    """The agent's list of commands with ours behind."""
    params = params_of(message)
    update, names = params["update"], listed(message) or []
    commands = [*update["availableCommands"], *described(names)]
    told = {**params, "update": {**update, "availableCommands": commands}}
    return written({**message, "params": told})


def described(agents: Collection[str]) -> list[dict[str, Any]]:
    return [_described(shown, *COMMANDS[name]) for shown, name in offered(agents).items()]


def _described(name: str, does: str, takes: str) -> dict[str, Any]:
    line: dict[str, Any] = {"name": name, "description": f"{does} (Sidecar)"}
    return {**line, "input": {"hint": takes}} if takes else line


def first_text(prompt: object) -> str | None:
    first = prompt[0] if isinstance(prompt, Sequence) and prompt else None
    if not isinstance(first, dict) or first.get("type") != "text":
        return None
    text = first.get("text")
    return text if isinstance(text, str) else None


def command_in(prompt: object, agents: Collection[str]) -> Typed | None:
    """A prompt that is ours, and none of the agent's own commands."""
    text = first_text(prompt)
    found = None if text is None else _TYPED.fullmatch(text)
    if found is None:
        return None
    name = offered(agents).get(found[1], found[1].removeprefix(_ASIDE))
    plain = found[1] not in agents and (found[1] in COMMANDS or found[1].startswith(_ASIDE))
    return Typed(name, (found[2] or "").strip()) if plain and name in COMMANDS else None


def takes_words(prompt: object) -> bool:
    """Whether a line may stand in front: not before a command, which begins its prompt."""
    text = first_text(prompt)
    return text is None or not text.lstrip().startswith("/")


def with_words(message: Mapping[str, Any], words: str) -> bytes:
    """The prompt with a line in front, as the user's words."""
    params = params_of(message)
    prompt = [{"type": "text", "text": f"{words}\n\n"}, *params["prompt"]]
    return written({**message, "params": {**params, "prompt": prompt}})


def said(session: str, text: str) -> bytes:
    content = {"type": "text", "text": text}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    return notified(session, update)


def notified(session: str, update: Mapping[str, Any]) -> bytes:
    params = {"sessionId": session, "update": update}
    return written({"jsonrpc": "2.0", "method": "session/update", "params": params})


def answered(number: object, result: object) -> bytes:
    return written({"jsonrpc": "2.0", "id": number, "result": result})


def refused(number: object, text: str, code: int = -32603) -> bytes:
    return written({"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": text}})
