"""Requests of an ACP client to a real daemon: one answer to each, no bug, and it lives."""

from tests.fuzz.daemons import Daemon
from tests.fuzz.mutations import Value
from tests.fuzz.requests import OURS, WORDS, Kept

SHARE = 5

_SESSION = "ses_01k9f3"
_CWD: Value = {"cwd": "/home/ada/engine", "mcpServers": []}
_SERVER: Value = {"name": "x", "command": "sidecar-none", "args": ["-x"], "env": []}
_TEXT: Value = [{"type": "text", "text": "/compact"}, {"type": "resource_link", "uri": "file:///x",
         "name": "x"}]  # fmt: skip
_IMAGE: Value = [{"type": "image", "mimeType": "image/png", "data": "iVBORw0KGgo="}]
ACP: list[Value] = [
    {"id": 1, "method": "session/new", "params": {**_CWD, "_meta": {"sidecar": {"title": "x"}}}},
    {"id": 1, "method": "session/new", "params": {**_CWD, "mcpServers": [{**_SERVER, "env": 5}]}},
    {"id": 1, "method": "session/new", "params": {**_CWD, "mcpServers": [{"type": "sse"}]}},
    *(
        {"id": 1, "method": f"session/{name}", "params": {"sessionId": _SESSION, **_CWD}}
        for name in ("load", "resume", "fork")
    ),
    {"id": 1, "method": "session/list", "params": {"cwd": "/home/ada/engine", "cursor": "1.x"}},
    *(
        {"id": 1, "method": f"session/{name}", "params": {"sessionId": "ses_none"}}
        for name in ("close", "delete")
    ),
    {"id": 1, "method": "session/set_config_option",
     "params": {"sessionId": _SESSION, "configId": "model", "value": "offline"}},
    {"id": 1, "method": "session/prompt", "params": {"sessionId": _SESSION, "prompt": _TEXT}},
    {"id": 1, "method": "session/prompt", "params": {"sessionId": _SESSION, "prompt": _IMAGE}},
    {"id": 1, "method": "authenticate", "params": {"methodId": "api-key"}},
    {"method": "session/cancel", "params": {"sessionId": _SESSION}},
    {"method": "$/cancel_request", "params": {"requestId": "1-0"}},
]  # fmt: skip
METHODS: list[Value] = [
    *({"jsonrpc": "2.0", **message} for message in (*ACP, *ACP)),
    *({**message, "method": f"_sidecar/{message['method']}"} for message in OURS),
]


def _started() -> Daemon:
    daemon = Daemon("lines")
    options = {"sidecar": {"workspaceTrusted": True, "model": "offline"}}
    given = {"protocolVersion": 1, "clientCapabilities": {}, "_meta": options}
    daemon.ask("initialize", given)
    return daemon


def _begun(daemon: Daemon) -> str:
    session = str(daemon.ask("session/new", {"cwd": str(daemon.workspace)})["sessionId"])
    for words in WORDS[:4]:
        prompt = [{"type": "text", "text": words}]
        daemon.ask("session/prompt", {"sessionId": session, "prompt": prompt})
    daemon.notified.append(daemon.ask("_sidecar/checkpoint/list", {"sessionId": session}))
    return session


run = Kept(_started, _begun, METHODS)
close = run.close
