"""Sessions that go on from another, through the real daemon: forks, handoffs, by kill."""

import asyncio
import json
import random
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from sidecar.store.journal import Store
from tests.e2e.desk import Desk, Start, bare
from tests.e2e.plain import LIMIT, PlainClient, Refused
from tests.fakes.messages_api import text

pytestmark = pytest.mark.long

UNKNOWN_SESSION, INVALID = -32010, -32602
ROUNDS = 3
LOOK = {"name": "lookup", "description": "x", "inputSchema": {"type": "object"}, "kind": "read"}


def fork(desk: Desk, at: str | None = None) -> Any:
    """Fork the desk's session and go on in the fork; gives the answer."""
    given = {} if at is None else {"atMessageId": at}
    made = desk("session/fork", **given)
    desk.session = made["sessionId"]
    return made


def lines(client: PlainClient) -> dict[str, Any]:
    return {line["sessionId"]: line for line in client.request("session/list", {})["sessions"]}


def messages(desk: Desk) -> list[str]:
    """The ids of the messages that the client was told of, in order."""
    told = (update.get("_meta", {}).get("sidecar", {}) for update in desk.client.updates())
    return list(dict.fromkeys(t["messageId"] for t in told if "messageId" in t))


def test_a_fork_reads_its_parents_cache_and_goes_its_own_way(desk: Desk) -> None:
    desk.open(title="Look around")
    desk.work(2, 3)
    parent, before = desk.session, desk.shown()
    made = fork(desk)
    assert desk.shown() == before
    assert made["revision"] == desk("context/meter")["revision"]
    desk.api.script(desk.step(piece=2_000), text("Elsewhere."))
    result = desk.say("Look elsewhere.")
    assert result["usage"]["cachedReadTokens"] > 0.8 * result["usage"]["totalTokens"]
    assert float(result["meter"]["cost"]["session"]) == float(result["cost"]) > 0
    assert "lastBreak" not in result["meter"]["cache"]
    told = lines(desk.client)
    assert told[desk.session]["title"] == "Look around (fork)"
    assert told[desk.session]["parent"] == parent
    assert "parent" not in told[parent]
    desk.check()
    desk.session = parent
    assert desk.shown() == before


def test_a_fork_at_any_message_is_legal_and_warm(desk: Desk) -> None:
    desk.open()
    desk.work(2, 3)
    parent = desk.session
    found = messages(desk)
    assert len(found) == 10
    for at in found[1:]:
        desk.session = parent
        fork(desk, at)
        asked = desk.say("And now?")
        assert asked["usage"]["cachedReadTokens"] > 0, at
    desk.session = parent
    error = desk.refused("session/fork", atMessageId="msg_none")
    assert (error.code, error.data["path"]) == (INVALID, "params.atMessageId")
    desk.session = "ses_none"
    assert desk.refused("session/fork").code == UNKNOWN_SESSION


def test_a_fork_while_a_tool_runs_has_what_is_settled(desk: Desk) -> None:
    desk.open()
    desk.work(1, 2)
    parent, made = desk.session, []
    desk.during(lambda: made.append(desk("session/fork")["sessionId"]), text("Done."))
    desk.session = made[0]
    assert desk.say("Go on here.")["stopReason"] == "end_turn"
    assert "file_3.py" not in desk.shown()
    desk.session = parent
    assert "file_3.py" in desk.shown()


def test_a_fork_has_the_rewrites_of_before_and_outlives_its_parent(desk: Desk) -> None:
    desk.open()
    desk.work(3, 4)
    at = messages(desk)[-1]
    whole = desk.shown()
    done = desk.compact("economic")
    desk.work(1, 1)
    parent, short = desk.session, desk.shown()
    fork(desk)
    assert desk.shown() == short
    newest = desk.session
    desk.session = parent
    fork(desk, at)
    assert len(desk.shown()) < len(whole)
    desk.session = parent
    desk("session/delete")
    desk.session = newest
    desk.again()
    assert desk.shown() == short
    desk("context/undoCompaction", compactionId=done["compactionId"])
    assert "# src/file_1.py" in desk.shown()
    desk.check()


def test_a_read_only_session_can_be_forked(desk: Desk) -> None:
    desk.open()
    desk.work(1, 2)
    other = desk.daemon()
    assert desk("session/load", other, replay=False)["readOnly"] is True
    made = desk("session/fork", other)["sessionId"]
    desk.session = made
    answered = desk("session/prompt", other, prompt=[{"type": "text", "text": "Go on."}])
    assert answered["stopReason"] == "end_turn"


