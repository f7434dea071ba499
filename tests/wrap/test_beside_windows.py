"""Wrapped agents and windows of one daemon: neither writes, slows or enlarges the other."""

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from time import monotonic, sleep

import pytest

from tests.e2e.plain import PlainClient, Refused
from tests.e2e.resident import prompt, until
from tests.e2e.sync_users import User, bare, git
from tests.e2e.test_resident_process import memory, on_linux
from tests.wrap.desk import Editor, agent, opened
from tests.wrap.homes import EDIT, listed, ready, recorders

pytestmark = pytest.mark.long


@on_linux
def test_agents_take_little_memory_beside_a_window(
    tmp_path: Path, folder: Path, window: Callable[[], PlainClient]
) -> None:
    client = window()
    mine = client.request("session/new", {"cwd": str(folder)})["sessionId"]
    client.result(prompt(client, mine, "say one"))
    pid = client.request("daemon/status")["pid"]
    sleep(2)
    taken, taps = [memory(pid)], list[int]()
    with ExitStack() as open_ones:
        for number in range(4):
            heard = tmp_path / f"heard{number}"
            editor = open_ones.enter_context(opened(agent(heard), tmp_path / "data"))
            session = ready(editor, folder)
            editor.prompt(session, EDIT)
            assert "a.txt" in editor.command(session, "/checkpoints")
            taps.append(editor.process.pid)
            taken.append(sum(map(memory, (pid, *taps))))
    first, more = taken[1] - taken[0], (taken[4] - taken[1]) / 3
    assert first < 15
    assert more < 12


def test_no_tokenizer_is_loaded_for_agents_alone(
    tmp_path: Path, folder: Path, window: Callable[[], PlainClient]
) -> None:
    with opened(agent(tmp_path / "heard"), tmp_path / "data") as editor:
        session = ready(editor, folder)
        editor.prompt(session, EDIT)
        editor.command(session, "/meter")
        (pid,) = recorders(editor.process.pid)
        maps = Path(f"/proc/{pid}/maps")
        assert "tiktoken" not in maps.read_text()
        window().request("session/new", {"cwd": str(folder)})
        assert "tiktoken" in maps.read_text()


def test_no_window_of_the_daemon_writes_what_is_recorded(
    tmp_path: Path, folder: Path, variables: dict[str, str], window: Callable[[], PlainClient]
) -> None:
    client = window()
    with opened(agent(tmp_path / "heard"), tmp_path / "data") as editor:
        theirs = ready(editor, folder)
        (ours,) = listed(variables)
        for number in range(2):
            given = {"sessionId": ours}
            blocks = [{"type": "text", "text": "hello"}]
            for method, params in (
                ("session/prompt", {**given, "prompt": blocks}),
                ("session/rename", {**given, "title": "mine"}),
                ("session/delete", {**given, "force": True}),
                ("session/archive", given),
                ("checkpoint/restore", {**given, "scope": "files"}),
            ):
                with pytest.raises(Refused, match=r"another window|open in a window"):
                    client.request(method, params)
            client.request("session/load", given)
            editor.prompt(theirs, EDIT if number == 0 else "hello")
            editor.command(theirs, "/meter")
        # What passed since the window has it open is read with the next request.
        client.request("session/load", given)
        assert "a.txt" in str(client.notifications)
        editor.command(theirs, "/rollback 2")
        assert (folder / "a.txt").read_text() == "user\n"
        editor.close()
    until(lambda: listed(variables) == [])
    assert client.result(prompt(client, ours, "hello"))["stopReason"] == "end_turn"


def test_a_session_that_a_window_has_is_not_recorded_on(
    tmp_path: Path, folder: Path, variables: dict[str, str], window: Callable[[], PlainClient]
) -> None:
    heard, data, client = tmp_path / "heard", tmp_path / "data", window()
    with opened(agent(heard, loadSession=True), data) as editor:
        theirs = ready(editor, folder)
        editor.prompt(theirs, EDIT)
        editor.command(theirs, "/meter")
        (ours,) = listed(variables)
        editor.close()
    until(lambda: listed(variables) == [])
    client.request("session/load", {"sessionId": ours})
    assert client.result(prompt(client, ours, "mine"))["stopReason"] == "end_turn"
    with opened(agent(heard, loadSession=True), data) as editor:
        editor.ask("initialize", protocolVersion=1)
        editor.ask("session/load", sessionId=theirs, cwd=str(folder), mcpServers=[])
        editor.command(theirs, "/meter")
        editor.prompt(theirs, "theirs")
        editor.command(theirs, "/meter")
        assert ours not in listed(variables)
        assert len(listed(variables)) == 1
        assert client.result(prompt(client, ours, "mine, too"))["stopReason"] == "end_turn"


