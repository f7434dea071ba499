"""Checkpoints with the real daemon: who changed what, going back, and forth again."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.desk import Desk
from tests.e2e.plain import PlainClient
from tests.fakes.messages_api import FakeMessagesApi, Reply, text, tools


class Bench(Desk):
    """A desk whose user allows everything."""

    def daemon(self) -> PlainClient:
        chosen = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}
        client = self._start(answers={"session/request_permission": lambda _: chosen})
        provider = {"name": "anthropic", "baseUrl": self.api.url, "apiKey": "sk-test"}
        client.start(model="claude-sonnet-4-6", provider=provider)
        return client


@pytest.fixture
def desk(start: Callable[..., PlainClient], workspace: Path) -> Iterator[Desk]:
    with FakeMessagesApi() as api:
        desk = Bench(start, api, workspace)
        desk.open(tools=[], builtinTools=True)
        yield desk
        assert not api.refused


def write(path: str, content: str) -> Reply:
    return tools(("call_write", "write_file", {"path": path, "content": content}))


def shell(command: str) -> Reply:
    return tools(("call_shell", "shell", {"command": command}))


def work(desk: Desk, words: str, *steps: Reply) -> Any:
    desk.api.script(*steps, text("Done."))
    ended = desk.say(words)
    assert ended["stopReason"] == "end_turn"
    return ended


def files(checkpoint: Any) -> list[tuple[Any, ...]]:
    names = ("path", "change", "author", "additions", "deletions")
    return [tuple(one[name] for name in names) for one in checkpoint["files"]]


def test_each_turn_and_each_step_that_changed_files_is_listed(desk: Desk, workspace: Path) -> None:
    first = work(desk, "Greet.", write("hello.txt", "hello\nworld\n"), shell("mv main.py moved.py"))
    (workspace / "notes.txt").write_text("alpha\nmine\n")
    second = work(desk, "Look.")
    listed = desk("checkpoint/list")
    told = [(one["title"], files(one)) for one in listed["checkpoints"]]
    assert told == [
        ("Greet.", []),
        ("Changed hello.txt", [("hello.txt", "created", "agent", 2, 0)]),
        ("Changed moved.py", [("moved.py", "renamed", "agent", 0, 0)]),
        ("Look.", [("notes.txt", "modified", "user", 1, 2)]),
    ]
    assert listed["checkpoints"][2]["files"][0]["from"] == "main.py"
    turns = [one["turnId"] for one in listed["checkpoints"]]
    assert turns == [first["turnId"]] * 3 + [second["turnId"]]
    assert listed["checkpoints"][0]["messageId"] == first["messageId"]
    assert listed["head"] == listed["checkpoints"][3]["checkpointId"]
    assert [one["path"] for one in listed["changes"]["files"]] == ["hello.txt", "moved.py"]
    assert (listed["changes"]["additions"], listed["changes"]["deletions"]) == (2, 0)
    desk.again()
    assert desk("checkpoint/list") == listed


def test_a_diff_between_checkpoints_and_until_now(desk: Desk, workspace: Path) -> None:
    work(desk, "One.", write("hello.txt", "one\n"))
    work(desk, "Two.", write("hello.txt", "two\n"))
    ids = [one["checkpointId"] for one in desk("checkpoint/list")["checkpoints"]]
    (found,) = desk("checkpoint/diff", **{"from": ids[1], "to": ids[3]})["files"]
    assert (found["path"], found["author"]) == ("hello.txt", "agent")
    assert found["diff"].endswith("@@ -1 +1 @@\n-one\n+two\n")
    (back,) = desk("checkpoint/diff", **{"from": ids[3], "to": ids[1]})["files"]
    assert back["diff"].endswith("@@ -1 +1 @@\n-two\n+one\n")
    (workspace / "notes.txt").write_text("mine\n")
    now = desk("checkpoint/diff", **{"from": ids[3]})["files"]
    assert [(one["path"], one["author"]) for one in now] == [("notes.txt", "user")]
    assert desk("checkpoint/diff", **{"from": ids[0], "path": "notes.txt"})["files"] == now
    assert desk.refused("checkpoint/diff", **{"from": "cp_none"}).code == -32602


def test_the_status_says_how_changes_are_noticed(desk: Desk, workspace: Path) -> None:
    work(desk, "One.", write("hello.txt", "one\n"))
    (found,) = desk.client.request("daemon/status")["watcher"]["workspaces"]
    assert found["root"] == str(workspace)
    assert found["mode"] in ("inotify", "watchfiles", "rescan")
