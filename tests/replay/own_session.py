"""A session of our own making, as a recording: slots of modules are set, a log fills the window.

`python -m tests.replay.own_session` prints what is sent after its last rewrite, with `--write` into
the page that shows it.
"""

import json
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from sidecar.core.parts import Json, JsonObject, Message
from sidecar.core.plans.plan import Policy
from sidecar.core.policies import policies
from sidecar.core.prompt.prompt_text import prompt_text
from sidecar.replay.simulate import SimulatedRun, last_prompt, simulate
from tests.replay.recorded import CARD, messages_of, overheard

WINDOW = 15_000
MODULES = 5
UNITS, FEW, QUIET = 215, 3, 3
"""Lines of each log, and of those from this module on."""
GOAL = (
    "Build the table importer. Each slot returns a number that I give you. Never touch "
    "generated.py, and run `make check` after each change."
)
RULES = "# Rules\n- Never import from another slot.\n- Every slot must return an int.\n"
STRING = "Error: slot_002 returns str"
NO_TARGET = "Error: no rule to make target 'docs'"


def lines() -> list[JsonObject]:
    """The recording's lines, in the neutral form."""
    said: list[JsonObject] = []
    for module in range(1, MODULES + 1):
        said.append(typed(GOAL if module == 1 else f"Set slot_00{module} to {module * 7}."))
        said += answered(module)
    said.append(typed(f"Set slot_00{MODULES + 1} to {(MODULES + 1) * 7}, as before."))
    said += called("last", "read_file", {"path": f"src/mod_0{MODULES + 1}.py"}, source(MODULES + 1))
    return said


def answered(module: int) -> Iterator[JsonObject]:
    path, name = f"src/mod_0{module}.py", f"m{module}"
    yield from called(f"{name}read", "read_file", {"path": path}, source(module))
    if module == 1:
        rules = RULES + "The importer reads rows and writes a line for each.\n" * 80
        yield from called("rules", "read_file", {"path": "CONTRIBUTING.md"}, rules)
    if module == 2:
        yield from called(f"{name}fail", "shell", {"command": "make check"}, log(STRING), 2)
    if module == 3:
        yield from called(f"{name}docs", "shell", {"command": "make docs"}, log(NO_TARGET), 2)
    old, new = f"    return rows[{module}] + {module}", f"    return {module * 7}"
    edit: JsonObject = {"path": path, "oldText": old, "newText": new}
    why = {
        2: "The literal was quoted, and a slot must return an int.",
        3: "There is no such target: the docs are built elsewhere.",
    }
    yield from called(f"{name}edit", "edit_file", edit, "edited", say=why.get(module, ""))
    passed = log("12 passed", FEW if module >= QUIET else UNITS)
    yield from called(f"{name}check", "shell", {"command": "make check"}, passed, 0)
    text = f"Done: slot_00{module} in mod_0{module}.py returns {module * 7}; 12 tests passed."
    yield {"role": "assistant", "origin": "model", "parts": [{"type": "text", "text": text}]}


def typed(text: str) -> JsonObject:
    return {"role": "user", "origin": "human", "parts": [{"type": "text", "text": text}]}


def called(
    name: str, tool: str, given: JsonObject, output: str, code: int | None = None, say: str = ""
) -> Iterator[JsonObject]:
    call: JsonObject = {"type": "tool_call", "id": name, "name": tool, "input": given}
    parts: list[Json] = [{"type": "text", "text": say}, call] if say else [call]
    yield {"role": "assistant", "origin": "model", "parts": parts}
    result: JsonObject = {"type": "tool_result", "id": name, "output": output}
    if code is not None:
        result["exit_code"] = code
    yield {"role": "tool", "origin": "tool", "parts": [result]}


def source(module: int) -> str:
    bodies = (f"def slot_{n:03}(rows):\n    return rows[{n}] + {module}" for n in range(20))
    return "\n".join(bodies)


def log(end: str, units: int = UNITS) -> str:
    lines = (f"{n * 37 % 997}.{n:02}ms compiled unit {n} id={n * 7919:06x}" for n in range(units))
    return "\n".join((*lines, end))


def messages() -> tuple[Message | None, ...]:
    """The session as an importer reads it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "own.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines()), "utf-8")
        return messages_of(path)


def played(policy: Policy) -> SimulatedRun:
    """A replay of the session."""
    return simulate(overheard(messages(), "own", count=quarters), policy, WINDOW, CARD)


def sent(policy: Policy) -> str:
    """What its last request sends."""
    heard = overheard(messages(), "own", count=quarters)
    return prompt_text(last_prompt(heard, policy, WINDOW, CARD))


def quarters(text: str) -> int:
    """Tokens of a text, roughly."""
    return len(text) // 4


PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "rewritten-context.md"
WIDTH = 100
FENCE = re.compile(r"(?<=````text\n).*?(?=````$)", re.M | re.S)


def on_page(text: str) -> str:
    """What is sent, with short rules and no long lines."""
    lines = (re.sub("─+$", "──", line) for line in text.strip().split("\n"))
    return "".join(
        f"{textwrap.fill(line, WIDTH) if len(line) > WIDTH else line}\n" for line in lines
    )


if __name__ == "__main__":
    told = on_page(sent(policies()["economic"]))
    print(told)
    if "--write" in sys.argv:
        PAGE.write_text(FENCE.sub(lambda _: told, PAGE.read_text("utf-8")), "utf-8")
