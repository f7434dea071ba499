"""Events as ACP's updates, for clients that announced more and for those that did not."""

from dataclasses import replace

import pytest

from sidecar.core.parts import JsonObject, MessageId, PartId, SessionId, TurnId, Usage
from sidecar.session.log.events import (
    EpochChanged,
    EventOrigin,
    Notice,
    Retrying,
    SessionChanged,
    TextChunk,
    ToolChanged,
    TurnEnded,
)
from sidecar.wire.acp.acp_updates import update
from sidecar.wire.acp.capabilities import Abilities, announced

SESSION = SessionId("ses_1")
ORIGIN = EventOrigin(SESSION, TurnId("turn_1"), MessageId("msg_1"), PartId("part_1"), 7)
NONE, ALL = Abilities(), Abilities(ours=True, compaction=True, notices=True, terminal=True)
REWRITTEN = EpochChanged(SESSION, 3, "cmp_1", "completed", "user", 900, 300, "0.01")


def test_announcements_are_read() -> None:
    assert announced({}) == NONE
    assert announced({"session": None, "_meta": None, "terminal": False}) == NONE
    capabilities = {
        "session": {"compaction": {}, "notices": {}},
        "_meta": {"sidecar": {}},
        "terminal": True,
    }
    assert announced(capabilities) == ALL  # type: ignore[arg-type]


def test_text_says_which_message_it_belongs_to() -> None:
    told = update(TextChunk(ORIGIN, "agent", "Hi"), NONE, "/")
    assert told is not None
    assert told["messageId"] == "msg_1"
    assert told["content"] == {"type": "text", "text": "Hi"}
    assert told["_meta"] == {
        "sidecar": {"partId": "part_1", "messageId": "msg_1", "turnId": "turn_1", "seq": 7}
    }


def test_a_rewrite_is_told_as_the_client_can_show_it() -> None:
    told = update(REWRITTEN, ALL, "/")
    assert told is not None
    assert set(told) == {"sessionUpdate", "compactionId", "status", "_meta"}
    assert (told["sessionUpdate"], told["status"]) == ("compaction_update", "completed")
    undone = EpochChanged(SESSION, 3, "cmp_1", "undone", "undo", 300, 900)
    assert (update(undone, ALL, "/") or {})["status"] == "_undone"
    noticed = update(REWRITTEN, Abilities(notices=True), "/")
    assert noticed is not None
    assert (noticed["sessionUpdate"], noticed["severity"]) == ("notice", "info")
    assert update(REWRITTEN, NONE, "/") is None


def test_only_a_rewrite_that_nobody_asked_for_is_said_to_a_client_that_shows_none() -> None:
    told = update(replace(REWRITTEN, cause="policy"), NONE, "/") or {}
    assert told["sessionUpdate"] == "agent_thought_chunk"
    assert "900 → 300 tokens" in str(told["content"])
    assert update(replace(REWRITTEN, cause="model", tokens_after=900), NONE, "/") is None
    assert update(replace(REWRITTEN, cause="policy", status="failed"), NONE, "/") is None


@pytest.mark.parametrize(
    ("kind", "title", "metadata", "shown", "status"),
    [
        ("edit", "a.py", {"additions": 2, "deletions": 1}, "Edit a.py (+2 -1)", "completed"),
        ("execute", "make", {"exitCode": 0}, "Run make", "completed"),
        ("execute", "make", {"exitCode": 3}, "Run make (exit code 3)", "failed"),
        ("read", "Read a.py", {}, "Read a.py", "completed"),
        ("other", "1 of 2 done", {}, "1 of 2 done", "completed"),
        (None, "a.py", {}, "a.py", "completed"),
    ],
)
def test_the_title_of_what_was_done_says_it_as_our_own_editors_do(
    kind: str | None, title: str, metadata: JsonObject, shown: str, status: str
) -> None:
    done = ToolChanged(ORIGIN, "c1", "completed", title=title, kind=kind, metadata=metadata)
    told = update(done, NONE, "/") or {}
    assert (told["title"], told["status"]) == (shown, status)


@pytest.mark.parametrize(
    ("level", "kind"),
    [("info", None), ("warning", "agent_thought_chunk"), ("error", "agent_thought_chunk")],
)
def test_what_matters_is_said_to_a_client_without_notices(level: str, kind: str | None) -> None:
    told = update(Notice(SESSION, 1, level, "Mind the gap"), NONE, "/")
    assert (told or {}).get("sessionUpdate") == kind
    assert "Mind the gap" in str(told) or kind is None
    noticed = update(Notice(SESSION, 1, level, "Mind the gap"), ALL, "/")
    assert (noticed or {})["severity"] == level


def test_a_withdrawn_attempt_says_what_is_void() -> None:
    event = Retrying(SESSION, 1, 3, 500, "reset", "network", None, (PartId("part_9"),))
    for can in (NONE, ALL):
        told = update(event, can, "/")
        assert told is not None
        assert told["_meta"] == {"sidecar": {"discards": ["part_9"]}}
        assert "void" in str(told)


def test_what_acp_has_no_word_for_is_no_update() -> None:
    ended = TurnEnded(SESSION, 1, TurnId("t"), MessageId("m"), "end_turn", Usage(), None)
    for nothing in (SessionChanged(SESSION, 2, "turn_ended"), ended):
        assert update(nothing, ALL, "/") is None


def test_an_edit_is_shown_before_and_after() -> None:
    given = {"path": "a.py", "oldText": "1", "newText": "2"}
    asked = ToolChanged(ORIGIN, "c1", "pending", True, None, "edit", True, given)  # type: ignore[arg-type]
    told = update(asked, NONE, "/w")
    assert told is not None
    assert told["title"] == "c1"
    assert told["content"] == [{"type": "diff", "path": "/w/a.py", "oldText": "1", "newText": "2"}]
    failed = ToolChanged(ORIGIN, "c1", "failed", output="No such file.")
    content = (update(failed, NONE, "/w") or {})["content"]
    assert content == [{"type": "content", "content": {"type": "text", "text": "No such file."}}]
