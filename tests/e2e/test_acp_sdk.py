"""The agent face, by the official Python SDK as client, against the real daemon, offline."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

acp = pytest.importorskip("acp", reason="the agent-client-protocol package is not installed")
from acp import schema  # noqa: E402 - only where it is installed

pytestmark = pytest.mark.long

LIMIT = 30.0
ALL = schema.ClientCapabilities(
    fs=schema.FileSystemCapabilities(read_text_file=True, write_text_file=True), terminal=True
)


@dataclass
class Window:
    """A client as the SDK wants one: files and terminals of its own, answers at once."""

    updates: list[Any] = field(default_factory=list)
    asked: list[Any] = field(default_factory=list)
    written: dict[str, str] = field(default_factory=dict)
    texts: dict[str, str] = field(default_factory=dict)
    answer: str = "allow_once"
    hold: asyncio.Event | None = None
    ran: list[list[str]] = field(default_factory=list)
    given: list[dict[str, str]] = field(default_factory=list)
    released: list[str] = field(default_factory=list)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def on_connect(self, _: Any) -> None: ...

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        self.updates.append(update)
        self.changed.set()

    async def request_permission(
        self, session_id: str, tool_call: Any, options: list[Any], **_: Any
    ) -> Any:
        self.asked.append(tool_call)
        self.changed.set()
        if self.hold is not None:
            await self.hold.wait()
            return schema.RequestPermissionResponse(
                outcome=schema.DeniedOutcome(outcome="cancelled")
            )
        chosen = next(o.option_id for o in options if o.kind == self.answer)
        return schema.RequestPermissionResponse(
            outcome=schema.AllowedOutcome(outcome="selected", option_id=chosen)
        )

    async def read_text_file(self, session_id: str, path: str, **_: Any) -> Any:
        text = self.texts.get(path)
        if text is None:
            text = await asyncio.to_thread(Path(path).read_text)
        return schema.ReadTextFileResponse(content=text)

    async def write_text_file(self, session_id: str, path: str, content: str, **_: Any) -> Any:
        self.written[path] = content
        await asyncio.to_thread(Path(path).write_text, content)
        return schema.WriteTextFileResponse()

    async def create_terminal(
        self,
        session_id: str,
        command: str,
        args: list[str] | None = None,
        env: list[Any] | None = None,
        **_: Any,
    ) -> Any:
        self.ran.append([command, *(args or [])])
        self.given.append({one.name: one.value for one in env or []})
        return schema.CreateTerminalResponse(terminal_id=f"term-{len(self.ran)}")

    async def wait_for_terminal_exit(self, session_id: str, terminal_id: str, **_: Any) -> Any:
        return schema.WaitForTerminalExitResponse(exit_code=3)

    async def terminal_output(self, session_id: str, terminal_id: str, **_: Any) -> Any:
        status = schema.TerminalExitStatus(exit_code=3)
        return schema.TerminalOutputResponse(
            output="from the terminal\n", truncated=False, exit_status=status
        )

    async def release_terminal(self, session_id: str, terminal_id: str, **_: Any) -> Any:
        self.released.append(terminal_id)
        return schema.ReleaseTerminalResponse()

    async def kill_terminal(self, session_id: str, terminal_id: str, **_: Any) -> Any:
        return schema.KillTerminalResponse()

    def of(self, kind: str) -> list[Any]:
        return [u for u in self.updates if u.session_update == kind]

    def said(self, kind: str = "agent_message_chunk") -> str:
        return "".join(u.content.text for u in self.of(kind))

    async def until(self, found: Any) -> None:
        async with asyncio.timeout(LIMIT):
            while not found():
                self.changed.clear()
                await self.changed.wait()


@asynccontextmanager
async def daemon(
    data: Path, window: Window, capabilities: Any = None, *more: str, **options: Any
) -> AsyncIterator[Any]:
    """Start a daemon and go through `initialize`; what reached it ill-shaped would raise."""
    env = {k: v for k, v in os.environ.items() if not k.startswith("ANTHROPIC_")}
    async with acp.spawn_agent_process(
        window,
        sys.executable,
        "-m",
        "sidecar",
        "serve",
        "--stdio",
        *more,
        env={**env, "SIDECAR_DATA_DIR": str(data)},
        transport_kwargs={"limit": 16 * 1024 * 1024},
    ) as (agent, process):
        given = {"workspaceTrusted": True, "model": "offline", **options}
        told = await agent.initialize(
            protocol_version=acp.PROTOCOL_VERSION,
            client_capabilities=capabilities or schema.ClientCapabilities(),
            sidecar=given,
        )
        assert told.protocol_version == acp.PROTOCOL_VERSION
        yield agent
    assert process.returncode == 0


async def say(agent: Any, session: str, words: str) -> Any:
    async with asyncio.timeout(LIMIT):
        block = schema.TextContentBlock(type="text", text=words)
        return await agent.prompt(session_id=session, prompt=[block])


async def test_a_session_from_its_beginning_to_another_process(
    tmp_path: Path, workspace: Path
) -> None:
    window = Window()
    async with daemon(tmp_path / "data", window, ALL) as agent:
        made = await agent.new_session(cwd=str(workspace), mcp_servers=[])
        session = made.session_id
        options = {option.id: option for option in made.config_options}
        assert {"model", "policy"} <= set(options)
        assert options["model"].category == "model"
        modes = made.modes
        assert modes.current_mode_id == options["policy"].current_value
        assert [m.id for m in modes.available_modes] == [o.value for o in options["policy"].options]

        ended = await say(agent, session, "replace `Hello` with `Good day` in main.py")
        assert ended.stop_reason == "end_turn"
        assert ended.usage.total_tokens > 0
        main = await asyncio.to_thread(os.path.realpath, workspace / "main.py")
        assert "Good day" in window.written[main]
        assert window.said()
        assert window.said("agent_thought_chunk")
        (call,) = window.of("tool_call")
        done = window.of("tool_call_update")[-1]
        assert (call.kind, done.status, done.content[0].type) == ("edit", "completed", "diff")
        assert done.title == "Edit main.py (+1 -1)"
        assert done.content[0].path == main
        assert window.asked[0].content[0].type == "diff"
        usage = window.of("usage_update")[-1]
        assert 0 < usage.used < usage.size
        assert usage.cost.currency == "USD"

        await say(agent, session, "todo: first; second")
        assert [e.content for e in window.of("plan")[-1].entries] == ["first", "second"]

        told = await agent.set_config_option(session_id=session, config_id="policy", value="manual")
        assert {o.id: o.current_value for o in told.config_options}["policy"] == "manual"
        assert window.of("current_mode_update")[-1].current_mode_id == "manual"
        await agent.set_session_mode(session_id=session, mode_id="codex")
        (policy,) = (
            o for o in window.of("config_option_update")[-1].config_options if o.id == "policy"
        )
        assert policy.current_value == "codex"
        await agent.set_session_mode(session_id=session, mode_id="manual")
        listed = await agent.list_sessions(cwd=str(workspace))
        assert [s.session_id for s in listed.sessions] == [session]
        branch = await agent.fork_session(session_id=session, cwd=str(workspace), mcp_servers=[])
        assert branch.session_id != session
        meter = await agent.ext_method("sidecar/context/meter", {"sessionId": session})
        assert meter["used"] > 0
        await agent.close_session(session_id=branch.session_id)

    await found_again(tmp_path, workspace, session, branch.session_id)


async def found_again(tmp_path: Path, workspace: Path, session: str, branch: str) -> None:
    second = Window()
    async with daemon(tmp_path / "data", second) as agent:
        loaded = await agent.load_session(session_id=session, cwd=str(workspace), mcp_servers=[])
        assert {o.id: o.current_value for o in loaded.config_options}["policy"] == "manual"
        assert second.said("user_message_chunk").startswith("replace `Hello`")
        assert len(second.of("tool_call")) == 2
        await second.until(lambda: second.of("available_commands_update"))
        assert (await say(agent, session, "hello")).stop_reason == "end_turn"
        resumed = await agent.resume_session(session_id=branch, cwd=str(workspace), mcp_servers=[])
        assert resumed.config_options
        with pytest.raises(acp.RequestError) as refused:
            await agent.load_session(session_id="none", cwd=str(workspace), mcp_servers=[])
        assert refused.value.code == -32002


async def test_commands_run_in_the_clients_terminal(
    tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The daemon has the client's variables; so have the client's terminals.
    monkeypatch.setenv("SOME_API_KEY", "one-that-is-long")
    monkeypatch.setenv("SOME_ADDRESS", "https://one-that-is-long@test")
    # A provider's, and one that settings name as such, are in no variables that commands have.
    monkeypatch.setenv("OPENAI_API_KEY", "another-that-is-long")
    monkeypatch.setenv("PHRASE", "correct horse battery")
    monkeypatch.setenv("HEADER", "as correct horse battery")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "sidecar").mkdir()
    (tmp_path / "sidecar/config.toml").write_text(
        "[providers]\nwork = {kind = 'openai', api_key = 'env:PHRASE'}\n"
    )
    window = Window()
    async with daemon(tmp_path / "data", window, ALL) as agent:
        session = (await agent.new_session(cwd=str(workspace), mcp_servers=[])).session_id
        await say(agent, session, "run `make test`")
        assert window.ran[0][1:] == ["-c", "make test"]
        emptied = {name for name, value in window.given[0].items() if value == ""}
        assert emptied >= {"SOME_API_KEY", "SOME_ADDRESS", "OPENAI_API_KEY", "PHRASE", "HEADER"}
        assert "PATH" not in emptied
        done = window.of("tool_call_update")[-1]
        assert (done.status, done.content[0].terminal_id) == ("failed", "term-1")
        assert done.title == "Run make test (exit code 3)"
        assert "exit code 3" in done.raw_output
        await window.until(lambda: window.released == ["term-1"])


async def test_no_command_goes_to_the_terminal_of_a_window_whose_secrets_are_not_known(
    tmp_path: Path, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shared daemon, where the session has the variables of the window that opened it."""
    monkeypatch.setenv("SIDECAR_LINGER", "1")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    first, second = Window(), Window()
    async with daemon(tmp_path / "data", first, ALL, "--shared") as agent:
        session = (await agent.new_session(cwd=str(workspace), mcp_servers=[])).session_id
        await say(agent, session, "hello")
        monkeypatch.setenv("SOME_API_KEY", "one-that-is-long")
        async with daemon(tmp_path / "data", second, ALL, "--shared") as other:
            await other.load_session(session_id=session, cwd=str(workspace), mcp_servers=[])
            await say(other, session, "run `make test`")
            assert second.ran == []
            assert first.ran[0][1:] == ["-c", "make test"]


