"""What changed while a command ran, by that or by somebody else: nothing of the user's goes."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.test_checkpoints import Bench, files, shell, work, write
from tests.fakes.messages_api import tools
from tests.polling import LIMIT

pytestmark = pytest.mark.long


class Meanwhile:
    """A command that runs until somebody else has done something in another program."""

    def __init__(self, workspace: Path, act: Callable[[], object]) -> None:
        self.up, self.go = workspace.parent / "up", workspace.parent / "go"
        self.command = f"touch {self.up}; until [ -e {self.go} ]; do sleep 0.02; done"
        self._thread = threading.Thread(target=self._acts, args=(act,), daemon=True)

    def _acts(self, act: Callable[[], object]) -> None:
        for _ in range(int(LIMIT / 0.02)):
            if self.up.exists():
                break
            threading.Event().wait(0.02)
        act()
        self.go.touch()

    def __enter__(self) -> str:
        self._thread.start()
        return self.command

    def __exit__(self, *_: object) -> None:
        self._thread.join(LIMIT)
        self.up.unlink(missing_ok=True)
        self.go.unlink(missing_ok=True)


def back(turn: Any) -> dict[str, Any]:
    return {"scope": "files", "beforeMessageId": turn["messageId"]}


def test_what_the_user_saves_while_a_command_runs_is_never_reverted_unasked(
    bench: Bench, workspace: Path
) -> None:
    note, new = workspace / "notes.txt", workspace / "new.txt"

    def save() -> None:
        note.write_text("alpha\nby the user\n")
        new.write_text("made by the user\n")

    with Meanwhile(workspace, save) as command:
        turn = work(bench, "Wait.", write("hello.txt", "hello\n"), shell(command))
    changed = files(bench("checkpoint/list")["checkpoints"][-1])
    assert [one[:3] for one in changed] == [
        ("new.txt", "created", "unknown"),
        ("notes.txt", "modified", "unknown"),
    ]
    refused = bench.refused("checkpoint/restore", **back(turn))
    assert refused.code == -32013
    told = {one["path"]: one for one in refused.data["conflicts"]}
    assert told.keys() == {"new.txt", "notes.txt"}
    assert "while a command of the agent ran" in told["new.txt"]["reason"]
    assert told["notes.txt"]["unknownDiff"].endswith("+by the user\n")
    assert "agentDiff" not in told["notes.txt"]
    merged = bench("checkpoint/restore", **back(turn), onConflict="merge", dryRun=True)["files"]
    assert {one["path"] for one in merged["conflicts"]} == told.keys()
    done = bench("checkpoint/restore", **back(turn), onConflict="keep")["files"]
    assert {one["path"] for one in done["skipped"]} == told.keys()
    assert not (workspace / "hello.txt").exists()
    assert (note.read_text(), new.read_text()) == ("alpha\nby the user\n", "made by the user\n")
    taken = bench("checkpoint/restore", **back(turn), onConflict="overwrite")
    assert all("as asked" in one["reason"] for one in taken["files"]["restored"])
    assert (note.read_text(), new.exists()) == ("alpha\nbeta\ngamma\n", False)
    bench("checkpoint/redo")
    assert (note.read_text(), new.read_text()) == ("alpha\nby the user\n", "made by the user\n")


@pytest.mark.parametrize(
    "command",
    [
        "sed -i s/alpha/ALPHA/ notes.txt",
        "for f in *.txt; do echo x >> $f; done; mkdir -p made; echo y > made/y",
        "python3 -c \"p='notes.txt'; s=open(p).read(); open(p,'w').write(s+'x')\"",
        "rm main.py && mv notes.txt moved.txt",
    ],
)
def test_what_a_command_says_that_it_writes_goes_back_unasked(
    bench: Bench, workspace: Path, command: str
) -> None:
    before = {path.name: path.read_bytes() for path in workspace.iterdir() if path.is_file()}
    turn = work(bench, "Change.", shell(command))
    done = bench("checkpoint/restore", **back(turn))["files"]
    assert done["restored"]
    assert done["conflicts"] == done["skipped"] == []
    after = {path.name: path.read_bytes() for path in workspace.iterdir() if path.is_file()}
    assert after == before


def test_a_formatter_that_names_nothing_is_asked_about_once(bench: Bench, workspace: Path) -> None:
    (workspace.parent / "format.sh").write_text("for f in *.txt *.py; do echo >> $f; done\n")
    turn = work(bench, "Format.", shell(f"sh {workspace.parent}/format.sh"))
    refused = bench.refused("checkpoint/restore", **back(turn))
    assert {one["path"] for one in refused.data["conflicts"]} == {"main.py", "notes.txt"}
    done = bench("checkpoint/restore", **back(turn), onConflict="overwrite")["files"]
    assert {one["path"] for one in done["restored"]} == {"main.py", "notes.txt"}
    assert (workspace / "notes.txt").read_text() == "alpha\nbeta\ngamma\n"


def test_what_both_may_have_changed_is_merged_out_of_the_rest(
    bench: Bench, workspace: Path
) -> None:
    note = workspace / "notes.txt"
    with Meanwhile(workspace, lambda: note.write_text("ALPHA\nbeta\ngamma\nmine\n")) as command:
        edit = write("notes.txt", "ALPHA\nbeta\ngamma\n")
        turn = work(bench, "Work.", edit, shell(command))
    (conflict,) = bench.refused("checkpoint/restore", **back(turn)).data["conflicts"]
    assert conflict["agentDiff"].endswith("-alpha\n+ALPHA\n beta\n gamma\n")
    assert (conflict["userDiff"], conflict["unknownDiff"][-6:]) == ("", "+mine\n")
    bench("checkpoint/restore", **back(turn), onConflict="merge")
    assert note.read_text() == "alpha\nbeta\ngamma\nmine\n"


def test_a_program_that_goes_on_writing_stands_in_no_way(bench: Bench, workspace: Path) -> None:
    log = workspace / "build.log"
    stop = threading.Event()

    def build() -> None:
        while not stop.wait(0.01):
            with log.open("a") as file:
                file.write("built\n")

    loop = threading.Thread(target=build)
    loop.start()
    try:
        turns = [work(bench, "Go.", write("a.txt", f"{n}\n"), shell("sleep 0.1")) for n in range(3)]
        done = bench("checkpoint/restore", **back(turns[1]))["files"]
        assert [one["path"] for one in done["restored"]] == ["a.txt"]
        assert [one["path"] for one in done["skipped"]] == ["build.log"]
        bench("checkpoint/restore", **back(turns[0]))
    finally:
        stop.set()
        loop.join(LIMIT)
    assert not (workspace / "a.txt").exists()
    assert set(log.read_text().split()) == {"built"}


def test_what_a_background_process_writes_later_is_not_the_agents(
    bench: Bench, workspace: Path
) -> None:
    go = workspace.parent / "go"
    late = f"(until [ -e {go} ]; do sleep 0.02; done; echo late > late.txt) >/dev/null 2>&1 &"
    turn = work(bench, "Begin.", shell(f"echo now > now.txt; {late}"))
    go.touch()
    for _ in range(int(LIMIT / 0.02)):
        if (workspace / "late.txt").exists():
            break
        threading.Event().wait(0.02)
    done = bench("checkpoint/restore", **back(turn))["files"]
    assert [one["path"] for one in done["restored"]] == ["now.txt"]
    assert (workspace / "late.txt").read_text() == "late\n"


def test_what_changed_until_the_daemon_was_killed_is_unknown(bench: Bench, workspace: Path) -> None:
    work(bench, "Look.")
    bench.api.script(shell("echo x > made.txt; sleep 60"))
    bench.send("session/prompt", prompt=[{"type": "text", "text": "Work."}])
    for _ in range(int(LIMIT / 0.02)):
        if (workspace / "made.txt").exists():
            break
        threading.Event().wait(0.02)
    bench.again()
    work(bench, "Look again.")
    assert ("made.txt", "created", "unknown") in [
        told[:3] for one in bench("checkpoint/list")["checkpoints"] for told in files(one)
    ]


def test_a_git_folder_that_a_command_removed_is_told(bench: Bench, workspace: Path) -> None:
    (workspace / ".git" / "refs").mkdir(parents=True)
    turn = work(bench, "Clean.", shell("rm -rf .git"))
    refused = bench.refused("checkpoint/restore", **back(turn))
    assert refused.code == -32012
    assert "everything" not in str(refused)
    assert ".git was here then and is gone" in str(refused)
    planned = bench("checkpoint/restore", **back(turn), dryRun=True)
    assert planned["reason"] in str(refused)
    assert "notes" not in planned, "the reason has them"


def test_folders_that_no_snapshot_holds_are_told(bench: Bench, workspace: Path) -> None:
    (workspace / "node_modules").mkdir()
    turn = work(bench, "Write.", write("a.txt", "a\n"), shell("echo x > node_modules/x"))
    for dry in (True, False):
        done = bench("checkpoint/restore", **back(turn), dryRun=dry)
        assert done["notes"] == ["Not covered, and left as it is now: node_modules."]


def test_a_diff_over_several_checkpoints_names_all_who_changed_a_file(
    bench: Bench, workspace: Path
) -> None:
    work(bench, "One.", write("a.txt", "agent\n"))
    (workspace / "a.txt").write_text("agent\nuser\n")
    work(bench, "Two.", tools(("c", "write_file", {"path": "b.txt", "content": "b\n"})))
    ids = [one["checkpointId"] for one in bench("checkpoint/list")["checkpoints"]]
    found = {one["path"]: one for one in bench("checkpoint/diff", **{"from": ids[0]})["files"]}
    assert (found["a.txt"]["author"], found["a.txt"]["authors"]) == ("several", ["tool", "user"])
    assert (found["b.txt"]["author"], found["b.txt"]["authors"]) == ("tool", ["tool"])
    back = bench("checkpoint/diff", **{"from": ids[2], "to": ids[0]})["files"]
    assert {one["path"]: one["authors"] for one in back}["a.txt"] == ["tool", "user"]
