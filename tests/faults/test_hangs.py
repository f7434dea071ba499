"""What never ends by itself, a command or an answer of the model: it is given up, in words."""

import json
from functools import partial
from pathlib import Path

import pytest

from tests.e2e.plain import PlainClient, Spawn, each_ending_well
from tests.fakes.messages_api import FakeMessagesApi, broken, text
from tests.faults import crowd
from tests.faults.place import Place

pytestmark = pytest.mark.long

spawn = crowd.spawn

STALL = 1.5


def test_a_daemon_answers_while_a_tool_hangs(place: Place) -> None:
    place.say("before")
    client = place.client
    call = {"command": "echo begun; sleep 600", "timeoutMs": 2_000}
    prompt = [{"type": "text", "text": f"call shell {json.dumps(call)}"}]
    turn = client.send("session/prompt", {"sessionId": place.session, "prompt": prompt})
    client.wait_for(lambda n: "in_progress" in str(n))
    status = client.request("daemon/status")
    assert status["pid"] == client.pid
    place("context/meter")
    place("context/preview")
    assert not client.answered(turn), "it answered after the command, not while it ran"
    assert client.result(turn)["stopReason"] == "end_turn"
    (ended,) = [u for u in client.updates() if u.get("status") in ("completed", "failed")]
    assert ended["status"] == "failed"
    assert "begun" in str(ended)
    assert "did not end within 2000 ms; timeoutMs allows more" in str(ended)
    place.say("after")


def test_a_turn_ends_when_a_model_only_drips(tmp_path: Path, spawn: Spawn | None) -> None:
    work = tmp_path / "work"
    work.mkdir()
    with FakeMessagesApi() as api, each_ending_well(partial(PlainClient, spawn=spawn)) as begin:
        client = begin(data=tmp_path / "data", env={"SIDECAR_MODEL_STALL": str(STALL)})
        provider = {"name": "anthropic", "baseUrl": api.url, "apiKey": "sk-test"}
        client.start(
            model="claude-sonnet-4-6", provider=provider, config={"retry": {"attempts": 1}}
        )
        about = {"cwd": str(work), "builtinTools": False}
        session = client.request("session/new", about)["sessionId"]

        def ask(words: str) -> int:
            prompt = [{"type": "text", "text": words}]
            return client.send("session/prompt", {"sessionId": session, "prompt": prompt})

        api.script(broken("drip", after=5), text("Here I am."))
        turn = ask("hello")
        client.wait_for(lambda n: "agent_message_chunk" in str(n))
        assert client.request("daemon/status")["pid"] == client.pid
        ended = client.result(turn)
        assert ended["stopReason"] == "error"
        assert "the model sent nothing whole for 1.5 seconds" in ended["error"]["message"]
        assert "send the prompt again" in ended["error"]["message"]
        assert api.closed_early.wait(10), "the connection is held although it was given up"
        assert client.result(ask("again"))["stopReason"] == "end_turn"
        # Where a text is cut into chunks is nobody's promise.
        said = "".join(u["content"]["text"] for u in client.updates("agent_message_chunk"))
        assert said.endswith("Here I am.")
        assert (api.refused, api.prefix_breaks) == ([], [])
