"""Questions to the user: what they show, whose answers they take, and who is not asked."""

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.lines import LineClient
from tests.e2e.plain import LIMIT, PlainClient, Spawn

pytestmark = pytest.mark.long

Start = Callable[..., PlainClient]
PERMISSION = "session/request_permission"
BOTH = 'call shell {"command": "echo one >> one.txt"} and shell {"command": "echo two >> two.txt"}'
CANCELLED: Any = {"outcome": {"outcome": "cancelled"}}


def selected(option: str) -> Any:
    return {"outcome": {"outcome": "selected", "optionId": option}}


def say(client: PlainClient, session: str, words: str) -> int:
    prompt = [{"type": "text", "text": words}]
    return client.send("session/prompt", {"sessionId": session, "prompt": prompt})


def begin(client: PlainClient, folder: Path) -> str:
    return str(client.request("session/new", {"cwd": str(folder), "mcpServers": []})["sessionId"])


def logged(client: PlainClient) -> list[str]:
    """What the client's own log was told."""
    return [
        n["params"]["message"] for n in client.notifications if n["method"] == "window/logMessage"
    ]


def told(client: PlainClient) -> str:
    """All that was shown of tool calls."""
    return json.dumps(client.updates("tool_call_update"), ensure_ascii=False)


@pytest.fixture(params=["editor", "agent"])
def asked(request: pytest.FixtureRequest, start: Start, tmp_path: Path, spawn: Spawn | None) -> Any:
    """Start a client of either face, whose questions are answered by a function."""
    made: list[PlainClient] = []

    def begin(answer: Callable[[Any], Any], **options: Any) -> PlainClient:
        answers = {PERMISSION: answer}
        if request.param == "editor":
            client = start(answers=answers)
        else:
            client = LineClient(tmp_path / "data", answers=answers, spawn=spawn)
            made.append(client)
        client.start(model="offline", **options)
        return client

    yield begin
    for client in made:
        assert client.stop() == 0, client.stderr


def test_a_question_shows_what_an_edit_would_change(asked: Any, workspace: Path) -> None:
    client = asked(lambda _: selected("reject_once"))
    session = begin(client, workspace)
    lines = [f"line {n}\n" for n in range(40)]
    (workspace / "long.txt").write_text("".join(lines))
    given = {"path": "long.txt", "oldText": "line 2\n", "newText": "two\nand more\n"}
    client.result(say(client, session, f"call edit_file {json.dumps(given)}"))
    (question,) = (r["params"]["toolCall"] for r in client.requests)
    assert question["content"] == [
        {
            "type": "diff",
            "path": str(workspace.resolve() / "long.txt"),
            "oldText": "".join(lines[:6]),
            "newText": "".join((*lines[:2], "two\nand more\n", *lines[3:6])),
        }
    ]
    whole = {"path": "long.txt", "content": "".join((*lines[:30], "thirty\n", *lines[31:]))}
    client.result(say(client, session, f"call write_file {json.dumps(whole)}"))
    assert client.requests[-1]["params"]["toolCall"]["content"][0]["newText"] == "".join(
        (*lines[27:30], "thirty\n", *lines[31:34])
    )
    client.result(say(client, session, "create new.txt with `first`"))
    (made,) = client.requests[-1]["params"]["toolCall"]["content"]
    assert (made["oldText"], made["newText"]) == (None, "first\n")
    assert (workspace / "long.txt").read_text() == "".join(lines)


def test_a_question_shows_which_lines_end_otherwise(asked: Any, workspace: Path) -> None:
    client = asked(lambda _: selected("reject_once"))
    session = begin(client, workspace)
    (workspace / "run.sh").write_bytes(b"set -e\ncheck\ndeploy one\n")
    given = {"path": "run.sh", "content": "set -e\ncheck\r\ndeploy two\n"}
    client.result(say(client, session, f"call write_file {json.dumps(given)}"))
    (change,) = client.requests[-1]["params"]["toolCall"]["content"]
    assert change["newText"] == given["content"]
    (workspace / "run.sh").write_bytes(b"set -e\r\ncheck\r\n")
    given = {"path": "run.sh", "oldText": "check\n", "newText": "two\nand more\n"}
    client.result(say(client, session, f"call edit_file {json.dumps(given)}"))
    (change,) = client.requests[-1]["params"]["toolCall"]["content"]
    assert change["newText"] == "set -e\ntwo\nand more\n"


def test_what_is_allowed_is_what_was_shown(asked: Any, workspace: Path) -> None:
    notes = workspace / "notes.txt"

    def allow(_: Any) -> Any:
        # While the question waits, the user writes.
        notes.write_text("mine\n" + notes.read_text())
        return selected("allow_once")

    client = asked(allow, workspaceTrusted=True)
    session = begin(client, workspace)
    whole = {"path": "notes.txt", "content": "theirs\n"}
    client.result(say(client, session, f"call write_file {json.dumps(whole)}"))
    assert notes.read_text() == "mine\nalpha\nbeta\ngamma\n"
    assert "changed while the user was asked" in told(client)
    # What was not near to it stands as it was shown.
    given = {"path": "notes.txt", "oldText": "gamma", "newText": "delta"}
    notes.write_text("\n".join("abcdefgh") + "\ngamma\n")
    client.result(say(client, session, f"call edit_file {json.dumps(given)}"))
    assert notes.read_text() == "mine\n" + "\n".join("abcdefgh") + "\ndelta\n"


