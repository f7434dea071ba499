"""Whatever agent, recorder or disk do, the two hear each other and no file is lost."""

import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

import pytest

from tests.wrap.desk import Editor, agent, opened
from tests.wrap.homes import recorders

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("home")]

MOST_KIB = 30 * 1024
"""Of the tap: Python alone takes ten MiB of it, and what waits for the recorder four."""


def test_where_nothing_can_be_recorded_all_passes(tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.write_text("no folder")
    with opened(agent(tmp_path / "heard"), data) as editor:
        session = editor.begin(tmp_path)
        assert editor.prompt(session, "hello")["result"] == {"stopReason": "end_turn"}
        assert "You said: hello" in editor.said(session)
        assert "does not know" in editor.command(session, "/rollback 1")
        assert editor.close() == 0


@contextmanager
def hanging(editor: Editor) -> Iterator[None]:
    """The recorder does nothing meanwhile."""
    (recorder,) = recorders(editor.process.pid)
    os.kill(recorder, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(recorder, signal.SIGCONT)


def flooded(editor: Editor, session: str) -> None:
    """Each side sends the other twenty megabytes, after a prompt."""
    editor.prompt(session, "hello")
    for _ in range(20_000):
        editor.put(b'{"jsonrpc":"2.0","method":"future/told","params":"' + b"x" * 1000 + b'"}\n')
    block = {"type": "text", "text": "![t.say('x' * 4000) for _ in range(5000)]"}
    number = editor.send("session/prompt", sessionId=session, prompt=[block])
    editor.until(lambda it: f'"id": {number}, "result"'.encode() in it.came[-300:])
    assert editor.came.count(b'xxxx"}}}') == 5_000


def test_a_flood_passes_and_the_gap_is_told(tmp_path: Path) -> None:
    """Also while the recorder hangs; the tap stays small."""
    folder = tmp_path / "work"
    folder.mkdir()
    with opened(agent(tmp_path / "heard"), tmp_path / "data") as editor:
        session = editor.begin(folder)
        editor.command(session, "/meter")
        with hanging(editor):
            flooded(editor, session)
            status = Path(f"/proc/{editor.process.pid}/status").read_text()
            assert int(status.split("VmHWM:")[1].split()[0]) < MOST_KIB
        assert "too fast to be recorded" in editor.command(session, "/meter")
        assert "hello" in editor.command(session, "/checkpoints")
    assert (tmp_path / "heard").read_bytes().count(b"future/told") == 20_000


def test_a_tree_that_is_too_large_for_a_look_holds_no_prompt_up(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    for number in range(20_000):
        if number % 100 == 0:
            (folder / str(number)).mkdir(parents=True)
            place = folder / str(number)
        (place / f"{number}.txt").write_text("x")
    with opened(agent(tmp_path / "heard", thinks=3), tmp_path / "data") as editor:
        session = editor.begin(folder)
        editor.command(session, "/meter")
        editor.prompt(session, "!t.edit('0/0.txt', 'agent')")
        editor.command(session, "/meter")
        editor.command(session, "/rollback 1")
        assert (folder / "0/0.txt").read_text() == "x"


def test_a_snapshot_that_comes_late_is_told(tmp_path: Path, folder: Path) -> None:
    """The recorder is kept from its work, as by a folder whose look takes long."""
    with opened(agent(tmp_path / "heard", thinks=0), tmp_path / "data") as editor:
        session = editor.begin(folder)
        # Its snapshot is there once a command after it is answered.
        editor.prompt(session, "hello")
        editor.command(session, "/meter")
        with hanging(editor):
            begun = monotonic()
            editor.prompt(session, "!t.edit('a.txt', 'agent')")
            assert monotonic() - begun < 2
            (folder / "beside.txt").write_text("whose?")
            sleep(0.3)
        told = editor.command(session, "/checkpoints")
        shown = editor.command(session, "/diff 1")
        assert "`a.txt` (+1 -1, tool)" in shown
        assert "`beside.txt` (+1 -0, unknown)" in shown
        editor.command(session, "/rollback 1 keep")
        assert (folder / "a.txt").read_text() == "user\n"
        assert (folder / "beside.txt").read_text() == "whose?"
    assert re.search(r"Note: The snapshot before this prompt came \d+ ms after", told)


def test_a_folder_without_snapshots_says_why(tmp_path: Path) -> None:
    with opened(agent(tmp_path / "heard"), tmp_path / "data") as editor:
        session = editor.begin(tmp_path)
        editor.prompt(session, "hello")
        assert "contains Sidecar's own data" in editor.command(session, "/rollback 1")


def test_a_full_window_is_warned_of_once(tmp_path: Path) -> None:
    with opened(agent(tmp_path / "heard"), tmp_path / "data") as editor:
        session = editor.begin(tmp_path)
        for used in (70, 85, 95):
            editor.prompt(session, f"!t.update('usage_update', used={used}, size=100)")
            editor.command(session, "/meter")
        assert editor.said(session).count("good moment to compact") == 1
        assert "95 %, 95 of 100 tokens (as the agent reports)" in editor.said(session)


def test_an_estimate_is_marked_as_one(tmp_path: Path) -> None:
    with opened(agent(tmp_path / "heard"), tmp_path / "data") as editor:
        session = editor.begin(tmp_path)
        editor.prompt(session, "hello " * 100)
        assert "estimated: the agent reports nothing" in editor.command(session, "/meter")


def test_a_command_is_answered_by_the_tap_where_the_recorder_is_killed(tmp_path: Path) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    with opened(agent(tmp_path / "heard"), tmp_path / "data") as editor:
        session = editor.begin(folder)
        editor.command(session, "/meter")
        (recorder,) = recorders(editor.process.pid)
        os.kill(recorder, signal.SIGSTOP)
        block = {"type": "text", "text": "/rollback 1"}
        typed = editor.send("session/prompt", sessionId=session, prompt=[block])
        asked = editor.send("_sidecar/checkpoint/list", sessionId=session)
        sleep(0.2)
        os.kill(recorder, signal.SIGKILL)
        editor.until(lambda it: any(m.get("id") == asked for m in it.messages()))
        found = {m.get("id"): m for m in editor.messages()}
        assert found[typed]["result"] == {"stopReason": "end_turn"}
        assert "has ended" in found[asked]["error"]["message"]
        assert "has ended" in editor.said(session)
        assert editor.prompt(session, "hello")["result"] == {"stopReason": "end_turn"}
