"""Rounds of windows on a shared daemon that come, prompt and are killed, as is the daemon.

A round: seats at once have windows, each killed, stopped, or left by a daemon that is killed, from
the start of either on. Then all is killed; no process may be left, and a fresh daemon must know
all that a window was told.
"""

import os
import random
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from signal import SIGKILL
from typing import Any

from tests.e2e.plain import LIMIT, PlainClient, Refused
from tests.e2e.resident import SHARED, allow, prompt
from tests.faults.kin import descendants, reap

SEATS = 4
SERVED = "/server.py "
"""The end of a server's command line, each argument with a space behind."""
ROUNDS_A_SESSION = 8
EARLY = 0.15
"""The part of the windows that are killed while they or their daemon start."""
GRACE = 8.0
"""Seconds for commands and servers to end: SIGKILL comes two after SIGTERM."""
SERVER = """
import json, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
tools = [{"name": "look", "description": "x", "inputSchema": {"type": "object"}}]
for line in sys.stdin:
    asked = json.loads(line)
    result = {"tools": tools}
    if asked["method"] == "initialize":
        result = {"protocolVersion": asked["params"]["protocolVersion"],
                  "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}), flush=True)
time.sleep(600)
"""
"""An MCP server that ends neither with its input nor by SIGTERM."""
WORK = (
    "say {}.",
    "say {}.",
    "repeat 4 times: run echo {}",
    "run sleep 60; echo {}",
    "run trap '' TERM; sleep 60 & sleep 60; echo {}",
)


class Gone(Exception):
    """The window's process has ended."""


@dataclass
class Deaths:
    """What the rounds came to."""

    rounds: int = 0
    attached: int = 0
    windows: int = 0
    daemons: int = 0
    """Killed ones, as `windows`."""
    prompts: int = 0
    """Acknowledged ones, each asked for again."""
    children: int = 0
    """Commands, servers and their watchers that ran when a daemon was killed."""
    servers: int = 0
    """Of these the MCP servers themselves."""
    faults: list[str] = field(default_factory=list)

    @property
    def kills(self) -> int:
        return self.windows + self.daemons


