"""Checkpoints with the real daemon: who changed what, going back, and forth again."""

import re
import time
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.desk import Bench
from tests.e2e.plain import PlainClient
from tests.fakes.messages_api import Reply, text, tools

pytestmark = pytest.mark.long


def write(path: str, content: str) -> Reply:
    return tools(("call_write", "write_file", {"path": path, "content": content}))


def shell(command: str) -> Reply:
    return tools(("call_shell", "shell", {"command": command}))


def work(bench: Bench, words: str, *steps: Reply) -> Any:
    bench.api.script(*steps, text("Done."))
    ended = bench.say(words)
    assert ended["stopReason"] == "end_turn"
    return ended


def files(checkpoint: Any) -> list[tuple[Any, ...]]:
    names = ("path", "change", "author", "additions", "deletions", "size")
    return [tuple(one[name] for name in names) for one in checkpoint["files"]]


def test_each_turn_and_each_step_that_changed_files_is_listed(
    bench: Bench, workspace: Path
) -> None:
    code = (workspace / "main.py").stat().st_size
    first = work(
        bench, "Greet.", write("hello.txt", "hello\nworld\n"), shell("mv main.py moved.py")
    )
    (workspace / "notes.txt").write_text("alpha\nmine\n")
    second = work(bench, "Look.")
    listed = bench("checkpoint/list")
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
    bench.again()
    assert bench("checkpoint/list") == listed


def test_a_diff_between_checkpoints_and_until_now(bench: Bench, workspace: Path) -> None:
    work(bench, "One.", write("hello.txt", "one\n"))
    work(bench, "Two.", write("hello.txt", "two\n"))
    ids = [one["checkpointId"] for one in bench("checkpoint/list")["checkpoints"]]
    (found,) = bench("checkpoint/diff", **{"from": ids[1], "to": ids[3]})["files"]
    assert (found["path"], found["author"]) == ("hello.txt", "tool")
    assert found["diff"].endswith("@@ -1 +1 @@\n-one\n+two\n")
    (back,) = bench("checkpoint/diff", **{"from": ids[3], "to": ids[1]})["files"]
    assert back["diff"].endswith("@@ -1 +1 @@\n-two\n+one\n")
    (workspace / "notes.txt").write_text("mine\n")
    now = bench("checkpoint/diff", **{"from": ids[3]})["files"]
    assert [(one["path"], one["author"]) for one in now] == [("notes.txt", "user")]
    assert bench("checkpoint/diff", **{"from": ids[0], "path": "notes.txt"})["files"] == now
    assert bench.refused("checkpoint/diff", **{"from": "cp_none"}).code == -32602


def test_the_status_says_how_changes_are_noticed(bench: Bench, workspace: Path) -> None:
    work(bench, "One.", write("hello.txt", "one\n"))
    (found,) = bench.client.request("daemon/status")["watcher"]["workspaces"]
    assert found["root"] == str(workspace)
    assert found["mode"] in ("inotify", "watchfiles", "rescan")
    assert found["limit"] == 5 * 1024 * 1024


def test_a_file_over_the_configured_size_is_not_restorable(bench: Bench, workspace: Path) -> None:
    large = workspace / "large.bin"
    large.write_bytes(b"0" * 1_100_000)
    turn = work(bench, "One.", shell("printf 1 >> large.bin"), write("hello.txt", "hi"))
    listed = bench("checkpoint/list")["checkpoints"]
    marks = {one["path"]: one.get("restorable") for each in listed for one in each["files"]}
    assert marks == {"large.bin": False, "hello.txt": None}
    done = bench("checkpoint/restore", scope="files", beforeMessageId=turn["messageId"])
    (kept,) = done["files"]["skipped"]
    assert kept["path"] == "large.bin"
    assert "at most 1 MiB of a file" in kept["reason"]
    assert large.stat().st_size == 1_100_001


def tree(folder: Path) -> dict[str, tuple[int, bytes]]:
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    return {str(p.relative_to(folder)): (p.stat().st_mode, p.read_bytes()) for p in found}


