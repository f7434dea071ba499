"""Agents from npm, each kept to a home of its own and to a model on loopback, and their editor."""

import asyncio
import json
import os
import re
import shutil
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import acp
from acp import schema

from tests.benchmarks.other_agents import opencode_variables
from tests.e2e.test_acp_sdk import Window
from tests.wrap.homes import recorders
from tests.wrap.model_api import ModelApi

FOLDER = os.environ.get("SIDECAR_AGENTS", "")
"""Where `npm install` has put them, unless they are on PATH."""
KEY = "none"
LIMIT = 60.0
FILES = schema.ClientCapabilities(
    fs=schema.FileSystemCapabilities(read_text_file=True, write_text_file=True)
)
SPAWNED: dict[str, Any] = {
    "limit": 16 * 1024 * 1024,
    "stderr": asyncio.subprocess.DEVNULL,
    "shutdown_timeout": 1.0,
}
MARK = "SIDECAR_TEST_AGENT_HOME"


@dataclass(frozen=True)
class RealAgent:
    """`variables` of a home and a model's address, having written the agent's settings there."""

    name: str
    package: str
    program: str
    words: tuple[str, ...]
    variables: Callable[[Path, str], dict[str, str]]
    before_loading: Callable[[Path], None] = lambda _: None

    @property
    def path(self) -> str | None:
        beside = os.path.join(FOLDER, "node_modules/.bin") if FOLDER else ""
        return shutil.which(self.program, path=os.pathsep.join([beside, os.environ["PATH"]]))


def _opencode(home: Path, url: str) -> dict[str, str]:
    made = opencode_variables(home, url)
    told = json.loads(made["OPENCODE_CONFIG_CONTENT"])
    told["permission"] = {"edit": "ask", "bash": "ask"}
    return {**made, "OPENCODE_CONFIG_CONTENT": json.dumps(told)}


def _gemini(home: Path, url: str) -> dict[str, str]:
    settings = home / ".gemini/settings.json"
    settings.parent.mkdir(exist_ok=True)
    told = {
        "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
        "general": {"enableAutoUpdate": False, "disableUpdateNag": True},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "model": {"name": "gemini-2.5-pro"},
    }
    settings.write_text(json.dumps(told))
    key = {"GEMINI_API_KEY": KEY, "GOOGLE_GEMINI_BASE_URL": url, "GEMINI_CLI_NO_RELAUNCH": "true"}
    return {**_offline(home), **key}


def _another_minute(home: Path) -> None:
    """It names a session's file by the minute, and one loaded in the same is written anew."""
    for path in home.glob(".gemini/tmp/*/chats/session-*"):
        path.rename(path.with_name(re.sub(r"T\d\d-\d\d", "T00-00", path.name)))