async def test_a_question_can_be_refused_and_a_turn_cancelled(
    tmp_path: Path, workspace: Path
) -> None:
    window = Window(answer="reject_once")
    async with daemon(tmp_path / "data", window) as agent:
        session = (await agent.new_session(cwd=str(workspace), mcp_servers=[])).session_id
        ended = await say(agent, session, "create no.txt with `no`")
        assert ended.stop_reason == "end_turn"
        assert window.of("tool_call_update")[-1].status == "failed"
        assert not (workspace / "no.txt").exists()

        window.hold = asyncio.Event()
        turn = asyncio.ensure_future(say(agent, session, "create no.txt with `no`"))
        await window.until(lambda: len(window.asked) == 2)
        await agent.cancel(session_id=session)
        window.hold.set()
        assert (await turn).stop_reason == "cancelled"


async def test_authenticating_says_whether_there_is_a_key(tmp_path: Path) -> None:
    async with daemon(tmp_path / "data", Window()) as agent:
        assert await agent.authenticate(method_id="api-key") is not None
    async with daemon(tmp_path / "data", Window(), model="claude-sonnet-5-5") as agent:
        with pytest.raises(acp.RequestError) as refused:
            await agent.authenticate(method_id="api-key")
        assert refused.value.code == -32000
        assert "ANTHROPIC_API_KEY" in str(refused.value)
        with pytest.raises(acp.RequestError) as refused:
            await agent.authenticate(method_id="other")
        assert refused.value.code == -32602
    provider = {"name": "anthropic", "apiKey": "sk-test"}
    given = {"model": "claude-sonnet-5-5", "provider": provider}
    async with daemon(tmp_path / "data", Window(), **given) as agent:
        assert await agent.authenticate(method_id="api-key") is not None
