"""A real daemon for each `initialize`: whatever it holds, sessions are begun, or refused in words.

What is given decides where the store is, which settings hold and what the client is asked; here a
store is really opened with it, and a turn made. `target_greetings` is the same without a store.
"""

import json
from itertools import count

from sidecar.wire.framing import Framing
from tests.faults.forked import Nursery
from tests.fuzz.daemons import Daemon
from tests.fuzz.dice import Dice
from tests.fuzz.initializing import GIVEN, ODD_GIVEN, hides_key, params, placed
from tests.fuzz.mutations import Value, mutated

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
    nursery = _nurseries[0] if _nurseries else None
    daemon = Daemon(framing, {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"}, nursery)
    try:
        _used(daemon, dice)
    finally:
        daemon.close()


def close() -> None:
    """End what the first input began."""
    while _nurseries:
        _nurseries.pop().close()


def _used(daemon: Daemon, dice: Dice) -> None:
    here = daemon.workspace
    given = placed(params(daemon.framing, dice), here, daemon.sandbox)
    told = [daemon.answer("initialize", given)]
    if "error" in told[0]:
        daemon.ask("initialize", placed(GIVEN[daemon.framing], here, daemon.sandbox))
    started = placed(mutated(STARTED, dice, odd=ODD_GIVEN), here, daemon.sandbox)
    told.append(daemon.answer("session/new", started))
    told.append(daemon.answer(daemon.ours("session/new"), {"cwd": str(here), "model": "offline"}))
    session = told[-1].get("result", {}).get("sessionId")
    if isinstance(session, str):
        prompt = [{"type": "text", "text": dice.pick(("hello", "look at main.py", "/context"))}]
        named: Value = {"sessionId": session}
        told.append(daemon.answer("session/prompt", {**named, "prompt": prompt}))
        told.append(daemon.answer(daemon.ours("context/meter"), named))
        told.append(daemon.answer(daemon.ours("checkpoint/list"), named))
    told.append(daemon.answer("session/list", {}))
    assert "version" in daemon.ask(daemon.ours("daemon/status"), {})
    assert hides_key(given, json.dumps([told, daemon.notified])), "the key is shown"
    assert not (said := daemon.errors()), said[-2000:]
