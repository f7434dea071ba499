"""The daemon with the real SDK against the fake API: what is sent, through kills and restarts."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.plain import PlainClient, say
from tests.fakes.messages_api import FakeMessagesApi, status, text, tools

pytestmark = pytest.mark.long

Start = Callable[..., PlainClient]
KEY = "sk-ant-secret-of-the-test"


def options(api: FakeMessagesApi, **given: Any) -> dict[str, Any]:
    provider = {"name": "anthropic", "baseUrl": api.url, "apiKey": KEY}
    return {"model": "claude-sonnet-4-6", "provider": provider, **given}


def retries(client: PlainClient) -> list[Any]:
    return [n["params"] for n in client.notifications if n["method"] == "session/retrying"]


def test_an_overload_is_waited_for(start: Start, workspace: Path) -> None:
    with FakeMessagesApi() as api:
        api.script(*[status(529, "overloaded_error")] * 7, text("at last"))
        client = start()
        client.start(**options(api, retry={"capMs": 20}))
        session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
        assert say(client, session, "go")["stopReason"] == "end_turn"
        told = retries(client)
        assert [one["attempt"] for one in told] == [1, 2, 3, 4, 5, 6, 7]
        assert {one["delayMs"] for one in told} == {20}
        assert {one["error"]["status"] for one in told} == {529}


def test_a_wait_for_the_next_try_can_be_cancelled(start: Start, workspace: Path) -> None:
    with FakeMessagesApi() as api:
        api.script(status(529, "overloaded_error", retry_after="50"), text("late"))
        client = start()
        client.start(**options(api))
        session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
        prompt = [{"type": "text", "text": "go"}]
        asked = client.send("session/prompt", {"sessionId": session, "prompt": prompt})
        client.wait_for(lambda n: n["method"] == "session/retrying")
        assert retries(client)[0]["delayMs"] == 50_000
        client.notify("session/cancel", {"sessionId": session})
        assert client.result(asked, 20)["stopReason"] == "cancelled"
        assert len(api.requests) == 1


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(start: Start, workspace: Path, code: int) -> None:
    with FakeMessagesApi() as api, FakeMessagesApi() as other:
        to = f"{other.url}/v1/messages?key=1"
        api.script(status(code, location=to))
        client = start()
        client.start(**options(api))
        session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
        result = say(client, session, "go")
        assert result["stopReason"] == "error"
        assert (
            f"a redirect to {other.url}, and nothing was sent there" in result["error"]["message"]
        )
        assert "provider.baseUrl" in result["error"]["message"]
        assert result["error"]["retryable"] is False
        assert (len(api.requests), other.requests) == (1, [])


def test_the_key_is_nowhere(start: Start, workspace: Path, tmp_path: Path) -> None:
    with FakeMessagesApi() as api:
        api.script(
            tools(("t1", "shell", {"command": "env; cat /proc/$PPID/cmdline"})),
            status(401, "authentication_error", "invalid key"),
        )

        def allow(params: Any) -> Any:
            return {"outcome": {"outcome": "selected", "optionId": "allow_once"}}

        answers = {"session/request_permission": allow}
        client = start(answers=answers, env={"ANTHROPIC_API_KEY": KEY}, spawn=None)
        client.start(**options(api))
        session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
        result = say(client, session, "show the environment")
        assert result["stopReason"] == "error"
        assert result["error"]["kind"] == "authentication"
        assert client.stop() == 0
        assert KEY not in json.dumps(client.notifications) + client.stderr
    for path in (tmp_path / "data").rglob("*"):
        assert path.is_dir() or KEY.encode() not in path.read_bytes()


def test_a_model_that_calls_oddly_does_not_end_the_session(start: Start, workspace: Path) -> None:
    odd: list[tuple[str, str, Any]] = [
        ("toolu 1", "read_file", [1, 2]),
        ("c1\x1b[31m", "Ünï", {"path": "notes.txt"}),
        ("", "", "text"),
        ("x" * 200, "y" * 200, 7),
        ("t5", " read_file", {"path": "notes.txt"}),
        ("t5", "read_file", None),
    ]
    with FakeMessagesApi() as api:
        api.script(tools(*odd, words=" "), text("I see. \n"), text("yes"))
        client = start()
        client.start(**options(api))
        session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
        assert say(client, session, "go")["stopReason"] == "end_turn"
        assert say(client, session, "and now?")["stopReason"] == "end_turn"
        assert api.refused == []
        results = [b["content"] for b in api.requests[1].body["messages"][-1]["content"]]
        assert "must be an object, not an array" in results[0]
        assert "There is no tool named _n_." in results[1]
        assert "alpha" in results[4]
        assert "`path` is missing" in results[5]
        assert "\\u001b" not in json.dumps(client.notifications)
