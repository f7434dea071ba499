"""Subtasks through the real daemon: what the editor, the provider and the next daemon see."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.plain import LIMIT, PlainClient
from tests.fakes.messages_api import FakeMessagesApi, Reply, text, tools

pytestmark = pytest.mark.long

Start = Callable[..., PlainClient]
LOOK = {"name": "look", "description": "Look.", "inputSchema": {"type": "object"}, "kind": "read"}
ALLOW = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}


@pytest.fixture
def api() -> Iterator[FakeMessagesApi]:
    with FakeMessagesApi(respond) as running:
        yield running
        assert running.refused == []


def task_of(body: Any) -> str:
    """The first words of a conversation."""
    first = body["messages"][0]["content"]
    return str(first if isinstance(first, str) else first[0]["text"])


def respond(body: Any, number: int) -> Reply:
    """Hand on what a session is asked for, look once in each subtask, and then report."""
    task, asked = task_of(body), len(body["messages"]) == 1
    if not task.startswith("task"):
        names = task.split()
        made = ((f"d{n}", "delegate", {"task": f"task {n}"}) for n in names)
        return tools(*made) if asked else text("All done.")
    if asked:
        return tools((f"look-{task[5:]}", "look", {"path": task}))
    return text(f"I have seen {task}.")


class Editor:
    """A client of one session; `look` is what its tool does."""

    def __init__(self, start: Start, api: FakeMessagesApi, workspace: Path, **options: Any) -> None:
        self.looked: list[Any] = []
        self.asked: list[Any] = []
        self.look: Callable[[Any], str] = lambda given: "seen"
        provider = {"name": "anthropic", "baseUrl": api.url, "apiKey": "sk-test"}
        answers = {"tool/call": self._call, "session/request_permission": self._allow}
        self.client = start(answers=answers)
        self.client.start(model="claude-sonnet-4-6", provider=provider, **options)
        self.workspace = workspace

    def open(self) -> str:
        """Begin a session."""
        about = {"cwd": str(self.workspace), "tools": [LOOK]}
        opened: str = self.client.request("session/new", about)["sessionId"]
        return opened

    def say(self, session: str, words: str) -> int:
        """Give a prompt and do not wait."""
        params = {"sessionId": session, "prompt": [{"type": "text", "text": words}]}
        return self.client.send("session/prompt", params)

    def listed(self) -> list[Any]:
        """The list of sessions."""
        found: list[Any] = self.client.request("session/list", {})["sessions"]
        return found

    def subtasks(self, session: str) -> list[Any]:
        """The lines of a session's subtasks, by title."""
        lines = [line for line in self.listed() if line.get("parent") == session]
        return sorted(lines, key=lambda line: str(line["title"]))

    def _call(self, params: Any) -> Any:
        self.looked.append(params)
        return {"content": [{"type": "text", "text": self.look(params["input"])}]}

    def _allow(self, params: Any) -> Any:
        self.asked.append(params)
        return ALLOW


def test_several_subtasks_from_question_to_report(
    start: Start, api: FakeMessagesApi, workspace: Path
) -> None:
    editor = Editor(start, api, workspace)
    session = editor.open()
    result = editor.client.result(editor.say(session, "1 2 3"))
    assert result["stopReason"] == "end_turn"
    # Who is asked and whose tool it is: the session that the editor knows.
    assert [asked["sessionId"] for asked in editor.asked] == [session] * 3
    assert sorted(asked["toolCall"]["title"] for asked in editor.asked) == [
        f"Delegate task {n}" for n in (1, 2, 3)
    ]
    assert [call["sessionId"] for call in editor.looked] == [session] * 3
    told = {
        n["params"]["sessionId"] for n in editor.client.notifications if "update" in n["method"]
    }
    assert told == {session}
    # What the provider saw.
    purposes = {}
    for request in api.requests:
        purposes.setdefault(task_of(request.body), set()).add(request.headers["x-sidecar-purpose"])
    assert purposes == {"1 2 3": {"turn"}, **{f"task {n}": {"subtask"} for n in (1, 2, 3)}}
    reports = [str(block["content"]) for block in api.requests[-1].body["messages"][-1]["content"]]
    assert ["I have seen task" in report for report in reports] == [True] * 3
    # What it cost, and where it lies.
    lines = editor.subtasks(session)
    assert [(line["title"], line["turns"]) for line in lines] == [
        (f"task {n}", 1) for n in (1, 2, 3)
    ]
    costs = {line["sessionId"]: float(line["cost"]) for line in editor.listed()}
    children = sum(costs[line["sessionId"]] for line in lines)
    assert 0 < children < costs[session] == pytest.approx(float(result["cost"]))
    assert result["usage"]["requests"] == 8
    ends = [u for u in editor.client.updates("tool_call_update") if u.get("status") == "completed"]
    assert all(any(line["sessionId"] in str(end) for end in ends) for line in lines)
    # Any of them can be opened, and goes on as a session of its own.
    child = lines[0]["sessionId"]
    loaded = editor.client.request("session/load", {"sessionId": child})
    assert loaded["readOnly"] is False
    typed = [u["content"]["text"] for u in editor.client.updates("user_message_chunk")]
    assert typed[-1] == "task 1"


def begun(editor: Editor, session: str) -> tuple[int, threading.Event]:
    """Begin a subtask and wait until its tool runs; the event lets that go on."""
    running, released = threading.Event(), threading.Event()

    def look(given: Any) -> str:
        running.set()
        released.wait(LIMIT)
        return "seen"

    editor.look = look
    turn = editor.say(session, "1")
    assert running.wait(LIMIT)
    return turn, released


def test_a_cancel_reaches_the_subtask(start: Start, api: FakeMessagesApi, workspace: Path) -> None:
    editor = Editor(start, api, workspace)
    session = editor.open()
    turn, released = begun(editor, session)
    editor.client.notify("session/cancel", {"sessionId": session})
    assert editor.client.result(turn)["stopReason"] == "cancelled"
    released.set()
    # The editor's tool is told, too.
    editor.client.wait_for(lambda n: n["method"] == "$/cancelRequest")
    (line,) = editor.subtasks(session)
    assert len(api.requests) == 2
    assert editor.client.result(editor.say(session, "again"))["stopReason"] == "end_turn"
    editor.client.request("session/load", {"sessionId": line["sessionId"]})
    ends = [u for u in editor.client.updates("tool_call") if u["toolCallId"] == "look-1"]
    assert [end["status"] for end in ends] == ["failed"]


def test_a_killed_daemon_leaves_both_logs_whole(
    start: Start, api: FakeMessagesApi, workspace: Path
) -> None:
    editor = Editor(start, api, workspace)
    session = editor.open()
    _, released = begun(editor, session)
    editor.client.kill()
    released.set()
    again = Editor(start, api, workspace)
    (line,) = again.subtasks(session)
    for name, call in ((session, "d1"), (line["sessionId"], "look-1")):
        again.client.request("session/load", {"sessionId": name})
        ends = [u for u in again.client.updates("tool_call") if u["toolCallId"] == call]
        assert [end["status"] for end in ends] == ["failed"]
        assert again.client.result(again.say(name, "go on"))["stopReason"] == "end_turn"
    # What the subtask had cost until then was its parent's already.
    costs = {one["sessionId"]: float(one["cost"]) for one in again.listed()}
    assert 0 < float(line["cost"]) < costs[session]