def test_one_hunk_of_a_file_is_taken_back(bench: Bench, workspace: Path) -> None:
    lines = [f"{n}\n" for n in range(30)]
    (workspace / "notes.txt").write_text("".join(lines))
    work(bench, "Look.")
    changed = ["first\n", *lines[1:-1], "last\n"]
    turn = work(bench, "Work.", write("notes.txt", "".join(changed)))
    asked = {"scope": "files", "beforeMessageId": turn["messageId"], "paths": ["notes.txt"]}
    (foreseen,) = bench("checkpoint/restore", **asked, dryRun=True)["files"]["restored"]
    _, hunk, _ = re.split(r"^(?=@@ )", foreseen["diff"], flags=re.MULTILINE)
    (done,) = bench("checkpoint/restore", **asked, hunks=[hunk])["files"]["restored"]
    assert "the others stay" in done["reason"]
    assert (workspace / "notes.txt").read_text() == "".join([*lines[:-1], "last\n"])
    assert bench.refused("checkpoint/restore", **asked, hunks=[hunk]).code == -32602


def test_going_back_and_forth_across_kills(bench: Bench, workspace: Path) -> None:
    before = tree(workspace)
    work(bench, "Look.")
    shown = bench.shown()
    turn = work(bench, "Work.", write("notes.txt", "new\n"), shell("rm main.py; echo x > x"))
    after, shown_after = tree(workspace), bench.shown()
    asked = {"scope": "both", "beforeMessageId": turn["messageId"]}
    foreseen = bench("checkpoint/restore", **asked, dryRun=True)
    assert tree(workspace) == after
    done = bench("checkpoint/restore", **asked)
    planned = {one["path"]: one.pop("diff") for one in foreseen["files"]["restored"]}
    assert done["files"] == foreseen["files"]
    assert planned["notes.txt"].endswith("-new\n+alpha\n+beta\n+gamma\n"), (
        "a dry run shows what would be done"
    )
    assert planned["x"].endswith("-x\n")
    assert {one["path"] for one in done["files"]["restored"]} == {"notes.txt", "main.py", "x"}
    assert done["restoredPrompt"] == "Work."
    assert (tree(workspace), bench.shown()) == (before, shown)
    refused = bench.refused("checkpoint/restore", **asked)
    assert refused.code == -32012
    assert bench("checkpoint/restore", **asked, dryRun=True) == {
        "undoCheckpointId": "",
        "revision": done["revision"],
        "files": refused.data["files"],
        "reason": str(refused),
    }
    assert {one["path"] for one in refused.data["files"]["skipped"]} == set(planned)
    bench.again()
    assert (tree(workspace), bench.shown()) == (before, shown)
    back = bench("checkpoint/redo", checkpointId=done["undoCheckpointId"])
    assert "restoredPrompt" not in back
    assert (tree(workspace), bench.shown()) == (after, shown_after)
    bench.again()
    assert (tree(workspace), bench.shown()) == (after, shown_after)
    assert bench.refused("checkpoint/redo").code == -32012
    empty = bench("checkpoint/redo", dryRun=True)
    assert empty["reason"] == "nothing was restored that could be taken back"
    assert not any(empty["files"].values())
    bench("checkpoint/restore", **asked)
    assert (tree(workspace), bench.shown()) == (before, shown)
    causes = [u["cause"] for u in bench.client.updates("compaction_update")]
    assert causes == ["restore"]


def test_a_conflict_is_told_with_both_diffs_and_touches_nothing(
    bench: Bench, workspace: Path
) -> None:
    turn = work(bench, "Work.", write("notes.txt", "agent\n"))
    (workspace / "notes.txt").write_text("agent\nuser\n")
    asked = {"scope": "both", "beforeMessageId": turn["messageId"]}
    before, shown = tree(workspace), bench.shown()
    refused = bench.refused("checkpoint/restore", **asked)
    assert refused.code == -32013
    (conflict,) = refused.data["conflicts"]
    assert (conflict["path"], conflict["userDiff"][-7:]) == ("notes.txt", "\n+user\n")
    assert (tree(workspace), bench.shown()) == (before, shown)
    planned = bench("checkpoint/restore", **asked, dryRun=True)
    assert [one["path"] for one in planned["files"]["conflicts"]] == ["notes.txt"]
    assert "diff" not in planned["files"]["conflicts"][0]
    marked = bench("checkpoint/restore", **asked, onConflict="merge", markers=True, dryRun=True)
    assert "+<<<<<<<" in marked["files"]["merged"][0]["diff"], "merged bytes are stored nowhere yet"
    assert [one["reason"][-39:] for one in marked["files"]["merged"]] == [
        " 1 place marked in it needs a decision."
    ]
    merged = bench("checkpoint/restore", **asked, onConflict="overwrite")
    assert [one["path"] for one in merged["files"]["restored"]] == ["notes.txt"]


