"""Work that goes on in a fresh window, and sessions opened again over a changed workspace."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.desk import Desk, Start, bare
from tests.fakes.messages_api import FakeMessagesApi, text, tools

pytestmark = pytest.mark.long

LIST = [("Find it", "completed"), ("Fix it", "in_progress"), ("Test it", "pending")]
TODO = {"items": [{"content": what, "status": how} for what, how in LIST]}
ALLOW = {"session/request_permission": lambda _: {"outcome": ALLOWED}}
ALLOWED = {"outcome": "selected", "optionId": "allow_once"}


@pytest.fixture
def desk(start: Start, workspace: Path) -> Iterator[Desk]:
    def with_permission(answers: Any) -> Any:
        return start(answers={**answers, **ALLOW})

    with FakeMessagesApi() as api:
        yield Desk(with_permission, api, workspace)
        assert api.refused == []


def work(desk: Desk) -> None:
    """A turn with the built-in tools: plan, write, fail."""
    desk.api.script(
        tools(
            ("todo", "todo", TODO),
            ("made", "write_file", {"path": "src/parser.py", "content": "x = 1\n"}),
            ("gone", "shell", {"command": "make nothing"}),
        ),
        text("Written."),
    )
    assert desk.say("Fix the parser. Never use eval.")["stopReason"] == "end_turn"


def request(desk: Desk) -> str:
    return bare(desk.api.requests[-1].body)


def go_on(desk: Desk, **given: Any) -> None:
    made = desk("session/handoff", goal="", **{"continue": True}, **given)
    desk.session = made["sessionId"]


def test_a_fresh_window_knows_how_the_work_stands(desk: Desk, workspace: Path) -> None:
    desk.open(builtinTools=True)
    work(desk)
    go_on(desk)
    (workspace / "src/parser.py").write_text("x = 2\n")
    prompt = [{"type": "text", "text": "Go on."}]
    foreseen = bare(desk("context/preview", prompt=prompt)["request"])
    desk.say("Go on.")
    assert request(desk) == foreseen
    for words in (
        "Fix the parser. Never use eval.", "[~] Fix it", "[x] Find it", "Resume with: Fix it",
        "shell make nothing", "src/parser.py is not as it was when you changed it",
    ):  # fmt: skip
        assert words in foreseen, words
    sent = request(desk).rpartition("</context>")[0]
    desk.say("And now?")
    assert request(desk).count("Resume with: Fix it") == 1
    assert request(desk).startswith(sent)


def test_what_it_was_told_outlives_compactions_and_kill(desk: Desk) -> None:
    desk.open(builtinTools=True)
    work(desk)
    go_on(desk)
    for strategy in ("economic", "codex"):
        desk.api.script(
            *(
                tools((f"{strategy}{n}", "read_file", {"path": "main.py"}), words="Look. " * 900)
                for n in range(6)
            ),
            text("Seen."),
        )
        desk.say("Look at it.")
        desk.say("Go on.")
        assert desk.compact(strategy)
        assert "Resume with: Fix it" in desk.shown()
    before = desk.shown()
    desk.again()
    assert desk.shown() == before
    go_on(desk)
    desk.say("Go on.")
    for words in ("Never use eval", "shell make nothing", "src/parser.py (created"):
        assert words in request(desk), words


def test_a_session_opened_again_is_told_what_changed(desk: Desk, workspace: Path) -> None:
    def git(*words: str) -> None:
        command = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", *words]
        subprocess.run(command, cwd=workspace, check=True, capture_output=True, timeout=30)

    git("init", "-q", "-b", "main")
    git("commit", "-q", "--allow-empty", "-m", "x")
    desk.open(builtinTools=True)
    work(desk)
    desk.again()
    desk.say("Go on.")
    assert "has changed" not in request(desk)
    desk.client.kill()
    (workspace / "src/parser.py").write_text("x = 2\n")
    git("checkout", "-q", "-b", "wip")
    desk.client = desk.daemon()
    desk.say("Go on.")
    lines = ("src/parser.py is not as it was", "The git branch was main and is wip now.")
    assert all(request(desk).count(line) == 1 for line in lines)
    desk.again()
    desk.say("Go on.")
    assert all(request(desk).count(line) == 1 for line in lines)
