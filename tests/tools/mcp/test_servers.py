"""MCP servers, by real processes and the official SDK on both sides."""

import asyncio
import re
import shlex
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sidecar.config.mcp_settings import McpServer
from sidecar.tools.mcp import servers as mcp
from sidecar.tools.mcp.servers import McpServers
from sidecar.tools.mcp_names import server_of, tool_name
from sidecar.workspace.trust import StartingPlaces

pytestmark = pytest.mark.long

SERVER = str(Path(__file__).parents[2] / "fakes" / "mcp_server.py")


def notes(name: str = "notes", *words: str) -> McpServer:
    return McpServer(name, (sys.executable, SERVER, *words), {"MEANING": "42"})


def here(folder: Path) -> StartingPlaces:
    """Say that servers start in a folder, which is trusted."""
    return StartingPlaces(folder, folder / "empty", trusted=True)


@asynccontextmanager
async def running() -> AsyncIterator[McpServers]:
    servers = McpServers()
    task = asyncio.ensure_future(servers.run())
    await asyncio.sleep(0)
    try:
        async with asyncio.timeout(60):
            yield servers
    finally:
        task.cancel()
        await asyncio.wait({task})


async def test_tools_are_named_by_server_and_called(tmp_path: Path) -> None:
    async with running() as servers:
        servers.provide("one", [notes()], here(tmp_path))
        found = await servers.found("one")
        assert found.said == ()
        tools = {tool.name: tool for tool in found.tools}
        assert set(tools) == {
            f"mcp__notes__{name}" for name in ("lookup", "fetch", "leave", "refuse")
        }
        lookup = tools["mcp__notes__lookup"]
        assert (lookup.kind, lookup.read_only, lookup.origin) == ("read", True, "mcp")
        assert tools["mcp__notes__refuse"].kind == "execute"
        # What it is asked for may leave this machine, so the user is.
        fetch = tools["mcp__notes__fetch"]
        assert (fetch.kind, fetch.read_only) == ("execute", True)
        assert server_of(lookup) == "notes"
        assert lookup.input_schema["required"] == ["word"]
        answer = await servers.call("one", "mcp__notes__lookup", {"word": "it"})
        assert (answer.text, answer.is_error) == ("it means 42", False)
        refused = await servers.call("one", "mcp__notes__refuse", {})
        assert refused.is_error
        assert "refuse" in refused.text
        wrong = await servers.call("one", "mcp__notes__lookup", {"word": []})
        assert wrong.is_error


async def test_a_server_that_is_asked_for_before_servers_run_is_started_with_them(
    tmp_path: Path,
) -> None:
    servers = McpServers()
    servers.provide("one", [notes()], here(tmp_path))
    task = asyncio.ensure_future(servers.run())
    async with asyncio.timeout(60):
        found = await servers.found("one")
    task.cancel()
    await asyncio.wait({task})
    assert found.said == ()
    assert found.tools


async def test_what_is_said_of_a_tool_is_of_the_one_that_is_called(tmp_path: Path) -> None:
    async with running() as servers:
        servers.provide("one", [notes("notes", "twice")], here(tmp_path))
        tools = (await servers.found("one")).tools
        dotted, plain = (tool for tool in tools if tool.name.startswith("mcp__notes__look_up"))
        assert (dotted.kind, dotted.read_only) == ("execute", False)
        assert (plain.kind, plain.name) == ("read", "mcp__notes__look_up")
        assert (await servers.call("one", dotted.name, {"word": "it"})).is_error
        assert (await servers.call("one", plain.name, {"word": "it"})).text == "it means 42"


async def test_servers_of_like_names_are_told_apart(tmp_path: Path) -> None:
    async with running() as servers:
        names = ("a_b", "a+b", "s" * 60)
        servers.provide("one", [notes(name) for name in names], here(tmp_path))
        found = [tool for tool in (await servers.found("one")).tools if "lookup" in tool.name]
        assert len({server_of(tool) for tool in found}) == len(found) == len(names)
        for tool in found:
            assert (await servers.call("one", tool.name, {"word": "it"})).text == "it means 42"


@pytest.mark.parametrize(
    ("shell", "option"),
    [
        *(((), option) for option in (("-m", "{}"), ("-um", "{}"), ("-m{}",), ("-sBm{}",))),
        *((shell, ("-m", "{}")) for shell in (("bash", "-lc"), ("sh", "-ec"), ("env", "-S"))),
    ],
)
async def test_a_servers_module_is_not_taken_from_the_workspace(
    tmp_path: Path, option: tuple[str, ...], shell: tuple[str, ...]
) -> None:
    ran = tmp_path / "ran"
    for name in ("mcp", "tests"):
        (tmp_path / "work" / name).mkdir(parents=True)
        run = f"open({str(ran)!r}, 'w').close()\n"
        (tmp_path / "work" / name / "__init__.py").write_text(run)
    root = str(Path(SERVER).parents[2])
    module = (sys.executable, *(word.format("tests.fakes.mcp_server") for word in option))
    # A relative file has it start in the workspace.
    module = (*shell, f"{shlex.join(module)} notes.db") if shell else (*module, "notes.db")
    async with running() as servers:
        server = McpServer("notes", module, {"MEANING": "42", "PYTHONPATH": root})
        servers.provide("one", [server], here(tmp_path / "work"))
        assert (await servers.found("one")).said == ()
    assert not ran.exists()


