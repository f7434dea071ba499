"""The provider's own compaction as one more summariser, over the wire, with the real SDK."""

import asyncio
import json
import threading
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from msgspec import UNSET
from sidecar_client import connect
from sidecar_client.messages import ToolDefinition

from sidecar.commands.inspect import audit_command
from tests.clients.test_python_client import DAEMON
from tests.e2e.desk import LINES, Desk, bare
from tests.e2e.plain import LIMIT, Refused
from tests.fakes.messages_api import FakeMessagesApi, Reply, status, text, tools
from tests.fakes.scripted_model import SUMMARY
from tests.fakes.validation import COMPACTING

pytestmark = pytest.mark.long

MODEL = "claude-sonnet-4-6"
STRATEGY = "opencode"
SAID = "the server drops the fourth"
USED = {"input_tokens": 900, "cache_read_input_tokens": 12_000, "output_tokens_final": 200}
COST = Decimal("0.0093")
"""What the model's card says of that: 3, 0.30 and 15 USD a million."""
Audited = Callable[[], list[Any]]
LOOK = ToolDefinition(
    name="look", description="Look.", input_schema={"type": "object"}, kind="read"
)


def cheap(*_: object) -> Reply:
    return text(SUMMARY, usage=USED)


def by_server(api: FakeMessagesApi) -> list[bool]:
    """Of each request for a summary, whether it asked for the provider's own."""
    return ["compaction" in request.body for request in api.summaries]


@pytest.fixture
def audited(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Audited:
    """What the log says of the rewrites and of what was asked beside the conversation."""
    monkeypatch.setenv("SIDECAR_DATA_DIR", str(tmp_path / "data"))

    def read() -> list[Any]:
        capsys.readouterr()
        assert audit_command.show(desk.session, last=False) == 0
        lines = map(json.loads, capsys.readouterr().out.splitlines())
        return [line for line in lines if line["decision"] in ("compaction", "asked")]

    return read


async def test_a_compaction_by_the_server_is_a_view_like_others(tmp_path: Path) -> None:
    with FakeMessagesApi() as api:
        api.summarise = cheap
        provider = {"name": "anthropic", "baseUrl": api.url, "apiKey": "sk-test"}
        options = {"model": MODEL, "provider": provider, "policy": "manual"}

        async def look(given: Any) -> str:
            return f"# {given['path']}\n{LINES}"

        async with (
            asyncio.timeout(60),
            connect(
                DAEMON,
                options={**options, "workspaceTrusted": True},
                env={"SIDECAR_DATA_DIR": str(tmp_path / "data")},
                tools={"look": look},
            ) as client,
        ):
            session = (
                await client.session.new(tmp_path, tools=[LOOK], system="Work. " * 600)
            ).session_id
            for turn in range(3):
                calls = [
                    tools((f"call{turn}{n}", "look", {"path": f"{n}.py"}), piece=2_000)
                    for n in range(5)
                ]
                api.script(*calls, text("Seen."))
                await client.session.prompt(session, "Look at the next files.")
            before = (await client.context.preview(session)).request
            spent = (await client.context.meter(session)).cost.session
            planned = await client.context.compact(
                session, strategy=STRATEGY, instructions="Mind the tests.", dry_run=True
            )
            assert api.summaries == []
            assert planned.asked == [f"server {MODEL}"]
            done = await client.context.compact(
                session, strategy=STRATEGY, instructions="Mind the tests."
            )
            [asked] = api.summaries
            assert asked.headers["anthropic-beta"] == COMPACTING
            assert asked.body["compaction"]["type"] == "summarize"
            assert "Mind the tests." in asked.body["compaction"]["instructions"]
            # The conversation as it stands, behind what is cached already.
            assert bare(asked.body["messages"]) == bare(before["messages"])
            assert bare([asked.body["system"], asked.body["tools"]]) == bare(
                [before["system"], before["tools"]]
            )
            known = asked.body["messages"][: len(api.requests[-1].body["messages"])]
            assert bare(known) == bare(api.requests[-1].body["messages"])
            assert "cache_control" in json.dumps(known)
            # What it cost is what its iterations came to.
            now = (await client.context.meter(session)).cost.session
            assert Decimal(str(now)) - Decimal(str(spent)) == COST
            assert Decimal(str(done.price)) >= COST
            assert Decimal(str(planned.price)) > 0
            assert SAID in str(done.summary)
            assert (done.asked, done.problem) == ([f"server {MODEL}"], UNSET)
            after = (await client.context.preview(session)).request
            assert SAID in json.dumps(after)
            assert len(json.dumps(after)) < 0.6 * len(json.dumps(before))
            await client.session.prompt(session, "Go on.")
            sent = api.requests[-1]
            assert SAID in json.dumps(sent.body)
            assert "anthropic-beta" not in sent.headers
            await client.context.undo_compaction(session, done.compaction_id)
            back = (await client.context.preview(session)).request
            assert bare(back["messages"][: len(before["messages"])]) == bare(before["messages"])
        assert api.refused == []


def test_its_price_and_what_was_foreseen_stand_in_the_audit(desk: Desk, audited: Audited) -> None:
    desk.api.summarise = cheap
    desk.open()
    desk.work(3)
    before = desk.shown()
    done = desk("context/compact", strategy=STRATEGY)
    asked, made = audited()
    assert (asked["purpose"], asked["model"], Decimal(asked["cost"])) == ("compaction", MODEL, COST)
    assert asked["usage"]["input"] == 900
    summary = made["summary"]
    assert (summary["by"], summary["calls"], summary["problem"]) == ("model", 1, "")
    assert summary["ways"]["asked"] == f"server {MODEL}"
    assert summary["ways"][f"server {MODEL}"] == summary["ways"][f"extension {MODEL}"]
    # As its prompt was foreseen it would have cost more; the answer is as long as it is.
    assert COST < Decimal(asked["foreseen"]) < Decimal(summary["ways"][f"server {MODEL}"])
    desk("context/undoCompaction", compactionId=done["compactionId"])
    assert desk.shown() == before


@pytest.mark.parametrize(("dearer", "again"), [(False, True), (True, False)])
def test_it_is_asked_again_only_where_it_has_come_to_no_more(
    desk: Desk, audited: Audited, dearer: bool, again: bool
) -> None:
    dear = {**USED, "input_tokens": 400_000}
    desk.api.summarise = lambda *_: text(SUMMARY, usage=dear if dearer else USED)
    desk.open()
    for _ in range(2):
        desk.work(3)
        desk("context/compact", strategy=STRATEGY)
    assert by_server(desk.api) == [True, again]
    ways = audited()[-1]["summary"]["ways"]
    server, own = (Decimal(ways[f"{way} {MODEL}"]) for way in ("server", "extension"))
    assert (server < own) is again


REFUSED = status(400, "invalid_request_error", "compaction: not for this organization")


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (REFUSED, "not for this organization"),
        (text("Half a summ", stop="max_tokens", usage=USED), "max_tokens"),
        (text("", stop="refusal", usage=USED), "refusal"),
        (tools(("t1", "look", {"path": "a"}), usage=USED), "tool_use"),
        (text("", usage=USED), "end_turn"),
    ],
    ids=["400", "max_tokens", "refusal", "tool_use", "nothing"],
)
def test_where_it_fails_our_own_question_is_asked_and_that_is_told(
    desk: Desk, audited: Audited, answer: Reply, why: str
) -> None:
    desk.api.summarise = lambda body, _: answer if "compaction" in body else cheap()
    desk.open()
    desk.work(3)
    before = desk("context/meter")["cost"]["session"]
    done = desk("context/compact", strategy=STRATEGY)
    assert SAID in desk.shown()
    summary = audited()[-1]["summary"]
    assert done["asked"] == [f"server {MODEL}", f"extension {MODEL}"]
    assert done["problem"] == summary["problem"]
    assert Decimal(done["price"]) >= Decimal(summary["cost"])
    assert (summary["by"], summary["calls"]) == ("model", 2)
    assert summary["problem"].startswith("the provider's own compaction failed: ")
    assert why in summary["problem"]
    assert summary["ways"]["asked"] == f"server {MODEL}, extension {MODEL}"
    both = COST if answer is REFUSED else 2 * COST
    spent = Decimal(desk("context/meter")["cost"]["session"]) - Decimal(before)
    assert Decimal(summary["cost"]) == spent == both
    desk.work(3)
    desk("context/compact", strategy=STRATEGY)
    assert by_server(desk.api) == [True, False, False]
    desk.check()


