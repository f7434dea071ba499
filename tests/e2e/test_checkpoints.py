"""Checkpoints with the real daemon: who changed what, going back, and forth again."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.desk import Desk
from tests.e2e.plain import PlainClient
from tests.fakes.messages_api import FakeMessagesApi, Reply, text, tools


class Bench(Desk):
    """A desk whose user allows everything."""

    def daemon(self) -> PlainClient:
        chosen = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}
        client = self._start(answers={"session/request_permission": lambda _: chosen})
        provider = {"name": "anthropic", "baseUrl": self.api.url, "apiKey": "sk-test"}
        client.start(
            model="claude-sonnet-4-6",
            provider=provider,
            snapshots={"fileMib": 1, "trackedFileMib": 1, "workspaceMib": 5},
        )
        return client


@pytest.fixture
def desk(start: Callable[..., PlainClient], workspace: Path) -> Iterator[Desk]:
    with FakeMessagesApi() as api:
        desk = Bench(start, api, workspace)
        desk.open(tools=[], builtinTools=True)
        yield desk
        assert not api.refused


def write(path: str, content: str) -> Reply:
    return tools(("call_write", "write_file", {"path": path, "content": content}))


def shell(command: str) -> Reply:
    return tools(("call_shell", "shell", {"command": command}))


def work(desk: Desk, words: str, *steps: Reply) -> Any:
    desk.api.script(*steps, text("Done."))
    ended = desk.say(words)
    assert ended["stopReason"] == "end_turn"
    return ended


def files(checkpoint: Any) -> list[tuple[Any, ...]]:
    names = ("path", "change", "author", "additions", "deletions", "size")
    return [tuple(one[name] for name in names) for one in checkpoint["files"]]


def test_each_turn_and_each_step_that_changed_files_is_listed(desk: Desk, workspace: Path) -> None:
    code = (workspace / "main.py").stat().st_size
    first = work(desk, "Greet.", write("hello.txt", "hello\nworld\n"), shell("mv main.py moved.py"))
    (workspace / "notes.txt").write_text("alpha\nmine\n")
    second = work(desk, "Look.")
    listed = desk("checkpoint/list")
    told = [(one["title"], files(one)) for one in listed["checkpoints"]]
    assert told == [
        ("Greet.", []),
        ("Changed hello.txt", [("hello.txt", "created", "tool", 2, 0, 12)]),
        ("Changed moved.py", [("moved.py", "renamed", "shell", 0, 0, code)]),
        ("Look.", [("notes.txt", "modified", "user", 1, 2, 11)]),
    ]
    assert listed["checkpoints"][2]["files"][0]["from"] == "main.py"
    turns = [one["turnId"] for one in listed["checkpoints"]]
    assert turns == [first["turnId"]] * 3 + [second["turnId"]]
    assert listed["checkpoints"][0]["messageId"] == first["messageId"]
    assert listed["head"] == listed["checkpoints"][3]["checkpointId"]
    assert [one["path"] for one in listed["changes"]["files"]] == ["hello.txt", "moved.py"]
    assert (listed["changes"]["additions"], listed["changes"]["deletions"]) == (2, 0)
    desk.again()
    assert desk("checkpoint/list") == listed


def test_a_diff_between_checkpoints_and_until_now(desk: Desk, workspace: Path) -> None:
    work(desk, "One.", write("hello.txt", "one\n"))
    work(desk, "Two.", write("hello.txt", "two\n"))
    ids = [one["checkpointId"] for one in desk("checkpoint/list")["checkpoints"]]
    (found,) = desk("checkpoint/diff", **{"from": ids[1], "to": ids[3]})["files"]
    assert (found["path"], found["author"]) == ("hello.txt", "tool")
    assert found["diff"].endswith("@@ -1 +1 @@\n-one\n+two\n")
    (back,) = desk("checkpoint/diff", **{"from": ids[3], "to": ids[1]})["files"]
    assert back["diff"].endswith("@@ -1 +1 @@\n-two\n+one\n")
    (workspace / "notes.txt").write_text("mine\n")
    now = desk("checkpoint/diff", **{"from": ids[3]})["files"]
    assert [(one["path"], one["author"]) for one in now] == [("notes.txt", "user")]
    assert desk("checkpoint/diff", **{"from": ids[0], "path": "notes.txt"})["files"] == now
    assert desk.refused("checkpoint/diff", **{"from": "cp_none"}).code == -32602


def test_the_status_says_how_changes_are_noticed(desk: Desk, workspace: Path) -> None:
    work(desk, "One.", write("hello.txt", "one\n"))
    (found,) = desk.client.request("daemon/status")["watcher"]["workspaces"]
    assert found["root"] == str(workspace)
    assert found["mode"] in ("inotify", "watchfiles", "rescan")
    assert found["limit"] == 5 * 1024 * 1024


def test_a_file_over_the_configured_size_is_not_restorable(desk: Desk, workspace: Path) -> None:
    large = workspace / "large.bin"
    large.write_bytes(b"0" * 1_100_000)
    turn = work(desk, "One.", shell("printf 1 >> large.bin"), write("hello.txt", "hi"))
    listed = desk("checkpoint/list")["checkpoints"]
    marks = {one["path"]: one.get("restorable") for each in listed for one in each["files"]}
    assert marks == {"large.bin": False, "hello.txt": None}
    done = desk("checkpoint/restore", scope="files", beforeMessageId=turn["messageId"])
    (kept,) = done["files"]["skipped"]
    assert kept["path"] == "large.bin"
    assert "at most 1 MiB of a file" in kept["reason"]
    assert large.stat().st_size == 1_100_001


def tree(folder: Path) -> dict[str, tuple[int, bytes]]:
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(p.relative_to(folder)): (p.stat().st_mode, p.read_bytes()) for p in found}


def test_going_back_and_forth_across_kills(desk: Desk, workspace: Path) -> None:
    before = tree(workspace)
    work(desk, "Look.")
    shown = desk.shown()
    turn = work(desk, "Work.", write("notes.txt", "new\n"), shell("rm main.py; echo x > x"))
    after, shown_after = tree(workspace), desk.shown()
    asked = {"scope": "both", "beforeMessageId": turn["messageId"]}
    foreseen = desk("checkpoint/restore", **asked, dryRun=True)
    assert tree(workspace) == after
    done = desk("checkpoint/restore", **asked)
    planned = {one["path"]: one.pop("diff") for one in foreseen["files"]["restored"]}
    assert done["files"] == foreseen["files"]
    assert planned["notes.txt"].endswith("-new\n+alpha\n+beta\n+gamma\n"), (
        "a dry run shows what would be done"
    )
    assert planned["x"].endswith("-x\n")
    assert {one["path"] for one in done["files"]["restored"]} == {"notes.txt", "main.py", "x"}
    assert done["restoredPrompt"] == "Work."
    assert (tree(workspace), desk.shown()) == (before, shown)
    assert desk.refused("checkpoint/restore", **asked).code == -32012
    desk.again()
    assert (tree(workspace), desk.shown()) == (before, shown)
    back = desk("checkpoint/redo", checkpointId=done["undoCheckpointId"])
    assert "restoredPrompt" not in back
    assert (tree(workspace), desk.shown()) == (after, shown_after)
    desk.again()
    assert (tree(workspace), desk.shown()) == (after, shown_after)
    assert desk.refused("checkpoint/redo").code == -32012
    desk("checkpoint/restore", **asked)
    assert (tree(workspace), desk.shown()) == (before, shown)
    causes = [u["cause"] for u in desk.client.updates("compaction_update")]
    assert causes == ["restore"]


def test_a_conflict_is_told_with_both_diffs_and_touches_nothing(
    desk: Desk, workspace: Path
) -> None:
    turn = work(desk, "Work.", write("notes.txt", "agent\n"))
    (workspace / "notes.txt").write_text("agent\nuser\n")
    asked = {"scope": "both", "beforeMessageId": turn["messageId"]}
    before, shown = tree(workspace), desk.shown()
    refused = desk.refused("checkpoint/restore", **asked)
    assert refused.code == -32013
    (conflict,) = refused.data["conflicts"]
    assert (conflict["path"], conflict["userDiff"][-7:]) == ("notes.txt", "\n+user\n")
    assert (tree(workspace), desk.shown()) == (before, shown)
    planned = desk("checkpoint/restore", **asked, dryRun=True)
    assert [one["path"] for one in planned["files"]["conflicts"]] == ["notes.txt"]
    assert "diff" not in planned["files"]["conflicts"][0]
    marked = desk("checkpoint/restore", **asked, onConflict="merge", markers=True, dryRun=True)
    assert "+<<<<<<<" in marked["files"]["merged"][0]["diff"], "merged bytes are stored nowhere yet"
    assert [one["reason"][-39:] for one in marked["files"]["merged"]] == [
        " 1 place marked in it needs a decision."
    ]
    merged = desk("checkpoint/restore", **asked, onConflict="overwrite")
    assert [one["path"] for one in merged["files"]["restored"]] == ["notes.txt"]


def test_a_second_window_may_look_but_not_go_back(desk: Desk) -> None:
    turn = work(desk, "Work.", write("notes.txt", "agent\n"))
    other = desk.daemon()
    listed = desk("checkpoint/list", client=other)
    assert listed["checkpoints"] == desk("checkpoint/list")["checkpoints"]
    asked = {"scope": "both", "beforeMessageId": turn["messageId"]}
    assert desk.refused("checkpoint/restore", client=other, **asked).code == -32011


def test_the_agent_of_another_window_is_a_user_here(desk: Desk, workspace: Path) -> None:
    mine = work(desk, "One.", write("notes.txt", "one\n"), shell("echo a > a.txt"))
    other = desk.daemon()
    about = {"cwd": str(workspace), "policy": "manual"}
    window = other.request("session/new", about)["sessionId"]
    desk.api.script(write("notes.txt", "one\ntwo\n"), text("Done."))
    prompt = [{"type": "text", "text": "Two."}]
    theirs = other.request("session/prompt", {"sessionId": window, "prompt": prompt})
    work(desk, "Look.")

    def last(client: PlainClient, session: str) -> list[tuple[Any, ...]]:
        listed = client.request("checkpoint/list", {"sessionId": session})["checkpoints"]
        return [told[:3] for told in files(listed[-1])]

    assert last(desk.client, desk.session) == [("notes.txt", "modified", "user")]
    assert last(other, window) == [("notes.txt", "modified", "tool")]
    here = {"scope": "files", "beforeMessageId": mine["messageId"]}
    before = tree(workspace)
    refused = desk.refused("checkpoint/restore", **here)
    assert refused.code == -32013
    (conflict,) = refused.data["conflicts"]
    assert conflict["path"] == "notes.txt"
    assert conflict["userDiff"].endswith("+two\n")
    assert tree(workspace) == before
    kept = desk("checkpoint/restore", **here, onConflict="keep")["files"]
    assert [one["path"] for one in kept["restored"]] == ["a.txt"]
    assert [one["path"] for one in kept["skipped"]] == ["notes.txt"]
    assert tree(workspace) == {name: one for name, one in before.items() if name != "a.txt"}
    there = {"sessionId": window, "scope": "files", "beforeMessageId": theirs["messageId"]}
    back = other.request("checkpoint/restore", there)["files"]
    assert [one["path"] for one in back["restored"]] == ["notes.txt"]
    assert (workspace / "notes.txt").read_text() == "one\n"
    work(desk, "Look again.")
    assert last(desk.client, desk.session) == [("notes.txt", "modified", "user")]
    desk("checkpoint/restore", **here)
    assert (workspace / "notes.txt").read_text() == "alpha\nbeta\ngamma\n"


@pytest.mark.parametrize("moment", [1, 20, 60, 110])
def test_killed_while_it_goes_back_all_or_nothing_stands(
    desk: Desk, workspace: Path, moment: int
) -> None:
    before, shown = tree(workspace), desk.shown()
    make = "mkdir many; for i in $(seq 200); do echo $i > many/$i; done; rm notes.txt"
    turn = work(desk, "Make many.", shell(make))
    after, shown_after = tree(workspace), desk.shown()
    desk.send("checkpoint/restore", scope="both", beforeMessageId=turn["messageId"])
    time.sleep(moment / 1000)
    desk.again()
    desk.api.script(text("Yes."))
    # The folder's first snapshot ends what was broken off, if loading had not.
    found = tree(workspace)
    assert found in (before, after)
    assert desk.shown() == (shown if found == before else shown_after)
    work(desk, "And now?")
    assert tree(workspace) == found
