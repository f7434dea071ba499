"""Recorded sessions played through the real daemon, against an API that simulates the cache.

`SIDECAR_RECORDED=all` plays every recording to its end, which takes an hour; else it is the
beginnings of six.
"""

import asyncio
import json
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from sidecar.store.journal import Store
from tests.e2e.plain import PlainClient, Refused
from tests.e2e.recorded import ALL, RECORDED, catalogue, script
from tests.e2e.test_hosted import options, say
from tests.fakes.messages_api import FakeMessagesApi
from tests.fakes.validation import first_difference

Start = Callable[..., PlainClient]
WINDOW = 48_000
"""Small enough that sessions of a few hundred kilobytes are rewritten several times."""
CHOSEN = catalogue(core=False) if ALL else catalogue(core=True)[:6]
TURNS = 10_000 if ALL else 12

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        not RECORDED.is_dir(), reason="recorded sessions are not beside this checkout"
    ),
]


class Played:
    """One recording played to the end, with everything that can be checked about it."""

    def __init__(
        self, start: Start, folder: Path, path: Path, turns: int, restart: bool = True
    ) -> None:
        self.script = script(path, turns)
        self.offset = 0.0
        self.clock = folder / "clock"
        self.folder, self.start = folder, start
        self.results: list[Any] = []
        self.by_hand: Any = None
        self.nothing_to_do = False
        self.updates: list[dict[str, Any]] = []
        with FakeMessagesApi(now=lambda: time.time() + self.offset) as api:
            self.api = api
            client = self._client()
            self.session = self._open(client)
            for number, turn in enumerate(self.script.turns):
                if restart and number == len(self.script.turns) // 2:
                    client = self._again(client)
                self._pause(turn.at)
                api.script(*turn.answers)
                self.results.append(say(client, self.session, turn.words))
            self._try_by_hand(client)
            self._gather(client)
            assert client.stop() == 0

    def _client(self) -> PlainClient:
        # Some recordings call the model more often in one turn than the default allows.
        settings = self.folder / "config" / "sidecar" / "config.toml"
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text("max_steps = 10000\n")
        environment = {
            "SIDECAR_CLOCK_OFFSET_FILE": str(self.clock),
            "XDG_CONFIG_HOME": str(self.folder / "config"),
        }
        self.clock.write_text(str(self.offset))
        answers = {"tool/call": self.script.answer}
        client = self.start(answers=answers, env=environment)
        client.start(**options(self.api))
        return client

    def _open(self, client: PlainClient) -> str:
        workspace = self.folder / "played"
        workspace.mkdir()
        described = {"inputSchema": {"type": "object"}}
        given = [{"name": n, "description": n, **described} for n in self.script.tools]
        opened = client.request(
            "session/new",
            {
                "cwd": str(workspace),
                "tools": given,
                "builtinTools": False,
                "system": "Recorded. " * 600,
                "window": WINDOW,
                "maxTokens": 4_000,
            },
        )
        return str(opened["sessionId"])

    def _again(self, client: PlainClient) -> PlainClient:
        self._gather(client)
        client.kill()
        client = self._client()
        client.request("session/load", {"sessionId": self.session, "replay": False})
        return client

    def _pause(self, at: float) -> None:
        """Move both clocks as far as the recorded user waited.

        What would reach the API just when its cache entries end waits until they have ended.
        """
        before = getattr(self, "_before", at)
        self._before = at
        waited = max(0.0, min(at - before, 7_200.0))
        self.offset += 330.0 if 270.0 < waited < 330.0 else waited
        self.clock.write_text(str(self.offset))

    def _try_by_hand(self, client: PlainClient) -> None:
        params = {"sessionId": self.session}
        before = client.request("context/preview", params)
        planned = client.request("context/compact", {**params, "dryRun": True})
        assert client.request("context/preview", params) == before, "a dry run changed something"
        if not planned["plan"]:
            with pytest.raises(Refused) as refused:
                client.request("context/compact", params)
            self.nothing_to_do = planned["reason"] in str(refused.value)
            return
        done = client.request("context/compact", params)
        after = client.request("context/preview", params)
        undone = client.request(
            "context/undoCompaction", {**params, "compactionId": done["compactionId"]}
        )
        again = client.request("context/preview", params)
        self.by_hand = (planned, done, before, after, undone, again)

    def _gather(self, client: PlainClient) -> None:
        self.updates += [
            n["params"]["update"]
            for n in client.notifications
            if n["method"] == "session/update"
            and n["params"]["update"]["sessionUpdate"] == "compaction_update"
        ]

    def steps(self) -> list[dict[str, Any]]:
        """Read the log's records of steps from the store itself."""

        async def read() -> list[dict[str, Any]]:
            store = await asyncio.to_thread(Store.open, self.folder / "data", now=lambda: 0)
            stored = await store.logs.load(self.session)
            await store.close()
            return [record.body for record in stored.records if record.kind == "step"]

        return asyncio.run(read())


def bare(body: Any) -> Any:
    """Leave out cache markers: they are no part of what is cached."""
    if isinstance(body, dict):
        return {k: bare(v) for k, v in body.items() if k != "cache_control"}
    return [bare(v) for v in body] if isinstance(body, list) else body


@pytest.mark.parametrize("path", CHOSEN or [RECORDED], ids=lambda p: p.name[:36])
def test_every_prompt_extends_the_last_unless_a_rewrite_says_why(
    start: Start, tmp_path: Path, path: Path
) -> None:
    played = Played(start, tmp_path, path, TURNS)
    api = played.api
    assert api.refused == []
    reasons = {result["stopReason"] for result in played.results}
    assert reasons <= {"end_turn", "blocked"}, reasons
    bodies = [request.body for request in api.requests]
    breaks = sum(first_difference(a, b) is not None for a, b in pairwise(bodies))
    automatic = [u for u in played.updates if u["cause"] not in ("user", "undo")]
    assert breaks == len(automatic)
    for update in automatic:
        assert update["price"] is not None
        assert update["tokensAfter"] < update["tokensBefore"]
    for result in played.results:
        meter = result["meter"]
        assert meter["used"] == sum(meter["regions"].values())
        assert meter["accuracy"] == "exact"
    for step in played.steps():
        # Where the static prefix alone is read, its size is known by estimate only, once.
        assert abs(step["predictedRead"] - step["read"]) <= 0.4 * step["read"] + 50, step
    exact = sum(step["predictedRead"] == step["read"] for step in played.steps())
    assert exact >= 0.8 * len(played.steps())
    assert played.by_hand is not None or played.nothing_to_do
    if played.by_hand is not None:
        planned, done, before, after, undone, again = played.by_hand
        # How long a summary gets is known when it is written.
        room = 700 if "<summary>" in done["summary"] else 0
        assert abs(planned["tokensAfter"] - done["tokensAfter"]) <= room
        assert bare(after["request"]) != bare(before["request"])
        assert json.dumps(bare(again["request"])) == json.dumps(bare(before["request"]))
        assert abs(undone["meter"]["used"] - before["tokens"]) <= 0.02 * before["tokens"] + 50
