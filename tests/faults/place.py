"""A workspace with a real daemon, that works in it, is killed, and goes back."""

import os
from pathlib import Path
from typing import Any

from tests.e2e.plain import PlainClient, Spawn

ALLOWED = {"allow": ["write_file", "edit_file", "shell"]}


class Place:
    """A workspace, a daemon and a session in it."""

    def __init__(self, folder: Path, spawn: Spawn | None = None, root: Path | None = None) -> None:
        self._spawn = spawn
        self.data, self.root = folder / "data", root or folder / "work"
        self.root.mkdir(exist_ok=root is not None)
        self.session = ""
        self._version = 0
        self.client = self.daemon()

    def daemon(self, **environment: str) -> PlainClient:
        """Start a daemon over the same store."""
        client = PlainClient(self.data, env=environment, spawn=self._spawn)
        options = {"model": "offline", "workspaceTrusted": True, "permissions": ALLOWED}
        offered = {"workspace": {"applyEdit": True}}
        client.request("initialize", {"capabilities": offered, "initializationOptions": options})
        client.notify("initialized")
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

    def show(self, path: Path, text: str) -> None:
        """Open a document in the editor, or open it anew, with a text that is not saved."""
        self._version += 1
        document = {"uri": path.as_uri(), "languageId": "text", "version": self._version}
        self.client.notify("textDocument/didOpen", {"textDocument": {**document, "text": text}})

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
