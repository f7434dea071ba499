"""Seven windows beside the one that a test is about, on the daemon that all of them share."""

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.plain import LIMIT, PlainClient, Refused, Spawn, say
from tests.e2e.resident import SHARED, command
from tests.faults import forked
from tests.figures import Figures

OTHERS = 7
EVERY = 0.2
"""Seconds between an answer and the next prompt, of one of the others after another."""


class Thin(subprocess.Popen[bytes]):
    """A window's process, with the number of the daemon behind it."""

    daemon_pid = 0


class Crowd:
    """Starts with the first window of the test, in whose variables the daemon runs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._variables: dict[str, str] = {}
        self._others: list[tuple[PlainClient, str]] = []
        self._over = threading.Event()
        self._prompting = threading.Thread(target=self._prompt, daemon=True)
        self._pid = 0
        self._failed: list[BaseException] = []
        self.took: list[float] = []

    def spawn(self, environment: dict[str, str]) -> Any:
        """Start a window of the test."""
        if not self._others:
            self._begin(environment)
        process = self._window({**environment, **self._variables})
        process.daemon_pid = self._pid
        return process

    def _window(self, environment: dict[str, str]) -> Thin:
        pipe, run = subprocess.PIPE, [sys.executable, "-m", "sidecar", *SHARED]
        return Thin(run, stdin=pipe, stdout=pipe, stderr=pipe, env=environment)

    def _begin(self, environment: dict[str, str]) -> None:
        run, root = self._folder / "run", self._folder / "others"
        for made in (run, root):
            made.mkdir(mode=0o700)
        data = environment["SIDECAR_DATA_DIR"]
        self._variables = {
            "XDG_RUNTIME_DIR": str(run), "SIDECAR_DATA_DIR": data, "SIDECAR_LINGER": "60",
        }  # fmt: skip
        for _ in range(OTHERS):
            given = {**environment, **self._variables}
            client = PlainClient(Path(data), env=given, spawn=self._window)
            client.start(model="offline")
            self._pid = client.request("daemon/status")["pid"]
            session = client.request("session/new", {"cwd": str(root), "builtinTools": False})
            self._others.append((client, session["sessionId"]))
        self._prompting.start()

    def _prompt(self) -> None:
        number = 0
        while not self._over.wait(EVERY):
            client, session = self._others[number % OTHERS]
            number += 1
            begun = time.monotonic()
            try:
                # A full disk, say, is theirs, too.
                with suppress(Refused):
                    say(client, session, "say something")
            except BaseException as error:  # noqa: BLE001 - it is raised where the test ends
                self._failed.append(error)
                return
            self.took.append(time.monotonic() - begun)

    def end(self) -> None:
        """Raises what the others met."""
        self._over.set()
        if not self._others:
            return
        self._prompting.join(60)
        try:
            if self._failed:
                raise self._failed[0]
            assert len({client.request("daemon/status")["pid"] for client, _ in self._others}) == 1
        finally:
            command(self._variables, "stop", "--now")
            for client, _ in self._others:
                client.kill()


@pytest.fixture(params=["alone", "one of eight"])
def spawn(
    request: pytest.FixtureRequest, tmp_path: Path, figures: Figures
) -> Iterator[Spawn | None]:
    """Start daemons of a window's own; or windows of one that seven others share, at work."""
    if request.param == "alone":
        nursery = forked.warm()
        yield None if nursery is None else nursery.fork
        return
    crowd = Crowd(tmp_path)
    try:
        yield crowd.spawn
    finally:
        crowd.end()
    if crowd.took:
        longest = f"{max(crowd.took):.2f}"
        figures.add(f"{request.node.name}: the others' longest turn, s", longest, LIMIT)
