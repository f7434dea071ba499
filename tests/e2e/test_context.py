"""Rewriting the context of a session through the real daemon: by hand, at bad moments, by kill."""

import base64
import json

import pytest

from sidecar.core.policies import policies
from tests.e2e.desk import LINES, Desk
from tests.fakes.messages_api import status, text, tools

pytestmark = pytest.mark.long

AUTOMATIC = sorted(policies().keys() - {"manual"})
LONG = "prompt is too long: 210000 tokens > 200000 maximum"
TOO_LONG = status(400, "invalid_request_error", LONG)
PNG = base64.b64encode(bytes.fromhex("89504e470d0a1a0a0000000d4948445200000064000000640806000000"))
NOTHING, CONFLICT = -32012, -32801


def test_every_strategy_in_turn_on_one_session(desk: Desk) -> None:
    desk.open()
    done = []
    for strategy in AUTOMATIC:
        desk.work(2, 3)
        if made := desk.compact(strategy):
            done.append(made["compactionId"])
        desk.check()
    desk.work(1, 2)
    assert len(done) > 8
    for compaction in done[::2] + done[1::2]:
        desk("context/undoCompaction", compactionId=compaction)
        assert desk.refused("context/undoCompaction", compactionId=compaction).code == -32012
        desk.check()
        desk.work(1, 1)
    assert len(desk.changes()) == 2 * len(done)
    assert "# src/file_1.py" in desk.shown()
    assert desk.refused("context/undoCompaction", compactionId="cmp_none").code == -32012


def test_a_pinned_part_outlives_every_strategy(desk: Desk) -> None:
    desk.open()
    desk.work(3)
    segments = desk("context/breakdown")["segments"]
    [call] = {s["partId"] for s in segments if s["label"].startswith("# src/file_3.py")}
    result = f"# src/file_3.py\\n{json.dumps(LINES)[1:-1]}"
    desk("context/pin", partId=call, pinned=True)
    for strategy in AUTOMATIC:
        desk.compact(strategy)
        assert result in desk.shown(), strategy
        desk.work(1, 2)
    desk.again()
    assert result in desk.shown()
    desk("context/pin", partId=call, pinned=False)
    desk.work(2, 2)
    desk("context/compact", strategy="economic")
    assert result not in desk.shown()


def test_a_killed_daemon_has_compacted_what_it_said(desk: Desk) -> None:
    desk.open()
    desk.work(3)
    before = desk.shown()
    done = desk("context/compact", strategy="economic")
    desk.again()
    after = desk("context/meter")
    assert after["used"] == done["tokensAfter"]
    assert desk.shown() != before
    desk.work(1, 2)
    desk.again()
    meter = desk("context/meter")
    desk("context/undoCompaction", compactionId=done["compactionId"])
    assert desk("context/meter")["used"] > meter["used"]
    assert desk.changes() == [(done["compactionId"], "undone")]
    kept = desk.shown()
    desk.again()
    assert desk.shown() == kept
    desk.work(1, 2)
    desk.check()


def test_a_restart_between_compacting_and_undoing_changes_no_byte(desk: Desk) -> None:
    desk.open()
    desk.work(3)
    before = desk.shown()
    done = desk("context/compact", strategy="gemini")
    desk.again()
    desk("context/undoCompaction", compactionId=done["compactionId"])
    assert desk.shown() == before
    desk.work(1, 2)


def test_unnamed_the_newest_compaction_that_stands_is_taken_back(desk: Desk) -> None:
    desk.open()
    assert desk.refused("context/undoCompaction").code == -32012
    desk.work(3)
    before = desk.shown()
    desk("context/compact", strategy="gemini")
    desk.again()
    desk("context/undoCompaction")
    assert desk.shown() == before
    assert desk.refused("context/undoCompaction").code == -32012


def test_nothing_is_rewritten_by_itself_when_that_is_off(desk: Desk) -> None:
    desk.open("economic", window=32_000, maxTokens=4_000)
    desk("session/set_config_option", configId="autoCompact", value="off")
    desk.work(2, 6)
    used = desk("context/meter")["used"]
    assert used > 25_000
    desk.api.script(TOO_LONG)
    result = desk.say()
    assert (result["stopReason"], result["error"]["kind"]) == ("error", "context_overflow")
    assert desk.changes() == []
    assert desk.client.request("daemon/status")["metrics"]["rewrites"] == 0
    done = desk("context/compact")
    assert done["tokensAfter"] < used
    assert len(desk.changes()) == 1
    assert desk.client.request("daemon/status")["metrics"]["rewrites"] == 1
    desk.work(1, 1)
    desk.check()


