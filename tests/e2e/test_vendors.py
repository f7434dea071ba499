"""Sessions whose model is another vendor's, over the wire, with the real SDKs against fake APIs."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.desk import Start
from tests.e2e.plain import PlainClient, say
from tests.fakes import gemini_api
from tests.fakes.chat_api import FakeChatApi
from tests.fakes.gemini_api import FakeGeminiApi
from tests.fakes.messages_api import FakeMessagesApi, text
from tests.fakes.responses_api import FakeResponsesApi
from tests.fakes.streaming_server import called, failing, said, thought

pytestmark = pytest.mark.long

CLAUDE = "claude-sonnet-4-6"
NOTES = {"path": "notes.txt"}


@dataclass(frozen=True)
class Vendor:
    """A provider `work`, and the answers that its fake API gives."""

    kind: str
    model: str
    api: Callable[[], AbstractContextManager[Any]]
    turns: str
    """The field of a body in which the conversation stands."""
    look: Callable[[], Any]
    says: Callable[[str], Any]
    overflows: Callable[[], Any]
    secret: str = ""
    """Something of the vendor's own that no other is sent."""

    def settings(self, api: Any, key: str = gemini_api.KEY) -> dict[str, Any]:
        work = {"kind": self.kind, "baseUrl": api.url, "apiKey": key}
        return {"model": f"work/{self.model}", "providers": {"work": work}}


GEMINI = Vendor(
    "gemini",
    "gemini-3.8-flash",
    FakeGeminiApi,
    "contents",
    lambda: gemini_api.calls(gemini_api.call("read_file", NOTES, signature="c2lnbmVk")),
    gemini_api.says,
    lambda: gemini_api.refuses(
        400, "The input token count (9) exceeds the maximum number of tokens allowed (8)."
    ),
    "c2lnbmVk",
)
RESPONSES = Vendor(
    "openai",
    "gpt-5.5",
    FakeResponsesApi,
    "input",
    lambda: thought("Look first.", called(("call_1", "read_file", NOTES))),
    said,
    lambda: failing(
        400, message="Your input exceeds the context window", code="context_length_exceeded"
    ),
    "encrypted_content",
)


def of_chat(kind: str) -> Vendor:
    return Vendor(
        kind,
        "vendor-model",
        lambda: FakeChatApi(kind),
        "messages",
        lambda: called(("call_1", "read_file", NOTES)),
        said,
        lambda: failing(400, message="too long", code="context_length_exceeded"),
    )


VENDORS = [GEMINI, RESPONSES, *map(of_chat, ("openrouter", "deepseek", "ollama", "vllm"))]
each_vendor = pytest.mark.parametrize("vendor", VENDORS, ids=lambda one: one.kind)


def opened(client: PlainClient, workspace: Path, **given: Any) -> str:
    client.start(**given)
    return str(client.request("session/new", {"cwd": str(workspace)})["sessionId"])


def choose(client: PlainClient, session: str, model: str) -> None:
    option = {"sessionId": session, "configId": "model", "value": model}
    client.request("session/set_config_option", option)


@each_vendor
def test_a_session_changes_its_vendor_and_goes_back(
    vendor: Vendor, start: Start, workspace: Path
) -> None:
    with vendor.api() as api, FakeMessagesApi() as claude:
        provider = {"name": "anthropic", "baseUrl": claude.url, "apiKey": "sk-ant"}
        settings = {**vendor.settings(api), "provider": provider}
        api.script(vendor.look(), vendor.says("It says alpha."))
        claude.script(text("Claude agrees."))
        client = start()
        session = opened(client, workspace, **settings)
        first = say(client, session, "what do the notes say?")
        assert (first["stopReason"], first["meter"]["accuracy"]) == ("end_turn", "exact"), first
        before = api.requests[-1].body
        assert vendor.secret in json.dumps(before)
        choose(client, session, CLAUDE)
        say(client, session, "and you?")
        assert [claude.refused, api.refused] == [[], []]
        asked = json.dumps(claude.requests[-1].body)
        # Claude is told what was said and done, and nothing that only the other can read.
        assert "It says alpha." in asked
        assert "read_file" in asked
        assert not vendor.secret or vendor.secret not in asked
        choose(client, session, settings["model"])
        client.kill()
        again = start()
        again.start(**settings)
        again.request("session/load", {"sessionId": session, "replay": False})
        say(again, session, "back again")
        after, turns = api.requests[-1].body, vendor.turns
        assert api.refused == []
        assert after[turns][: len(before[turns])] == before[turns]
        assert {k: v for k, v in after.items() if k != turns} == {
            k: v for k, v in before.items() if k != turns
        }
        assert "Claude agrees." in json.dumps(after)


@each_vendor
def test_a_prompt_that_is_too_long_is_told(vendor: Vendor, start: Start, workspace: Path) -> None:
    with vendor.api() as api:
        api.script(vendor.overflows())
        client = start()
        session = opened(client, workspace, **vendor.settings(api))
        failed = say(client, session, "hello")
        assert failed["stopReason"] == "error"
        assert failed["error"]["kind"] == "context_overflow"
        again = say(client, session, "hello again")
        assert again["stopReason"] == "end_turn"


def test_a_wrong_key_is_told_with_what_to_do(start: Start, workspace: Path) -> None:
    with FakeGeminiApi() as api:
        client = start()
        session = opened(client, workspace, **GEMINI.settings(api, "AIza-wrong-key"))
        failed = say(client, session, "hello")
        assert (failed["stopReason"], failed["error"]["kind"]) == ("error", "authentication")
        assert "check the API key" in failed["error"]["message"]
        assert "AIza-wrong-key" not in json.dumps(failed)


@pytest.mark.parametrize(
    ("model", "variable"),
    [
        ("gemini/gemini-3.8-flash", "GEMINI_API_KEY"),
        ("openai/gpt-5.5", "OPENAI_API_KEY"),
        ("openrouter/z-ai/glm", "OPENROUTER_API_KEY"),
    ],
)
def test_a_missing_key_is_told_with_its_variable(
    model: str, variable: str, start: Start, workspace: Path
) -> None:
    client = start()
    failed = say(client, opened(client, workspace, model=model), "hello")
    assert variable in failed["error"]["message"]
