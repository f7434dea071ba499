"""Every method's golden message, changed within its shape, with ids and folders that are there."""

import json
from collections.abc import Callable
from typing import Any, TypeAlias

from sidecar.wire.framing import encode
from sidecar.wire.messages import METHODS
from tests.fuzz.daemons import ROOT, Daemon, framed, owed_for
from tests.fuzz.dice import Dice
from tests.fuzz.mutations import ODD, Value, deep, mutated, scrambled, text_of

OFTEN = 1_000
"""Inputs after which another daemon takes over, with an empty store."""
GOLDEN = {
    path.name: json.loads(path.read_text("utf-8"))["message"]
    for path in sorted((ROOT / "protocol/golden").glob("*.json"))
}
OURS: list[Value] = [
    message
    for name, message in GOLDEN.items()
    if name.endswith("params.json") and METHODS[message["method"]].direction == "clientToDaemon"
]
REPLIES: list[Value] = [
    {"result": GOLDEN[f"{name}.result.json"]["result"]}
    for name in ("tool-call", "fs-read_text_file", "session-request_permission.cancelled")
]
REPLIES += [{"error": GOLDEN["error-32603.json"]["error"]}, {"result": None}, {"result": {}}]
WORDS = (
    *("hello", "call lookup {}", "look at main.py", "list the files", "search for Hello"),
    *("replace `Hello` with `Good day` in main.py", "create new.txt with words", "todo: test"),
    *("repeat 3 times: read main.py", "call nothing {", "recall part_x", "/compact", "/context"),
)
ODD_PARAMS = (*ODD, *WORDS, deep(60), deep(700))


Begin: TypeAlias = Callable[[Daemon], str]
"""Begins a session in which something has happened; gives its id."""


class Conversation:
    """A daemon with a session in which something has happened, for some inputs."""

    def __init__(self, daemon: Daemon, begin: Begin, methods: list[Value]) -> None:
        self.daemon = daemon
        self.inputs = 0
        self._begin = begin
        self._methods = methods
        self._names: dict[str, str] = {}
        self._donors: list[Value] = []
        self._open()

    def run(self, dice: Dice) -> None:
        """Send some messages; each request among them gets one answer, and so does the next."""
        self.inputs += 1
        bodies = [self._body(dice, number) for number in range(1 + dice.below(4))]
        # A blank line is no message.
        told = [body for body in bodies if self.daemon.framing == "headers" or body.strip()]
        owed = [one for body in told for one in owed_for(body)]
        # Answers of a client to what it was asked.
        replies = [mutated(dice.pick(REPLIES), dice, odd=ODD_PARAMS) for _ in range(4)]
        raw = [framed(body, self.daemon.framing) for body in bodies]
        answers = self.daemon.exchange(raw, owed, [one for one in replies if _is_reply(one)])
        for answer in answers:
            error = answer.get("error", {})
            assert error.get("code") != -32603, f"{self.daemon.errors()[-2000:]} {bodies}"
        assert "version" in self.daemon.ask(self.daemon.ours("daemon/status"), {})
        assert not (said := self.daemon.errors()), f"{said[-2000:]} {bodies}"
        if any(answer.get("error", {}).get("code") == -32010 for answer in answers):
            self._open_again()

    def _open_again(self) -> None:
        """Begin another session if the one that there was is gone."""
        params = {"sessionId": self._names["ses_01k9f3"]}
        message = {"jsonrpc": "2.0", "id": "?", "method": self.daemon.ours("context/meter")}
        raw = encode({**message, "params": params}, self.daemon.framing)
        (answer,) = self.daemon.exchange([raw], ["?"], ())
        if "error" in answer:
            self._open()

    def _open(self) -> None:
        """Begin a session and learn the names of what is in it."""
        session = self._begin(self.daemon)
        self._other = self._names.get("ses_01k9f3", "ses_none")
        self._donors = list({text for one in self.daemon.notified for text in _texts(one)})[:200]
        self.daemon.notified.clear()
        here = str(self.daemon.workspace)
        self._names = {
            "ses_01k9f3": session,
            "/home/ada/engine": here,
            "/home/ada/app": here,
            "/home/ada": str(self.daemon.workspace.parent),
            "src/a b.py": "main.py",
            "claude-sonnet-4-5": "offline",
        }
        for kind in ("msg", "part", "cp", "cmp"):
            found = [text for text in self._donors if text.startswith(f"{kind}_")]
            self._names |= dict(zip(_golden_names(kind), found, strict=False))

    def _body(self, dice: Dice, number: int) -> bytes:
        message = json.loads(self._renamed(json.dumps(dice.pick(self._methods))))
        if "id" in message:
            message["id"] = f"{self.inputs}-{number}"
        if message["method"].endswith(("session/delete", "session/close")) and dice.below(4):
            message["params"]["sessionId"] = self._other
        if dice.chance(12):
            message = mutated(message, dice, odd=ODD_PARAMS, donors=self._methods)
        elif isinstance(message.get("params"), dict):
            params = mutated(message["params"], dice, odd=ODD_PARAMS, donors=self._donors)
            message["params"] = params
            if dice.chance(5) and isinstance(params, dict) and "prompt" in params:
                params["prompt"] = [{"type": "text", "text": dice.pick(WORDS)}]
        body = text_of(self._safe(message)).encode("utf-8", "surrogatepass")
        if dice.chance(40):
            body = scrambled(body, dice)
        # What ends the daemon, or was sent before, is for other tests.
        return b"{}" if b'"exit"' in body or b"shutdown" in body else body

    def _renamed(self, text: str) -> str:
        for golden, ours in self._names.items():
            text = text.replace(golden, ours)
        return text

    def _safe(self, value: Value) -> Value:
        """Keep every path and address within the sandbox."""
        match value:
            case str() if value.startswith("http"):
                return "http://127.0.0.1:9/"
            case str() if value.lstrip().startswith(("/", "~", "file:")):
                inside = value.startswith(str(self.daemon.sandbox)) and ".." not in value
                slash = value.startswith("/") and value.count("/") == 1
                return value if inside or (slash and len(value) > 1) else str(self.daemon.workspace)
            case dict():
                return dict(zip(value, map(self._safe, value.values()), strict=True))
            case list():
                return list(map(self._safe, value))
            case _:
                return value


def _is_reply(value: Any) -> bool:
    return isinstance(value, dict) and ("result" in value or "error" in value)


def _texts(value: Value) -> list[str]:
    match value:
        case str():
            return [value]
        case dict():
            return [text for inner in value.values() for text in _texts(inner)]
        case list():
            return [text for inner in value for text in _texts(inner)]
        case _:
            return []


def _golden_names(kind: str) -> list[str]:
    texts = {text for message in OURS for text in _texts(message)}
    return sorted(text for text in texts if text.startswith(f"{kind}_"))


class Kept:
    """A conversation for one input after another, begun anew after many and after a failure."""

    def __init__(self, start: Callable[[], Daemon], begin: Begin, methods: list[Value]) -> None:
        self._start = start
        self._begin = begin
        self._methods = methods
        self._open: Conversation | None = None

    def __call__(self, data: bytes) -> None:
        """Send some changed messages to a daemon that other inputs have spoken to before."""
        if self._open is not None and self._open.inputs >= OFTEN:
            self.close()
        if self._open is None:
            self._open = Conversation(self._start(), self._begin, self._methods)
        try:
            self._open.run(Dice(data))
        except BaseException:
            # The next input finds a daemon that owes nothing.
            self.close()
            raise

    def close(self) -> None:
        """End the daemon."""
        if self._open is not None:
            self._open.daemon.close()
            self._open = None