def test_one_refusal_of_the_length_is_one_rewrite_and_one_retry(desk: Desk) -> None:
    desk.open("economic")
    desk.work(3)
    sent = len(desk.api.requests)
    desk.api.script(TOO_LONG, text("It fits."))
    assert desk.say()["stopReason"] == "end_turn"
    assert len(desk.api.requests) == sent + 2
    assert [update["cause"] for update in desk.client.updates("compaction_update")] == ["overflow"]
    desk.check()
    desk.work(1)
    sent = len(desk.api.requests)
    desk.api.script(TOO_LONG, TOO_LONG)
    result = desk.say()
    assert (result["stopReason"], result["error"]["kind"]) == ("error", "context_overflow")
    assert len(desk.api.requests) <= sent + 2
    assert len(desk.changes()) <= 2
    desk.work(1, 1)


def test_what_was_left_out_is_listed_and_searched(desk: Desk) -> None:
    desk.open(builtinTools=True)
    desk.work(3)
    done = desk("context/compact", strategy="picoclaw")["compactionId"]
    listed = desk("context/recall", partId=done)
    lines = listed["content"].splitlines()
    assert listed["totalBytes"] == len(listed["content"].encode())
    assert any("look src/file_2.py" in line for line in lines)
    part = next(line.split(" ")[0] for line in lines if "look src/file_2.py" in line)
    assert desk("context/recall", partId=part)["content"] == f"# src/file_2.py\n{LINES}"
    found = desk("context/recall", partId=done, pattern="^# src/file_2")["content"]
    assert found == f"{part}:1:# src/file_2.py"
    few = desk("context/recall", partId=done, limit=10)
    assert few["content"] == listed["content"][:10]
    rest = desk("context/recall", partId=done, offset=few["nextOffset"])
    assert few["content"] + rest["content"] == listed["content"]
    for pattern in ("(", "a{4000000}", "(" * 400 + "a" + "){1,3}" * 400, "x" * 3_000):
        refused = desk.refused("context/recall", partId=done, pattern=pattern)
        assert refused.data["path"] == "params.pattern"
    assert desk.refused("context/recall", partId="cmp_99").code == -32602
    asked = ("r1", "recall", {"id": done}), ("r2", "recall", {"id": done, "pattern": "file_2"})
    desk.api.script(tools(*asked), text("I see."))
    assert desk.say("What was there?")["stopReason"] == "end_turn"
    results = desk.api.requests[-1].body["messages"][-1]["content"]
    assert "look src/file_2.py" in json.dumps(results[0])
    assert f"{part}:1:# src/file_2.py" in json.dumps(results[1])
    assert not any(result.get("is_error") for result in results)


def test_compacting_while_an_answer_streams(desk: Desk) -> None:
    desk.open()
    desk.work(3)
    desk.api.script(text("A slow answer, word by word. " * 6, pace=0.02), text("Next."))
    turn = desk.ask()
    desk.client.wait_for(lambda n: "A slow" in str(n))
    asked = [desk.send("context/compact", strategy=name) for name in ("economic", "picoclaw")]
    part = desk("context/breakdown")["segments"][-1]["partId"]
    desk("context/pin", partId=part, pinned=True)
    assert desk("context/compact", strategy="economic", dryRun=True)["plan"]
    assert desk.changes() == []
    assert desk.client.result(turn)["stopReason"] == "end_turn"
    made = desk.answered(asked, NOTHING)
    assert made
    assert desk.changes() == [(one["compactionId"], "completed") for one in made]
    desk.check()
    desk.work(1, 2)
    for one in made:
        desk("context/undoCompaction", compactionId=one["compactionId"])
    desk.work(1, 2)


