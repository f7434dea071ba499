"""`kill -9` at random moments of a turn: what was shown as complete is there again, whole."""

import os
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.plain import PlainClient

pytestmark = pytest.mark.long

ROUNDS = int(os.environ.get("SIDECAR_KILLS", "8"))
"""`tests/faults/test_killed.py` does more of them, where the system has pidfds."""
TURN = " then ".join(f'call lookup {{"n": {n}}}' for n in range(12))
TOOL = {"name": "lookup", "description": "x", "inputSchema": {"type": "object"}, "kind": "read"}


def lookup(params: Any) -> Any:
    return {"content": [{"type": "text", "text": f"answer {params['input']['n']} " * 300}]}


def completed(client: PlainClient) -> dict[str, str]:
    """Give what each completed call said, by its id."""
    return {
        u["toolCallId"]: u["rawOutput"] for u in client.updates() if u.get("status") == "completed"
    }


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_nothing_acknowledged_is_missing(
    start: Callable[..., PlainClient], workspace: Path, seed: int
) -> None:
    chance = random.Random(seed)
    client = start(answers={"tool/call": lookup}, env={"SIDECAR_OFFLINE_PACE": "0.001"})
    client.start(model="offline")
    session = client.request("session/new", {"cwd": str(workspace), "tools": [TOOL]})["sessionId"]
    prompt = [{"type": "text", "text": TURN}]
    client.send("session/prompt", {"sessionId": session, "prompt": prompt})
    client.wait_for(lambda n: "user_message_chunk" in str(n))
    time.sleep(chance.random() * 0.5)
    client.kill()
    acknowledged = completed(client)
    again = start(answers={"tool/call": lookup})
    again.start(model="offline")
    again.request("session/load", {"sessionId": session})
    there = completed(again)
    assert {k: there.get(k) for k in acknowledged} == acknowledged
    typed = [u["content"]["text"] for u in again.updates("user_message_chunk")]
    assert typed == [TURN]
    unfinished = [
        u for u in again.updates("tool_call") if u["status"] not in ("completed", "failed")
    ]
    assert unfinished == []
    after = {"sessionId": session, "prompt": [{"type": "text", "text": "hello"}]}
    assert again.request("session/prompt", after)["stopReason"] == "end_turn"