def test_no_window_of_the_daemon_syncs_what_is_recorded(
    tmp_path: Path, variables: dict[str, str], window: Callable[[], PlainClient]
) -> None:
    remote = bare(tmp_path / "remote.git")
    bob, folder = User(tmp_path / "bob", remote), tmp_path / "ada"
    git("clone", "--quiet", str(remote), str(folder), cwd=tmp_path)
    about = {"cwd": str(folder), "remote": str(remote), "agree": str(remote)}
    heard, data, client = tmp_path / "heard", tmp_path / "data", window()
    with opened(agent(heard, loadSession=True), data) as editor:
        theirs = ready(editor, folder)
        editor.prompt(theirs, "hello")
        (ours,) = listed(variables)
        editor.close()
    until(lambda: listed(variables) == [])
    client.request("session/sync", about)
    (came,) = bob.sync(open=[ours])["received"]
    bob.say(came["sessionId"], "read notes.txt")
    bob.sync()
    bob.leave()
    with opened(agent(heard, loadSession=True), data) as editor:
        editor.ask("initialize", protocolVersion=1)
        editor.ask("session/load", sessionId=theirs, cwd=str(folder), mcpServers=[])
        editor.command(theirs, "/meter")
        assert listed(variables) == [ours]
        done = client.request("session/sync", about)
        assert done["received"] == []
        assert any("another window has it open: sync there" in note for note in done["notes"])
        assert "notes.txt" not in editor.command(theirs, "/checkpoints")
        editor.close()
    until(lambda: listed(variables) == [])
    (came,) = client.request("session/sync", about)["received"]
    assert came["sessionId"] == ours


FLOODS = {
    "words": "![t.say('x y ' * 1000) for _ in range(13_000)]",
    "tokens": "![t.say('word ') for _ in range(230_000)]",
    "diffs": (
        "!old, new = ('\\n'.join(map(str, range(n, n + 140_000))) for n in (0, 60_000));"
        "[t.update('tool_call_update', toolCallId=t.begin('Edit', 'edit'), status='completed',"
        " content=[{'type': 'diff', 'path': str(t.cwd / 'b.txt'), 'oldText': old, 'newText': new}])"
        " for _ in range(26)]"
    ),
}
"""Some fifty megabytes each."""


@pytest.mark.parametrize("kind", FLOODS)
def test_a_window_works_on_beside_an_agents_flood(
    kind: str, tmp_path: Path, folder: Path, window: Callable[[], PlainClient]
) -> None:
    client, answered = window(), 0
    mine = client.request("session/new", {"cwd": str(tmp_path / "work")})["sessionId"]
    client.result(prompt(client, mine, "say one"))
    with opened(agent(tmp_path / "heard"), tmp_path / "data") as editor:
        session = ready(editor, folder)
        number = said(editor, session, FLOODS[kind])
        turn = prompt(client, mine, "say two")
        ended = f'"id": {number}, "result"'.encode()
        end = monotonic() + 60
        while ended not in editor.came[-3000:]:
            assert monotonic() < end
            client.request("daemon/status")
            answered += 1
        assert len(editor.came) > 40_000_000
        came = len(editor.came)
        # The meter is told when the recorder has read all that came before.
        said(editor, session, "/meter")
        assert client.result(turn)["stopReason"] == "end_turn"
        told = b'"stopReason"'
        assert told not in editor.came[came:]
        while told not in editor.came[came:]:
            assert monotonic() < end
            client.request("daemon/status")
            answered += 1
    # Hundreds to thousands; a handful where the flood is read in one go.
    assert answered > 30


def said(editor: Editor, session: str, text: str) -> int:
    """Give the number of the prompt, which is not waited for."""
    block = {"type": "text", "text": text}
    return editor.send("session/prompt", sessionId=session, prompt=[block])