def test_cancelling_while_a_compaction_waits(desk: Desk) -> None:
    desk.open()
    desk.work(3)
    desk.api.script(text("A slow answer, word by word. " * 60, pace=0.05))
    turn = desk.ask()
    desk.client.wait_for(lambda n: "A slow" in str(n))
    asked = desk.send("context/compact", strategy="economic")
    desk.client.notify("session/cancel", {"sessionId": desk.session})
    assert desk.client.result(turn)["stopReason"] == "cancelled"
    made = desk.client.result(asked)
    assert desk.changes() == [(made["compactionId"], "completed")]
    desk.check()
    desk.work(1, 2)


def test_compacting_and_undoing_while_a_tool_runs(desk: Desk) -> None:
    desk.open()
    desk.work(3)
    made: list[str] = []

    def act() -> None:
        before = desk.shown()
        made.append(desk("context/compact", strategy="economic")["compactionId"])
        desk.check()
        assert desk.shown() != before
        desk("context/undoCompaction", compactionId=made[0])
        made.append(desk("context/compact", strategy="picoclaw")["compactionId"])
        desk.check()

    assert desk.during(act, text("Next."))["stopReason"] == "end_turn"
    desk.check()
    first, second = made
    assert desk.changes() == [(first, "completed"), (first, "undone"), (second, "completed")]
    desk.work(1, 2)


def test_several_at_once_at_one_revision(desk: Desk) -> None:
    desk.open()
    desk.work(3)
    revision = desk("context/meter")["revision"]
    given = {"expectedRevision": revision, "strategy": "economic"}
    asked = [desk.send("context/compact", **given) for _ in range(4)]
    [made] = desk.answered(asked, CONFLICT)
    assert desk.changes() == [(made["compactionId"], "completed")]
    back = {"compactionId": made["compactionId"]}
    asked = [desk.send("context/undoCompaction", **back) for _ in range(3)]
    [undone] = desk.answered(asked, NOTHING)
    assert len(desk.changes()) == 2
    stale = desk.refused("context/compact", dryRun=True, expectedRevision=revision)
    assert (stale.code, stale.data["revision"]) == (CONFLICT, undone["revision"])


def test_media_cuts_steering_and_another_model(desk: Desk) -> None:
    desk.open()
    desk.work(1)
    image = {"type": "image", "mimeType": "image/png", "data": PNG.decode()}
    desk.api.script(desk.step(), text("A picture."))
    assert desk.say("See this.", [image])["stopReason"] == "end_turn"
    cancel = {"sessionId": desk.session}
    desk.during(lambda: desk.client.notify("session/cancel", cancel))
    steered: list[int] = []
    desk.during(lambda: steered.append(desk.ask("and the tests", steer=True)), text("Next."))
    assert desk.client.result(steered[0])["stopReason"] == "end_turn"
    desk("session/set_config_option", configId="model", value="claude-opus-4-6")
    desk.work(2)
    for strategy in ("gemini", "economic", "claude-code"):
        before = desk.shown()
        done = desk("context/compact", strategy=strategy)
        desk.check()
        desk("context/undoCompaction", compactionId=done["compactionId"])
        assert desk.shown() == before
        desk("context/compact", strategy=strategy)
        desk.work(1, 1)
    desk.again()
    desk.work(1, 1)


@pytest.mark.parametrize("policy", ["economic", "picoclaw", "temporal", "evict-hybrid"])
def test_turns_end_well_in_very_small_windows(desk: Desk, policy: str) -> None:
    desk.open(policy, window=9_000, maxTokens=2_000, system="Work.")
    for number in range(4):
        desk.api.script(*(desk.step(piece=2_000) for _ in range(4)), text("Seen."))
        result = desk.say(f"Part {number}.")
        assert result["stopReason"] == "end_turn", result
        desk.check()
    told = desk.client.updates("compaction_update")
    assert len({update["compactionId"] for update in told}) == len(told)


def test_what_was_left_out_stays_visible_to_the_user(desk: Desk) -> None:
    desk.open()
    desk.work(3)
    desk("context/compact", strategy="economic")
    results = [f"# src/file_{n}.py\\n{json.dumps(LINES)[1:-1]}" for n in range(1, desk.steps + 1)]
    assert results[0] not in desk.shown()
    desk.client.kill()
    desk.client = desk.daemon()
    desk("session/load", replay=True)
    told = json.dumps(desk.client.updates("tool_call") + desk.client.updates("tool_call_update"))
    assert all(result in told for result in results)