@pytest.mark.parametrize("first", [0, 1])
def test_two_questions_wait_together_and_each_takes_its_own_answer(
    asked: Any, workspace: Path, first: int
) -> None:
    free = [threading.Event(), threading.Event()]

    def answer(params: Any) -> Any:
        number = int("two" in params["toolCall"]["rawInput"]["command"])
        assert free[number].wait(LIMIT)
        return selected("allow_once" if number == 0 else "reject_once")

    client = asked(answer)
    turn = say(client, begin(client, workspace), BOTH)
    with client._arrived:
        assert client._arrived.wait_for(lambda: len(client.requests) == 2, LIMIT)
    free[first].set()
    ended = {"completed", "failed"}
    client.wait_for(lambda n: n.get("params", {}).get("update", {}).get("status") in ended)
    free[1 - first].set()
    assert client.result(turn)["stopReason"] in ("blocked", "refusal", "end_turn")
    assert (workspace / "one.txt").read_text() == "one\n"
    assert not (workspace / "two.txt").exists()


def test_an_answer_that_makes_no_sense_is_an_error_that_says_so(
    asked: Any, workspace: Path
) -> None:
    wrong: list[Any] = [None, {}, [], {"outcome": None}, {"outcome": "allow_once"}]
    wrong.append(selected("allow_everything"))
    client = asked(lambda _: wrong[len(client.requests) - 1])
    session = begin(client, workspace)
    for number, _ in enumerate(wrong, 1):
        ended = client.result(say(client, session, f"run `echo {number} > made.txt`"))
        assert ended["stopReason"] == "end_turn"
        reason = "which is none of the options (allow_once,"
        assert reason in json.dumps(client.updates("tool_call_update")[-1])
        if not isinstance(client, LineClient):
            assert sum(reason in line for line in logged(client)) == number
    assert "dismissed" not in told(client)
    client.request("session/list", {})
    assert client.stderr.count("which is none of the options") == len(wrong)
    assert not (workspace / "made.txt").exists()


def test_an_error_for_an_answer_says_so_too(start: Start, workspace: Path) -> None:
    client = start()
    ours = {"experimental": {"sidecar": {"requestPermission": True}}}
    options = {"model": "offline", "workspaceTrusted": True}
    client.request("initialize", {"capabilities": ours, "initializationOptions": options})
    client.notify("initialized")
    client.result(say(client, begin(client, workspace), "run `echo hi > made.txt`"))
    assert "the editor answered with an error: not here" in told(client)
    assert any("the editor answered with an error" in line for line in logged(client))


def test_a_dismissal_stays_one(asked: Any, workspace: Path) -> None:
    client = asked(lambda _: CANCELLED)
    ended = client.result(say(client, begin(client, workspace), "run `echo hi > made.txt`"))
    assert ended["stopReason"] == "cancelled"
    assert "dismissed" in told(client)


def test_a_client_that_can_do_nothing_is_asked_nothing(start: Start, workspace: Path) -> None:
    client = start()
    options = {"model": "offline", "workspaceTrusted": True}
    client.request("initialize", {"capabilities": {}, "initializationOptions": options})
    client.notify("initialized")
    uri = (workspace / "notes.txt").as_uri()
    shown = {"uri": uri, "languageId": "text", "version": 1, "text": "unsaved\n"}
    client.notify("textDocument/didOpen", {"textDocument": shown})
    look = {"name": "look", "description": "Look.", "inputSchema": {"type": "object"}}
    look["kind"] = "read"
    made = client.request("session/new", {"cwd": str(workspace), "tools": [look]})
    session = made["sessionId"]
    words = "run `echo hi > made.txt` then replace `unsaved` with `saved` in notes.txt then read "
    words += "main.py then call look {}"
    assert client.result(say(client, session, words))["stopReason"] == "end_turn"
    shown_to_model = told(client)
    assert "this editor cannot be asked" in shown_to_model
    assert "permissions.allow" in shown_to_model
    assert "this editor runs no tools" in shown_to_model
    assert sum("cannot be asked" in line for line in logged(client)) == 1
    blocked = client.result(say(client, session, "repeat 3 times: list files"))
    assert blocked["stopReason"] == "blocked"
    back = {"sessionId": session, "scope": "both", "beforeMessageId": blocked["messageId"]}
    client.request("checkpoint/restore", back)
    assert [r["method"] for r in client.requests] == []
    assert not (workspace / "made.txt").exists()


def test_an_untrusted_folder_of_a_client_that_cannot_be_asked(
    start: Start, workspace: Path
) -> None:
    client = start()
    options = {"model": "offline"}
    client.request("initialize", {"capabilities": {}, "initializationOptions": options})
    client.notify("initialized")
    client.result(say(client, begin(client, workspace), "run `echo hi > made.txt`"))
    assert "workspaceTrusted" in told(client)
    assert client.requests == []


@pytest.mark.parametrize("ends", ["cancel", "close"])
def test_questions_of_a_turn_that_ends_are_withdrawn(
    asked: Any, workspace: Path, ends: str
) -> None:
    over = threading.Event()

    def answer(_: Any) -> Any:
        assert over.wait(LIMIT)
        return selected("allow_once")

    client = asked(answer)
    session = begin(client, workspace)
    turn = say(client, session, BOTH)
    with client._arrived:
        assert client._arrived.wait_for(lambda: len(client.requests) == 2, LIMIT)
    if ends == "cancel":
        client.notify("session/cancel", {"sessionId": session})
    else:
        client.request("session/close", {"sessionId": session})
    assert client.result(turn)["stopReason"] == "cancelled"
    withdrawn = [
        n["params"].get("id", n["params"].get("requestId"))
        for n in client.notifications
        if n["method"] in ("$/cancelRequest", "$/cancel_request")
    ]
    assert sorted(withdrawn) == sorted(r["id"] for r in client.requests)
    # Late answers, to which nothing belongs any more, change nothing.
    over.set()
    client.result(say(client, begin(client, workspace), "read notes.txt"))
    assert not (workspace / "one.txt").exists()
