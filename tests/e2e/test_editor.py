"""Files through the editor: its unsaved text is what is read, and its undo history has edits."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.e2e.plain import PlainClient, say

Start = Callable[..., PlainClient]
ALLOW = {"allow": ["write_file", "edit_file"]}


def initialize(client: PlainClient, capabilities: dict[str, Any]) -> None:
    options = {"model": "offline", "workspaceTrusted": True, "permissions": ALLOW}
    announced = client.capabilities(**capabilities)
    client.request("initialize", {"capabilities": announced, "initializationOptions": options})
    client.notify("initialized")


def test_an_open_document_is_edited_in_the_editor(start: Start, workspace: Path) -> None:
    edits: list[Any] = []

    def apply(params: Any) -> Any:
        edits.append(params)
        return {"applied": True}

    client = start(answers={"workspace/applyEdit": apply})
    initialize(client, {"workspace": {"applyEdit": True}})
    path = workspace / "main.py"
    document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": "unsaved = 1\n"}
    client.notify("textDocument/didOpen", {"textDocument": document})
    change = {"range": {"start": {"line": 0, "character": 10}, "end": {"line": 0, "character": 11}}}
    client.notify(
        "textDocument/didChange",
        {
            "textDocument": {"uri": path.as_uri(), "version": 2},
            "contentChanges": [{**change, "text": "2"}],
        },
    )
    session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
    assert say(client, session, "replace `unsaved = 2` with `saved = 3` in main.py")["cost"] == "0"
    ((uri, changes),) = edits[0]["edit"]["changes"].items()
    assert uri == path.as_uri()
    assert changes[0]["newText"] == "saved = 3\n"
    assert "def greet" in path.read_text()


def show(client: PlainClient, path: Path) -> None:
    """Open a file in the editor as it is saved."""
    document = {"uri": path.as_uri(), "languageId": "x", "version": 1, "text": path.read_text()}
    client.notify("textDocument/didOpen", {"textDocument": document})


def test_a_restore_shows_in_open_documents_and_says_which_tab_to_close(
    start: Start, workspace: Path
) -> None:
    edits: list[Any] = []
    answer = {
        "workspace/applyEdit": lambda p: edits.append(p["edit"]["changes"]) or {"applied": True}
    }
    client = start(answers=answer)
    initialize(client, {"workspace": {"applyEdit": True}})
    notes, made = workspace / "notes.txt", workspace / "made.txt"
    before = notes.read_text()
    session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
    words = "write file notes.txt with text agent then write file made.txt with text new"
    turn = say(client, session, words)
    assert notes.read_text() != before
    show(client, notes)
    show(client, made)
    asked = {"sessionId": session, "scope": "files", "beforeMessageId": turn["messageId"]}
    seen = client.request("checkpoint/restore", {**asked, "dryRun": True})["files"]["restored"]
    assert edits == []
    done = client.request("checkpoint/restore", asked)["files"]["restored"]
    reasons = {one["path"]: one["reason"] for one in done}
    assert {one["path"]: one["reason"] for one in seen} == reasons
    ((uri, (edit,)),) = edits[0].items()
    assert (len(edits), uri, edit["newText"]) == (1, notes.as_uri(), before)
    assert (notes.read_text(), made.exists()) == (before, False)
    assert "close its tab" in reasons["made.txt"]
    assert "tab" not in reasons["notes.txt"]


def test_files_go_through_a_client_that_offers_it(start: Start, workspace: Path) -> None:
    written: list[Any] = []
    client = start(
        answers={
            "fs/write_text_file": lambda p: written.append(p) or {},
            "fs/read_text_file": lambda p: {"content": "as the editor has it\n"},
        }
    )
    initialize(client, {"fs": {"readTextFile": True, "writeTextFile": True}})
    session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
    say(client, session, "create new.txt with `hello`")
    assert [(w["path"], w["content"]) for w in written] == [
        (str(workspace.resolve() / "new.txt"), "hello\n")
    ]
    assert written[0]["sessionId"] == session


def test_links_do_not_lead_outside_unasked(start: Start, workspace: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("hidden words\n")
    (workspace / "link.txt").symlink_to(tmp_path / "secret.txt")
    asked: list[Any] = []

    def refuse(params: Any) -> Any:
        asked.append(params)
        return {"outcome": {"outcome": "selected", "optionId": "reject_once"}}

    client = start(answers={"session/request_permission": refuse})
    initialize(client, {})
    session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
    assert say(client, session, "read link.txt")["stopReason"] == "blocked"
    assert len(asked) == 1
    assert "hidden words" not in str(client.notifications)


def test_what_the_editor_saved_itself_is_not_written_again(start: Start, workspace: Path) -> None:
    path = workspace / "main.py"
    seen: list[int] = []

    def apply(params: Any) -> Any:
        ((_, changes),) = params["edit"]["changes"].items()
        path.write_text(changes[0]["newText"])
        seen.append(path.stat().st_ino)
        return {"applied": True}

    client = start(answers={"workspace/applyEdit": apply})
    initialize(client, {"workspace": {"applyEdit": True}})
    text = path.read_text()
    document = {"uri": path.as_uri(), "languageId": "python", "version": 1, "text": text}
    client.notify("textDocument/didOpen", {"textDocument": document})
    session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
    say(client, session, "replace `Hello` with `Good day` in main.py")
    assert "Good day" in path.read_text()
    assert seen == [path.stat().st_ino]