def _claude(home: Path, url: str) -> dict[str, str]:
    off = ("DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER", "DISABLE_ERROR_REPORTING")
    return {
        **_offline(home),
        **dict.fromkeys((*off, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"), "1"),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": KEY,
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        # It refuses to start as root, as which containers run tests.
        "IS_SANDBOX": "1",
    }


def _codex(home: Path, url: str) -> dict[str, str]:
    (home / "config.toml").write_text(
        'model = "gpt-5.5"\nmodel_provider = "fake"\nmodel_context_window = 200000\n'
        "check_for_update_on_startup = false\n"
        # Its sandbox is not there in every container.
        'approval_policy = "untrusted"\nsandbox_mode = "danger-full-access"\n'
        f'[model_providers.fake]\nname = "fake"\nbase_url = "{url}/v1"\n'
        'env_key = "FAKE_KEY"\nwire_api = "responses"\n[analytics]\nenabled = false\n'
    )
    return {**_offline(home), "CODEX_HOME": str(home), "FAKE_KEY": KEY}


def _offline(home: Path) -> dict[str, str]:
    dead = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    return {**os.environ, **dead, "NO_PROXY": "127.0.0.1", "HOME": str(home)}


AGENTS = (
    RealAgent("opencode", "opencode-ai", "opencode", ("acp",), _opencode),
    RealAgent("Gemini CLI", "@google/gemini-cli", "gemini", ("--acp",), _gemini, _another_minute),
    RealAgent("Claude Code", "@zed-industries/claude-code-acp", "claude-code-acp", (), _claude),
    RealAgent("Codex", "@zed-industries/codex-acp", "codex-acp", (), _codex),
)


@dataclass
class Place:
    """A folder that an agent works in, its home, our data, and its model."""

    root: Path
    agent: RealAgent
    api: ModelApi
    folder: Path = field(init=False)
    kills: int = 0

    def __post_init__(self) -> None:
        self.folder = self.root / "work"
        self.again()

    def again(self) -> None:
        """Makes all anew, at the same paths."""
        for one in (self.root / "home", self.folder):
            shutil.rmtree(one, ignore_errors=True)
            one.mkdir()
        self.file.write_text("one\ntwo\n")

    @property
    def file(self) -> Path:
        return self.folder / "a.txt"

    @property
    def data(self) -> Path:
        return self.root / "data"


@dataclass
class Desk:
    """An agent at work: its answers, its processes, what its editor saw."""

    agent: Any
    process: Any
    window: Window
    about: Any
    wrapped: bool

    async def say(self, session: str, words: str) -> Any:
        async with asyncio.timeout(LIMIT):
            block = schema.TextContentBlock(type="text", text=words)
            return await self.agent.prompt(session_id=session, prompt=[block])

    async def command(self, session: str, words: str) -> str:
        """What a command of ours answers."""
        since = len(self.window.updates)
        await self.say(session, words)
        await asyncio.sleep(0.1)
        chunks = (u for u in self.window.updates[since:])
        return "".join(u.content.text for u in chunks if u.session_update == "agent_message_chunk")

    async def opened(self, place: Place) -> str:
        async with asyncio.timeout(LIMIT):
            made = await self.agent.new_session(cwd=str(place.folder), mcp_servers=[])
        session: str = made.session_id
        await self.recording(session)
        return session

    async def loaded(self, place: Place, session: str) -> None:
        place.agent.before_loading(place.root / "home")
        async with asyncio.timeout(LIMIT):
            await self.agent.load_session(session_id=session, cwd=str(place.folder), mcp_servers=[])
        await self.recording(session)

    async def recording(self, session: str) -> None:
        """Waits until our recorder has started, where there is one."""
        if self.wrapped:
            assert "Context" in await self.command(session, "/meter")

    @property
    def recorder(self) -> list[int]:
        return recorders(self.process.pid)

    @property
    def agents(self) -> list[int]:
        """The agent's process, as the tap started it."""
        return [pid for pid in children(self.process.pid) if pid not in self.recorder]


@asynccontextmanager
async def started(place: Place, *, wrapped: bool = True) -> AsyncIterator[Desk]:
    assert place.agent.path is not None
    home = place.root / "home"
    window = Window()
    around = [sys.executable, "-m", "sidecar", "wrap", "--"] if wrapped else []
    variables = place.agent.variables(home, place.api.origin)
    own = {"SIDECAR_DATA_DIR": str(place.data), MARK: str(home)}
    done = False
    try:
        async with acp.spawn_agent_process(
            window,
            *around,
            place.agent.path,
            *place.agent.words,
            env={**variables, **own},
            cwd=place.folder,
            transport_kwargs=SPAWNED,
        ) as (agent, process):
            async with asyncio.timeout(LIMIT):
                about = await agent.initialize(
                    protocol_version=acp.PROTOCOL_VERSION, client_capabilities=FILES
                )
            yield Desk(agent, process, window, about, wrapped)
            done = True
    except (ProcessLookupError, ConnectionResetError):
        # The SDK ends a process that may just have ended by itself, or was killed.
        if not done:
            raise
    finally:
        await _ended(home)


async def _ended(home: Path) -> None:
    """Ends what a killed agent has started; recorders end by themselves, with all written."""
    for _ in range(100):
        left = begun_in(home)
        for pid, words in left.items():
            if b"wrap-recorder" not in words:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        if not left:
            return
        await asyncio.sleep(0.1)
    raise AssertionError(f"they did not end: {left}")


def children(of: int) -> list[int]:
    tasks = Path(f"/proc/{of}/task").glob("*/children")
    return [int(pid) for path in tasks for pid in path.read_text().split()]


def begun_in(home: Path) -> dict[int, bytes]:
    """Processes of a test's own agent, by a variable that only they have, and their words."""
    mark, found = f"{MARK}={home}\0".encode(), {}
    for path in Path("/proc").glob("[0-9]*/environ"):
        with suppress(OSError):
            if mark in path.read_bytes() + b"\0":
                words = path.with_name("cmdline").read_bytes()
                if words:
                    found[int(path.parent.name)] = words
    return found