def test_a_second_window_may_look_but_not_go_back(bench: Bench) -> None:
    turn = work(bench, "Work.", write("notes.txt", "agent\n"))
    other = bench.daemon()
    listed = bench("checkpoint/list", client=other)
    assert listed["checkpoints"] == bench("checkpoint/list")["checkpoints"]
    asked = {"scope": "both", "beforeMessageId": turn["messageId"]}
    assert bench.refused("checkpoint/restore", client=other, **asked).code == -32011


def test_the_agent_of_another_window_is_a_user_here(bench: Bench, workspace: Path) -> None:
    mine = work(bench, "One.", write("notes.txt", "one\n"), shell("echo a > a.txt"))
    other = bench.daemon()
    about = {"cwd": str(workspace), "policy": "manual"}
    window = other.request("session/new", about)["sessionId"]
    bench.api.script(write("notes.txt", "one\ntwo\n"), text("Done."))
    prompt = [{"type": "text", "text": "Two."}]
    theirs = other.request("session/prompt", {"sessionId": window, "prompt": prompt})
    work(bench, "Look.")

    def last(client: PlainClient, session: str) -> list[tuple[Any, ...]]:
        listed = client.request("checkpoint/list", {"sessionId": session})["checkpoints"]
        return [told[:3] for told in files(listed[-1])]

    assert last(bench.client, bench.session) == [("notes.txt", "modified", "user")]
    assert last(other, window) == [("notes.txt", "modified", "tool")]
    here = {"scope": "files", "beforeMessageId": mine["messageId"]}
    before = tree(workspace)
    refused = bench.refused("checkpoint/restore", **here)
    assert refused.code == -32013
    (conflict,) = refused.data["conflicts"]
    assert conflict["path"] == "notes.txt"
    assert conflict["userDiff"].endswith("+two\n")
    assert tree(workspace) == before
    kept = bench("checkpoint/restore", **here, onConflict="keep")["files"]
    assert [one["path"] for one in kept["restored"]] == ["a.txt"]
    assert [one["path"] for one in kept["skipped"]] == ["notes.txt"]
    assert tree(workspace) == {name: one for name, one in before.items() if name != "a.txt"}
    there = {"sessionId": window, "scope": "files", "beforeMessageId": theirs["messageId"]}
    back = other.request("checkpoint/restore", there)["files"]
    assert [one["path"] for one in back["restored"]] == ["notes.txt"]
    assert (workspace / "notes.txt").read_text() == "one\n"
    work(bench, "Look again.")
    assert last(bench.client, bench.session) == [("notes.txt", "modified", "user")]
    bench("checkpoint/restore", **here)
    assert (workspace / "notes.txt").read_text() == "alpha\nbeta\ngamma\n"


@pytest.mark.parametrize("moment", [1, 20, 60, 110])
def test_killed_while_it_goes_back_all_or_nothing_stands(
    bench: Bench, workspace: Path, moment: int
) -> None:
    before, shown = tree(workspace), bench.shown()
    make = "mkdir many; for i in $(seq 200); do echo $i > many/$i; done; rm notes.txt"
    turn = work(bench, "Make many.", shell(make))
    after, shown_after = tree(workspace), bench.shown()
    bench.send("checkpoint/restore", scope="both", beforeMessageId=turn["messageId"])
    time.sleep(moment / 1000)
    bench.again()
    bench.api.script(text("Yes."))
    # The folder's first snapshot ends what was broken off, if loading had not.
    found = tree(workspace)
    assert found in (before, after)
    assert bench.shown() == (shown if found == before else shown_after)
    work(bench, "And now?")
    assert tree(workspace) == found
