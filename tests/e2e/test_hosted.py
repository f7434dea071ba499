"""The daemon with the real SDK against the fake API: what is sent, through kills and restarts."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.e2e.plain import PlainClient
from tests.fakes.messages_api import FakeMessagesApi, broken, status, text, thinking, tools
from tests.fakes.validation import first_difference

Start = Callable[..., PlainClient]
KEY = "sk-ant-secret-of-the-test"


def options(api: FakeMessagesApi, **given: Any) -> dict[str, Any]:
    provider = {"name": "anthropic", "baseUrl": api.url, "apiKey": KEY}
    return {"model": "claude-sonnet-4-6", "provider": provider, **given}


def say(client: PlainClient, session: str, words: str) -> Any:
    prompt = [{"type": "text", "text": words}]
    return client.request("session/prompt", {"sessionId": session, "prompt": prompt})


def test_the_prefix_is_the_same_after_kill(start: Start, workspace: Path) -> None:
    (workspace / "AGENTS.md").write_text("Use tabs.\n")
    with FakeMessagesApi() as api:
        api.script(
            thinking("hm", "signed", tools(("toolu_1", "read_file", {"path": "notes.txt"}))),
            text("It says alpha."),
        )
        client = start()
        client.start(**options(api))
        session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
        result = say(client, session, "what do the notes say? " * 200)
        assert result["stopReason"] == "end_turn", result
        assert float(result["cost"]) > 0
        assert result["usage"]["cachedReadTokens"] > 0
        assert result["meter"]["accuracy"] == "exact"
        assert result["meter"]["cache"]["warm"] is True
        client.kill()
        (workspace / "AGENTS.md").write_text("Use spaces.\n")
        again = start()
        again.start(**options(api))
        again.request("session/load", {"sessionId": session, "replay": False})
        say(again, session, "and now?")
        first, second, third = (r.body for r in api.requests)
        assert first_difference(first, second) is None
        assert first_difference(second, third) is None
        assert "Use tabs." in json.dumps(third["system"])
        assert "\\nUse spaces.\\n\\n</instructions-changed>" in json.dumps(third["messages"][-1])
        assert third["messages"][1]["content"][0] == {
            "type": "thinking",
            "thinking": "hm",
            "signature": "signed",
        }
        assert (api.refused, api.prefix_breaks) == ([], [])


def test_a_retry_is_shown_and_leaves_nothing_twice(start: Start, workspace: Path) -> None:
    with FakeMessagesApi() as api:
        api.script(broken("drop", after=5), status(529, "overloaded_error"), text("whole"))
        client = start()
        client.start(**options(api, retry={"attempts": 3, "capMs": 5000}))
        session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
        assert say(client, session, "go")["stopReason"] == "end_turn"
        retries = [n["params"] for n in client.notifications if n["method"] == "session/retrying"]
        assert [r["attempt"] for r in retries] == [1, 2]
        streamed = [u["_meta"]["sidecar"]["partId"] for u in client.updates("agent_message_chunk")]
        assert set(retries[0]["discard"]) == {streamed[0]}
        client.kill()
        again = start()
        again.start(**options(api))
        again.request("session/load", {"sessionId": session})
        told = "".join(u["content"]["text"] for u in again.updates("agent_message_chunk"))
        assert told == "whole"


def test_the_key_is_nowhere(start: Start, workspace: Path, tmp_path: Path) -> None:
    with FakeMessagesApi() as api:
        api.script(
            tools(("t1", "shell", {"command": "env; cat /proc/$PPID/cmdline"})),
            status(401, "authentication_error", "invalid key"),
        )

        def allow(params: Any) -> Any:
            return {"outcome": {"outcome": "selected", "optionId": "allow_once"}}

        client = start(
            answers={"session/request_permission": allow}, env={"ANTHROPIC_API_KEY": KEY}
        )
        client.start(**options(api))
        session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
        result = say(client, session, "show the environment")
        assert result["stopReason"] == "error"
        assert result["error"]["kind"] == "authentication"
        assert client.stop() == 0
        assert KEY not in json.dumps(client.notifications) + client.stderr
    for path in (tmp_path / "data").rglob("*"):
        assert path.is_dir() or KEY.encode() not in path.read_bytes()
