"""`session/import` to a real daemon: bundles and recordings of anybody, as a file or as content.

What is refused is refused in words; what is taken is loaded, asked, written out and deleted.
"""

import json
import os
from collections.abc import Iterator
from itertools import count, cycle

from sidecar.store.format.packing import encode_text
from sidecar.wire.framing import Framing
from tests.fuzz.bundle import THINGS, as_handed_on, twisted
from tests.fuzz.daemons import Daemon
from tests.fuzz.dice import Dice
from tests.fuzz.initializing import FOLDER, GIVEN, NOWHERE, placed
from tests.fuzz.mutations import ODD, Value, deep, mutated, text_of
from tests.replay.importers.recordings import FORMATS
from tests.session.stories import sealed

SHARE = 5

OFTEN = 300
"""Inputs after which another daemon takes over, with an empty store."""
MOST_SAID = 1_000
# Who answers in a session that was told elsewhere is not here.
TOLD: list[Value] = json.loads(json.dumps(THINGS).replace('"scripted', '"offline'))
NAMES = ("", "sidecar", *FORMATS, "none")
ODD_GIVEN = (*ODD, deep(60), deep(700), NOWHERE, f"{FOLDER}/file", f"{FOLDER}/fifo", FOLDER)
_daemons: list[Daemon] = []
_inputs = count(1)
_framings: Iterator[Framing] = cycle(("headers", "lines"))
"""Each daemon has the other face than the one before."""


def run(data: bytes) -> None:
    """Import something, and go on in it if it was taken."""
    if next(_inputs) % OFTEN == 0:
        close()
    if not _daemons:
        _daemons.append(_started(next(_framings)))
    try:
        _one(_daemons[0], Dice(data))
    except BaseException:
        # The next input finds a daemon that owes nothing.
        close()
        raise


def close() -> None:
    """End the daemon."""
    while _daemons:
        _daemons.pop().close()


def _started(framing: Framing) -> Daemon:
    daemon = Daemon(framing, {"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"})
    daemon.ask("initialize", placed(GIVEN[framing], daemon.workspace, daemon.sandbox))
    (daemon.sandbox / "data" / "archive").mkdir(parents=True, exist_ok=True)
    os.mkfifo(daemon.workspace / "fifo")
    return daemon


def _one(daemon: Daemon, dice: Dice) -> None:
    raw, own = _drawn(dice)
    given = _given(daemon, dice, raw, own=own)
    made = _answer(daemon, "session/import", given)
    if "result" in made:
        _gone_on_in(daemon, dice, made["result"]["sessionId"])
    else:
        assert len(made["error"]["message"]) < MOST_SAID
    assert "version" in daemon.ask(daemon.ours("daemon/status"), {})
    assert not (said := daemon.errors()), f"{said[-2000:]} {str(given)[:2000]}"


def _drawn(dice: Dice) -> tuple[bytes, bool]:
    """Give a bundle or a recording, damaged or not; and whether it may lie in the archive."""
    if dice.chance(4):
        lines = mutated(list(FORMATS[dice.pick(tuple(FORMATS))]), dice, odd=ODD, donors=TOLD)
        text = "\n".join(map(text_of, lines)) if isinstance(lines, list) else text_of(lines)
        raw, own = text.encode("utf-8", "surrogatepass"), True
    else:
        # Nobody puts there what is whole and was made by somebody else.
        own = bool(dice.chance(8))
        raw = encode_text(sealed(TOLD if own else twisted(TOLD, dice)))
    return as_handed_on(raw, dice), own


def _given(daemon: Daemon, dice: Dice, raw: bytes, *, own: bool) -> Value:
    """Give the params of an import, with what is to be read as content or in a file."""
    given: Value = {"cwd": FOLDER}
    if dice.chance(3):
        given["format"] = dice.pick(NAMES)
    if dice.below(2):
        archived = own and dice.below(2)
        place = daemon.sandbox / "data" / "archive" if archived else daemon.workspace
        path = place / dice.pick(("a.sidecar", "b.jsonl", "é \n.sidecar"))
        path.write_bytes(raw)
        given["path"] = str(path)
    else:
        given["content"] = raw.decode("utf-8", "surrogateescape")
    if dice.chance(4):
        given = mutated(given, dice, odd=ODD_GIVEN)
    return placed(given, daemon.workspace, daemon.sandbox)


def _gone_on_in(daemon: Daemon, dice: Dice, session: str) -> None:
    """Use a session that was taken in; write it out, and take that in too."""
    named: Value = {"sessionId": session}
    assert "result" in _answer(daemon, "session/load", named), "it cannot be loaded"
    _answer(daemon, "session/set_config_option", {**named, "configId": "model", "value": "offline"})
    for method in ("context/meter", "context/breakdown", "checkpoint/list"):
        assert "result" in _answer(daemon, method, named), f"{method} cannot be told of it"
    _answer(daemon, "context/compact", {**named, "dryRun": bool(dice.below(2))})
    prompt = [{"type": "text", "text": dice.pick(("hello", "look at main.py", "recall part_x"))}]
    _answer(daemon, "session/prompt", {**named, "prompt": prompt})
    out = str(daemon.workspace / "out.sidecar")
    written = _answer(daemon, "session/export", {**named, "path": out, "overwrite": True})
    assert "result" in written, f"it cannot be written out: {written}"
    again = _answer(daemon, "session/import", {"path": out, "cwd": str(daemon.workspace)})
    assert "result" in again, f"what was written out cannot be taken in: {again}"
    for one in (session, again["result"]["sessionId"]):
        _answer(daemon, "session/delete", {"sessionId": one})
    daemon.notified.clear()


def _answer(daemon: Daemon, method: str, given: Value) -> Value:
    return daemon.answer(daemon.ours(method), given)
