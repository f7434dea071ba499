"""Finds facts about a session in a recording's first lines."""

from collections.abc import Iterable

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Json, JsonObject


@dataclass(frozen=True, slots=True)
class Opening:
    """Title, folder, the agent's session id; empty if unknown."""

    title: str = ""
    cwd: str = ""
    session: str = ""


def opening(first: Iterable[JsonObject]) -> Opening:
    title = cwd = session = ""
    for line in first:
        for given in _heads(line):
            cwd = cwd or _text(given, "cwd", "directory")
            session = session or _text(given, "sessionId", "sessionID", "id")
            title = title or _text(given, "title")
        if line.get("type") == "summary":
            title = title or _text(line, "summary")
    return Opening(title, cwd, session)


def _heads(line: JsonObject) -> Iterable[JsonObject]:
    match line:
        case {"type": "session_meta", "payload": dict(head)} | {"info": dict(head)}:
            yield head
        case {"type": "session"} | {"sessionId": str()}:
            yield line
        case _:
            pass


def _text(given: JsonObject, *keys: str) -> str:
    texts: Iterable[Json] = (given.get(key) for key in keys)
    return next((text for text in texts if isinstance(text, str) and text), "")
