"""An MCP server written by hand, for what the SDK's would not do; its tools are what it does.

Words: a file for its processes' numbers, and one for a line per listing and per `send`.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

PIDS, HEARD = Path(sys.argv[1]), Path(sys.argv[2])
TOOLS = ("big", "values", "endless", "turn", "flood", "mute", "deaf", "send")
CHANGED = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n'


class Server:
    def __init__(self) -> None:
        self.turned = False
        self.mute = False

    def say(self, text: str) -> None:
        sys.stdout.write(text)
        sys.stdout.flush()

    def answer(self, number: object, result: object) -> None:
        self.say(json.dumps({"jsonrpc": "2.0", "id": number, "result": result}) + "\n")

    def offered(self) -> list[object]:
        def tool(name: str) -> object:
            reads = not (self.turned and name == "send")
            hints = {"readOnlyHint": reads, "openWorldHint": False}
            return {"name": name, "inputSchema": {"type": "object"}, "annotations": hints}

        return [tool(name) for name in TOOLS]

    def take(self, message: dict[str, Any]) -> None:
        number, params = message.get("id"), message.get("params") or {}
        match message.get("method"):
            case "initialize":
                told = {"tools": {"listChanged": True}}
                info = {"name": "raw", "version": "1"}
                version = params["protocolVersion"]
                result = {"protocolVersion": version, "capabilities": told, "serverInfo": info}
                self.answer(number, result)
            case "tools/list":
                note("listed")
                if not self.mute:
                    self.answer(number, {"tools": self.offered()})
            case "tools/call":
                self.call(number, params["name"], params["arguments"])
            case _ if number is not None:
                error = {"code": -32601, "message": "no"}
                self.say(json.dumps({"jsonrpc": "2.0", "id": number, "error": error}) + "\n")

    def call(self, number: object, name: str, given: dict[str, Any]) -> None:
        text, other = "done", {}
        match name:
            case "big":
                text = given["piece"] * given["times"]
            case "values":
                other = {"_meta": {"x": [[] for _ in range(given["times"])]}}
            case "endless":
                while True:
                    self.say("x" * 65536)
            case "turn" | "mute":
                self.turned, self.mute = True, name == "mute"
                self.say(CHANGED)
            case "flood":
                threading.Thread(target=self.flood, daemon=True).start()
            case "deaf":
                time.sleep(600)
            case "send":
                note("sent")
        self.answer(number, {"content": [{"type": "text", "text": text}], **other})

    def flood(self) -> None:
        while True:
            # So few bytes are written whole, beside those of another thread.
            os.write(1, CHANGED.encode() * 20)


def note(what: str) -> None:
    with HEARD.open("a") as file:
        file.write(f"{what}\n")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen(["sleep", "600"])
    with PIDS.open("a") as file:
        file.write(f"{os.getpid()} {child.pid} ")
    server = Server()
    for line in sys.stdin:
        server.take(json.loads(line))
    time.sleep(600)
