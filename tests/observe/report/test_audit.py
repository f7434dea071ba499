"""The audit's lines, from records as the log has them."""

from typing import Any

import pytest

from sidecar.core.parts import (
    Message,
    MessageId,
    Output,
    PartId,
    SessionId,
    StepFinishPart,
    ToolCompleted,
    ToolPart,
    TurnId,
    Usage,
)
from sidecar.observe.report.audit import audit
from sidecar.store.format.values import Record, SessionRow, Stored

ROW = SessionRow(SessionId("ses_1"), "/w", "", 0, 0, 9, 0, 1, "0.1", {})
CUT = ToolCompleted(Output("words", "hash", 5_000, 90), 1, 2)
WHOLE = ToolCompleted(Output("words", None, 5, 1), 1, 2)
ANSWER = Message(
    MessageId("msg_1"),
    TurnId("turn_1"),
    "assistant",
    (
        ToolPart(PartId("part_1"), "c1", "shell", {"command": "secret"}, CUT),
        ToolPart(PartId("part_2"), "c2", "shell", {"command": "secret"}, WHOLE),
        StepFinishPart(PartId("part_3"), "tool_use", Usage(5, 100, 20, 0, 7), "0.01", started=1),
    ),
    1,
    model="claude-opus-5-5",
)
REWRITE = {
    "compactionId": "cmp_1",
    "cause": "budget",
    "policy": "economic",
    "reason": "full",
    "opens": True,
    "tokensBefore": 900,
    "tokensAfter": 300,
    "price": "0.2",
    "figures": {"took": 12, "fidelity": 0.9},
    "shown": {"a": {"kind": "dropped"}, "b": {"kind": "dropped"}, "c": None},
    "notes": [{"id": "n", "text": "secret", "before": "m", "region": "ledger"}],
    "retired": [],
    "steps": 3,
    "anchor": None,
    "factor": 1.5,
    "observations": 2,
    "bias": 0,
    "summary": {"by": "model", "calls": 1, "cost": "0.1", "facts": ["secret"]},
}


def lines(kind: str, body: dict[str, Any]) -> list[dict[str, Any]]:
    stored = Stored(ROW, (ANSWER,), (Record(4, kind, 1_700_000_000_000, body),))
    found: list[dict[str, Any]] = list(audit(stored))
    assert "secret" not in repr(found)
    for line in found:
        assert line.pop("at") == "2023-11-14T22:13:20.000Z"
        assert (line.pop("session"), line.pop("revision")) == ("ses_1", 4)
    return found


@pytest.mark.parametrize(
    ("kind", "body", "told"),
    [
        (
            "step",
            {"messageId": "msg_1", "predictedRead": 120, "read": 100, "miss": "expired"},
            {
                "decision": "request",
                "messageId": "msg_1",
                "predictedRead": 120,
                "read": 100,
                "miss": "expired",
                "model": "claude-opus-5-5",
                "stop": "tool_use",
                "usage": {"input": 5, "cacheRead": 100, "cacheWrite": 20, "output": 7},
                "cost": "0.01",
            },
        ),
        (
            "tool",
            {"partId": "part_1"},
            {
                "decision": "truncation",
                "partId": "part_1",
                "tool": "shell",
                "bytes": 5_000,
                "shown": 5,
                "lines": 90,
            },
        ),
        (
            "rewrite",
            REWRITE,
            {
                "decision": "compaction",
                "compactionId": "cmp_1",
                "cause": "budget",
                "policy": "economic",
                "reason": "full",
                "opens": True,
                "tokensBefore": 900,
                "tokensAfter": 300,
                "price": "0.2",
                "steps": 3,
                "factor": 1.5,
                "figures": {"took": 12, "fidelity": 0.9},
                "parts": {"dropped": 2, "restored": 1},
                "notes": 1,
                "summary": {"by": "model", "calls": 1, "cost": "0.1"},
            },
        ),
        (
            "refused",
            {"reasons": ["too large"], "used": 9, "limit": 10, "window": 12},
            {"decision": "refused", "reasons": ["too large"], "used": 9, "limit": 10, "window": 12},
        ),
        (
            "pin",
            {"partId": "part_1", "pinned": True},
            {"decision": "pin", "partId": "part_1", "pinned": True},
        ),
        (
            "discarded",
            {"messageId": "msg_1", "why": "secret", "kind": "overloaded"},
            {"decision": "retry", "messageId": "msg_1", "kind": "overloaded"},
        ),
        (
            "restored",
            {
                "restoreId": "rst_1",
                "scope": "both",
                "title": "secret",
                "head": None,
                "newest": None,
                "undoes": None,
                "left": ["m"],
                "back": [],
                "fates": [],
            },
            {"decision": "restored", "restoreId": "rst_1", "scope": "both", "left": 1, "back": 0},
        ),
        (
            "epoch",
            {
                "compactionId": "cmp_1",
                "cause": "model",
                "model": "claude-opus-5-5",
                "renderer": 1,
                "system": [{"text": "secret", "region": "system"}],
                "tools": [],
            },
            {
                "decision": "epoch",
                "compactionId": "cmp_1",
                "cause": "model",
                "model": "claude-opus-5-5",
            },
        ),
    ],
)
def test_a_decision_is_told_with_its_numbers(
    kind: str, body: dict[str, Any], told: dict[str, Any]
) -> None:
    assert lines(kind, body) == [told]


@pytest.mark.parametrize(
    ("kind", "body"),
    [("tool", {"partId": "part_2"}), ("tool", {"partId": "gone"}), ("turn_started", {})],
)
def test_what_decides_nothing_is_left_out(kind: str, body: dict[str, Any]) -> None:
    assert lines(kind, body) == []
