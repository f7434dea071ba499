"""What passes becomes a session of ours: listed, searched, exported, shown."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from time import sleep

import pytest
import zstandard

from tests.e2e.resident import until
from tests.wrap.desk import Editor, agent, opened
from tests.wrap.homes import recorders

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("home")]

TURN = (
    "!t.say('thinking hard', 'agent_thought_chunk'); t.say('I will edit a '); t.say('file.');"
    "t.update('plan', entries=[{'content': 'edit', 'status': 'in_progress', 'priority': 'high'}]);"
    "t.edit('a.txt', 'new\\n'); t.run('echo hi > b.txt'); t.say('All zebras done.');"
    "t.update('usage_update', used=5000, size=10000, cost={'amount': 0.25, 'currency': 'USD'});"
    "given['usage'] = {'inputTokens': 100, 'outputTokens': 20, 'cachedReadTokens': 4880,"
    " 'totalTokens': 5000}"
)


def sidecar(data: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "sidecar", *words],
        env={**os.environ, "SIDECAR_DATA_DIR": str(data), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, (words, done.stdout, done.stderr)
    return done.stdout


def sessions(data: Path) -> list[str]:
    shown = sidecar(data, "sessions")
    return [word for word in shown.split() if word.startswith("ses_")]


def play(data: Path, folder: Path, *prompts: str) -> None:
    with opened(agent(data.with_name("heard")), data) as editor:
        session = editor.begin(folder)
        settle(editor, session)
        for words in prompts:
            editor.prompt(session, words)
        settle(editor, session)
        editor.close()


def settle(editor: Editor, session: str) -> str:
    """Waits until what passed before is recorded."""
    return editor.command(session, "/meter")


def test_a_turn_is_listed_searched_exported_and_shown(tmp_path: Path, folder: Path) -> None:
    data = tmp_path / "data"
    play(data, folder, "please change a.txt", TURN)
    (session,) = sessions(data)
    assert "please change a.txt" in sidecar(data, "sessions")
    assert session in sidecar(data, "sessions", "--search", "zebras")
    sidecar(data, "export", session, str(tmp_path / "out"))
    for words in (("inspect", session), ("checkpoints", session), ("verify",)):
        assert sidecar(data, *words)
    sidecar(data, "report", session, str(tmp_path / "page.html"))
    assert "zebras" in (tmp_path / "page.html").read_text()
    assert "1 session" in sidecar(data, "replay", str(data))
    other = tmp_path / "elsewhere"
    sidecar(other, "import", str(tmp_path / "out"), "--cwd", str(folder))
    assert len(sessions(other)) == 1


def test_a_recorded_session_goes_on_in_sidecar_itself(tmp_path: Path, folder: Path) -> None:
    data = tmp_path / "data"
    play(data, folder, "please change a.txt", TURN)
    (session,) = sessions(data)
    serve = [sys.executable, "-m", "sidecar", "serve", "--stdio", "--alone"]
    with opened(serve, data, bare=True) as editor:
        options = {"_meta": {"sidecar": {"model": "offline", "workspaceTrusted": True}}}
        editor.ask("initialize", protocolVersion=1, clientCapabilities={}, **options)
        editor.ask("session/load", sessionId=session, cwd=str(folder), mcpServers=[])
        shown = json.dumps(editor.messages())
        assert "All zebras done." in shown
        assert "thinking hard" in shown
        assert editor.prompt(session, "hello")["result"]["stopReason"] == "end_turn"
        told = editor.command(session, "/rollback 2")
        assert (folder / "a.txt").read_text() == "user\n", told


def test_a_copy_is_not_the_agents(tmp_path: Path, folder: Path) -> None:
    """An imported copy is newer, and the agent's session goes on in the one that it began."""
    data, heard = tmp_path / "data", tmp_path / "heard"
    with opened(agent(heard, loadSession=True), data) as editor:
        theirs = editor.begin(folder)
        settle(editor, theirs)
        editor.prompt(theirs, TURN)
        settle(editor, theirs)
        editor.close()
    (ours,) = sessions(data)
    sidecar(data, "export", ours, str(tmp_path / "out"))
    sidecar(data, "import", str(tmp_path / "out"), "--cwd", str(folder))
    with opened(agent(heard, loadSession=True), data) as editor:
        editor.ask("initialize", protocolVersion=1)
        editor.ask("session/load", sessionId=theirs, cwd=str(folder), mcpServers=[])
        editor.command(theirs, "/rollback 1")
        assert (folder / "a.txt").read_text() == "user\n"
    assert len(sessions(data)) == 2


@pytest.mark.parametrize("deep", [[], [*range(900, 1000, 2)]], ids=["flat", "deep"])
def test_what_the_agent_says_was_said_counts_as_heard(
    tmp_path: Path, folder: Path, deep: list[int]
) -> None:
    data, heard = tmp_path / "data", tmp_path / "heard"
    with opened(agent(heard, loadSession=True, deep=deep), data) as editor:
        editor.ask("initialize", protocolVersion=1)
        editor.ask("session/load", sessionId="s-old", cwd=str(folder), mcpServers=[])
        settle(editor, "s-old")
        editor.prompt("s-old", "typed here")
        settle(editor, "s-old")
        editor.close()
    began, marks = beginnings(data)
    # Behind the last mark stands what a person typed here.
    assert len(began) == 2
    assert began[0] < marks[-1] < began[1]


@pytest.mark.parametrize("after", [0.3, 0.6, 1.2])
def test_so_does_what_a_killed_recorder_had_of_it(
    tmp_path: Path, folder: Path, after: float
) -> None:
    data, heard = tmp_path / "data", tmp_path / "heard"
    with opened(agent(heard, loadSession=True, before=3000), data) as editor:
        editor.ask("initialize", protocolVersion=1)
        editor.send("session/load", sessionId="s-old", cwd=str(folder), mcpServers=[])
        until(lambda: sessions(data) != [])
        sleep(after)
        for pid in recorders(editor.process.pid):
            os.kill(pid, signal.SIGKILL)
        editor.close()
    began, marks = beginnings(data)
    assert began
    assert began[-1] < marks[-1]


def beginnings(data: Path) -> tuple[list[int], list[int]]:
    """Where in the one session's log turns begin, and where it says that all before was heard."""
    (session,) = sessions(data)
    out = data.with_name("out")
    sidecar(data, "export", session, str(out))
    plain = zstandard.ZstdDecompressor().decompressobj().decompress(out.read_bytes())
    lines = map(json.loads, plain.splitlines())
    kinds = [line["record"]["kind"] for line in lines if "record" in line]
    began, marks = (
        [at for at, kind in enumerate(kinds) if kind == one] for one in ("turn_started", "imported")
    )
    return began, marks
