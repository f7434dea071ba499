"""Files seen while the agent writes them: what it reports afterwards is its own, from before."""

from pathlib import Path
from time import sleep

import pytest

from tests.wrap.desk import agent, opened
from tests.wrap.test_checkpoints import ready, settled

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("home")]

TOLD = """!
def told(name, text, call=None):
    path = str(t.cwd / name)
    call = call or t.begin('Edit', 'edit', locations=[{'path': path}])
    diff = {'type': 'diff', 'path': path, 'oldText': None, 'newText': text}
    t.update('tool_call_update', toolCallId=call, status='completed', content=[diff])
first, second = t.cwd / 'f0.txt', t.cwd / 'f1.txt'
"""
BESIDE = """
first.write_text('agent')
second.write_text('')
told('f0.txt', 'agent')
time.sleep(0.3)
second.write_text('agent')
told('f1.txt', 'agent')
"""
"""The second file is empty as the first is reported."""
AFTERWARDS = """
first.write_text('agent')
told('f0.txt', 'agent')
second.write_text('agent')
time.sleep(0.3)
told('f1.txt', 'agent')
"""
"""It is written before anything is said of it."""
TWICE = """
second.write_text('once')
call = t.begin('Edit', 'edit', locations=[{'path': str(second)}])
told('f1.txt', 'once')
second.write_text('')
time.sleep(0.3)
second.write_text('agent')
told('f1.txt', 'agent', call)
"""
COMMAND = """
t.run('true')
second.write_text('')
time.sleep(0.3)
second.write_text('agent')
told('f1.txt', 'agent')
"""
"""What came beside a command would have an unknown author."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    for name in ("f0.txt", "f1.txt"):
        (made / name).write_text("user")
    return made


@pytest.mark.parametrize("turn", [BESIDE, AFTERWARDS, TWICE, COMMAND])
def test_what_is_reported_once_it_is_written_goes_back(
    turn: str, tmp_path: Path, folder: Path
) -> None:
    with opened(agent(tmp_path / "heard"), tmp_path / "data") as editor:
        session = ready(editor, folder)
        editor.prompt(session, TOLD + turn)
        settled(editor, session)
        assert (folder / "f1.txt").read_text() == "agent"
        assert "`f1.txt` (+1 -1, tool)" in editor.command(session, "/diff 1")
        editor.command(session, "/rollback 1 keep")
    assert {path.read_text() for path in folder.iterdir()} == {"user"}


def test_what_the_user_saved_a_while_before_is_theirs(tmp_path: Path, folder: Path) -> None:
    turn = TOLD + (
        "first.write_text('agent')\ntold('f0.txt', 'agent')\ntime.sleep(2.5)\n"
        "second.write_text(second.read_text() + '\\nagent')\ntold('f1.txt', 'agent')\n"
    )
    with opened(agent(tmp_path / "heard"), tmp_path / "data") as editor:
        session = ready(editor, folder)
        block = {"type": "text", "text": turn}
        number = editor.send("session/prompt", sessionId=session, prompt=[block])
        editor.until(lambda it: b'"completed"' in it.came)
        sleep(0.2)
        (folder / "f1.txt").write_text("saved")
        editor.until(lambda it: any(m.get("id") == number for m in it.messages()))
        settled(editor, session)
        editor.command(session, "/rollback 1")
    assert (folder / "f0.txt").read_text() == "user"
    assert (folder / "f1.txt").read_text() == "saved"
