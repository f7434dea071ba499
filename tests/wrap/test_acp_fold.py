"""What passes between editor and agent, folded to what happened."""

import json
from pathlib import Path
from typing import Any

import pytest

from sidecar.core.files.authorship import Intent
from sidecar.core.parts import Usage
from sidecar.wrap import call_parts
from sidecar.wrap.acp_fold import (
    AcpEvent,
    CallSeen,
    CommandsSeen,
    FolderNamed,
    LoadBegan,
    ModelSeen,
    PromptEnded,
    PromptSeen,
    SessionShown,
    SpeechSeen,
    Talk,
    TerminalSeen,
    TitleSeen,
    UsageSeen,
    WriteSeen,
    from_agent,
    from_editor,
)


def folded(*lines: str) -> list[AcpEvent]:
    """`>` marks the editor's lines, `<` the agent's."""
    talk, found = Talk(), list[AcpEvent]()
    for line in lines:
        fold = from_editor if line[0] == ">" else from_agent
        talk, events = fold(talk, json.loads(line[1:]))
        found += events
    return found


def update(kind: str, /, **rest: Any) -> str:
    params = {"sessionId": "s", "update": {"sessionUpdate": kind, **rest}}
    return "<" + json.dumps({"method": "session/update", "params": params})


def test_a_conversation_as_it_passes() -> None:
    text = {"type": "text", "text": "hi"}
    assert folded(
        '>{"id":0,"method":"initialize","params":{}}',
        '<{"id":0,"result":{"agentInfo":{"name":"a"},"agentCapabilities":{"loadSession":true}}}',
        '>{"id":"0","method":"session/new","params":{"cwd":"/w"}}',
        '<{"id":"0","result":{"sessionId":"s","models":{"currentModelId":"m"}}}',
        '>{"id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":'
        '[{"type":"text","text":"hi"}]}}',
        update("agent_message_chunk", content=text),
        update("agent_thought_chunk", content={"type": "image", "mimeType": "image/png"}),
        update("usage_update", used=10, size=100, cost={"amount": 0.5, "currency": "USD"}),
        update("session_info_update", title="T"),
        update("available_commands_update", availableCommands=[{"name": "plan"}]),
        '<{"id":1,"result":{"stopReason":"end_turn","usage":{"inputTokens":3,"outputTokens":2}}}',
        '>{"id":2,"method":"session/set_model","params":{"sessionId":"s","modelId":"n"}}',
        '<{"id":2,"result":{}}',
    ) == [
        FolderNamed("", "/w"),
        SessionShown("s", "/w", before=False, model="m"),
        PromptSeen("s", "1", ({"type": "text", "text": "hi"},)),
        SpeechSeen("s", "agent", "hi"),
        SpeechSeen("s", "thought", "[image: image/png]"),
        UsageSeen("s", 10, 100, 0.5),
        TitleSeen("s", "T"),
        CommandsSeen("s", ("plan",)),
        PromptEnded("s", "end_turn", Usage(input=3, output=2), "", "1"),
        ModelSeen("s", "n"),
    ]


def test_a_load_that_fails_ends_its_history() -> None:
    assert folded(
        '>{"id":1,"method":"session/load","params":{"sessionId":"s","cwd":"/w"}}',
        '<{"id":1,"error":{"code":1,"message":"no"}}',
    ) == [FolderNamed("s", "/w"), LoadBegan("s", "/w"), SessionShown("s", "", before=True)]


def test_a_prompt_that_fails() -> None:
    events = folded(
        '>{"id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}',
        '<{"id":1,"error":{"code":1,"message":"no key"}}',
    )
    assert events[-1] == PromptEnded("s", "error", None, "no key", "1")


def test_both_sides_number_their_requests_alike() -> None:
    """The agent's request 1 is not the editor's."""
    write = {"sessionId": "s", "path": "/w/a", "content": "x"}
    asked = {"id": 1, "method": "fs/write_text_file", "params": write}
    events = folded(
        '>{"id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}',
        "<" + json.dumps(asked),
        '>{"id":1,"result":null}',
        '<{"id":1,"result":{"stopReason":"cancelled"}}',
    )
    assert events[1:] == [
        WriteSeen("s", "/w/a"),
        PromptEnded("s", "cancelled", None, "", "1"),
    ]


ODD = [
    '<{"method":"session/update"}',
    '<{"method":"session/update","params":[]}',
    '<{"method":"session/update","params":{"update":{"sessionUpdate":7}}}',
    '<{"method":"future/thing","id":3,"params":{"sessionId":4}}',
    '<{"id":9,"result":{}}',
    '<{"id":null,"error":{}}',
    '>{"id":[1],"result":{}}',
    '>{"method":"session/new","params":"x"}',
    '<{"method":"session/update","params":{"update":{"sessionUpdate":"tool_call"}}}',
]


@pytest.mark.parametrize("line", ODD)
def test_an_odd_message_tells_nothing(line: str) -> None:
    assert folded(line) == []


