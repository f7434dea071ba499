"""Requests of an editor to a real daemon: one answer to each, no bug among them, and it lives."""

import os

from tests.fuzz.daemons import Daemon
from tests.fuzz.mutations import Value
from tests.fuzz.requests import OURS, WORDS, Kept

SHARE = 10

_HERE: Value = {"uri": "file:///home/ada/engine/main.py"}
_SPAN: Value = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 5}}
LSP: list[Value] = [
    {"method": "textDocument/didOpen", "params": {"textDocument": {**_HERE, "languageId": "py",
     "version": 1, "text": "x = 1\n"}}},
    {"method": "textDocument/didChange", "params": {"textDocument": {**_HERE, "version": 2},
     "contentChanges": [{"range": _SPAN, "text": "y"}]}},
    {"method": "textDocument/didSave", "params": {"textDocument": _HERE}},
    {"method": "textDocument/didClose", "params": {"textDocument": _HERE}},
    {"method": "workspace/didChangeWatchedFiles", "params": {"changes": [{**_HERE, "type": 1}]}},
    {"method": "$/cancelRequest", "params": {"id": "1-0"}},
    {"method": "$/setTrace", "params": {"value": "off"}},
    {"method": "window/workDoneProgress/cancel", "params": {"token": "x"}},
    {"id": 1, "method": "textDocument/codeAction", "params": {"textDocument": _HERE,
     "range": _SPAN, "context": {"diagnostics": []}}},
    *(
        {"id": 1, "method": "workspace/executeCommand",
         "params": {"command": f"sidecar.{name}", "arguments": ["1 both merge"]}}
        for name in ("new", "send", "cancel", "compact", "undoCompaction", "rollback", "context")
    ),
]  # fmt: skip

METHODS = [*OURS, *OURS, *({"jsonrpc": "2.0", **message} for message in LSP)]


def _started() -> Daemon:
    daemon = Daemon("headers")
    options = {"workspaceTrusted": True, "model": "offline"}
    capabilities = {"window": {"workDoneProgress": True}}
    given = {"processId": os.getpid(), "rootUri": daemon.workspace.as_uri()}
    given |= {"capabilities": capabilities, "initializationOptions": options}
    daemon.ask("initialize", given)
    return daemon


def _begun(daemon: Daemon) -> str:
    tool = {"name": "lookup", "description": "Look up.", "inputSchema": {"type": "object"}}
    new = {"cwd": str(daemon.workspace), "model": "offline", "tools": [{**tool, "kind": "read"}]}
    session = str(daemon.ask("session/new", new)["sessionId"])
    for words in WORDS[:4]:
        prompt = [{"type": "text", "text": words}]
        daemon.ask("session/prompt", {"sessionId": session, "prompt": prompt})
    daemon.notified.append(daemon.ask("checkpoint/list", {"sessionId": session}))
    return session


run = Kept(_started, _begun, METHODS)
close = run.close
