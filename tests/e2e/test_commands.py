"""A plain LSP client, without any method of ours: commands, messages, questions, progress."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.plain import PlainClient, Refused

Start = Callable[..., PlainClient]
WRITES = {"permissions": {"allow": ["write_file", "edit_file"]}}


class Window:
    """An editor's window: it answers questions with what `answers` has for them."""

    def __init__(self, start: Start, workspace: Path, *, asks: bool = True, **options: Any) -> None:
        self.questions: list[str] = []
        self.answers: dict[str, str | None] = {}
        able = {"window/workDoneProgress/create": lambda _: None}
        if asks:
            able["window/showMessageRequest"] = self._choose
        self.client = start(answers=able)
        self.about = self.client.request(
            "initialize",
            {
                "capabilities": {"window": {"workDoneProgress": True}},
                "workspaceFolders": [{"uri": workspace.as_uri(), "name": "work"}],
                "initializationOptions": {"model": "offline", "workspaceTrusted": True, **options},
            },
        )
        self.client.notify("initialized")

    def _choose(self, params: Any) -> Any:
        self.questions.append(params["message"])
        titles = [action["title"] for action in params["actions"]]
        for part, answer in self.answers.items():
            if part in params["message"]:
                return next(({"title": t} for t in titles if answer and answer in t), None)
        return None

    def do(self, command: str, *arguments: str) -> str:
        """Give a command, wait for the next message that is shown, and give it."""
        before = len(self.shown())
        params = {"command": f"sidecar.{command}", "arguments": list(arguments)}
        assert self.client.request("workspace/executeCommand", params) is None
        self.client.wait_for(lambda _: len(self.shown()) > before)
        return self.shown()[before]

    def shown(self) -> list[str]:
        return self.told("window/showMessage", "message")

    def told(self, method: str, field: str) -> list[Any]:
        seen = tuple(self.client.notifications)
        return [n["params"][field] for n in seen if n["method"] == method]

    def used(self) -> int:
        (session,) = self.client.request("daemon/status")["sessions"]
        meter = self.client.request("context/meter", {"sessionId": session["sessionId"]})
        return int(meter["used"])


def test_a_session_by_commands_alone(start: Start, workspace: Path) -> None:
    window = Window(start, workspace, **WRITES)
    announced = window.about["capabilities"]["executeCommandProvider"]["commands"]
    assert {"sidecar.send", "sidecar.rollback", "sidecar.undoCompaction"} <= set(announced)
    said = window.do("send", "read notes.txt then create hello.txt with `hi`")
    assert "What the tools said: - read_file:" in said
    assert "% · " in said
    assert (workspace / "hello.txt").read_text() == "hi\n"
    assert any(
        "offline model" in one or "Done." in one
        for one in window.told("window/logMessage", "message")
    )
    kinds = [value["kind"] for value in window.told("$/progress", "value")]
    assert (kinds[0], kinds[-1]) == ("begin", "end")
    assert "report" in kinds
    assert not window.client.updates()
    assert "system" in window.do("context")
    assert "No turn runs." in window.do("cancel")
    assert "New session." in window.do("new")
    assert "Handed off" in window.do("handoff", "finish it")
    assert len(window.client.request("session/list")["sessions"]) == 3


def test_a_question_spells_out_what_is_not_seen_and_makes_no_link(
    start: Start, workspace: Path
) -> None:
    """Editors make links of Markdown in messages, some to commands of their own."""
    window = Window(start, workspace)
    odd = "echo \u202e[safe](command:evil)\x1b[8m"
    window.do("send", "call shell " + json.dumps({"command": odd}))
    assert window.questions == ["Run echo \\u202e[safe] (command:evil)␛[8m"]
    assert not any("\u202e" in one or "](" in one for one in window.shown())
    told = [one.get("message", "") for one in window.told("$/progress", "value")]
    assert any("evil" in one for one in told)
    assert not any("\u202e" in one or "](" in one for one in told)


def test_a_compaction_is_agreed_on_and_taken_back(start: Start, workspace: Path) -> None:
    (workspace / "long.txt").write_text("a line of many words, all of them alike\n" * 900)
    window = Window(start, workspace)
    for _ in range(3):
        window.do("send", "read long.txt")
    before = window.used()
    window.answers["Compact"] = "Leave it"
    assert "Left as it was." in window.do("compact")
    assert window.used() == before
    window.answers["Compact"] = "Compact"
    assert "Compacted" in window.do("compact", "keep", "names")
    assert len(window.questions) == 2
    assert window.used() < before
    assert "taken back" in window.do("undoCompaction")
    assert window.used() == before
    assert "so none can be taken back" in window.do("undoCompaction")


