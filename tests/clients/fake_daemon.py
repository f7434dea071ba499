"""A daemon that does what a test tells it: golden results, and `fake/…` for everything else.

`fake/tell` sends notifications; `fake/ask` sends a request and gives the client's whole answer;
`fake/ask_and_cancel` cancels it again; `fake/hang` never answers; `fake/write` writes raw bytes;
`fake/die` ends at once; `fake/received` gives all that came, `fake/pid` the process's id. The
argument `deaf` makes it ignore shutdown, exit and the end of its input; `dead` makes it end before
it reads anything.
"""

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

GOLDEN = Path(__file__).resolve().parents[2] / "protocol/golden"


def main() -> None:
    if "dead" in sys.argv:
        sys.exit(3)
    received: list[Any] = []
    deaf = "deaf" in sys.argv
    while True:
        message = read()
        if message is None:
            if deaf:
                signal.pause()
            sys.exit(0)
        received.append(message)
        if message.get("method") == "exit" and not deaf:
            sys.exit(0)
        if "method" in message and "id" in message:
            serve(message, received, deaf)


def serve(message: Any, received: list[Any], deaf: bool) -> None:
    params = message.get("params")
    match message["method"]:
        case "initialize":
            sidecar = {"protocolVersion": 1, "features": ["session/new"]}
            capabilities = {"experimental": {"sidecar": sidecar}}
            server = {"name": "sidecar", "version": "9.9"}
            answer(message, {"capabilities": capabilities, "serverInfo": server})
        case "shutdown" if not deaf:
            answer(message, None)
        case "fake/tell":
            for notification in params["messages"]:
                write({"jsonrpc": "2.0", **notification})
            answer(message, {})
        case "fake/ask":
            answer(message, ask(params, received))
        case "fake/ask_and_cancel":
            answer(message, ask(params, received, cancel=True))
        case "fake/hang" | "shutdown":
            pass
        case "fake/write":
            sys.stdout.buffer.write(params["bytes"].encode())
            sys.stdout.buffer.flush()
        case "fake/die":
            os._exit(3)
        case "fake/pid":
            answer(message, {"pid": os.getpid()})
        case "fake/received":
            answer(message, received)
        case method:
            reply(message, method)


def reply(message: Any, method: str) -> None:
    golden = GOLDEN / f"{method.replace('/', '-')}.result.json"
    if golden.exists():
        answer(message, json.loads(golden.read_text(encoding="utf-8"))["message"]["result"])
        return
    data = {"kind": "unknown_method", "extra": [1]}
    error = {"code": -32601, "message": f"there is no {method}", "data": data}
    write({"jsonrpc": "2.0", "id": message["id"], "error": error})


def ask(request: Any, received: list[Any], cancel: bool = False) -> Any:
    write({"jsonrpc": "2.0", "id": "ask-1", **request})
    while True:
        message = read()
        assert message is not None
        if message.get("id") == "ask-1" and "method" not in message:
            return message
        received.append(message)
        if cancel and message.get("method") == "fake/started":
            write({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": "ask-1"}})


def answer(message: Any, result: Any) -> None:
    write({"jsonrpc": "2.0", "id": message["id"], "result": result})


def read() -> Any:
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return json.loads(sys.stdin.buffer.read(length)) if length else None


def write(message: Any) -> None:
    body = json.dumps(message, ensure_ascii=False).encode()
    head = b"Content-Type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body)
    sys.stdout.buffer.write(head + body)
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    main()
