"""What clients say of themselves in `initialize`, on both faces, changed within its shape."""

import os
from pathlib import Path
from typing import Any, TypeAlias

from sidecar.config.settings import SETTINGS, TABLES
from sidecar.wire.framing import Framing
from sidecar.wire.server import MOST_PID
from tests.fuzz.dice import Dice
from tests.fuzz.mutations import ODD, Value, deep, mutated

KEY = "sk-ant-api03-never-to-be-seen-again"
"""Stands in what is given, and may stand in nothing that comes back."""
FOLDER = "/home/ada/engine"
"""Stands for the workspace's folder, until that is known."""
NOWHERE = "/dev/null/sidecar"
"""Stands for any other folder: nothing can be made there."""
OPTIONS: Value = {
    "model": "offline",
    "policy": "economic",
    "agent": "",
    "effort": "high",
    "window": 100_000,
    "maxTokens": 4_000,
    "workspaceTrusted": True,
    "provider": {"name": "anthropic", "baseUrl": "http://127.0.0.1:9", "apiKey": KEY},
    "permissions": {"allow": ["write_file", "shell:git status *"], "reject": ["shell:rm*"]},
    "mcpServers": {"none": {"command": "sidecar-none", "args": ["-x"], "env": {"A": "b"}}},
    "config": {
        "retry": {"attempts": 2, "capMs": 10},
        "retention": {"outputsDays": 7, "sessionsMib": 100},
        "delegate": {"steps": 5, "cost": "0.50"},
        "preserve": {"tools": ["skill"], "patterns": ["^PLAN"], "focus": "tests"},
    },
}
OURS: Value = {
    "fs": {"readTextFile": True, "writeTextFile": True},
    "toolCall": True,
    "requestPermission": True,
}
EDITOR: Value = {
    "processId": None,
    "clientInfo": {"name": "an editor", "version": "1.0"},
    "locale": "en",
    "rootPath": FOLDER,
    "rootUri": f"file://{FOLDER}",
    "workspaceFolders": [{"uri": f"file://{FOLDER}", "name": "engine"}],
    "capabilities": {
        "workspace": {"applyEdit": True, "workspaceEdit": {"documentChanges": True}},
        "window": {"workDoneProgress": True, "showMessage": {"messageActionItem": {}}},
        "textDocument": {"codeAction": {"dynamicRegistration": True}},
        "general": {"positionEncodings": ["utf-16", "utf-8"]},
        "experimental": {"sidecar": OURS, "fs": OURS["fs"]},
    },
    "initializationOptions": OPTIONS,
    "trace": "off",
    "workDoneToken": "begin",
    "_meta": {"sidecar": {"protocolVersion": 1}},
}
AGENT: Value = {
    "protocolVersion": 1,
    "clientInfo": {"name": "an editor", "title": "An Editor", "version": "1.0"},
    "clientCapabilities": {
        "fs": OURS["fs"],
        "terminal": True,
        "auth": {"terminal": True},
        "session": {"requestCancellation": {}},
        "_meta": {"sidecar": OURS, "terminal-auth": True},
    },
    "_meta": {"sidecar": OPTIONS, "traceparent": "00-0-0-00"},
}
GIVEN: dict[Framing, Value] = {"headers": EDITOR, "lines": AGENT}
ODD_GIVEN = (
    *(*ODD, deep(60), deep(700), -(2**31), 2**31 - 1, 2**31, 99_999_999),
    *("file://[", "file:///%00", "file://%ff/a", "file:///\ud800", "file:", "~nobody/x"),
    *(NOWHERE, f"{NOWHERE}\0", "shell:(", "*", ":", "claude-opus-5-5", "scripted", "0.5", "-1"),
)
_PLAIN: Value = {name: SETTINGS[name].default for name in SETTINGS if "." not in name}
_TABLES: Value = {
    table: {name[len(table) + 1 :]: 1 for name in SETTINGS if name.startswith(f"{table}.")}
    for table in TABLES
}
DONORS: list[Value] = [
    *({name: value} for name, value in _PLAIN.items() if isinstance(value, int | str | bool)),
    *({table: values} for table, values in _TABLES.items()),
]

Params: TypeAlias = Any
"""Those of `initialize`: an object, for the most part."""


def params(framing: Framing, dice: Dice) -> Params:
    """Give the params of `initialize`, with some changes within."""
    given = mutated(GIVEN[framing], dice, odd=ODD_GIVEN, donors=DONORS)
    if dice.chance(4) and isinstance(given, dict):
        given = {**given, "processId": dice.pick((os.getpid(), *ODD_GIVEN))}
    return _living(given)


def placed(value: Value, workspace: Path, sandbox: Path) -> Value:
    """Give what was drawn with a folder that is there, and no path or address outside of it."""
    inner = tuple(str(one).lstrip("/") for one in (sandbox, Path(NOWHERE)))

    def text(said: str) -> str:
        if said.startswith("http"):
            return "http://127.0.0.1:9/"
        here = said.replace(FOLDER, str(workspace))
        start = here.lstrip()
        named = start.startswith(("/", "~", "file:")) and said not in ODD_GIVEN
        inside = start.removeprefix("file:").lstrip("/").startswith(inner)
        return here if not named or (inside and ".." not in here) else NOWHERE

    def within(one: Value) -> Value:
        match one:
            case str():
                return text(one)
            case dict():
                return dict(zip(one, map(within, one.values()), strict=True))
            case list():
                return list(map(within, one))
            case _:
                return one

    return within(value)


def hides_key(given: Params, told: str) -> bool:
    """Whether the key is in nothing that was told, where it was given as one and nowhere else."""
    return str(given).count(KEY) != 1 or not _is_key(given) or KEY not in told


def _is_key(given: Value, name: str = "") -> bool:
    match given:
        case dict():
            return any(_is_key(value, str(key)) for key, value in given.items())
        case str():
            return name == "apiKey" and given == KEY
        case _:
            return False


def _living(given: Params) -> Params:
    """Name no process that is not there: without its editor, a daemon rightly ends."""
    named = given.get("processId") if isinstance(given, dict) else None
    is_dead = isinstance(named, int) and 0 < named <= MOST_PID and named != os.getpid()
    return {**given, "processId": os.getpid()} if is_dead else given