def test_going_back_asks_what_becomes_of_conflicts(start: Start, workspace: Path) -> None:
    window = Window(start, workspace, **WRITES)
    window.do("send", "replace `alpha` with `ALPHA` in notes.txt")
    notes = workspace / "notes.txt"
    notes.write_text("ALPHA\nbeta\ngamma\nmine\n")
    window.answers = {"which turn": "1. replace", "would go back": None}
    assert "Left as it was." in window.do("rollback")
    assert "ALPHA" in notes.read_text()
    window.answers["would go back"] = "Merge" if "conflict" in window.questions[-1] else "Go back"
    assert "Went back: the conversation; notes.txt" in window.do("rollback")
    assert notes.read_text() == "alpha\nbeta\ngamma\nmine\n"
    assert "Went forth again" in window.do("redo")
    assert notes.read_text() == "ALPHA\nbeta\ngamma\nmine\n"


def test_an_editor_that_asks_nothing_gives_answers_as_arguments(
    start: Start, workspace: Path
) -> None:
    window = Window(start, workspace, asks=False, **WRITES)
    window.do("send", "create notes.txt with `agent`")
    (workspace / "notes.txt").write_text("mine\n")
    assert "argument (1. create notes.txt" in window.do("rollback")
    assert "add keep, overwrite or merge" in window.do("rollback", "1")
    assert (workspace / "notes.txt").read_text() == "mine\n"
    assert "'sideways' is not known" in window.do("rollback", "sideways")
    assert "has 1 turns" in window.do("rollback", "7")
    assert "notes.txt restored" in window.do("rollback", "1 files overwrite")
    assert (workspace / "notes.txt").read_text() == "alpha\nbeta\ngamma\n"
    assert "Sidecar: there is nothing to do" in window.do("rollback", "1 files")
    assert "Went back: the conversation." in window.do("rollback", "1 both")


@pytest.mark.parametrize("asks", [True, False])
def test_a_call_is_allowed_by_a_question_or_not_at_all(
    start: Start, workspace: Path, asks: bool
) -> None:
    window = Window(start, workspace, asks=asks)
    window.answers["x.txt"] = "Allow once"
    window.do("send", "create x.txt with `y`")
    window.client.wait_for(lambda _: any("% · " in one for one in window.shown()))
    assert (workspace / "x.txt").exists() is asks
    assert any("cannot ask" in one for one in window.shown()) is not asks
    if asks:
        window.answers["Edit notes.txt"] = "Reject"
        window.do("send", "replace `beta` with `better` in notes.txt")
        lines = window.questions[-1].splitlines()
        assert lines[0] == "Edit notes.txt"
        assert {"-beta", "+better"} <= set(lines)


def test_a_question_says_all_that_its_answer_allows(start: Start, workspace: Path) -> None:
    window = Window(start, workspace)
    (workspace / "sub").mkdir()
    window.do("send", 'call shell {"command": "ls", "cwd": "sub"}')
    # Another call of the same message may bring the text that is not there yet.
    later = {"path": "notes.txt", "oldText": "not yet", "newText": "hidden"}
    window.do("send", "call edit_file " + json.dumps(later))
    assert window.questions[0] == "Run in sub: ls"
    assert {'  "oldText": "not yet",', '  "newText": "hidden"'} <= set(
        window.questions[1].splitlines()
    )


def test_a_question_hides_no_line_end_that_is_none(start: Start, workspace: Path) -> None:
    """A comment that swallows the next line, beside another change."""
    (workspace / "main.js").write_text("// note\ncheck()\nlet a = 1\n")
    window = Window(start, workspace)
    after = "// note\u2028check()\nlet a = 2\n"
    window.do("send", "call write_file " + json.dumps({"path": "main.js", "content": after}))
    lines = window.questions[0].split("\n")
    assert {"-check()", "+// note\\u2028check()", "+let a = 2"} <= set(lines)


def test_a_question_leaves_out_no_value_that_another_one_holds(
    start: Start, workspace: Path
) -> None:
    window = Window(start, workspace)
    (workspace / "ls").mkdir()
    window.do("send", 'call shell {"command": "echo in ls: x", "cwd": "ls", "note": "echo"}')
    assert '  "note": "echo"' in window.questions[0].splitlines()


