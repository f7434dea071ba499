"""One daemon for all windows of a user: turns, questions and variables of several."""

import threading
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.lines import LineClient
from tests.e2e.plain import LIMIT
from tests.e2e.resident import (
    SHARED,
    Open,
    about,
    allow,
    busy,
    command,
    is_gone,
    prompt,
    seqs,
    told,
    until,
)
from tests.fakes.messages_api import FakeMessagesApi, Reply, text, tools

pytestmark = pytest.mark.long


def test_a_turn_outlives_its_window_and_is_told_to_the_next(
    window: Open, variables: dict[str, str], workspace: Path
) -> None:
    first = window()
    session = first.request("session/new", {"cwd": str(workspace)})["sessionId"]
    prompt(first, session, "tell me a story about files and folders")
    until(lambda: len(seqs(first)) > 3)
    first.kill()
    second = window()
    second.request("session/load", {"sessionId": session})
    until(lambda: not busy(variables))
    until(lambda: "turn_ended" in str(second.notifications))
    third = window()
    third.request("session/load", {"sessionId": session})
    assert told(second) == told(third) != ""
    assert seqs(second) == sorted(set(seqs(second)))


def test_windows_on_one_session_hear_the_same_in_the_same_order(
    window: Open, workspace: Path
) -> None:
    first, second = window(), window()
    session = first.request("session/new", {"cwd": str(workspace)})["sessionId"]
    second.request("session/load", {"sessionId": session})
    one, other = prompt(first, session, "say one"), prompt(second, session, "say two")
    assert first.result(one)["stopReason"] == second.result(other)["stopReason"] == "end_turn"
    until(lambda: seqs(first)[-1:] == seqs(second)[-1:])
    assert told(first) == told(second) != ""
    meters = [client.request("context/meter", {"sessionId": session}) for client in (first, second)]
    assert meters[0] == meters[1]


def test_an_agents_window_hears_what_was_typed_in_another_and_not_its_own(
    window: Open, variables: dict[str, str], workspace: Path, tmp_path: Path
) -> None:
    window()
    agents = [
        LineClient(tmp_path / "data", env=variables, arguments=SHARED, answers={}) for _ in range(2)
    ]
    for agent in agents:
        agent.start()
    first, second = agents
    session = first.open(workspace)
    second.request("session/load", {"sessionId": session, "cwd": str(workspace), "mcpServers": []})
    first.say(session, "say one")
    second.say(session, "say two")
    until(lambda: first.words() == second.words() != "")
    assert first.words("user_message_chunk") == "say two"
    assert second.words("user_message_chunk") == "say one"
    asked = prompt(first, session, "tell me a story about files and folders")
    until(lambda: "story" in second.words("user_message_chunk"))
    steer = {
        "prompt": [{"type": "text", "text": "say three"}],
        "_meta": {"sidecar": {"steer": True}},
    }
    second.request("session/prompt", {"sessionId": session, **steer})
    first.result(asked)
    until(lambda: "say three" in first.words("user_message_chunk"))
    assert "say three" not in second.words("user_message_chunk")
    for agent in agents:
        assert agent.stop() == 0


def test_a_window_hears_of_no_other_windows_work(window: Open, workspace: Path) -> None:
    (workspace / "large.txt").write_text("some_function(argument)\n" * 4_000)
    options = {"alerts": {"utilisation": 0.01}}
    first, second = window(options=options), window(options=options)
    session, _ = [
        client.request("session/new", {"cwd": str(workspace)})["sessionId"]
        for client in (first, second)
    ]
    for _ in range(3):
        first.result(prompt(first, session, "read large.txt"))
    for method in ("daemon/alert", "daemon/statusChanged"):
        first.wait_for(lambda n, method=method: n["method"] == method)
    second.request("daemon/status")
    heard = [n["method"] for n in second.notifications]
    assert {"daemon/alert", "daemon/statusChanged", "window/showMessage"}.isdisjoint(heard)


def test_a_question_goes_to_all_and_the_first_answer_holds(window: Open, workspace: Path) -> None:
    asked: list[str] = []
    answered = threading.Event()

    def hold(params: Any) -> Any:
        asked.append("first")
        answered.wait(30)
        return {"outcome": {"outcome": "cancelled"}}

    def answer(params: Any) -> Any:
        asked.append("second")
        return allow(params)

    first = window(**{"session/request_permission": hold})
    session = first.request("session/new", {"cwd": str(workspace)})["sessionId"]
    second = window(**{"session/request_permission": answer})
    second.request("session/load", {"sessionId": session})
    sent = prompt(first, session, "run touch made")
    until((workspace / "made").exists)
    assert set(asked) == {"first", "second"}
    withdrawn = [n for n in first.notifications if n["method"] == "$/cancelRequest"]
    assert withdrawn
    answered.set()
    assert first.result(sent)["stopReason"] == "end_turn"


def test_a_question_waits_for_the_next_window(window: Open, workspace: Path) -> None:
    seen = threading.Event()

    def never(params: Any) -> Any:
        seen.set()
        threading.Event().wait(60)

    first = window(**{"session/request_permission": never})
    session = first.request("session/new", {"cwd": str(workspace)})["sessionId"]
    prompt(first, session, "run touch made")
    assert seen.wait(30)
    first.kill()
    second = window(**{"session/request_permission": allow})
    assert not (workspace / "made").exists()
    second.request("session/load", {"sessionId": session})
    until((workspace / "made").exists)


