"""An editor at the wrapped agent, which writes and reads bytes."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Any

FAKE = Path(__file__).parents[1] / "fakes/acp_agent.py"
LIMIT = 30.0


class Editor:
    """Writes lines; keeps all bytes that come."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process
        self.came = bytearray()
        self.sessions: dict[str, str] = {}
        self._changed = threading.Condition()
        self._number = 0
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        with suppress(OSError, ValueError):
            while data := os.read(self.process.stdout.fileno(), 65536):
                with self._changed:
                    self.came += data
                    self._changed.notify_all()
        with self._changed:
            self._changed.notify_all()

    def put(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, method: str, **params: Any) -> int:
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self.put(json.dumps(message).encode() + b"\n")
        return self._number

    def messages(self) -> list[Any]:
        whole = self.came[: self.came.rfind(b"\n") + 1]
        # Some are nested too deep for whoever has a stack of their own.
        return [json.loads(line) for line in whole.splitlines() if line.count(b"[") < 900]

    def until(self, found: Callable[["Editor"], Any]) -> Any:
        end = monotonic() + LIMIT
        with self._changed:
            while not (result := found(self)):
                left = end - monotonic()
                assert left > 0, f"it did not come: {self.came[-2000:]!r}"
                self._changed.wait(min(left, 0.2))
        return result

    def ask(self, method: str, **params: Any) -> Any:
        number = self.send(method, **params)
        return self.until(lambda it: next((m for m in it.messages() if _is(m, number)), None))

    def begin(self, cwd: Path) -> str:
        self.ask("initialize", protocolVersion=1)
        session: str = self.ask("session/new", cwd=str(cwd), mcpServers=[])["result"]["sessionId"]
        return session

    def prompt(self, session: str, words: str) -> Any:
        block = {"type": "text", "text": words}
        return self.ask("session/prompt", sessionId=session, prompt=[block])

    def said(self, session: str, since: int = 0) -> str:
        updates = [m["params"] for m in self.messages()[since:] if "params" in m]
        chunks = (
            p["update"]["content"]["text"]
            for p in updates
            if p.get("sessionId") == session
            and p["update"]["sessionUpdate"] == "agent_message_chunk"
        )
        return "".join(chunks)

    def command(self, session: str, words: str) -> str:
        """What a slash command answers."""
        since = len(self.messages())
        assert self.prompt(session, words)["result"]["stopReason"] == "end_turn"
        return self.said(session, since)

    def leave(self) -> None:
        self.process.kill()
        self.process.wait(LIMIT)
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with suppress(OSError):
                pipe.close()
        self._reader.join(LIMIT)

    def close(self) -> int:
        assert self.process.stdin is not None
        self.process.stdin.close()
        code = self.process.wait(LIMIT)
        self._reader.join(LIMIT)
        return code


def _is(message: Any, number: int) -> bool:
    return message.get("id") == number and ("result" in message or "error" in message)


def agent(heard: Path, **can: Any) -> list[str]:
    return [sys.executable, str(FAKE), str(heard), json.dumps(can)]


@contextmanager
def opened(command: list[str], data: Path, *, bare: bool = False, **env: str) -> Iterator[Editor]:
    """An editor at an agent, wrapped or `bare`."""
    around = [] if bare else [sys.executable, "-m", "sidecar", "wrap", "--"]
    process = subprocess.Popen(
        [*around, *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "SIDECAR_DATA_DIR": str(data), **env},
    )
    editor = Editor(process)
    try:
        yield editor
    finally:
        editor.leave()