def test_a_handoff_is_a_draft_and_a_linked_session(desk: Desk) -> None:
    desk.open(title="Look around")
    desk.work(2, 2)
    asked = len(desk.api.requests)
    made = desk("session/handoff", goal="Look at src/file_2.py again")
    assert len(desk.api.requests) == asked
    assert made["draft"].startswith("# Goal\n\nLook at src/file_2.py again\n")
    assert "> Look at the next files." in made["draft"]
    assert "sessionId" not in made
    assert desk("session/handoff", goal="Look at src/file_2.py again") == made
    parent = desk.session
    desk.open(**{"from": parent})
    assert lines(desk.client)[desk.session]["parent"] == parent
    assert desk.say(made["draft"])["stopReason"] == "end_turn"
    assert "Look at src/file_2.py again" in str(desk.api.requests[-1].body)
    desk.session = parent
    error = desk.refused("session/handoff", goal="")
    assert (error.code, error.data["path"]) == (INVALID, "params.goal")
    desk.session = "ses_none"
    assert desk.refused("session/handoff", goal="x").code == UNKNOWN_SESSION
    with pytest.raises(Refused) as unknown:
        desk.open(**{"from": "ses_none"})
    assert unknown.value.code == UNKNOWN_SESSION


def test_a_session_that_another_window_writes_is_handed_on(desk: Desk) -> None:
    desk.open()
    desk.work(1, 2)
    other = desk.daemon()
    assert desk("session/load", other, replay=False)["readOnly"] is True
    here, there = (desk("session/handoff", who, goal="Go on") for who in (None, other))
    assert here == there
    made = desk("session/handoff", other, goal="", **{"continue": True})
    assert made["draft"].startswith("# Goal\n\nLook at the next files.\n")
    told = lines(other)[made["sessionId"]]
    assert (told["parent"], told["turns"], told["cost"]) == (desk.session, 0, "0")
    desk.session = made["sessionId"]
    assert desk("session/load", other, replay=False)["readOnly"] is False


@pytest.mark.parametrize("seed", range(ROUNDS))
@pytest.mark.parametrize("method", ["session/fork", "session/handoff"])
def test_kill_leaves_a_whole_session_or_none(
    start: Start, workspace: Path, method: str, seed: int
) -> None:
    given = {"goal": "Go on", "continue": True} if method == "session/handoff" else {}
    chance = random.Random(seed)

    def answer(params: Any) -> Any:
        return {"content": [{"type": "text", "text": f"{params['input']['n']} is it " * 300}]}

    client = start(answers={"tool/call": answer})
    client.start(model="offline")
    about = {"cwd": str(workspace), "tools": [LOOK]}
    parent = client.request("session/new", about)["sessionId"]
    words = " then ".join(f'call lookup {{"n": {n}}}' for n in range(12))
    prompt = {"sessionId": parent, "prompt": [{"type": "text", "text": words}]}
    assert client.request("session/prompt", prompt)["stopReason"] == "end_turn"
    before = bare(client.request("context/preview", {"sessionId": parent})["request"])
    acknowledged: list[str] = []
    enough = threading.Event()

    def fork_again_and_again() -> None:
        with suppress(Exception):
            while True:
                if len(acknowledged) == seed % 3:
                    enough.set()
                made = client.request(method, {"sessionId": parent, **given}, limit=5)
                acknowledged.append(made["sessionId"])

    busy = threading.Thread(target=fork_again_and_again, daemon=True)
    busy.start()
    assert enough.wait(LIMIT)
    time.sleep(chance.random() * 0.05)
    client.kill()
    busy.join(10)
    assert not busy.is_alive()
    again = start(answers={"tool/call": answer})
    again.start(model="offline")
    forks = [line for line in lines(again).values() if line.get("parent") == parent]
    assert {line["sessionId"] for line in forks} >= set(acknowledged)
    for line in forks:
        shown = again.request("context/preview", {"sessionId": line["sessionId"]})["request"]
        if method == "session/fork":
            assert bare(shown) == before
        else:
            assert shown["messages"] == []
            assert shown["tools"] == json.loads(before)["tools"]
    assert again.stop() == 0
    assert problems(workspace.parent / "data") == ()


def problems(data: Path) -> tuple[str, ...]:
    """What a verification of the store finds."""

    async def verify() -> tuple[str, ...]:
        store = Store.open(data, now=lambda: 0)
        try:
            return (await store.verify()).problems
        finally:
            await store.close()

    return asyncio.run(verify())
