"""`context/…` over the wire, by the real daemon with the real SDK, against the fake API."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.plain import PlainClient, Refused, Spawn
from tests.fakes.messages_api import FakeMessagesApi, text, thinking, tools

pytestmark = pytest.mark.long

Start = Callable[..., PlainClient]
RESULT = "def some_function(argument):\n    return other_function(argument)\n" * 120
LOOK = {"name": "look", "description": "Look.", "inputSchema": {"type": "object"}, "kind": "read"}


@pytest.fixture
def api() -> Iterator[FakeMessagesApi]:
    with FakeMessagesApi() as running:
        yield running


@pytest.fixture
def start(tmp_path: Path, api: FakeMessagesApi, spawn: Spawn | None) -> Iterator[Start]:
    """Start daemons over one store, each with a client's tool; they must end cleanly."""
    started: list[PlainClient] = []

    def look(params: Any) -> Any:
        found = f"# {params['input']['path']}\n{RESULT}"
        return {"content": [{"type": "text", "text": found}]}

    def begin() -> PlainClient:
        client = PlainClient(tmp_path / "data", answers={"tool/call": look}, spawn=spawn)
        started.append(client)
        provider = {"name": "anthropic", "baseUrl": api.url, "apiKey": "sk-test"}
        client.start(model="claude-sonnet-4-6", provider=provider, policy="manual")
        return client

    yield begin
    for client in started:
        if client.process.poll() is None:
            assert client.stop() == 0, client.stderr
        client.close()
    assert api.refused == []


def opened(client: PlainClient, tmp_path: Path) -> str:
    given = {"cwd": str(tmp_path), "tools": [LOOK], "builtinTools": False, "system": "Work. " * 900}
    return str(client.request("session/new", given)["sessionId"])


