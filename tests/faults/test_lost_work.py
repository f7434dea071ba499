"""How users of other tools lost work: each test is named after a way, which is none here.

A real daemon, the offline model's real tools, and the files looked at afterwards.
`SIDECAR_KILLS=50 pytest tests/faults/test_lost_work.py -k crash` kills as often as that.
"""

import asyncio
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from sidecar.workspace.snapshots.steady_read import USUAL
from tests.e2e.plain import LIMIT, Refused
from tests.faults.place import Place
from tests.workspace.snapshots.work import Work, held

pytestmark = pytest.mark.long

KILLS = int(os.environ.get("SIDECAR_KILLS", "6"))
FILES = 500
WORK = f"for n in $(seq {FILES}); do echo $n > f$n; done; rm f7; chmod 600 f8; ln -sf f9 f10"
APPLIED = {"applied": True}
needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(place: Place, *arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    command = ("git", *who, *arguments)
    return subprocess.run(
        command, cwd=place.root, check=True, capture_output=True, text=True
    ).stdout


def dot_git(place: Place) -> dict[str, tuple[int, bytes]]:
    """Everything in it: modes, contents, targets of links, empty folders."""
    found: dict[str, tuple[int, bytes]] = {}
    for path in ((top := place.root / ".git"), *top.rglob("*")):
        content = b""
        if path.is_symlink():
            content = os.fsencode(os.readlink(path))
        elif path.is_file():
            content = path.read_bytes()
        found[str(path)] = (path.lstat().st_mode, content)
    return found


@needs_git
def test_untracked_data_was_deleted_and_the_branch_moved(place: Place) -> None:
    text = place.write("a.txt", b"one\n2\n3\n4\n5\n")
    git(place, "init", "-q", "-b", "main")
    git(place, "add", ".")
    git(place, "commit", "-qm", "one")
    (place.root / ".git/empty").mkdir()
    (place.root / ".git/link").symlink_to("HEAD")
    (place.root / ".git/config").chmod(0o600)
    untracked = place.write("data/big.bin", os.urandom(200_000))
    content, before = untracked.read_bytes(), dot_git(place)
    message = place.say(
        "replace `one` with `two` in a.txt then create made/by_agent.txt with `x`"
        " then run `echo x > made.txt`"
    )
    mine = place.write("made/by_user.txt", b"mine\n")

    def stands(shown: bytes) -> None:
        assert text.read_bytes() == shown
        assert untracked.read_bytes() == content
        assert mine.read_bytes() == b"mine\n"
        assert dot_git(place) == before

    fates = place.back(message)
    assert set(fates["restored"]) == {"a.txt", "made.txt", "made/by_agent.txt"}
    assert not (place.root / "made/by_agent.txt").exists()
    stands(b"one\n2\n3\n4\n5\n")
    place("checkpoint/redo")
    stands(b"two\n2\n3\n4\n5\n")
    place.write("a.txt", b"two\n2\n3\n4\nfive\n")
    with pytest.raises(Refused):
        place.back(message)
    stands(b"two\n2\n3\n4\nfive\n")
    assert set(place.back(message, onConflict="merge")["merged"]) == {"a.txt"}
    stands(b"one\n2\n3\n4\nfive\n")
    place("checkpoint/redo")
    stands(b"two\n2\n3\n4\nfive\n")
    place.again()
    assert "a.txt" in place.back(message, onConflict="overwrite")["restored"]
    stands(b"one\n2\n3\n4\n5\n")


def test_stores_grew_by_what_was_the_same(place: Place) -> None:
    content = os.urandom(300_000)
    for number in range(5):
        place.write(f"copy_{number}.bin", content)
    place.write("zeros.bin", bytes(1_500_000))
    place.say("create a.txt with `one`")
    for number in range(5):
        place.say(f"replace `one` with `one` in a.txt then run `touch copy_{number}.bin`")
    [workspace] = place.client.request("daemon/status")["watcher"]["workspaces"]
    assert len(content) < workspace["bytes"] < 1.2 * len(content)


async def test_stores_grew_without_limit_and_doubled_the_disk_when_swept(tmp_path: Path) -> None:
    work = Work(tmp_path)
    most = 600_000
    snapshots = await work.open(limits=replace(USUAL, workspace=most))
    await snapshots.ready()
    running = asyncio.create_task(snapshots.run())
    largest = 0
    for _ in range(120):
        work.write("a.bin", os.urandom(50_000))
        await snapshots.snapshot()
        assert held(snapshots) <= most
        # The journal beside it has a limit of its own, whatever is swept.
        largest = max(largest, (work.data / "store.db").stat().st_size)
    assert most // 2 < largest < 1.5 * most
    running.cancel()
    await asyncio.wait({running}, timeout=LIMIT)
    await snapshots.close()
    await work.store.close()


@needs_git
def test_undone_was_said_and_nothing_was_changed(place: Place) -> None:
    place.write("sub/inner.txt", b"inner\n")
    subprocess.run(["git", "init", "-q", "sub"], cwd=place.root, check=True)
    # As a submodule looks: a file that says where its repository lies.
    place.write("module/inner.txt", b"inner\n")
    elsewhere = f"--separate-git-dir={place.data.parent / 'modules'}"
    subprocess.run(["git", "init", "-q", elsewhere, "module"], cwd=place.root, check=True)
    place.write("keys.txt", b"KEY=1\n")
    place.write(".gitignore", b"keys.txt\n")
    before = place.tree()
    message = place.say(
        "replace `inner` with `changed` in sub/inner.txt"
        " then replace `KEY=1` with `KEY=2` in keys.txt"
        " then replace `inner` with `changed` in module/inner.txt"
        " then run `echo by-shell > shell.txt`"
    )
    assert (place.root / "keys.txt").read_bytes() == b"KEY=2\n"
    fates = place.back(message)
    assert place.tree() == before
    everywhere = {"sub/inner.txt", "module/inner.txt", "keys.txt", "shell.txt"}
    assert set(fates["restored"]) == everywhere
    assert all(reason for paths in fates.values() for reason in paths.values())
    with pytest.raises(Refused) as nothing:
        place.back(message)
    assert nothing.value.code == -32012


def test_the_users_own_edits_were_overwritten(place: Place) -> None:
    place.write("both.txt", b"1\n2\n3\n4\n5\n")
    message = place.say("replace `1` with `one` in both.txt")
    place.write("both.txt", b"one\n2\n3\n4\nfive\n")
    mine = place.write("mine.txt", b"mine\n")
    with pytest.raises(Refused) as refused:
        place.back(message)
    assert refused.value.code == -32013
    assert (place.root / "both.txt").read_bytes() == b"one\n2\n3\n4\nfive\n"
    keep = {"beforeMessageId": message, "scope": "files", "onConflict": "keep"}
    with pytest.raises(Refused) as kept:
        place("checkpoint/restore", **keep)
    assert kept.value.code == -32012
    fates = place.back(message, onConflict="merge")
    assert set(fates["merged"]) == {"both.txt"}
    assert (place.root / "both.txt").read_bytes() == b"1\n2\n3\n4\nfive\n"
    assert mine.read_bytes() == b"mine\n"


def test_a_rollback_could_not_be_undone(place: Place) -> None:
    before = place.tree()
    message = place.say("create a.txt with `one` then create b/c.txt with `two`")
    after = place.tree()
    for _ in range(2):
        place.back(message)
        assert place.tree() == before
        place.again()
        place("checkpoint/redo")
        assert place.tree() == after
    left = place("checkpoint/list")["head"]
    place.back(message)
    place.say("create other.txt with `another branch`")
    place.again()
    assert left in {one["checkpointId"] for one in place("checkpoint/list")["checkpoints"]}
    place("checkpoint/restore", checkpointId=left, scope="both")
    assert place.tree() == after


def test_a_crash_left_half_a_restore(place: Place) -> None:
    dice = random.Random(KILLS)
    for number in range(1, FILES + 1, 2):
        place.write(f"f{number}", dice.randbytes(100))
    trees = {"before": place.tree()}
    message = place.say(f"run `{WORK}`")
    trees["after"] = place.tree()
    assert trees["before"] != trees["after"]
    back: dict[str, Any] = {"beforeMessageId": message, "scope": "both"}
    began = time.monotonic()
    place("checkpoint/restore", **back)
    place("checkpoint/redo")
    longest = time.monotonic() - began
    stands = "after"
    ends: Counter[str] = Counter()
    for _ in range(KILLS):
        method, given = ("restore", back) if stands == "after" else ("redo", {})
        place.client.send(f"checkpoint/{method}", {"sessionId": place.session, **given})
        with suppress(subprocess.TimeoutExpired):
            place.client.process.wait(dice.uniform(0, longest))
        place.again()
        shown = str(place("context/preview")["request"]["messages"])
        now = "after" if "seq 500" in shown else "before"
        assert place.tree() == trees[now], f"the conversation says {now}"
        told = ", by the next start" if "broken off" in str(place.client.notifications) else ""
        ends[("all before" if now == stands else "all after") + told] += 1
        stands = now
    # Seen with -s: how many were ended by the next start, having been cut short in the middle.
    print(dict(ends))
    assert sum(ends.values()) == KILLS
    if KILLS >= 50:
        assert {end.partition(",")[0] for end in ends} == {"all before", "all after"}


@needs_git
def test_line_endings_modes_links_and_empty_folders_were_altered(place: Place) -> None:
    git(place, "init", "-q")
    git(place, "config", "core.autocrlf", "input")
    git(place, "config", "filter.shout.clean", "tr a-z A-Z")
    place.write(".gitattributes", b"*.txt text eol=lf filter=shout\n")
    place.write("crlf.txt", b"a\r\nb\r\n\xff\xfe")
    place.write("run.sh", b"#!/bin/sh\n").chmod(0o755)
    (place.root / "empty").mkdir()
    (place.root / "link").symlink_to("crlf.txt")
    before = place.tree()
    message = place.say(
        "run `printf 'a\\n' > crlf.txt && chmod 600 run.sh && rmdir empty && ln -sfn no link`"
    )
    assert place.tree() != before
    place.back(message)
    assert place.tree() == before


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_a_name_that_is_no_utf_8_harms_nothing_and_comes_back(place: Place) -> None:
    odd, other = (place.root / os.fsdecode(name) for name in (b"odd\xff.txt", b"\xfe"))
    odd.write_bytes(b"mine\n")
    place.say("create a.txt with `one`")
    give_up = time.monotonic() + LIMIT
    while place.client.request("daemon/status")["watcher"]["mode"] != "polling":
        # The watch of instructions, which ends at such a name, may not stand yet.
        other.write_bytes(b"x")
        assert time.monotonic() < give_up
    message = place.say("run `echo x > odd*.txt`")
    assert odd.read_bytes() == b"x\n"
    assert set(place.back(message)["restored"]) == {"odd\\xff.txt"}
    assert odd.read_bytes() == b"mine\n"


def test_the_home_folder_our_own_and_large_files_were_taken_in(place: Place) -> None:
    place.client.stop()
    place.daemon(HOME=str(place.root))
    place.say("create a.txt with `one`")
    watcher = place.client.request("daemon/status")["watcher"]
    assert "home" in str(watcher).lower()
    place.client.stop()
    place.daemon()
    around = place.client.request("session/new", {"cwd": str(place.data.parent)})["sessionId"]
    prompt = [{"type": "text", "text": "create work/a.txt with `two`"}]
    place.client.request("session/prompt", {"sessionId": around, "prompt": prompt})
    assert "Sidecar's own data" in str(place.client.request("daemon/status")["watcher"])
    place.session = ""
    place.write("huge.bin", os.urandom(3_000_000))
    message = place.say("run `echo x > huge.bin`")
    fates = place.back(message)
    assert "huge.bin" in fates["skipped"]
    assert (place.root / "huge.bin").read_bytes() == b"x\n"


def test_unsaved_text_in_the_editor_was_ignored(place: Place) -> None:
    path = place.write("a.txt", b"on disk\n")
    place.open()
    place.show(path, "one\n")
    edits: list[Any] = []
    place.client.answers["workspace/applyEdit"] = lambda given: edits.append(given) or APPLIED
    message = place.say("replace `one` with `two` in a.txt")
    [edit] = edits
    assert edit["edit"]["changes"][path.as_uri()][0]["newText"] == "two\n"
    assert path.read_bytes() == b"on disk\n"
    path.write_bytes(b"two\n")
    place.show(path, "two, and unsaved\n")
    with pytest.raises(Refused) as refused:
        place.back(message)
    assert refused.value.code == -32013
    assert path.read_bytes() == b"two\n"
