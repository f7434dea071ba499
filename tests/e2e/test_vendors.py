"""Sessions whose model is another vendor's, over the wire, with the real SDKs against fake APIs."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.desk import Start
from tests.e2e.plain import PlainClient, say
from tests.fakes import gemini_api
from tests.fakes.gemini_api import FakeGeminiApi
from tests.fakes.messages_api import FakeMessagesApi, text

pytestmark = pytest.mark.long

GEMINI, CLAUDE = "gemini/gemini-3.8-flash", "claude-sonnet-4-6"


def opened(
    client: PlainClient, workspace: Path, gemini: FakeGeminiApi, claude: FakeMessagesApi
) -> str:
    client.start(
        model=GEMINI,
        provider={"name": "anthropic", "baseUrl": claude.url, "apiKey": "sk-ant"},
        providers={"gemini": {"baseUrl": gemini.url, "apiKey": gemini_api.KEY}},
    )
    return str(client.request("session/new", {"cwd": str(workspace)})["sessionId"])


def choose(client: PlainClient, session: str, model: str) -> None:
    option = {"sessionId": session, "configId": "model", "value": model}
    client.request("session/set_config_option", option)


def sent(bodies: list[Any]) -> str:
    return json.dumps(bodies[-1])


def test_a_session_changes_its_vendor_and_goes_back(start: Start, workspace: Path) -> None:
    look = gemini_api.call("read_file", {"path": "notes.txt"}, signature="c2lnbmVk")
    with FakeGeminiApi() as gemini, FakeMessagesApi() as claude:
        gemini.script(gemini_api.calls(look), gemini_api.says("It says alpha."))
        claude.script(text("Claude agrees."))
        client = start()
        session = opened(client, workspace, gemini, claude)
        first = say(client, session, "what do the notes say?")
        assert (first["stopReason"], first["meter"]["accuracy"]) == ("end_turn", "exact")
        assert float(first["cost"]) > 0
        before = gemini.requests[-1].body["contents"]
        choose(client, session, CLAUDE)
        say(client, session, "and you?")
        assert [claude.refused, gemini.refused] == [[], []]
        asked = sent([one.body for one in claude.requests])
        # Claude is told what was said and done, and nothing of the other's signatures.
        assert "It says alpha." in asked
        assert "read_file" in asked
        assert "c2lnbmVk" not in asked
        choose(client, session, GEMINI)
        client.kill()
        again = start()
        again.start(
            providers={"gemini": {"baseUrl": gemini.url, "apiKey": gemini_api.KEY}},
        )
        again.request("session/load", {"sessionId": session, "replay": False})
        say(again, session, "back again")
        after = gemini.requests[-1].body["contents"]
        assert gemini.refused == []
        assert after[: len(before)] == before
        assert "Claude agrees." in json.dumps(after)


def test_a_wrong_key_is_told_with_what_to_do(start: Start, workspace: Path) -> None:
    with FakeGeminiApi() as gemini:
        client = start()
        client.start(
            model=GEMINI, providers={"gemini": {"baseUrl": gemini.url, "apiKey": "AIza-wrong-key"}}
        )
        session = str(client.request("session/new", {"cwd": str(workspace)})["sessionId"])
        failed = say(client, session, "hello")
        assert failed["stopReason"] == "error"
        assert failed["error"]["kind"] == "authentication"
        assert "check the API key" in failed["error"]["message"]
        assert "AIza-wrong-key" not in json.dumps(failed)


def test_a_missing_key_is_told_with_its_variable(start: Start, workspace: Path) -> None:
    client = start()
    client.start(model=GEMINI)
    session = str(client.request("session/new", {"cwd": str(workspace)})["sessionId"])
    failed = say(client, session, "hello")
    assert "GEMINI_API_KEY" in failed["error"]["message"]
