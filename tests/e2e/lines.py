"""An ACP client that knows nothing of Sidecar: one JSON object a line over a pipe."""

import json
from pathlib import Path
from typing import Any

from tests.e2e.plain import LIMIT, PlainClient

TRUSTED: dict[str, Any] = {"workspaceTrusted": True, "model": "offline"}


def allow(params: Any) -> Any:
    """Answer a question about permission with its first option."""
    return {"outcome": {"outcome": "selected", "optionId": params["options"][0]["optionId"]}}


def dismiss(_: Any) -> Any:
    """Answer none of them."""
    return {"outcome": {"outcome": "cancelled"}}


class LineClient(PlainClient):
    """The same, in the other framing."""

    def __init__(self, *given: Any, **named: Any) -> None:
        self.order: list[str] = []
        super().__init__(*given, **named)

    def write_bytes(self, body: bytes) -> None:
        """Write one line."""
        assert self.process.stdin is not None
        with self._write:
            self.process.stdin.write(body + b"\n")
            self.process.stdin.flush()

    def start(self, capabilities: Any = None, **options: Any) -> Any:
        """Go through `initialize`."""
        params = {
            "protocolVersion": 1,
            "clientCapabilities": capabilities or {},
            "_meta": {"sidecar": {**TRUSTED, **options}},
        }
        return self.request("initialize", params)

    def open(self, folder: Path, **given: Any) -> str:
        """Begin a session."""
        made = self.request("session/new", {"cwd": str(folder), "mcpServers": [], **given})
        return str(made["sessionId"])

    def say(self, session: str, words: str) -> Any:
        """Give a prompt and wait for the end of its turn."""
        prompt = [{"type": "text", "text": words}]
        return self.request("session/prompt", {"sessionId": session, "prompt": prompt})

    def words(self, kind: str = "agent_message_chunk") -> str:
        """Give all that was said so far."""
        return "".join(u["content"]["text"] for u in self.updates(kind))

    def stop(self) -> int:
        """End the stream; gives the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.close()

    def wait_for_update(self, kind: str, limit: float = LIMIT) -> Any:
        """Wait for an update of a kind, and give the first of it."""

        def found(n: dict[str, Any]) -> bool:
            return (
                n["method"] == "session/update" and n["params"]["update"]["sessionUpdate"] == kind
            )

        return self.wait_for(found, limit)["params"]["update"]

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        for line in stream:
            if not line.endswith(b"\n"):
                return
            message = json.loads(line)
            self.order.append(message.get("method", "answer"))
            self._take(message)