def test_a_policy_has_it_written_in_a_turn_too(desk: Desk, audited: Audited) -> None:
    desk.api.summarise = cheap
    desk.open(STRATEGY, window=48_000, maxTokens=4_000)
    while not desk.api.summaries:
        desk.work(1)
    assert all(by_server(desk.api))
    asked = [line for line in audited() if line["decision"] == "asked"]
    assert {line["cost"] for line in asked} == {str(COST)}
    meter = desk("context/meter")
    assert Decimal(meter["cost"]["lastTurn"]) > COST * len(asked)
    assert SAID in desk.shown()


def test_it_is_not_asked_where_that_is_off(desk: Desk) -> None:
    desk.client.kill()
    desk.options = {"config": {"serverSummaries": False}}
    desk.client = desk.daemon()
    desk.open()
    desk.work(3)
    desk("context/compact", strategy=STRATEGY)
    assert by_server(desk.api) == [False]


def test_a_model_that_has_none_is_not_asked_for_it(desk: Desk) -> None:
    desk.open(model="claude-haiku-4-5")
    desk.work(3)
    desk("context/compact", strategy=STRATEGY)
    assert by_server(desk.api) == [False]
    assert SAID in desk.shown()


def cancel(desk: Desk, request: int) -> None:
    desk.client.notify("$/cancelRequest", {"id": request})
    with pytest.raises(Refused) as refused:
        desk.client.result(request)
    assert refused.value.code == -32800


def kill(desk: Desk, _: int) -> None:
    desk.again()


@pytest.mark.parametrize("end", [cancel, kill])
def test_what_is_cancelled_or_killed_meanwhile_leaves_the_session_as_it_was(
    desk: Desk, end: Callable[[Desk, int], None]
) -> None:
    asked, go_on = threading.Event(), threading.Event()

    def slowly(*_: Any) -> Reply:
        asked.set()
        go_on.wait(LIMIT)
        return cheap()

    desk.api.summarise = slowly
    desk.open()
    desk.work(3)
    before = desk.shown()
    request = desk.send("context/compact", strategy=STRATEGY)
    assert asked.wait(LIMIT)
    end(desk, request)
    go_on.set()
    assert by_server(desk.api) == [True]
    assert desk.shown() == before
    assert desk.changes() == []
    assert desk.refused("context/undoCompaction").code == -32012
    desk.work(1)
    desk("context/compact", strategy=STRATEGY)
    assert SAID in desk.shown()
