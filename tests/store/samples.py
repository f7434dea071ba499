"""Small values to store, and a clock that stands still."""

from dataclasses import replace
from pathlib import Path

from sidecar.core.parts import (
    CompactionPart,
    FilePart,
    JsonObject,
    Media,
    Message,
    MessageId,
    OpaquePart,
    Output,
    PartId,
    PatchPart,
    ReasoningPart,
    SessionId,
    StepFinishPart,
    StepStartPart,
    SubtaskPart,
    TextPart,
    ToolCompleted,
    ToolError,
    ToolPart,
    ToolRunning,
    TurnId,
    Usage,
)
from sidecar.store.format.bundles import Bundle
from sidecar.store.format.values import (
    PutMessage,
    PutPart,
    PutSession,
    Record,
    SessionRow,
    StoreChange,
)
from sidecar.store.journal import Store
from tests.core.stated import stated
from tests.store.contents import blob

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


def tool(name: str, output: str, whole: bytes | None = None) -> ToolPart:
    """A call with its output, which was cut if the whole is given."""
    named = None if whole is None else blob(whole).hash
    done = ToolCompleted(Output(output, named), NOW, NOW + 5)
    return ToolPart(PartId(name), "toolu_1", "shell", {"command": "ls"}, done)


def base(name: str = "ses_1") -> tuple[StoreChange, ...]:
    """A session with one empty message."""
    return (PutSession(session(name)), PutMessage(SessionId(name), message()))


def put_text(name: str, content: str = "hello", *, final: bool = True, at: int = 0) -> PutPart:
    return PutPart(SessionId("ses_1"), MessageId("msg_1"), at, text(name, content), final)


WHOLE = ("the whole output, é 😀 \ud83d\ude00 \udc80\n" * 50).encode("utf-8", "surrogatepass")
BYTES = bytes(range(256))


def sample() -> Bundle:
    """A session with a part of every type, and every oddity that JSON has."""
    odd = {"b": 10**30, "a": [1.5, None, True, "\ud83d\ude00 \u2028\n\x00"], "": {}}
    failed = ToolError("no", "error", NOW, NOW, "t", {"x": 1}, Output("cut", blob(BYTES).hash))
    parts = (
        text("p1", "hello \udc80 \ud83d\ude00"),
        tool("p2", "short", WHOLE),
        ToolPart(PartId("p3"), "toolu_2", "shell", odd, failed),
        ReasoningPart(PartId("p4"), "so", {"signature": "abc"}),
        FilePart(PartId("p5"), "file:///a", "a", Media("image/png", "AAAA"), None),
        OpaquePart(PartId("p6"), {"type": "new", "deep": [[[1]]]}),
        StepStartPart(PartId("p7"), "m"),
        StepFinishPart(PartId("p8"), "end_turn", Usage(1, 2, 3, 4, 5, 6, 7), "0.01", NOW),
        PatchPart(PartId("p9"), (("a.py", "modified"),), {"at": 3, "sets": []}),
        CompactionPart(PartId("p10"), "cmp_1", "user"),
        SubtaskPart(PartId("p11"), SessionId("ses_2"), "do", "done"),
        TextPart(PartId("p12"), "", "model", {"signatures": [[0, 0, "abc"]]}),
        ToolPart(PartId("p13"), "c", "shell", {}, ToolRunning(NOW), {"signature": "abc"}),
    )
    messages = (replace(message("msg_1"), parts=parts), message("msg_2"))
    records = (Record(1, "epoch", NOW, {"n": 10**30}), Record(4, "step", NOW + 1, {}))
    facts = (stated("we chose", at=NOW),)
    outputs = {blob(WHOLE).hash: WHOLE, blob(BYTES).hash: BYTES}
    return Bundle(session(), messages, records, outputs, facts, NOW, 3)
