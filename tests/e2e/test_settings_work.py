"""What settings do, where only a real daemon and its provider can tell."""

import json
from collections.abc import Callable
from pathlib import Path

from tests.e2e.plain import PlainClient
from tests.fakes.messages_api import FakeMessagesApi, text

Start = Callable[..., PlainClient]


def test_a_request_is_as_the_settings_say(start: Start, workspace: Path) -> None:
    (workspace / "AGENTS.md").write_text("Use tabs.\n")
    with FakeMessagesApi() as api:
        given = {"effort": "low", "maxTokens": 5_000, "window": 40_000, "instructions": False}
        api.script(text("Hi."))
        client = start()
        provider = {"name": "anthropic", "baseUrl": api.url, "apiKey": "sk-of-the-settings"}
        client.start(model="claude-opus-5-5", provider=provider, **given)
        session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
        prompt = [{"type": "text", "text": "Hello."}]
        done = client.request("session/prompt", {"sessionId": session, "prompt": prompt})
        (request,) = api.requests
    assert request.body["model"] == "claude-opus-5-5"
    assert request.body["output_config"] == {"effort": "low"}
    assert request.body["max_tokens"] == 5_000
    assert any("sk-of-the-settings" in sent for sent in request.headers.values())
    assert "Use tabs." not in json.dumps(request.body)
    assert done["meter"]["window"] == 40_000


def test_sessions_are_stored_where_is_set(start: Start, workspace: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    client = start()
    client.start(model="offline", dataDir=str(elsewhere))
    client.request("session/new", {"cwd": str(workspace)})
    assert client.stop() == 0
    assert b"SQLite format 3" in {
        path.read_bytes()[:15] for path in elsewhere.glob("*") if path.is_file()
    }
    assert not (tmp_path / "data").exists()