def test_a_long_number_is_asked_about_as_it_is_sent(start: Start, workspace: Path) -> None:
    """Most editors' JSON has doubles alone."""
    window = Window(start, workspace)
    window.do("send", 'call shell {"command": "echo x", "note": 1234567890123456789}')
    assert '  "note": "1234567890123456789"' in window.questions[0].splitlines()


def test_a_long_command_is_read_page_by_page_before_it_is_allowed(
    start: Start, workspace: Path
) -> None:
    window = Window(start, workspace)
    command = "echo hello" + "\n" * 70 + "touch late"
    window.answers["page"] = "Next page"
    window.do("send", "call shell " + json.dumps({"command": command}))
    assert len(window.questions) == 3
    assert "touch late" not in "".join(window.questions[:-1])


def test_a_long_change_is_read_page_by_page_before_it_is_allowed(
    start: Start, workspace: Path
) -> None:
    window = Window(start, workspace)
    text = "\n".join(f"line {number}" for number in range(70))
    window.answers = {"line 69": "Allow once", "page": "Next page"}
    window.do("send", "call write_file " + json.dumps({"path": "x.txt", "content": text}))
    pages = [one.splitlines()[-1] for one in window.questions]
    assert pages == ["[page 1 of 3]", "[page 2 of 3]", "[page 3 of 3]"]
    assert all(f"+line {number}" in "\n".join(window.questions) for number in range(70))
    assert (workspace / "x.txt").read_text() == text
    window.questions.clear()
    window.answers = {"x": "Allow once"}
    window.do("send", "call write_file " + json.dumps({"path": "y.txt", "content": text * 9}))
    assert "too long to be allowed here" in window.questions[0]
    assert not (workspace / "y.txt").exists()


def test_a_change_that_is_shown_in_part_is_not_allowed(start: Start, workspace: Path) -> None:
    window = Window(start, workspace)
    rest = [f"kept {number}\n" for number in range(1200)]
    kept = "".join(f"old {at}\n" + "".join(rest[20 * at : 20 * at + 20]) for at in range(60))
    (workspace / "x.txt").write_text("x" * 420_000 + "\n" + kept)
    window.answers = {"page": "Next page", "new 59": "Allow once"}
    given = {"path": "x.txt", "content": kept.replace("old", "new")}
    window.do("send", "call write_file " + json.dumps(given))
    assert "too long to be allowed here" in window.questions[0]
    assert (workspace / "x.txt").stat().st_size > 420_000


def test_a_turn_is_cancelled_by_its_progress(start: Start, workspace: Path) -> None:
    window = Window(start, workspace, permissions={"allow": ["shell"]})
    params = {"command": "sidecar.send", "arguments": ["run `sleep 30`"]}
    window.client.request("workspace/executeCommand", params)
    begun = window.client.wait_for(
        lambda n: n["method"] == "$/progress" and n["params"]["value"]["kind"] == "report"
    )
    window.client.notify("window/workDoneProgress/cancel", {"token": begun["params"]["token"]})
    window.client.wait_for(lambda _: any("Cancelled." in one for one in window.shown()))


def test_what_is_selected_is_sent(start: Start, workspace: Path) -> None:
    window = Window(start, workspace)
    uri = (workspace / "notes.txt").as_uri()
    document = {"uri": uri, "languageId": "text", "version": 1, "text": "x\nread main.py\nlist\n"}
    window.client.notify("textDocument/didOpen", {"textDocument": document})

    def actions(line: int, end: tuple[int, int], kind: int = 1) -> list[Any]:
        chosen = {
            "start": {"line": line, "character": 2},
            "end": {"line": end[0], "character": end[1]},
        }
        about = {"context": {"diagnostics": [], "triggerKind": kind}, "range": chosen}
        asked = {"textDocument": {"uri": uri}, **about}
        return list(window.client.request("textDocument/codeAction", asked))

    send, back = actions(1, (2, 0))
    assert send["arguments"] == ["read main.py"]
    assert "read_file" in window.do("send", *send["arguments"])
    assert "Went back: the conversation" in window.do("rollback", *back["arguments"])
    assert [a["command"] for a in actions(3, (3, 0))] == ["sidecar.rollback"]
    assert actions(1, (2, 0), kind=2) == []


def test_what_cannot_be_done_is_told(start: Start, workspace: Path) -> None:
    window = Window(start, workspace)
    assert "give the prompt" in window.do("send")
    assert "no compaction" in window.do("undoCompaction")
    assert "no turn to go back to" in window.do("rollback")
    with pytest.raises(Refused) as refused:
        window.do("none")
    assert refused.value.code == -32602
