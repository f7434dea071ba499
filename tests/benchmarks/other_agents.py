"""Other agents, as the benchmark of turns plays its script to them: codex and opencode."""

import json
import os
import queue
import subprocess
import threading
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from tests.benchmarks.scripted_api import ScriptedApi

LIMIT = 120.0
_CODEX_SETTINGS = """model = "gpt-5.5"
model_provider = "fake"
model_context_window = 200000
check_for_update_on_startup = false
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.fake]
name = "fake"
base_url = "{url}/v1"
env_key = "FAKE_KEY"
wire_api = "responses"
[analytics]
enabled = false
"""


_XDG = ("CONFIG", "DATA", "STATE", "CACHE")
_OFF = (
    "AUTOUPDATE",
    "MODELS_FETCH",
    "SHARE",
    "LSP_DOWNLOAD",
    "DEFAULT_PLUGINS",
    "EMBEDDED_WEB_UI",
)


class Codex:
    """An app-server and one thread of it."""

    def __init__(self, program: str, folder: Path, root: Path, api: ScriptedApi) -> None:
        self.data = folder / "home"
        self.data.mkdir()
        (self.data / "config.toml").write_text(_CODEX_SETTINGS.format(url=api.url))
        own = {"CODEX_HOME": str(self.data), "HOME": str(self.data), "FAKE_KEY": "none"}
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(
            [program, "app-server"],
            stdin=pipe,
            stdout=pipe,
            stderr=subprocess.DEVNULL,
            env=_offline(own),
            cwd=root,
        )
        self._came: queue.Queue[Any] = queue.Queue()
        self._next, self.told = 0, 0
        threading.Thread(target=self._read, daemon=True).start()
        self._ask("initialize", {"clientInfo": {"name": "turns", "version": "1"}})
        self._write({"method": "initialized"})
        self._thread = self._ask("thread/start", {"cwd": str(root)})["result"]["thread"]["id"]

    def turn(self, words: str) -> None:
        given = {"threadId": self._thread, "input": [{"type": "text", "text": words}]}
        self._write({"id": self._number(), "method": "turn/start", "params": given})
        self._until(lambda message: message.get("method") == "turn/completed")

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(LIMIT)

    def _number(self) -> int:
        self._next += 1
        return self._next

    def _ask(self, method: str, params: Any) -> Any:
        number = self._number()
        self._write({"id": number, "method": method, "params": params})
        return self._until(lambda message: message.get("id") == number)

    def _until(self, found: Callable[[Any], bool]) -> Any:
        while not found(message := self._came.get(timeout=LIMIT)):
            self.told += "method" in message
        return message

    def _write(self, message: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._came.put(json.loads(line))


class Opencode:
    """A server, asked over HTTP, and one session of it."""

    def __init__(self, program: str, folder: Path, root: Path, api: ScriptedApi) -> None:
        self.data, self.told, self._root = folder / "home", 0, root
        self.data.mkdir()
        self.process = subprocess.Popen(
            [program, "serve", "--port", "0", "--hostname", "127.0.0.1"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=opencode_variables(self.data, api.url),
            cwd=root,
        )
        assert self.process.stdout is not None
        # A request before that line may hang.
        heard = next(line for line in self.process.stdout if b"listening on" in line)
        self._address = heard.decode().rsplit("http://", 1)[1].strip()
        self._session = self._ask("/session", {"title": "turns"})["id"]

    def turn(self, words: str) -> None:
        given = {"parts": [{"type": "text", "text": words}]}
        self._ask(f"/session/{self._session}/message", given)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(LIMIT)

    def _ask(self, path: str, body: Any) -> Any:
        connection = HTTPConnection(self._address, timeout=LIMIT)
        connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
        answer = connection.getresponse()
        found = json.loads(answer.read())
        assert answer.status == 200, found
        return found


def opencode_variables(home: Path, url: str) -> dict[str, str]:
    """Keep it to a folder and to a model's API at `url`."""
    own = dict.fromkeys(("HOME", *(f"XDG_{one}_HOME" for one in _XDG)), str(home))
    own["OPENCODE_CONFIG_CONTENT"] = json.dumps(_opencode_settings(url))
    own |= dict.fromkeys((f"OPENCODE_DISABLE_{one}" for one in _OFF), "1")
    return _offline(own)


def _opencode_settings(url: str) -> Any:
    limit = {"context": 200_000, "output": 32_000}
    anthropic = {
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"claude-sonnet-4-5": {"limit": limit}},
    }
    return {
        **dict.fromkeys(("autoupdate", "lsp", "formatter"), False),
        "share": "disabled",
        "snapshot": True,
        "model": "anthropic/claude-sonnet-4-5",
        "small_model": "anthropic/claude-haiku-4-5",
        "permission": "allow",
        "enabled_providers": ["anthropic"],
        "provider": {"anthropic": anthropic},
    }


def _offline(own: dict[str, str]) -> dict[str, str]:
    dead = dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    return {**os.environ, **dead, "NO_PROXY": "127.0.0.1", **own}