def test_odd_values_are_no_figures() -> None:
    given = update("usage_update", used=-1, size="x", cost={"amount": 1e300, "currency": "USD"})
    assert folded(given) == [UsageSeen("s", 0, 0, None)]
    given = update("usage_update", used=True, size=2, cost={"amount": 1, "currency": "EUR"})
    assert folded(given) == [UsageSeen("s", 0, 2, None)]


def test_a_turn_of_opencode() -> None:
    """As it passed, shortened, between opencode 1.18 and an editor."""
    lines = (Path(__file__).parent / "transcripts/opencode-1.18.txt").read_text("utf-8")
    events = folded(*lines.splitlines())
    shown: dict[str, Any] = {}
    for one in events:
        if isinstance(one, CallSeen):
            shown[one.call_id] = call_parts.merged(shown.get(one.call_id, {}), one.shown)
    rest = [one for one in events if not isinstance(one, CallSeen | CommandsSeen)]
    assert rest == [
        FolderNamed("", "/w"),
        SessionShown("ses_1", "/w", before=False, model="anthropic/claude-sonnet-4-5"),
        PromptSeen("ses_1", "3", ({"type": "text", "text": "please edit a.txt"},)),
        SpeechSeen("ses_1", "agent", "All done, zebra."),
        UsageSeen("ses_1", 7822, 200_000, 0.0365721),
        PromptEnded(
            "ses_1",
            "end_turn",
            Usage(cache_read=7774, cache_write_5m=48, output=2),
            request="3",
        ),
    ]
    read, edit, run = shown.values()
    assert all(map(call_parts.has_ended, shown.values()))
    assert [call_parts.name_of(one) for one in (read, edit, run)] == ["read", "edit", "bash"]
    assert call_parts.written_paths(read) == call_parts.written_paths(run) == ()
    assert call_parts.intent_of(read, "/w") is None
    assert call_parts.written_paths(edit) == ("/w/a.txt",)
    assert call_parts.intent_of(run, "/w") == Intent("echo made > b.txt", "/w")
    assert call_parts.exit_code_of(run) == 0


def call(*updates: dict[str, Any]) -> Any:
    shown: Any = {}
    for one in updates:
        (seen,) = folded(update("tool_call_update", toolCallId="c", **one))
        assert isinstance(seen, CallSeen)
        shown = call_parts.merged(shown, seen.shown)
    return shown


DIFF = {"type": "diff", "path": "/w/a", "oldText": "x\n", "newText": "y\n"}


def test_an_edit_as_claude_code_tells_it() -> None:
    shown = call(
        {"title": "Edit", "kind": "edit", "status": "pending", "rawInput": {}},
        {"rawInput": {"file_path": "/w/a"}, "_meta": {"claudeCode": {"toolName": "Edit"}}},
        {"content": [DIFF], "status": "completed", "title": None},
    )
    assert call_parts.has_ended(shown)
    assert call_parts.name_of(shown) == "Edit"
    assert call_parts.written_paths(shown) == ("/w/a",)
    assert call_parts.intent_of(shown, "/w") is None
    assert call_parts.output_of(shown, {}) == "/w/a\n--- a/w/a\n+++ b/w/a\n@@ -1 +1 @@\n-x\n+y\n"


def test_a_command_as_codex_tells_it() -> None:
    words = ["bash", "-lc", "echo x > b"]
    shown = call({"title": "run", "kind": "execute", "rawInput": {"command": words, "cwd": "/w/d"}})
    assert call_parts.intent_of(shown, "/w") == Intent("echo x > b", "/w/d")
    assert call_parts.input_of(shown)["command"] == words


def test_a_command_told_in_its_title_alone() -> None:
    shown = call({"title": "`rm a`", "kind": "execute", "rawOutput": {"output": "gone"}})
    assert call_parts.intent_of(shown, "/w") == Intent("rm a", "/w")
    assert call_parts.input_of(shown) == {"command": "rm a"}
    assert call_parts.output_of(shown, {}) == "gone"
    assert call_parts.name_of(shown) == "bash"


def test_reading_changes_nothing() -> None:
    shown = call({"kind": "read", "locations": [{"path": "/w/a"}]})
    assert call_parts.written_paths(shown) == ()
    assert call_parts.intent_of(shown, "/w") is None


def test_an_edit_that_names_no_path_accounts_for_all() -> None:
    assert call_parts.intent_of(call({"kind": "edit"}), "/w") == Intent(folder="/w", edits=True)


def test_a_terminal_of_the_editors_shows_what_came_of_a_call() -> None:
    asked = {"id": 7, "method": "terminal/output", "params": {"sessionId": "s", "terminalId": "t"}}
    seen = folded("<" + json.dumps(asked), '>{"id":7,"result":{"output":"hi\\n"}}')
    assert seen == [TerminalSeen("s", "t", "hi\n")]
    shown = call({"kind": "execute", "content": [{"type": "terminal", "terminalId": "t"}]})
    assert call_parts.output_of(shown, {"t": "hi\n"}) == "hi\n"
    assert call_parts.output_of(shown, {}) == "[terminal t]"
