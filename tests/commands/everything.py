"""Every command of `sidecar` with arguments that make it work, over a store with real sessions."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.e2e.plain import PlainClient, say
from tests.faults.forked import warm

PROGRAM = Path(sys.executable).with_name("sidecar")
LIMIT = 120
ALLOWED = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}
OUTSIDE = ("serve",)
"""Commands that speak no language of people's."""


def environment(data: Path, **given: str) -> dict[str, str]:
    """Give an environment in which nothing but `data` is used, and no model is reached."""
    dropped = ("ANTHROPIC_", "SIDECAR_", "PYTHON", "XDG_", "COLUMNS")
    kept = {k: v for k, v in os.environ.items() if not k.startswith(dropped)}
    return {**kept, "HOME": str(data.parent), "SIDECAR_DATA_DIR": str(data), **given}


def daemon(data: Path, env: dict[str, str], **options: Any) -> PlainClient:
    """Start a daemon with the offline model and a user who allows everything."""
    nursery, answers = warm(), {"session/request_permission": lambda _: ALLOWED}
    client = PlainClient(data, answers, env, spawn=nursery and nursery.fork)
    client.start(model="offline", **options)
    return client


@dataclass
class Past:
    """A store with sessions of one folder, and a recording of another agent."""

    data: Path
    folder: Path
    prompts: tuple[str, ...]
    title: str = "Say hello"
    sessions: list[str] = field(default_factory=list)

    def live(self, number: int) -> None:
        """Work in the folder in this many sessions of a daemon, each with every prompt."""
        client = daemon(self.data, environment(self.data))
        about = {"cwd": str(self.folder), "title": self.title}
        for _ in range(number):
            session = client.request("session/new", about)["sessionId"]
            for prompt in self.prompts:
                say(client, session, prompt)
            self.sessions.append(session)
        assert client.stop() == 0, client.stderr

    def recording(self, path: Path, text: str = "Hello there") -> Path:
        """Write a recording of Claude Code's."""
        lines = [
            {"type": "user", "message": {"role": "user", "content": text}},
            {"type": "assistant", "message": {"role": "assistant", "content": text}},
        ]
        common = {"sessionId": "s", "cwd": str(self.folder), "timestamp": "2026-01-05T10:00:00Z"}
        told = [
            {**common, **line, "uuid": f"u{n}", "parentUuid": f"u{n - 1}" if n else None}
            for n, line in enumerate(lines)
        ]
        path.write_text("".join(f"{json.dumps(line)}\n" for line in told), "utf-8")
        return path

    def commands(self, elsewhere: Path) -> Iterable[tuple[str, ...]]:
        """Give arguments for every command, those last that take something away."""
        first, second, third = self.sessions
        recordings = elsewhere / "recordings"
        recordings.mkdir()
        one = str(self.recording(recordings / "one.jsonl"))
        self.recording(recordings / "two.jsonl")
        bundle = str(elsewhere / "bundle.sidecar")
        yield from (("--version",), ("--help",))
        yield from (("sessions",), ("sessions", "--here"), ("models",), ("completion", "bash"))
        yield ("wrap", "--print-config", "zed", "--", "an-agent", first)
        yield ("inspect", first)
        yield ("inspect", "--last", "--json")
        yield ("report", first)
        yield ("report", first, str(elsewhere / "page.html"))
        yield ("audit", first)
        yield ("checkpoints", first)
        yield ("checkpoints", first, "--json")
        yield ("diff", first)
        yield ("restore", first, "--last", "--dry-run")
        yield ("restore", first, "--last", "--yes")
        yield ("restore", first, "--redo", "--yes")
        yield ("export", first, bundle)
        yield ("export", first)
        yield ("import", bundle)
        yield ("import", one)
        yield from synced(str(elsewhere / "remote.git"))
        yield ("replay", str(recordings), "--jobs", "2", "--html", str(elsewhere / "replay.html"))
        yield ("replay", str(recordings), "--compare", "--json")
        yield ("replay", str(self.data), "--jobs", "2")
        yield ("replay", one, "--judge")
        yield ("config", "show", "--origin")
        yield ("config", "show", "--json")
        yield ("config", "check")
        yield ("config", "init")
        yield from (("status",), ("status", "--json"), ("stop", "--now"))
        yield ("doctor",)
        yield ("verify",)
        yield ("verify", "--repair")
        yield ("demo", "--fast", "--workspace", str(self.folder))
        yield ("prune", "--dry-run", "--outputs-days", "1")
        yield ("prune", "--dry-run", "--json")
        yield ("archive", second)
        yield from (("archive",), ("archive", "--json"))
        yield ("delete", third, "--yes")
        yield ("prune", "--sessions-mib", "1")


def synced(remote: str) -> Iterable[tuple[str, ...]]:
    """Make a remote, and give arguments for all that is done with one."""
    subprocess.run(("git", "init", "--quiet", "--bare", remote), check=True, timeout=LIMIT)
    return [("sync", remote, how) for how in ("--dry-run", "--yes", "--list")]


def names_of_commands() -> set[str]:
    """Name all commands, as `sidecar --help` does."""
    done = subprocess.run(
        [PROGRAM, "--help"], capture_output=True, text=True, check=True, timeout=LIMIT
    )
    listed = done.stdout.partition("Commands:\n")[2].splitlines()
    return {line.split()[0] for line in listed if line[:2] == "  " and line[2:3].strip()}
