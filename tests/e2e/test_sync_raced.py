"""Two machines on one session, at once, again and again: whoever comes second, nothing is lost."""

import os
import random
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from tests.e2e.plain import Spawn
from tests.e2e.sync_users import User, git, refs, users
from tests.e2e.test_fork_and_handoff import problems

Make = Callable[..., User]
RACES = int(os.environ.get("SIDECAR_RACES", "500"))
OF_ONE = 10
"""Races of one session and its forks, so that none grows without end."""
LIMIT = 20.0


@pytest.fixture
def make(tmp_path: Path, spawn: Spawn | None) -> Iterator[Make]:
    yield from users(tmp_path, spawn)


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """Serve repositories on loopback by git's own daemon; gives the address."""
    with closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    process = subprocess.Popen(
        (
            "git", "daemon", "--reuseaddr", "--export-all", "--enable=receive-pack",
            "--listen=127.0.0.1", f"--port={port}", f"--base-path={folder}", str(folder),
        )
    )  # fmt: skip
    try:
        until = time.monotonic() + LIMIT
        while True:
            with closing(socket.socket()) as one:
                if one.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert time.monotonic() < until, "git daemon does not listen"
            time.sleep(0.05)
        yield f"git://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(LIMIT)


class Racers:
    """Two users who say something in their sessions and sync, often at once."""

    def __init__(self, make: Make, seed: int, address: str) -> None:
        self.dice = random.Random(seed)
        self.users = (make(f"ada{seed}"), make(f"bob{seed}"))
        self.address = address
        self.said: dict[User, list[str]] = {}
        self.number = 0

    def sync_of(self, user: User, names: list[str] | None = None) -> int:
        about = {"cwd": str(user.folder), "remote": self.address, "agree": self.address}
        return user.client.send("session/sync", {**about, **({"open": names} if names else {})})

    def begin(self) -> dict[str, list[str]]:
        """Begin a session that both have; gives what each machine heard, by home."""
        ada, bob = self.users
        session = ada.new("Race")
        words = self.say(ada, session)
        ada.client.result(self.sync_of(ada))
        bob.client.result(self.sync_of(bob, [session]))
        return {str(ada.home): [words], str(bob.home): []}

    def say(self, user: User, session: str) -> str:
        self.number += 1
        words = f"sentence {self.number} of {user.home.name}."
        user.say(session, words)
        return words

    def race(self, heard: dict[str, list[str]]) -> None:
        for user in self.users:
            mine = sorted(user.sessions())
            for _ in range(self.dice.choice((0, 1, 1, 1, 2))):
                heard[str(user.home)].append(self.say(user, self.dice.choice(mine)))
        asked = [(user, self.sync_of(user)) for user in self.dice.sample(self.users, 2)]
        for user, request in asked:
            user.client.result(request, 60)

    def end(self, heard: dict[str, list[str]], remote: Path) -> None:
        """Both settle; all that was said lies there, and each still has what was said to it."""
        for _ in range(2):
            for user in self.users:
                user.client.result(self.sync_of(user), 60)
        everything = {words for each in heard.values() for words in each}
        ada, bob = self.users
        ada.client.result(self.sync_of(ada, sorted(refs(remote))), 60)
        found = {words for session in ada.sessions() for words in ada.texts(session)}
        assert found == everything
        kept = {words for session in bob.sessions() for words in bob.texts(session)}
        assert set(heard[str(bob.home)]) <= kept
        for user in self.users:
            for session in user.sessions():
                user.client.request("session/delete", {"sessionId": session})
            user.client.result(self.sync_of(user), 60)


def run(make: Make, seed: int, races: int, address: str) -> None:
    racers = Racers(make, seed, address)
    ada, bob = racers.users
    for _ in range(max(1, races // OF_ONE)):
        heard = racers.begin()
        for _ in range(OF_ONE):
            racers.race(heard)
        racers.end(heard, ada.remote)
    git("fsck", "--strict", cwd=ada.remote)
    assert problems(ada.data) == problems(bob.data) == ()


def test_a_few_races_lose_nothing(make: Make, tmp_path: Path) -> None:
    run(make, 1, OF_ONE, str(tmp_path / "remote.git"))


@pytest.mark.long
@pytest.mark.parametrize("seed", [11, 12, 13, 14])
def test_many_races_lose_nothing(make: Make, tmp_path: Path, seed: int) -> None:
    run(make, seed, RACES // 4, str(tmp_path / "remote.git"))


@pytest.mark.long
def test_races_over_git_daemon_lose_nothing(make: Make, tmp_path: Path) -> None:
    with served(tmp_path) as address:
        run(make, 21, RACES // 10, f"{address}/remote.git")