def blocks(words: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": words}]


def work(client: PlainClient, api: FakeMessagesApi, session: str, turns: int = 3) -> None:
    for _ in range(turns):
        for _ in range(6):
            n = len(api.requests) + len(api._scripted)
            call = tools((f"call{n}", "look", {"path": f"src/file_{n}.py"}), words="Looking.")
            api.script(thinking(f"thought {n}", f"sig{n}", call))
        api.script(text("Seen."))
        params = {"sessionId": session, "prompt": blocks(f"Turn {len(api.requests)}.")}
        assert client.request("session/prompt", params)["stopReason"] == "end_turn"


def plain(request: Any) -> str:
    """A request without what may differ between two that are cached alike."""
    return json.dumps(request).replace(', "cache_control": {"type": "ephemeral"}', "")


def refused(client: PlainClient, method: str, params: Any) -> Refused:
    with pytest.raises(Refused) as error:
        client.request(method, params)
    return error.value


def test_a_preview_is_the_next_body_byte_for_byte(
    start: Start, api: FakeMessagesApi, tmp_path: Path
) -> None:
    client = start()
    session = opened(client, tmp_path)
    params = {"sessionId": session}
    first = client.request("context/preview", {**params, "prompt": blocks("Turn 0.")})
    work(client, api, session)
    assert json.dumps(first["request"]) == json.dumps(api.requests[0].body)
    done = client.request("context/compact", {**params, "strategy": "economic"})
    assert done["tokensAfter"] < done["tokensBefore"]
    words = f"Turn {len(api.requests)}."
    seen = client.request("context/preview", {**params, "prompt": blocks(words)})
    at = len(api.requests)
    work(client, api, session, 1)
    assert json.dumps(seen["request"]) == json.dumps(api.requests[at].body)
    assert seen["predictedCacheRead"] > 0
    assert seen["predictedCacheWrite"] > 0
    assert float(seen["price"]) > 0
    marked = sum(
        "cache_control" in json.dumps(b) for m in seen["request"]["messages"] for b in m["content"]
    )
    assert len(seen["breakpoints"]) == marked + 1
    stands = client.request("context/preview", params)["request"]["messages"]
    assert stands[-1]["role"] == "assistant"


def test_a_compaction_is_foreseen_done_and_taken_back(
    start: Start, api: FakeMessagesApi, tmp_path: Path
) -> None:
    client = start()
    session = opened(client, tmp_path)
    params = {"sessionId": session}
    empty = client.request("context/compact", {**params, "dryRun": True})
    assert (empty["plan"], empty["tokensAfter"]) == ([], empty["tokensBefore"])
    nothing = refused(client, "context/compact", params)
    assert str(nothing) == empty["reason"]
    assert (nothing.code, nothing.data["kind"]) == (-32012, "nothing_to_do")
    work(client, api, session)
    before = client.request("context/preview", params)
    meter = client.request("context/meter", params)
    planned = client.request("context/compact", {**params, "dryRun": True})
    assert client.request("context/meter", params) == meter
    assert planned["plan"]
    assert {"action", "reason", "tokensBefore", "tokensAfter"} <= planned["plan"][0].keys()
    assert isinstance(planned["breakEvenRequests"], int)
    assert meter["cost"]["compactNow"] == planned["price"]
    stale = {**params, "expectedRevision": meter["revision"] - 1}
    assert refused(client, "context/compact", stale).code == -32801
    odd = refused(client, "context/compact", {**params, "strategy": "magic"})
    assert (odd.code, odd.data["path"]) == (-32602, "params.strategy")
    done = client.request("context/compact", {**params, "expectedRevision": meter["revision"]})
    assert {**done, "compactionId": None} == {**planned, "compactionId": None}
    after = client.request("context/meter", params)
    assert after["used"] == done["tokensAfter"] == sum(after["regions"].values())
    assert after["revision"] > meter["revision"]
    [update] = client.updates("compaction_update")
    assert update["compactionId"] == done["compactionId"]
    assert (update["status"], update["cause"]) == ("completed", "user")
    assert (update["tokensBefore"], update["tokensAfter"]) == (meter["used"], after["used"])
    changed = [n["params"] for n in client.notifications if n["method"] == "context/meterChanged"]
    assert changed[-1]["used"] == after["used"]
    told = client.request("context/recall", {**params, "partId": done["compactionId"]})
    assert "look src/file_1.py" in told["content"]
    back = {**params, "compactionId": done["compactionId"]}
    undone = client.request("context/undoCompaction", back)
    assert undone["meter"]["used"] == meter["used"]
    assert undone["revision"] == undone["meter"]["revision"] > after["revision"]
    assert plain(client.request("context/preview", params)["request"]) == plain(before["request"])
    assert refused(client, "context/undoCompaction", back).code == -32012
    assert [u["status"] for u in client.updates("compaction_update")] == ["completed", "undone"]
    work(client, api, session, 1)


def test_segments_add_up_over_the_wire(start: Start, api: FakeMessagesApi, tmp_path: Path) -> None:
    client = start()
    session = opened(client, tmp_path)
    params = {"sessionId": session}
    work(client, api, session)
    call = client.request("context/breakdown", params)["segments"][-3]
    pinned = client.request("context/pin", {**params, "partId": call["partId"], "pinned": True})
    assert pinned["revision"] == client.request("context/meter", params)["revision"]
    assert refused(client, "context/pin", {**params, "partId": "no", "pinned": True}).code == -32602
    client.request("context/compact", {**params, "strategy": "economic"})
    told = client.request("context/breakdown", params)
    assert told["meter"] == client.request("context/meter", params)
    assert sum(s["tokens"] for s in told["segments"]) == told["meter"]["used"]
    [kept] = [s for s in told["segments"] if s["id"] == call["id"]]
    assert (kept["presentation"], kept["region"]) == ("verbatim", call["region"])
    assert {s["partId"] for s in told["segments"] if s["pinned"]} == {call["partId"]}
    whole = {s["id"] for s in told["segments"] if s["presentation"] in ("verbatim", "note")}
    assert len(whole) < len(told["segments"])
    why = {s["id"]: s["reason"] for s in told["segments"] if "reason" in s}
    assert why.keys() == {s["id"] for s in told["segments"]} - whole
    assert all(reason.endswith("tokens: asked for") for reason in why.values())
    client.request("context/undo_compaction", params)
    again = client.request("context/breakdown", params)["segments"]
    assert not [s for s in again if s["presentation"] == "verbatim" and "reason" in s]


def test_a_compaction_leaves_what_it_is_told_to_keep_this_once(
    start: Start, api: FakeMessagesApi, tmp_path: Path
) -> None:
    client = start()
    session = opened(client, tmp_path)
    params = {"sessionId": session, "strategy": "economic"}
    work(client, api, session)
    planned = client.request("context/compact", {**params, "dryRun": True})
    first, second = [
        step["partId"]
        for step in planned["plan"]
        if step["reason"] != "thinking after an edited part cannot be sent"
    ][:2]
    odd = refused(client, "context/compact", {**params, "keep": [first, "no"]})
    assert (odd.code, odd.data["path"]) == (-32602, "params.keep")
    kept = {**params, "keep": [first]}
    other = client.request("context/compact", {**kept, "dryRun": True})
    gone = [step["partId"] for step in other["plan"]]
    assert (first in gone, second in gone) == (False, True)
    assert planned["tokensAfter"] < other["tokensAfter"] < other["tokensBefore"]
    done = client.request("context/compact", kept)
    assert {**done, "compactionId": None} == {**other, "compactionId": None}
    told = client.request("context/breakdown", {"sessionId": session})["segments"]
    how = {s["partId"]: s["presentation"] for s in told if "partId" in s}
    assert (how[first], how.get(second) == "verbatim") == ("verbatim", False)
    client.request("context/undoCompaction", {"sessionId": session})
    again = client.request("context/compact", {**params, "dryRun": True})
    assert again["plan"] == planned["plan"]


def test_another_window_sees_all_and_changes_nothing(
    start: Start, api: FakeMessagesApi, tmp_path: Path
) -> None:
    one = start()
    session = opened(one, tmp_path)
    params = {"sessionId": session}
    work(one, api, session)
    done = one.request("context/compact", {**params, "strategy": "economic"})
    work(one, api, session)
    two = start()
    assert two.request("session/load", {**params, "replay": False})["readOnly"] is True
    ours, theirs = (client.request("context/preview", params) for client in (one, two))
    assert (theirs["request"], theirs["tokens"]) == (ours["request"], ours["tokens"])
    assert theirs["predictedCacheRead"] > 0
    ours, theirs = (client.request("context/breakdown", params) for client in (one, two))
    prices = [float(shown["meter"]["cost"].pop("compactNow")) for shown in (ours, theirs)]
    # A plan that was not carried out has ids of its own, which may be a token longer or shorter.
    assert prices[0] == pytest.approx(prices[1], abs=0.00005)
    assert theirs == ours
    two.request("context/compact", {**params, "strategy": "picoclaw", "dryRun": True})
    for method, given in (
        ("context/compact", {"strategy": "picoclaw"}),
        ("context/undoCompaction", {"compactionId": done["compactionId"]}),
        ("context/pin", {"partId": "part", "pinned": True}),
    ):
        error = refused(two, method, {**params, **given})
        assert error.code == -32011
        assert error.data["owner"]["pid"] == one.process.pid
    one.kill()
    taken = two.request("context/undoCompaction", {**params, "compactionId": done["compactionId"]})
    assert taken["meter"]["used"] > done["tokensAfter"]
