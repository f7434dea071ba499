"""How users of other tools lost work, one test for each way: it does not happen here.

A real daemon, the offline model's real tools, and the files looked at afterwards.
"""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.plain import LIMIT, PlainClient, Refused

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
ALLOWED = {"allow": ["write_file", "edit_file", "shell"]}


class Place:
    """A workspace, a daemon and a session in it."""

    def __init__(self, folder: Path) -> None:
        self.data, self.root = folder / "data", folder / "work"
        self.root.mkdir()
        self.session = ""
        self.client = self.daemon()

    def daemon(self, **environment: str) -> PlainClient:
        """Start a daemon over the same store."""
        client = PlainClient(self.data, env=environment)
        client.start(model="offline", permissions=ALLOWED)
        self.client = client
        return client

    def open(self) -> None:
        """Begin a session."""
        self.session = self.client.request("session/new", {"cwd": str(self.root)})["sessionId"]

    def again(self) -> None:
        """Kill the daemon and go on in another."""
        self.client.kill()
        self.daemon()
        self("session/load", replay=False)

    def __call__(self, method: str, **given: Any) -> Any:
        """Make a request about the session."""
        return self.client.request(method, {"sessionId": self.session, **given})

    def say(self, words: str) -> str:
        """Take a turn; gives the id of its message."""
        if not self.session:
            self.open()
        result = self("session/prompt", prompt=[{"type": "text", "text": words}])
        assert result["stopReason"] == "end_turn", result
        return str(result["messageId"])

    def back(self, message: str, **given: Any) -> dict[str, dict[str, str]]:
        """Go back to before a message; gives each path's fate with the reason."""
        done = self("checkpoint/restore", beforeMessageId=message, scope="both", **given)
        return {
            fate: {p["path"]: p["reason"] for p in done["files"][fate]} for fate in done["files"]
        }

    def write(self, name: str, content: bytes) -> Path:
        """Write a file as the user."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def tree(self) -> dict[str, tuple[int, bytes]]:
        """Everything but `.git`: modes, contents, targets of links, empty folders."""
        found: dict[str, tuple[int, bytes]] = {}
        for path in sorted(self.root.rglob("*")):
            name = str(path.relative_to(self.root))
            if ".git" in path.parts:
                continue
            mode = path.lstat().st_mode
            if path.is_symlink():
                found[name] = (mode, os.readlink(path).encode())
            else:
                found[name] = (mode, b"" if path.is_dir() else path.read_bytes())
        return found


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    made = Place(tmp_path)
    yield made
    if made.client.process.poll() is None:
        assert made.client.stop() == 0, made.client.stderr
    made.client.close()


def git(place: Place, *arguments: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    command = ("git", *who, *arguments)
    return subprocess.run(
        command, cwd=place.root, check=True, capture_output=True, text=True
    ).stdout


def dot_git(place: Place) -> dict[str, bytes]:
    files = (path for path in (place.root / ".git").rglob("*") if path.is_file())
    return {str(path): path.read_bytes() for path in files}


@needs_git
def test_untracked_files_and_branches_are_left_alone(place: Place) -> None:
    place.write("a.txt", b"one\n")
    git(place, "init", "-q", "-b", "main")
    git(place, "add", ".")
    git(place, "commit", "-qm", "one")
    untracked = place.write("data/big.bin", os.urandom(200_000))
    content, before = untracked.read_bytes(), dot_git(place)
    message = place.say("replace `one` with `two` in a.txt then run `echo x > made.txt`")
    fates = place.back(message)
    assert set(fates["restored"]) == {"a.txt", "made.txt"}
    assert untracked.read_bytes() == content
    assert dot_git(place) == before


def test_the_store_does_not_grow_by_what_is_the_same(place: Place) -> None:
    content = os.urandom(300_000)
    for number in range(5):
        place.write(f"copy_{number}.bin", content)
    place.say("create a.txt with `one`")
    for number in range(5):
        place.say(f"replace `one` with `one` in a.txt then run `touch copy_{number}.bin`")
    [workspace] = place.client.request("daemon/status")["watcher"]["workspaces"]
    assert workspace["bytes"] < 2 * len(content)


@needs_git
def test_what_is_undone_is_undone_wherever_it_is(place: Place) -> None:
    place.write("sub/inner.txt", b"inner\n")
    subprocess.run(["git", "init", "-q", "sub"], cwd=place.root, check=True)
    place.write(".env", b"KEY=1\n")
    place.write(".gitignore", b".env\n")
    before = place.tree()
    message = place.say(
        "replace `inner` with `changed` in sub/inner.txt then replace `KEY=1` with `KEY=2` in .env"
        " then run `echo by-shell > shell.txt`"
    )
    assert (place.root / ".env").read_bytes() == b"KEY=2\n"
    fates = place.back(message)
    assert place.tree() == before
    assert set(fates["restored"]) == {"sub/inner.txt", ".env", "shell.txt"}
    with pytest.raises(Refused) as nothing:
        place.back(message)
    assert nothing.value.code == -32012


def test_the_users_own_edits_survive(place: Place) -> None:
    place.write("both.txt", b"1\n2\n3\n4\n5\n")
    message = place.say("replace `1` with `one` in both.txt")
    place.write("both.txt", b"one\n2\n3\n4\nfive\n")
    mine = place.write("mine.txt", b"mine\n")
    with pytest.raises(Refused) as refused:
        place.back(message)
    assert refused.value.code == -32013
    assert (place.root / "both.txt").read_bytes() == b"one\n2\n3\n4\nfive\n"
    fates = place.back(message, onConflict="merge")
    assert set(fates["merged"]) == {"both.txt"}
    assert (place.root / "both.txt").read_bytes() == b"1\n2\n3\n4\nfive\n"
    assert mine.read_bytes() == b"mine\n"


def test_going_back_can_itself_be_undone(place: Place) -> None:
    before = place.tree()
    message = place.say("create a.txt with `one` then create b/c.txt with `two`")
    after = place.tree()
    for _ in range(2):
        place.back(message)
        assert place.tree() == before
        place.again()
        place("checkpoint/redo")
        assert place.tree() == after


@pytest.mark.parametrize("delay", [0.0, 0.01, 0.03, 0.08])
def test_a_crash_leaves_all_or_nothing(place: Place, delay: float) -> None:
    before = place.tree()
    message = place.say("run `for n in $(seq 200); do echo $n > f$n; done`")
    after = place.tree()
    params = {"sessionId": place.session, "beforeMessageId": message, "scope": "both"}
    place.client.send("checkpoint/restore", params)
    with suppress(subprocess.TimeoutExpired):
        place.client.process.wait(delay)
    place.again()
    shown = str(place("context/preview")["request"]["messages"])
    assert place.tree() == (after if "seq 200" in shown else before)


def test_bytes_modes_links_and_empty_folders_come_back(place: Place) -> None:
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


def test_a_home_folder_is_refused_and_large_files_are_named(place: Place) -> None:
    place.client.stop()
    place.daemon(HOME=str(place.root))
    place.say("create a.txt with `one`")
    watcher = place.client.request("daemon/status")["watcher"]
    assert "home" in str(watcher).lower()
    place.client.stop()
    place.daemon()
    place.session = ""
    place.write("huge.bin", os.urandom(3_000_000))
    message = place.say("run `echo x > huge.bin`")
    fates = place.back(message)
    assert "huge.bin" in fates["skipped"]
    assert (place.root / "huge.bin").read_bytes() == b"x\n"


def test_unsaved_text_is_in_the_way(place: Place) -> None:
    path = place.write("a.txt", b"one\n")
    message = place.say("replace `one` with `two` in a.txt")
    document = {"uri": path.as_uri(), "languageId": "text", "version": 1, "text": "unsaved\n"}
    place.client.notify("textDocument/didOpen", {"textDocument": document})
    with pytest.raises(Refused) as refused:
        place.back(message)
    assert refused.value.code == -32013
    assert path.read_bytes() == b"two\n"