def never(params: Any) -> Any:
    threading.Event().wait(60)


def test_a_question_that_nobody_answers_does_not_keep_the_daemon(
    window: Open, variables: dict[str, str], workspace: Path
) -> None:
    variables["SIDECAR_LINGER"] = "2"
    first = window(**{"session/request_permission": never})
    session = first.request("session/new", {"cwd": str(workspace)})["sessionId"]
    prompt(first, session, "run touch made")
    first.wait_for(lambda n: "pending" in str(n))
    prompt(first, session, "say two")
    until(lambda: any(one["method"] == "session/request_permission" for one in first.requests))
    pid = about(variables)["pid"]
    first.kill()
    until(lambda: is_gone(pid))
    second = window(**{"session/request_permission": allow})
    second.request("session/load", {"sessionId": session})
    (call,) = [u for u in second.updates("tool_call") if u.get("status") == "failed"]
    assert "did not run: nobody answered" in str(call)
    assert "It ended when the daemon did" in str(second.notifications)
    # What waited in line is not lost, and the model hears of all of it.
    assert "say two" in str(second.updates("user_message_chunk"))
    assert not (workspace / "made").exists()
    assert second.result(prompt(second, session, "run touch made"))["stopReason"] == "end_turn"
    assert (workspace / "made").exists()


def test_a_question_ends_nothing_that_runs_beside_it(
    window: Open, variables: dict[str, str], workspace: Path
) -> None:
    def respond(body: Any, number: int) -> Reply:
        if len(body["messages"]) > 1:
            return text("Done.")
        slow = {"command": "sleep 5; touch ended"}
        return tools(("c1", "shell", slow), ("c2", "shell", {"command": "touch made"}))

    variables["SIDECAR_LINGER"] = "1"
    with FakeMessagesApi(respond) as api:
        provider = {"name": "anthropic", "baseUrl": api.url, "apiKey": "sk-test"}
        options = {"provider": provider, "model": "claude-sonnet-4-6"}
        rules = {"permissions": {"allow": ["shell:sleep 5; touch ended"]}}
        first = window(options={**options, **rules}, **{"session/request_permission": never})
        session = first.request("session/new", {"cwd": str(workspace)})["sessionId"]
        prompt(first, session, "do")
        until(lambda: any(one["method"] == "session/request_permission" for one in first.requests))
        first.wait_for(lambda n: "in_progress" in str(n))
        pid = about(variables)["pid"]
        first.kill()
        until(lambda: is_gone(pid))
    assert (workspace / "ended").exists()
    assert not (workspace / "made").exists()


def test_each_window_has_variables_of_its_own(window: Open, workspace: Path) -> None:
    for name in ("one", "two"):
        client = window({"MINE": name}, **{"session/request_permission": allow})
        session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
        sent = prompt(client, session, f"run printenv MINE > {name}")
        assert client.result(sent)["stopReason"] == "end_turn"
        assert (workspace / name).read_text() == f"{name}\n"


def test_a_clouds_account_is_not_looked_for_where_windows_share(
    window: Open, workspace: Path
) -> None:
    client = window(options={"provider": {"name": "bedrock"}, "model": "claude-sonnet-4-6"})
    session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
    ended = client.result(prompt(client, session, "hello"))
    assert "--alone" in ended["error"]["message"]


def test_a_subtask_begins_and_ends_without_the_window_that_asked(
    window: Open, variables: dict[str, str], workspace: Path
) -> None:
    gone = threading.Event()

    def respond(body: Any, number: int) -> Reply:
        gone.wait(LIMIT)
        if "seventh task" in str(body["messages"][0]["content"]):
            return text("I have told.")
        asked = len(body["messages"]) == 1
        return (
            tools(("d1", "delegate", {"task": "the seventh task"})) if asked else text("All done.")
        )

    with FakeMessagesApi(respond) as api:
        provider = {"name": "anthropic", "baseUrl": api.url, "apiKey": "sk-test"}
        first = window(options={"provider": provider, "model": "claude-sonnet-4-6"})
        session = first.request("session/new", {"cwd": str(workspace)})["sessionId"]
        prompt(first, session, "do")
        until(lambda: busy(variables))
        first.kill()
        until(lambda: about(variables)["windows"] == 0)
        second = window(**{"session/request_permission": allow})
        second.request("session/load", {"sessionId": session})
        gone.set()
        until(lambda: "All done." in told(second))
    assert "I have told." in str(second.updates("tool_call_update"))


def test_a_command_works_on_a_session_that_a_window_has_open(
    window: Open, variables: dict[str, str], workspace: Path
) -> None:
    client = window(**{"session/request_permission": allow})
    session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
    sent = prompt(client, session, "run touch made")
    assert client.result(sent)["stopReason"] == "end_turn"
    assert (workspace / "made").exists()
    command(variables, "restore", session, "--last", "--yes", "--scope", "files")
    assert not (workspace / "made").exists()
    until(lambda: about(variables)["windows"] == 1)
    # The window hears of what the command did.
    client.wait_for(lambda n: "restore" in str(n.get("params", {}).get("cause", "")))
