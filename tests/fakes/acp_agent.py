"""An ACP agent that does as the prompt says; run as a program. Writes what it reads to a file.

A prompt's words are Python, run with `say`, `call`, `ask`, `send`, `cwd` and `write` at hand.
"""

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

HEARD = Path(sys.argv[1])
CAN: dict[str, Any] = json.loads(sys.argv[2]) if len(sys.argv) > 2 else {}


def put(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


def nested(session: str, depth: int) -> bytes:
    """Make a call's output: some depths Python reads and does not write."""
    update = {"sessionUpdate": "tool_call", "toolCallId": f"{depth}", "status": "completed"}
    about = {"sessionId": session, "update": {**update, "rawOutput": "DEEP"}}
    line = json.dumps({"jsonrpc": "2.0", "method": "session/update", "params": about})
    return line.replace('"DEEP"', "[" * depth + "]" * depth).encode() + b"\n"


def send(message: dict[str, Any]) -> None:
    put(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


class Turn:
    """What a prompt may do."""

    def __init__(self, session: str, cwd: str) -> None:
        self.session, self.cwd, self.calls = session, Path(cwd), 0

    def update(self, kind: str, /, **rest: Any) -> None:
        update = {"sessionUpdate": kind, **rest}
        params = {"sessionId": self.session, "update": update}
        send({"method": "session/update", "params": params})

    def say(self, text: str, kind: str = "agent_message_chunk") -> None:
        self.update(kind, content={"type": "text", "text": text})

    def begin(self, title: str, kind: str, **rest: Any) -> str:
        self.calls += 1
        name = f"call-{os.getpid()}-{self.calls}-{time.monotonic_ns()}"
        self.update("tool_call", toolCallId=name, title=title, kind=kind, status="pending", **rest)
        return name

    def end(self, name: str, status: str = "completed", text: str = "done", **rest: Any) -> None:
        content = [{"type": "content", "content": {"type": "text", "text": text}}]
        self.update("tool_call_update", toolCallId=name, status=status, content=content, **rest)

    def edit(self, name: str, text: str) -> None:
        """Edits a file as agents do: told before and after."""
        path = self.cwd / name
        call = self.begin(f"Edit {name}", "edit", locations=[{"path": str(path)}])
        old = path.read_text() if path.exists() else None
        path.write_text(text)
        diff = {"type": "diff", "path": str(path), "oldText": old, "newText": text}
        self.update("tool_call_update", toolCallId=call, status="completed", content=[diff])

    def run(self, command: str) -> None:
        call = self.begin(command, "execute", rawInput={"command": command})
        os.system(f"cd {self.cwd} && {command}")
        self.end(call, text="ran")


def prompted(turn: Turn, message: dict[str, Any]) -> None:
    given: dict[str, Any] = {"usage": None, "stop": "end_turn"}
    words = message["params"]["prompt"][-1]["text"]
    if words.startswith("!"):
        time.sleep(CAN.get("thinks", 0.3))
        known = {"t": turn, "send": send, "put": put, "given": given}
        exec(words[1:], known | {"os": os, "time": time})
    else:
        turn.say(f"You said: {words}")
    result = {"stopReason": given["stop"]}
    if given["usage"]:
        result["usage"] = given["usage"]
    send({"id": message["id"], "result": result})


def show_history(turn: Turn) -> None:
    for number in range(CAN.get("before", 1)):
        turn.say("said before", "user_message_chunk")
        turn.say(f"answer {number}")
    for depth in CAN.get("deep", ()):
        put(nested(turn.session, depth))


def main() -> None:
    sessions: dict[str, str] = {}
    with HEARD.open("ab", buffering=0) as heard:
        for line in sys.stdin.buffer:
            heard.write(line)
            try:
                message = json.loads(line)
            except ValueError:
                continue
            method, number = message.get("method"), message.get("id")
            params = message.get("params") or {}
            if method == "initialize":
                send({"id": number, "result": {"protocolVersion": 1, "agentCapabilities": CAN}})
            elif method in ("session/new", "session/load"):
                name = params.get("sessionId") or f"s-{os.getpid()}-{len(sessions)}"
                sessions[name] = params["cwd"]
                if method == "session/load":
                    show_history(Turn(name, params["cwd"]))
                send({"id": number, "result": {"sessionId": name}})
                if commands := CAN.get("commands"):
                    listed = [{"name": one, "description": one} for one in commands]
                    turn = Turn(name, params["cwd"])
                    turn.update("available_commands_update", availableCommands=listed)
            elif method == "session/fork":
                name = f"s-{os.getpid()}-{len(sessions)}"
                sessions[name] = sessions[params["sessionId"]]
                send({"id": number, "result": {"sessionId": name}})
            elif method == "session/prompt":
                prompted(Turn(params["sessionId"], sessions[params["sessionId"]]), message)
            elif method in CAN.get("answers", ()):
                send({"id": number, "result": {}})
            elif number is not None and method is not None:
                send({"id": number, "error": {"code": -32601, "message": "unknown"}})


main()