class Floor:
    """One data folder, its windows and the daemons that they share."""

    def __init__(self, folder: Path, seed: int, deaths: Deaths) -> None:
        self.folder, self.deaths = folder, deaths
        self.before = set(descendants())
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        (folder / "run").mkdir(mode=0o700)
        self.server = folder / "server.py"
        self.server.write_text(SERVER)
        self.dice = random.Random(seed)
        self.sessions: list[str] = []
        self.acknowledged: dict[str, list[str]] = {}
        self._clients: list[PlainClient] = []
        self._kills = [0, 0]
        """Of daemons: begun and seen to its end."""
        self._lock = threading.Lock()

    def round(self) -> None:
        self.deaths.rounds += 1
        if self.deaths.rounds % ROUNDS_A_SESSION == 1:
            self.sessions = []
        seeds = [self.dice.random() for _ in range(SEATS)]
        threads = [threading.Thread(target=self._sit, args=(seed,)) for seed in seeds]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(4 * LIMIT)
        self._kill_daemon()
        self._all_gone()
        self.check(self.sessions)

    def check(self, sessions: list[str]) -> None:
        """Ask a fresh daemon for all that was acknowledged."""
        if not sessions:
            return
        client = self._window()
        client.start(model="offline")
        for session in sessions:
            client.notifications.clear()
            try:
                client.request("session/load", {"sessionId": session})
            except Refused as refused:
                self.deaths.faults.append(f"{session} is lost: {refused}")
                continue
            kept = [text for _, text in told(client)]
            missing = sorted(set(self.acknowledged[session]) - set(kept))
            double = sorted({text for text in kept if kept.count(text) > 1})
            self.deaths.faults += [f"lost: {text}" for text in missing]
            self.deaths.faults += [f"twice: {text}" for text in double]
        if client.stop() != 0:
            self.deaths.faults.append(f"the window that checks: {client.stderr}")

    def end(self) -> None:
        """Leave nothing behind."""
        self._kill_daemon()
        self._all_gone()

    # --- windows -----------------------------------------------------------------------------

    def _window(self) -> PlainClient:
        run = {"XDG_RUNTIME_DIR": str(self.folder / "run"), "SIDECAR_OFFLINE_PACE": "0.001"}
        answers = {"session/request_permission": allow}
        client = PlainClient(self.folder / "data", answers, env=run, arguments=SHARED)
        with self._lock:
            self.deaths.attached += 1
            self._clients.append(client)
        return client

    def _sit(self, seed: float) -> None:
        dice = random.Random(seed)
        for visit in range(dice.randint(2, 4)):
            try:
                self._visit(dice, f"r{self.deaths.rounds}v{visit}s{str(seed)[2:8]}")
            except BaseException as fault:  # noqa: BLE001 - told by the test's own thread
                self.deaths.faults.append(f"{type(fault).__name__}: {fault}")

    def _visit(self, dice: random.Random, name: str) -> None:
        ended = self._kills[1]
        client = self._window()
        if dice.random() < EARLY:
            time.sleep(dice.random() * 0.6)
            self._kill_window(client) if dice.random() < 0.7 else self._kill_daemon()
        # Of a window or daemon that is gone.
        with suppress(Gone, OSError, ValueError):
            self._work(client, dice, name)
            time.sleep(dice.random() ** 2 / 2)
            self._leave(client, dice.random())
        code = client.close()
        if code not in (0, -SIGKILL) and (code != 1 or self._kills[0] == ended):
            self.deaths.faults.append(f"{name}: ended by {code}: {client.stderr!r}")
        self._keep(client)

    def _leave(self, client: PlainClient, end: float) -> None:
        if end < 0.6:
            self._kill_window(client)
        elif end < 0.8:
            self._kill_daemon()
        else:
            answer(client, client.send("shutdown"))
            client.notify("exit")

    def _work(self, client: PlainClient, dice: random.Random, name: str) -> None:
        options = {"workspaceTrusted": True, "model": "offline"}
        given = {"capabilities": client.capabilities(), "initializationOptions": options}
        answer(client, client.send("initialize", given))
        client.notify("initialized")
        with self._lock:
            session = dice.choice(self.sessions) if self.sessions and dice.random() < 0.7 else ""
        if session:
            answer(client, client.send("session/load", {"sessionId": session}))
        else:
            served = [] if dice.random() < 0.5 else [self._served()]
            opening = {"cwd": str(self.workspace), "mcpServers": served}
            session = answer(client, client.send("session/new", opening))["sessionId"]
            with self._lock:
                self.sessions.append(session)
                self.acknowledged[session] = []
        wanted = [dice.choice(WORK).format(f"{name}p{n}") for n in range(dice.randint(1, 3))]
        sent = [prompt(client, session, text) for text in wanted]
        if dice.random() < 0.5:
            until = time.monotonic() + 1
            while not client.answered(sent[0]) and time.monotonic() < until:
                alive(client)

    def _served(self) -> dict[str, Any]:
        given = ["-I", "-S", str(self.server)]
        return {"name": "notes", "command": sys.executable, "args": given, "env": []}

    def _keep(self, client: PlainClient) -> None:
        """Of what a window was told all is acknowledged."""
        for session, text in told(client):
            with self._lock:
                if text not in self.acknowledged[session]:
                    self.acknowledged[session].append(text)
                    self.deaths.prompts += 1

    # --- deaths ------------------------------------------------------------------------------

    def _kill_window(self, client: PlainClient) -> None:
        client.kill()
        with self._lock:
            self.deaths.windows += 1

    def _kill_daemon(self) -> None:
        with self._lock:
            running = self._own()
            daemons = [pid for pid, line in running.items() if "sidecar resident" in line]
            self._kills[0] += 1
            for pid in daemons:
                with suppress(ProcessLookupError):
                    os.kill(pid, SIGKILL)
            self.deaths.daemons += len(daemons)
            thin = sum("serve --stdio" in line for line in running.values())
            self.deaths.servers += sum(line.endswith(SERVED) for line in running.values())
            self.deaths.children += len(running) - len(daemons) - thin
            while daemons and set(daemons) & self._own().keys():
                time.sleep(0.005)
            self._kills[1] = self._kills[0]

    def _own(self) -> dict[int, str]:
        found = descendants()
        return {pid: line for pid, line in found.items() if pid not in self.before}

    def _all_gone(self) -> None:
        """Windows end by themselves once their daemon has, and so must all else."""
        for client in self._clients:
            client.close()
        until, empty = time.monotonic() + GRACE, 0
        while empty < 2:
            left = self._own()
            empty = 0 if left else empty + 1
            if left and time.monotonic() > until:
                self.deaths.faults += [f"left: {line}" for line in left.values()]
                for pid in left:
                    with suppress(ProcessLookupError):
                        os.kill(pid, SIGKILL)
                break
            time.sleep(0.02)
        self._clients.clear()
        reap()


def told(client: PlainClient) -> list[tuple[str, str]]:
    """The prompts that a window was told of, with their sessions."""
    given = [n["params"] for n in list(client.notifications) if n["method"] == "session/update"]
    return [
        (one["sessionId"], one["update"]["content"]["text"])
        for one in given
        if one["update"]["sessionUpdate"] == "user_message_chunk"
    ]


def answer(client: PlainClient, number: int) -> Any:
    """As `result`, but raises Gone once nobody can answer."""
    until = time.monotonic() + LIMIT
    while not client.answered(number):
        assert time.monotonic() < until, "no answer came"
        alive(client)
    return client.result(number)


def alive(client: PlainClient) -> None:
    if client.process.poll() is not None:
        raise Gone
    time.sleep(0.005)
