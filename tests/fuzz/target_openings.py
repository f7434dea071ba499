"""A real daemon for each `initialize`: whatever it holds, sessions are begun, or refused in words.

What is given decides where the store is, which settings hold and what the client is asked; here a
store is really opened with it, and a turn made. `target_greetings` is the same without a store.
"""

import json
from itertools import count

from sidecar.wire.framing import Framing
from tests.faults.forked import Nursery
from tests.fuzz.daemons import Daemon, owed_for
from tests.fuzz.dice import Dice
from tests.fuzz.initializing import GIVEN, ODD_GIVEN, hides_key, params, placed
from tests.fuzz.mutations import Value, mutated, text_of

SHARE = 1

STARTED: Value = {"cwd": "/home/ada/engine", "mcpServers": [], "_meta": {"sidecar": {"title": "x"}}}


FEW = 5
"""Inputs for which a nursery is not worth its own start."""
_begun = count(1)
_nurseries: list[Nursery] = []


def run(data: bytes) -> None:
    """Begin a daemon with anything, and use it."""
    if not _nurseries and next(_begun) > FEW:
        _nurseries.append(Nursery())
    dice = Dice(data)
    framing: Framing = dice.pick(("headers", "lines"))
    # Nobody is asked who is further away.
    daemon = Daemon(framing, {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}, _nursery())
    try:
        _used(daemon, dice)
    finally:
        daemon.close()


def _nursery() -> Nursery | None:
    return _nurseries[0] if _nurseries else None


def close() -> None:
    """End what the first input began."""
    while _nurseries:
        _nurseries.pop().close()


def _used(daemon: Daemon, dice: Dice) -> None:
    here, editor = daemon.workspace, daemon.framing == "headers"
    given = placed(params(daemon.framing, dice), here, daemon.sandbox)
    told = [_answer(daemon, "initialize", given)]
    if "error" in told[0]:
        daemon.ask("initialize", placed(GIVEN[daemon.framing], here, daemon.sandbox))
    prefix = "" if editor else "_sidecar/"
    started = placed(mutated(STARTED, dice, odd=ODD_GIVEN), here, daemon.sandbox)
    told.append(_answer(daemon, "session/new", started))
    told.append(_answer(daemon, f"{prefix}session/new", {"cwd": str(here), "model": "offline"}))
    session = told[-1].get("result", {}).get("sessionId")
    if isinstance(session, str):
        prompt = [{"type": "text", "text": dice.pick(("hello", "look at main.py", "/context"))}]
        named: Value = {"sessionId": session}
        told.append(_answer(daemon, "session/prompt", {**named, "prompt": prompt}))
        told.append(_answer(daemon, f"{prefix}context/meter", named))
        told.append(_answer(daemon, f"{prefix}checkpoint/list", named))
    told.append(_answer(daemon, "session/list", {}))
    assert "version" in daemon.ask(f"{prefix}daemon/status", {})
    assert hides_key(given, json.dumps([told, daemon.notified])), "the key is shown"
    assert not (said := daemon.errors()), said[-2000:]


def _answer(daemon: Daemon, method: str, given: Value) -> Value:
    message = {"jsonrpc": "2.0", "id": method, "method": method, "params": given}
    body = text_of(message).encode("utf-8", "surrogatepass")
    headed = daemon.framing == "headers"
    raw = b"Content-Length: %d\r\n\r\n%b" % (len(body), body) if headed else body + b"\n"
    (answer,) = daemon.exchange([raw], owed_for(body), ())
    assert answer.get("error", {}).get("code") != -32603, f"{daemon.errors()[-2000:]} {given}"
    return answer
