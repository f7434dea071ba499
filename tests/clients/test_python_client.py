"""The Python client against the real daemon, and its page of usage, run as it stands."""

import asyncio
import re
import sys
from pathlib import Path

import pytest
from sidecar_client import Client, SidecarError, connect
from sidecar_client.calling import Caller
from sidecar_client.checkpoint_calls import CheckpointCalls
from sidecar_client.context_calls import ContextCalls, DaemonCalls, FactCalls
from sidecar_client.document_calls import DocumentCalls
from sidecar_client.messages import AgentMessageChunk, Meter, SessionUpdateParams, ToolDefinition
from sidecar_client.session_calls import SessionCalls

from sidecar.wire.messages import METHODS
from tests.editors.workspaces import lay_trap

ROOT = Path(__file__).parents[2]
DAEMON = (sys.executable, "-m", "sidecar", "serve", "--stdio", "--alone")
TOOL = ToolDefinition(
    name="lookup", description="Looks up.", input_schema={"type": "object"}, kind="search"
)


async def test_a_session_from_start_to_end(tmp_path: Path) -> None:
    updates: list[SessionUpdateParams] = []
    meters: list[Meter] = []
    asked: list[object] = []

    async def lookup(given: object) -> str:
        asked.append(given)
        return "found"

    async with (
        asyncio.timeout(60),
        connect(
            DAEMON,
            options={"model": "offline", "workspaceTrusted": True},
            env={"SIDECAR_DATA_DIR": str(tmp_path / "data")},
            tools={"lookup": lookup},
            on_update=updates.append,
            on_meter=meters.append,
        ) as client,
    ):
        assert "session/prompt" in client.capabilities.features
        session = await client.session.new(tmp_path, tools=[TOOL])
        odd = {"file-path": 1, "class": None, "_x": {"jsonrpc": "2.0"}}
        text = 'call lookup {"file-path": 1, "class": null, "_x": {"jsonrpc": "2.0"}}'
        result = await client.session.prompt(session.session_id, text)
        assert (result.stop_reason, asked) == ("end_turn", [odd])
        said = [u.update for u in updates if isinstance(u.update, AgentMessageChunk)]
        assert said
        assert meters[-1].used == result.meter.used
        meter = await client.context.meter(session.session_id)
        assert meter.regions.tool_results > 0
        part = said[-1].meta["sidecar"]["partId"]  # type: ignore[index]
        recalled = await client.context.recall(session.session_id, part, limit=4)
        assert (recalled.content, recalled.next_offset) == ("Done", 4)
        context = await client.context.breakdown(session.session_id)
        assert sum(piece.tokens for piece in context.segments) == result.meter.used
        pinned = await client.context.pin(session.session_id, part, True)
        assert pinned.revision == result.revision + 1
        assert (
            await client.context.pin(session.session_id, part, False)
        ).revision == result.revision + 2
        assert (await client.facts.list(session_id=session.session_id, kind="decision")).facts == []
        preview = await client.context.preview(session.session_id, "What then?")
        assert "What then?" in str(preview.request["messages"][-1])
        planned = await client.context.compact(
            session.session_id, strategy="economic", keep=[part], dry_run=True
        )
        assert (planned.plan, "nothing worth" in str(planned.reason)) == ([], True)
        with pytest.raises(SidecarError, match="no compaction 'cmp_1'"):
            await client.context.undo_compaction(session.session_id, "cmp_1")
        with pytest.raises(SidecarError) as refused:
            await client.request("session/unheard_of", {"sessionId": session.session_id})
        assert refused.value.code == -32601
        branch = await client.session.fork(session.session_id, result.message_id)
        draft = await client.session.handoff(branch.session_id, "Go on with the lookup.")
        assert "Go on with the lookup." in draft.draft
        again = await client.session.handoff(branch.session_id, "Go on.", go_on=True)
        for made in (branch.session_id, again.session_id):
            assert isinstance(made, str)
            await client.session.delete(made)
        listed = await client.session.list()
        assert [s.session_id for s in listed.sessions] == [session.session_id]
        await client.session.delete(session.session_id)
        assert (await client.session.list()).sessions == []


async def test_cancelling_the_call_cancels_the_turn(tmp_path: Path) -> None:
    started = asyncio.Event()
    ended = asyncio.Event()

    async def lookup(given: object) -> str:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return ""

    async with (
        asyncio.timeout(60),
        connect(
            DAEMON,
            options={"model": "offline"},
            env={"SIDECAR_DATA_DIR": str(tmp_path / "data")},
            tools={"lookup": lookup},
        ) as client,
    ):
        session = await client.session.new(tmp_path, tools=[TOOL])
        turn = asyncio.ensure_future(client.session.prompt(session.session_id, "call lookup {}"))
        await started.wait()
        await client.session.cancel(session.session_id)
        assert (await turn).stop_reason == "cancelled"
        await ended.wait()


def test_the_page_of_usage_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (ROOT / "clients/python/README.md").read_text("utf-8")
    (script,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    monkeypatch.setenv("SIDECAR_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "README.md").write_text("# Hello\n")
    exec(compile(script, "README.md", "exec"), {"__name__": "__main__"})
    shown = capsys.readouterr().out
    assert "Hello" in shown
    assert "end_turn" in shown
    assert "kept whatever is compacted: " in shown
    assert "Translate it into French" in shown
    assert "0 facts" in shown


CALLS = {
    "session": SessionCalls,
    "context": ContextCalls,
    "checkpoint": CheckpointCalls,
    "facts": FactCalls,
    "daemon": DaemonCalls,
    "document": DocumentCalls,
}


def public(of: type) -> set[str]:
    return {name for one in of.mro()[:-1] for name in vars(one) if not name.startswith("_")}


def test_both_clients_have_the_same_methods() -> None:
    source = ROOT / "clients/typescript/src"
    page = "".join((source / name).read_text("utf-8") for name in ("client.ts", "calls.ts"))
    theirs: dict[str, set[str]] = {}
    for part in page.split("export class ")[1:]:
        names = re.findall(r"^  (?:async )?(\w+)(?:<.*?>)?\(", part, re.MULTILINE)
        words = {re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", name) for name in names}
        theirs[part.split()[0]] = words - {"constructor", "if", "for"}
    ours = {of.__name__: {name.rstrip("_") for name in public(of)} for of in CALLS.values()}
    # Here the block of `connect` closes, and requests with a shape are `call`.
    ours["Client"] = (public(Caller) | public(Client)) - {"call"} | {"close"}
    assert theirs == ours


def test_a_method_of_the_protocol_has_its_own_name() -> None:
    # In Python's spelling; ACP has underscores in its own.
    known = {re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name) for name in METHODS}
    for noun, of in CALLS.items():
        if noun != "document":
            assert {f"{noun}/{name.rstrip('_')}" for name in public(of)} <= known


@pytest.mark.parametrize("folders", [".:{}", "{}:", "bin:{}"])
async def test_no_daemon_is_taken_from_a_relative_folder_of_path(
    folders: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_trap(tmp_path)
    monkeypatch.chdir(tmp_path)
    for env in ({"PATH": folders.format("/usr/bin:/bin")}, {}):
        monkeypatch.setenv("PATH", folders.format("/usr/bin:/bin"))
        with pytest.raises(FileNotFoundError):
            async with connect(env=env):
                pytest.fail("it did start")
    assert not (tmp_path / "ran").exists()
