"""opencode, wrapped: the official Python SDK drives it against a fake model. It must be on PATH."""

import asyncio
import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.other_agents import opencode_variables
from tests.benchmarks.scripted_api import ScriptedApi
from tests.benchmarks.turn_script import Edit, Read, Say, Shell
from tests.e2e.test_acp_sdk import Window, say
from tests.wrap.test_nothing_changes import recorders
from tests.wrap.test_recording import sessions

acp = pytest.importorskip("acp", reason="the agent-client-protocol package is not installed")

OPENCODE = shutil.which("opencode")
pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(OPENCODE is None, reason="there is no opencode on PATH"),
]


class HeardApi(ScriptedApi):
    """Keeps what it is asked."""

    def __init__(self) -> None:
        super().__init__()
        self.heard: list[Any] = []

    def events(self, path: str, body: Any, size: int) -> Any:
        self.heard.append(body)
        if not body.get("tools"):
            # A title, which is asked for beside.
            self.acts.appendleft(Say("A title."))
        return super().events(path, body, size)


@pytest.fixture
def api() -> Iterator[HeardApi]:
    made = HeardApi()
    yield made
    made.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    (made / "a.txt").write_text("one\ntwo\n")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"]):
        git = ["git", "-c", "user.name=n", "-c", "user.email=n@example.org", *words]
        subprocess.run(git, cwd=made, check=True)
    return made


def acts(folder: Path) -> list[Any]:
    path = str(folder / "a.txt")
    return [Read(path), Edit(path, "two", "TWO"), Shell("echo made > b.txt"), Say("Done.")]


@asynccontextmanager
async def opencode(
    tmp_path: Path, folder: Path, api: HeardApi, *, wrapped: bool = True
) -> AsyncIterator[tuple[Any, Any, Window]]:
    assert OPENCODE is not None
    home = tmp_path / f"home-{wrapped}"
    home.mkdir(exist_ok=True)
    window = Window()
    around = [sys.executable, "-m", "sidecar", "wrap", "--"] if wrapped else []
    command = [*around, OPENCODE, "acp"]
    async with acp.spawn_agent_process(
        window,
        *command,
        env={**opencode_variables(home, api.url), "SIDECAR_DATA_DIR": str(tmp_path / "data")},
        cwd=folder,
        transport_kwargs={"limit": 16 * 1024 * 1024},
    ) as (agent, process):
        await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
        yield agent, process, window


async def played(
    tmp_path: Path, folder: Path, api: HeardApi, *words: str, wrapped: bool = True
) -> Window:
    """One session, in which the model does what is wanted after the first words."""
    async with opencode(tmp_path, folder, api, wrapped=wrapped) as (agent, _, window):
        opened = await agent.new_session(cwd=str(folder), mcp_servers=[])
        await asyncio.sleep(2.0)
        for number, one in enumerate(words):
            api.acts.extend(acts(folder) if number == 0 else [Say("Yes.")] * (one[0] != "/"))
            await say(agent, opened.session_id, one)
            await asyncio.sleep(0.5)
    return window


async def test_opencode_is_recorded_and_what_it_changed_goes_back(
    tmp_path: Path, folder: Path, api: HeardApi
) -> None:
    window = await played(
        tmp_path, folder, api, "edit a.txt", "/meter", "/diff 1", "/rollback 1", "go on"
    )
    said = window.said()
    assert "of 200,000 tokens (as the agent reports)" in said
    assert "`a.txt` (+1 -1, tool)" in said
    assert "`b.txt` (+1 -0, shell)" in said
    assert (folder / "a.txt").read_text() == "one\ntwo\n"
    assert not (folder / "b.txt").exists()
    asked = json.dumps(api.heard)
    assert "I rolled back" in asked
    assert "/rollback" not in asked
    names = {
        one.name
        for update in window.of("available_commands_update")
        for one in update.available_commands
    }
    assert {"rollback", "checkpoints", "redo", "diff"} <= names
    assert len(await asyncio.to_thread(sessions, tmp_path / "data")) == 1


async def test_its_model_is_asked_the_same_with_and_without_us(
    tmp_path: Path, folder: Path, api: HeardApi
) -> None:
    asked = []
    for wrapped in (False, True):
        await played(tmp_path, folder, api, "edit a.txt", "go on", wrapped=wrapped)
        asked.append([unnamed(body) for body in conversation(api.heard)])
        api.heard.clear()
        api.acts.clear()
        (folder / "a.txt").write_text("one\ntwo\n")
        (folder / "b.txt").unlink()
    assert asked[0] == asked[1]
    assert len(asked[0]) >= 4


def conversation(bodies: list[Any]) -> list[Any]:
    """Requests of the conversation; the title is asked for beside, at its own pace."""
    return [body for body in bodies if body.get("tools")]


def unnamed(body: Any) -> str:
    """Calls are numbered by request, of which the title's may come before or after."""
    return re.sub(r"toolu_\d+|ses_\w+|msg_\w+", "ID", json.dumps(body))


@pytest.mark.parametrize("seed", range(4))
async def test_a_killed_tap_or_recorder_loses_nothing_of_the_users(
    seed: int, tmp_path: Path, folder: Path, api: HeardApi
) -> None:
    """opencode loads its session again, and what it had changed by then goes back."""
    chance = random.Random(seed)
    (folder / "mine.txt").write_text("mine\n")
    api.acts.extend(acts(folder))
    async with opencode(tmp_path, folder, api) as (agent, process, _):
        session = (await agent.new_session(cwd=str(folder), mcp_servers=[])).session_id
        await asyncio.sleep(2.0)
        prompt = asyncio.ensure_future(say(agent, session, "edit a.txt"))
        await asyncio.sleep(chance.uniform(0.0, 2.0))
        recorder, tap = recorders(process.pid), [process.pid]
        for pid in chance.choice([recorder, tap, [*recorder, *tap]]):
            os.kill(pid, 9)
        await asyncio.wait({prompt}, timeout=5.0)
        prompt.cancel()
    await asyncio.sleep(1.0)
    api.acts.clear()
    async with opencode(tmp_path, folder, api) as (agent, _, window):
        await agent.load_session(session_id=session, cwd=str(folder), mcp_servers=[])
        await asyncio.sleep(2.0)
        await say(agent, session, "/checkpoints")
        assert "edit a.txt" in window.said()
        api.acts.extend([Edit(str(folder / "a.txt"), "one", "ONE"), Say("Yes.")])
        await say(agent, session, "once more")
        assert "ONE" in (folder / "a.txt").read_text()
        await say(agent, session, "/rollback 1")
        assert "ONE" not in (folder / "a.txt").read_text()
    assert (folder / "mine.txt").read_text() == "mine\n"
