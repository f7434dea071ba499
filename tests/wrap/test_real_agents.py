"""opencode, wrapped: the official Python SDK drives it against a fake model. It must be on PATH."""

import asyncio
import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.other_agents import opencode_variables
from tests.benchmarks.scripted_api import ScriptedApi
from tests.benchmarks.turn_script import Edit, Read, Say, Shell
from tests.e2e.test_acp_sdk import Window, say
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


async def played(
    tmp_path: Path, folder: Path, api: HeardApi, *words: str, wrapped: bool = True
) -> Window:
    """One session, in which the model does what is wanted after the first words."""
    assert OPENCODE is not None
    home = tmp_path / f"home-{wrapped}"
    home.mkdir()
    window = Window()
    around = [sys.executable, "-m", "sidecar", "wrap", "--"] if wrapped else []
    command = [*around, OPENCODE, "acp"]
    async with acp.spawn_agent_process(
        window,
        *command,
        env={**opencode_variables(home, api.url), "SIDECAR_DATA_DIR": str(tmp_path / "data")},
        cwd=folder,
        transport_kwargs={"limit": 16 * 1024 * 1024},
    ) as (agent, _):
        await agent.initialize(protocol_version=acp.PROTOCOL_VERSION)
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
