"""A bundle of a session in which a lot has happened, and changes within what it holds."""

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

import zstandard

from sidecar.config import Config
from tests.fuzz.dice import Dice
from tests.fuzz.mutations import ODD, Value, deep, mutated, scrambled
from tests.session.conftest import LIMIT, World
from tests.session.stories import story

INNER = ("body", "input", "metadata", "settings", "detail")
"""Fields that hold JSON as text."""


def world(folder: Path) -> World:
    """Give a daemon's surroundings in a folder."""
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    (workspace / "notes.txt").write_text("alpha\n")
    config = Config(model="scripted", workspace_trusted=True, data_dir=folder / "data")
    return World(folder / "data", workspace, config=config)


async def _told(folder: Path) -> list[Value]:
    async with world(folder).daemon() as desk, asyncio.timeout(LIMIT * 3):
        return await story(desk, folder / "a.sidecar")


def _things() -> list[Value]:
    with tempfile.TemporaryDirectory(prefix="sidecar-fuzz-") as folder:
        return asyncio.run(_told(Path(folder)))


THINGS: list[Value] = _things()
"""Its lines, but for the last."""
BODIES: list[Value] = [
    json.loads(inner[key])
    for thing in THINGS
    for inner in thing.values()
    if isinstance(inner, dict)
    for key in INNER
    if isinstance(inner.get(key), str) and inner[key][:1] in "{["
]
ODD_THINGS = (*ODD, deep(120), "[" * 2_000, '{"a": NaN}', "1e999", 10**17)


def twisted(things: list[Value], dice: Dice) -> list[Value]:
    """Change some things, most of them within the JSON that they hold as text."""
    changed: list[Value] = list(things)
    for _ in range(1 + dice.below(2)):
        at = dice.below(len(changed))
        if dice.chance(6):
            changed = _moved(changed, at, dice)
        else:
            changed[at] = _changed(changed[at], dice)
    return changed or things


def as_handed_on(raw: bytes, dice: Dice) -> bytes:
    """Give a text packed or not, and damaged before or after that, or not."""
    if dice.chance(6):
        raw = scrambled(raw, dice)
    if dice.below(2):
        raw = zstandard.ZstdCompressor(level=1).compress(raw)
        if dice.chance(4):
            raw = scrambled(raw, dice)
    return raw


def _moved(things: list[Value], at: int, dice: Dice) -> list[Value]:
    match dice.below(3):
        case 0:
            return [*things[:at], *things[at + 1 :]]
        case 1:
            return [*things[:at], things[dice.below(len(things))], *things[at:]]
        case _:
            return [*things[:at], *things[at:][::-1]]


def _changed(thing: Value, dice: Dice) -> Value:
    kind = next(iter(thing), "") if isinstance(thing, dict) else ""
    inner: Any = thing[kind] if kind else None
    keys = [key for key in INNER if isinstance(inner, dict) and isinstance(inner.get(key), str)]
    if not keys or not dice.below(4):
        return mutated(thing, dice, odd=ODD_THINGS, donors=THINGS)
    key = dice.pick(keys)
    try:
        body = mutated(json.loads(inner[key]), dice, odd=ODD_THINGS, donors=BODIES)
    except ValueError:
        return thing
    return {kind: {**inner, key: json.dumps(body)}}
