"""Small values to store, and a clock that stands still."""

from pathlib import Path

from sidecar.core.parts import (
    JsonObject,
    Message,
    MessageId,
    Output,
    PartId,
    SessionId,
    TextPart,
    ToolCompleted,
    ToolPart,
    TurnId,
)
from sidecar.store.journal import Store
from sidecar.store.values import Change, PutMessage, PutPart, PutSession, SessionRow

NOW = 1_800_000_000_000


def open_store(folder: Path) -> Store:
    return Store.open(folder, now=lambda: NOW)


def session(name: str = "ses_1", *, updated: int = NOW, cwd: str = "/home/dev/app") -> SessionRow:
    settings: JsonObject = {"model": "m", "window": 200_000, "tools": []}
    return SessionRow(SessionId(name), cwd, "A title", NOW, updated, 1, 0, 1, "0.25", settings)


def message(name: str = "msg_1") -> Message:
    return Message(MessageId(name), TurnId("turn_1"), "user", (), NOW)


def text(name: str, content: str = "hello") -> TextPart:
    return TextPart(PartId(name), content, "model")


def tool(name: str, output: str, whole: str | None = None) -> ToolPart:
    done = ToolCompleted(Output(output, whole), NOW, NOW + 5)
    return ToolPart(PartId(name), "toolu_1", "shell", {"command": "ls"}, done)


def base(name: str = "ses_1") -> tuple[Change, ...]:
    """A session with one empty message."""
    return (PutSession(session(name)), PutMessage(SessionId(name), message()))


def put_text(name: str, content: str = "hello", *, final: bool = True, at: int = 0) -> PutPart:
    return PutPart(SessionId("ses_1"), MessageId("msg_1"), at, text(name, content), final)
