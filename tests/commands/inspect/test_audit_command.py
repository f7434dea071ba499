"""`sidecar audit` as people run it: each decision of a real session, a JSON object a line."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sidecar.commands.inspect import audit_command
from tests.e2e.desk import Desk
from tests.fakes.messages_api import status, text

pytestmark = pytest.mark.long

Audit = Callable[[str | None], list[dict[str, Any]]]


@pytest.fixture
def audit(data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Audit:
    monkeypatch.setenv("SIDECAR_DATA_DIR", str(data))

    def run(session: str | None) -> list[dict[str, Any]]:
        capsys.readouterr()
        assert audit_command.show(session, last=session is None) == 0
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    return run


def test_every_decision_is_a_line_with_its_numbers(desk: Desk, audit: Audit) -> None:
    desk.open()
    desk.work(2, 3)
    desk.look = lambda given: "word " * 40_000
    desk.work(1, 1)
    done = desk("context/compact", strategy="opencode")
    desk("context/undoCompaction", compactionId=done["compactionId"])
    lines = audit(desk.session)
    by: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        by.setdefault(line["decision"], []).append(line)
    assert [line["revision"] for line in lines] == sorted(line["revision"] for line in lines)
    assert len(by["request"]) == 10
    for request in by["request"]:
        assert request["usage"]["output"] > 0
        assert float(request["cost"]) > 0
        assert request["predictedRead"] >= 0
    [cut] = by["truncation"]
    assert cut["tool"] == "look"
    assert cut["bytes"] == 200_000 > cut["shown"] > 0
    [compaction] = by["compaction"]
    assert compaction["compactionId"] == done["compactionId"]
    assert (compaction["tokensBefore"], compaction["tokensAfter"]) == (
        done["tokensBefore"],
        done["tokensAfter"],
    )
    assert compaction["figures"]["took"] > 0
    assert compaction["figures"]["compression"] > 1
    assert 0 <= compaction["figures"]["fidelity"] <= 1
    assert sum(compaction["parts"].values()) > 0
    assert by["asked"][0]["purpose"] == "compaction"
    assert len(by["compaction_undone"]) == 1
    said = json.dumps(lines)
    assert "Look at the next files" not in said
    assert "some_function" not in said


def test_what_broke_is_a_line_too(desk: Desk, audit: Audit) -> None:
    desk.open()
    desk.api.script(status(529), text("Now."))
    assert desk.say()["stopReason"] == "end_turn"
    assert [line["kind"] for line in audit(None) if line["decision"] == "retry"] == ["overloaded"]


def test_a_session_that_is_not_there_is_told_on_stderr(
    desk: Desk, audit: Audit, capsys: pytest.CaptureFixture[str]
) -> None:
    desk.open()
    assert audit_command.show("ses_nobody", last=False) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert "ses_nobody" in said.err
