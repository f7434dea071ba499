"""Users of one machine, each with a home, a data folder and a clone, and one bare repository."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import zstandard

from sidecar.core.text.digest import digest
from tests.e2e.plain import PlainClient, Spawn, say

ALLOWED = {"outcome": {"outcome": "selected", "optionId": "allow_once"}}


def git(*arguments: str, cwd: Path) -> str:
    """Run git with nobody's settings; gives what it printed."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    named = ("-c", "user.name=Ada", "-c", "user.email=ada@localhost")
    done = subprocess.run(
        ("git", *named, *arguments), cwd=cwd, env={**clean, **alone}, check=True,
        capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    return done.stdout.strip()


def bare(path: Path) -> Path:
    """Make a bare repository with one commit on a branch."""
    work = path.with_name(f"{path.name}-first")
    work.mkdir(parents=True)
    git("init", "--quiet", "-b", "main", cwd=work)
    (work / "notes.txt").write_text("alpha\nbeta\n")
    for number in range(3):
        lines = (f"line {line} of the long text {number}\n" for line in range(400))
        (work / f"long{number}.txt").write_text("".join(lines))
    git("add", ".", cwd=work)
    git("commit", "--quiet", "-m", "Begin", cwd=work)
    git("clone", "--quiet", "--bare", str(work), str(path), cwd=path.parent)
    return path


def refs(remote: Path) -> dict[str, str]:
    """Give the sessions' commits by name."""
    listed = git("for-each-ref", "--format=%(refname:lstrip=2) %(objectname)", "refs/sidecar/",
                 cwd=remote)  # fmt: skip
    return dict(line.split() for line in listed.splitlines())


@dataclass
class User:
    """A home with a data folder and a clone; `client` is a running daemon's."""

    home: Path
    remote: Path
    spawn: Spawn | None = None
    more: dict[str, str] = field(default_factory=dict)
    options: dict[str, Any] = field(default_factory=dict)
    _client: PlainClient | None = None

    def __post_init__(self) -> None:
        self.home.mkdir(parents=True)
        git("clone", "--quiet", str(self.remote), str(self.folder), cwd=self.home)

    @property
    def data(self) -> Path:
        return self.home / "data"

    @property
    def folder(self) -> Path:
        return self.home / "project"

    @property
    def environment(self) -> dict[str, str]:
        return {"HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home / "config"), **self.more}

    @property
    def client(self) -> PlainClient:
        if self._client is None:
            answers = {"session/request_permission": lambda _: ALLOWED}
            self._client = PlainClient(self.data, answers, self.environment, spawn=self.spawn)
            self._client.start(model="offline", **self.options)
        return self._client

    def leave(self) -> None:
        """Close the window; its daemon ends."""
        if self._client is not None:
            assert self._client.stop() == 0, self._client.stderr
            assert not self._client.unexpected
            self._client = None

    def kill(self) -> None:
        self.client.kill()
        self._client = None

    def new(self, title: str = "Work") -> str:
        about = {"cwd": str(self.folder), "title": title}
        return str(self.client.request("session/new", about)["sessionId"])

    def say(self, session: str, words: str) -> Any:
        return say(self.client, session, words)

    def sync(self, remote: str | None = None, **given: Any) -> Any:
        """Sync the clone's sessions, agreed to."""
        about = {"cwd": str(self.folder), "remote": remote or str(self.remote)}
        return self.client.request("session/sync", {"agree": str(self.remote), **about, **given})

    def there(self) -> list[Any]:
        about = {"cwd": str(self.folder), "remote": str(self.remote)}
        return list(self.client.request("session/listRemote", about)["sessions"])

    def sessions(self) -> dict[str, str]:
        """Give all sessions' titles by id."""
        listed = self.client.request("session/list", {"limit": 500})["sessions"]
        return {one["sessionId"]: one["title"] for one in listed}

    def asked(self, session: str, words: str = "And now?") -> Any:
        """Give what a prompt would send, as it would be sent."""
        prompt = [{"type": "text", "text": words}]
        about = {"sessionId": session, "prompt": prompt}
        return self.client.request("context/preview", about)["request"]

    def chosen(self, session: str) -> dict[str, Any]:
        told = self.client.request("session/load", {"sessionId": session})
        return {one["id"]: one["currentValue"] for one in told["configOptions"]}

    def texts(self, session: str) -> list[str]:
        """Give what was typed, as a window that loads the session is shown it."""
        before = len(self.client.notifications)
        self.client.request("session/load", {"sessionId": session})
        came = [n["params"] for n in self.client.notifications[before:]]
        return [
            one["update"]["content"]["text"]
            for one in came
            if one.get("sessionId") == session
            and one.get("update", {}).get("sessionUpdate") == "user_message_chunk"
        ]


def piece(user: User, name: str, change: Callable[[list[Any]], None], number: int = 1) -> None:
    """Put another content into a ref's piece, as nobody's Sidecar would."""

    def plumbing(*arguments: str, given: bytes = b"") -> bytes:
        done = subprocess.run(
            ("git", *arguments), input=given, cwd=user.remote, capture_output=True, check=True,
            timeout=60,
        )  # fmt: skip
        return done.stdout.strip() if given else done.stdout

    commit, path = refs(user.remote)[name], f"{number:06}.00.sidecar"
    listed = git("ls-tree", commit, cwd=user.remote)
    blob = git("ls-tree", commit, path, cwd=user.remote).split()[2]
    data = plumbing("cat-file", "blob", blob)
    text = zstandard.ZstdDecompressor().decompressobj().decompress(data).decode()
    lines = [json.loads(line) for line in text.splitlines()][:-1]
    change(lines)
    packed, hashed = b"", ""
    for one in lines:
        line = json.dumps(one, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        packed, hashed = packed + line, digest(line, hashed)
    end = {"end": {"lines": len(lines), "hash": hashed}}
    packed += json.dumps(end, separators=(",", ":")).encode() + b"\n"
    made = plumbing("hash-object", "-w", "--stdin", given=zstandard.compress(packed)).decode()
    tree = plumbing("mktree", given=f"{listed.replace(blob, made)}\n".encode()).decode()
    made = git("commit-tree", tree, "-p", commit, "-m", "{}", cwd=user.remote)
    git("update-ref", f"refs/sidecar/{name}", made, cwd=user.remote)


def users(tmp_path: Path, spawn: Spawn | None) -> Iterator[Callable[..., User]]:
    """Make users of one remote; what they leave running must end cleanly."""
    remote, made = bare(tmp_path / "remote.git"), list[User]()

    def make(name: str, **given: Any) -> User:
        made.append(User(tmp_path / name, remote, spawn, **given))
        return made[-1]

    yield make
    for user in made:
        user.leave()
