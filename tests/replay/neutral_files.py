"""Recordings in the neutral form, made on the spot."""

import json
from pathlib import Path

from sidecar.core.parts import Json, JsonObject


def line(role: str, at: int, *parts: Json, **more: Json) -> JsonObject:
    """One message; `at` in milliseconds."""
    origin = {"user": "human", "assistant": "model", "tool": "tool"}[role]
    return {"role": role, "origin": origin, "ts": at, "parts": list(parts), **more}


def text(said: str) -> Json:
    return {"type": "text", "text": said}


def call(call_id: str, command: str) -> Json:
    return {"type": "tool_call", "id": call_id, "name": "bash", "input": {"command": command}}


def result(call_id: str, output: str, **more: Json) -> Json:
    return {"type": "tool_result", "id": call_id, "output": output, **more}


def write(path: Path, lines: list[JsonObject]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in lines))
    return path


def recording(path: Path, answers: int = 3, usage: Json = None) -> Path:
    """A question and some answers, each with a call; each has the same usage, if any."""
    lines = [line("user", 1_000, text("look into src/main.py"))]
    for number in range(answers):
        said = (text(f"Step {number}."), call(f"c{number}", f"show {number}"))
        lines.append(line("assistant", 1_000 + 20 * number, *said, usage=usage, model="m"))
        lines.append(
            line("tool", 1_005 + 20 * number, result(f"c{number}", f"line_{number} " * 200))
        )
    return write(path, lines)


def long_recording(path: Path, answers: int = 60) -> Path:
    """A session that outgrows a window of 20,000 tokens, comes back to names and fails at times."""
    lines = [line("user", 1_000, text("Make src/main.py read settings_file_0 again."))]
    for number in range(answers):
        at = 2_000_000 + 30_000 * number
        prompt = 9_000 + 450 * number
        usage: Json = {"prompt": prompt, "uncached": 450, "cache_read": prompt - 450, "output": 80}
        back = f"Like settings_file_{number % 7}, it needs module_{max(0, number - 20)}.py first."
        failed = number % 9 == 4
        verb = "python" if failed else "cat"
        said = (text(back), call(f"c{number}", f"{verb} module_{number}.py"))
        lines.append(line("assistant", at, *said, usage=usage, model="m"))
        listing = "\n".join(f"value_{number}_{n} = {n}" for n in range(60))
        shown = f"ImportError: no module_{number}" if failed else listing
        lines.append(line("tool", at + 9, result(f"c{number}", shown, is_error=failed)))
    lines.append(line("assistant", 9_000_000, text("Done."), model="m"))
    return write(path, lines)
