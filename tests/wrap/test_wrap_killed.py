"""`kill -9` at any moment of a going back loses no byte of the user's."""

import os
import random
from pathlib import Path
from time import sleep

import pytest

from tests.wrap.desk import Editor, agent, opened
from tests.wrap.homes import recorders

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("home")]

FILES = 30
EDITS = "![t.edit(f'f{n}.txt', f'agent {n}\\n') for n in range(30)]"


@pytest.mark.parametrize("seed", range(10))
def test_a_killed_going_back_is_whole_or_none(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    folder, data, heard = tmp_path / "work", tmp_path / "data", tmp_path / "heard"
    folder.mkdir()
    for number in range(FILES):
        (folder / f"f{number}.txt").write_text(f"before {number}\n")
    with opened(agent(heard, loadSession=True), data) as editor:
        session = editor.begin(folder)
        editor.command(session, "/meter")
        editor.prompt(session, EDITS)
        editor.command(session, "/meter")
        (folder / "mine.txt").write_text(f"mine {seed}\n")
        (folder / "f0.txt").write_text("mine, too\n")
        block = {"type": "text", "text": "/rollback 1 keep"}
        editor.send("session/prompt", sessionId=session, prompt=[block])
        sleep(chance.uniform(0, 0.12))
        kill(editor, chance)
    with opened(agent(heard, loadSession=True), data) as editor:
        editor.ask("initialize", protocolVersion=1)
        editor.ask("session/load", sessionId=session, cwd=str(folder), mcpServers=[])
        assert "f1.txt" in editor.command(session, "/checkpoints")
        assert (folder / "mine.txt").read_text() == f"mine {seed}\n"
        assert (folder / "f0.txt").read_text() == "mine, too\n"
        texts = [(folder / f"f{number}.txt").read_text() for number in range(1, FILES)]
        assert {text.split()[0] for text in texts} in ({"agent"}, {"before"})
        editor.command(session, "/rollback 1 keep")
        texts = [(folder / f"f{number}.txt").read_text() for number in range(1, FILES)]
        assert {text.split()[0] for text in texts} == {"before"}
        left = {path.name for path in folder.iterdir()}
        assert left == {"mine.txt", *(f"f{number}.txt" for number in range(FILES))}


def kill(editor: Editor, chance: random.Random) -> None:
    """The recorder, the tap, or both at once."""
    victims = recorders(editor.process.pid)
    tap = [editor.process.pid]
    for pid in chance.choice([victims, tap, [*victims, *tap], [*tap, *victims]]):
        os.kill(pid, 9)


@pytest.mark.parametrize("seed", range(6))
def test_killed_in_a_turn_what_was_typed_and_written_stays(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    folder, data, heard = tmp_path / "work", tmp_path / "data", tmp_path / "heard"
    folder.mkdir()
    (folder / "mine.txt").write_text("mine\n")
    with opened(agent(heard, loadSession=True), data) as editor:
        session = editor.begin(folder)
        editor.command(session, "/meter")
        editor.prompt(session, "remember the zebra")
        block = {"type": "text", "text": EDITS}
        editor.send("session/prompt", sessionId=session, prompt=[block])
        sleep(chance.uniform(0.25, 0.6))
        kill(editor, chance)
    # Without an editor the agent ends; it may write a last file.
    sleep(0.5)
    with opened(agent(heard, loadSession=True), data) as editor:
        editor.ask("initialize", protocolVersion=1)
        editor.ask("session/load", sessionId=session, cwd=str(folder), mcpServers=[])
        assert "zebra" in editor.command(session, "/checkpoints")
        assert editor.prompt(session, "go on")["result"] == {"stopReason": "end_turn"}
        assert "go on" in editor.command(session, "/checkpoints")
    assert (folder / "mine.txt").read_text() == "mine\n"
