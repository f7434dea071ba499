"""A session of 60 turns that prints long logs: a module is read, built, edited, compared, answered.

Made by a rule, so that it is the same each time: durations, sizes and ids differ from line to line,
as in real logs, and nobody uses them again.
"""

from pathlib import Path

from sidecar.core.parts import Json, JsonObject
from tests.replay.neutral_files import line, result, text, write

TURNS, MODULES, SLOTS = 60, 12, 40
SHORT, LONG = 40_000, 420_000
"""Milliseconds between turns: every third pause outlasts the cache's five minutes."""
REQUEST = 6_000
BEGUN = 1_700_000_000_000
LOG_LINES = 150


def call(call_id: str, name: str, given: JsonObject) -> Json:
    return {"type": "tool_call", "id": call_id, "name": name, "input": given}


def slot(module: int, number: int, value: int) -> str:
    return f"    slot_{number:03} = configure('mod_{module:02}', step={number}, level={value})"


def module_text(module: int, values: list[int]) -> str:
    lines = [slot(module, number, value) for number, value in enumerate(values)]
    return "\n".join([f"class Mod{module:02}:", *lines])


def build_log(turn: int) -> str:
    """Lines as a build prints them; the last says how it went."""
    lines = []
    for number in range(LOG_LINES):
        seed = (turn * 7_919 + number * 104_729) % 1_000_003
        took, key = seed % 90_000 / 100, f"{seed * 2_654_435_761 % 2**32:08x}"
        lines.append(
            f"[{turn:02}:{number % 60:02}.{seed % 1_000:03}] compile unit_{number:03} id={key} "
            f"took {took:.2f}ms mem={seed % 512}MB cache=miss"
        )
    return "\n".join([*lines, f"built {LOG_LINES} units, 0 errors"])


def log_heavy(path: Path) -> Path:
    """Write it as a recording: five requests a turn."""
    values = [[0] * SLOTS for _ in range(MODULES)]
    lines: list[JsonObject] = []
    at = BEGUN
    for turn in range(TURNS):
        module, number = turn % MODULES, turn * 7 % SLOTS
        name = f"src/mod_{module:02}.py"
        before = slot(module, number, values[module][number])
        after = slot(module, number, turn + 1)
        at += LONG if turn % 3 == 2 else SHORT
        asked = f"Set slot_{number:03} in {name} to level {turn + 1} and see that it builds."
        lines.append(line("user", at, text(asked)))
        edit: JsonObject = {"path": name, "old_string": before, "new_string": after}
        steps: tuple[tuple[str, JsonObject, str], ...] = (
            ("read", {"path": name}, module_text(module, values[module])),
            ("bash", {"command": f"make mod_{module:02}"}, build_log(turn)),
            ("edit", edit, f"Edited {name}."),
            ("bash", {"command": f"git diff {name}"}, f"--- {name}\n-{before}\n+{after}"),
        )
        for step, (tool, given, output) in enumerate(steps):
            at += REQUEST
            called = f"call_{turn}_{step}"
            lines.append(line("assistant", at, call(called, tool, given), model="m"))
            lines.append(line("tool", at + 1_000, result(called, output)))
        values[module][number] = turn + 1
        at += REQUEST
        done = f"slot_{number:03} of {name} has level {turn + 1} now, and mod_{module:02} builds."
        lines.append(line("assistant", at, text(done), model="m"))
    return write(path, lines)