async def test_a_server_that_dies_is_started_again(tmp_path: Path) -> None:
    async with running() as servers:
        servers.provide("one", [notes()], here(tmp_path))
        await servers.found("one")
        died = await servers.call("one", "mcp__notes__leave", {})
        assert died.is_error
        assert "The MCP server notes failed" in died.text
        answer = await servers.call("one", "mcp__notes__lookup", {"word": "it"})
        assert answer.text == "it means 42"


async def test_servers_that_fail_say_why_and_leave_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = McpServer("missing", ("no-such-command-anywhere",))
    async with running() as servers:
        servers.provide("one", [notes(), missing, notes("broken", "fails")], here(tmp_path))
        found = await servers.found("one")
        assert len(found.tools) == 4
        told = " ".join(found.said)
        assert "missing" in told
        assert "no command no-such-command-anywhere" in told
        assert "no licence found" in told
        assert {s["state"] for s in servers.status()} == {"running", "failed"}
        monkeypatch.setattr(mcp, "START", 0.5)
        servers.provide("two", [notes("slow", "sleeps")], here(tmp_path))
        (problem,) = (await servers.found("two")).said
        assert "did not answer within 0.5 s" in problem
        answer = await servers.call("two", "mcp__slow__lookup", {"word": "it"})
        assert answer.is_error
        assert "slow" in answer.text


@pytest.mark.parametrize("after", [0.0, 0.5, 0.7, 1.5])
async def test_servers_that_hang_do_not_keep_the_daemon(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: float
) -> None:
    """Whether they are still starting, or just being given up."""
    monkeypatch.setattr(mcp, "START", 0.5)
    servers = McpServers()
    async with asyncio.timeout(20):
        task = asyncio.ensure_future(servers.run())
        await asyncio.sleep(0)
        servers.provide("one", [notes("slow", "sleeps")], here(tmp_path))
        await asyncio.sleep(after)
        task.cancel()
        await asyncio.wait({task})


async def test_a_server_is_reached_by_http(tmp_path: Path) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, SERVER, "http", stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        async with running() as servers:
            port = int(await process.stdout.readline())
            web = McpServer("web", url=f"http://127.0.0.1:{port}/mcp", headers={"X-Key": "k"})
            servers.provide("one", [web], here(tmp_path))
            assert len((await servers.found("one")).tools) == 4
            answer = await servers.call("one", "mcp__web__lookup", {"word": "it"})
            assert answer.text == "it means nothing"
            process.kill()
            await process.wait()
            gone = await servers.call("one", "mcp__web__lookup", {"word": "it"})
            assert gone.is_error
            assert "web" in gone.text
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


async def test_a_call_has_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with running() as servers:
        servers.provide("one", [notes()], here(tmp_path))
        await servers.found("one")
        monkeypatch.setattr(mcp, "CALL", 0.000_01)
        answer = await servers.call("one", "mcp__notes__lookup", {"word": "it"})
        assert answer.is_error


async def test_what_is_not_there_is_an_answer(tmp_path: Path) -> None:
    async with running() as servers:
        none = await servers.call("one", "mcp__notes__lookup", {"word": "it"})
        assert "not configured any more" in none.text
        servers.provide("one", [notes()], here(tmp_path))
        gone = await servers.call("one", "mcp__notes__gone", {})
        assert "no such tool" in gone.text
        servers.drop("one")
        assert servers.status() == []


def test_names_are_such_as_providers_take() -> None:
    assert tool_name("notes", "look-up_2") == "mcp__notes__look-up_2"
    assert tool_name("my server", "look_up") == "mcp__my_server_e9abecbb__look_up"
    assert tool_name("my_server_e9abecbb", "look_up") != "mcp__my_server_e9abecbb__look_up"
    pairs = [
        (server, tool)
        for server in ("a", "a_b", "a+b", "a__b", "a_", "+", "_", "s" * 40, "s" * 60, "s" * 61)
        for tool in ("b", "b_c", "b.c", "b__c", "_b", "é", "", "t" * 17, "t" * 18, "t" * 70)
    ]
    names = {tool_name(*pair) for pair in pairs}
    assert len(names) == len(pairs)
    for name in names:
        assert re.fullmatch(r"mcp__[a-zA-Z0-9-]\w*[-\w]*__[-\w]+", name, re.ASCII), name
        assert len(name) <= 64
        assert len(name.split("__")) == 3
