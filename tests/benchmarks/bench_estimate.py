"""How close the estimate of a prompt is to what the provider then reported, on recorded sessions.

The recorded agent (mini-swe) shows its whole request, so nothing is hidden from the estimate.
Beside it stands what many agents use: the characters divided by four.
"""

import gzip
import json
from pathlib import Path
from statistics import mean
from typing import Any

from sidecar.core.parts import (
    Message,
    MessageId,
    Output,
    PartId,
    StepFinishPart,
    TextPart,
    ToolCompleted,
    ToolPart,
    TurnId,
    Usage,
)
from sidecar.session.view.model_view import ModelView
from tests.core.prompts import static
from tests.replay.recorded import tokenizer

SESSIONS = Path(__file__).parents[2].parent / "shared" / "sessions" / "normalised"
LEARNING = 3
"""Responses after which the estimate has to be good."""


def main() -> None:
    """Print one line a session, and the mean of all requests."""
    files = sorted(SESSIONS.glob("mini-swe*.jsonl.gz"))
    if not files:
        print("skipped: recorded sessions are not beside this checkout")
        return
    count = tokenizer()
    every: list[float] = []
    others: list[float] = []
    for path in files:
        errors, plain = compare(read(path), count)
        every += errors
        others += plain
        if errors:
            print(f"{path.name[:60]:<62} {mean(errors):6.2%}  chars/4 {mean(plain):6.1%}")
    name = "all requests after three responses"
    print(f"{name:<62} {mean(every):6.2%}  chars/4 {mean(others):6.1%}")
    print("aim: under 2 per cent")


def compare(lines: list[dict[str, Any]], count: Any) -> tuple[list[float], list[float]]:
    """Give the relative errors of our estimate, and of characters divided by four."""
    system = "\n".join(text(m) for m in lines if m["origin"] == "system")
    view = ModelView(static(system), count, 1.2, 0)
    history: list[Message] = []
    errors: list[float] = []
    plain: list[float] = []
    characters = len(system)
    responses = 0
    for number, line in enumerate(lines):
        if line["origin"] == "system":
            continue
        reported = (line["usage"] or {}).get("prompt")
        if line["role"] == "assistant" and reported:
            responses += 1
            if responses > LEARNING:
                guess = view.size(history).total
                errors.append(abs(guess - reported) / reported)
                plain.append(abs(characters / 4 - reported) / reported)
        characters += len(json.dumps(line["parts"]))
        add(history, line, number)
        if line["role"] == "assistant" and reported:
            view.observe(history[-1], history)
    return errors, plain


def add(history: list[Message], line: dict[str, Any], number: int) -> None:
    """Log a recorded message as the daemon would."""
    if line["role"] == "tool":
        answer(history, line)
        return
    parts: list[Any] = [
        TextPart(
            PartId(f"t{number}-{i}"), p["text"], "typed" if line["role"] == "user" else "model"
        )
        for i, p in enumerate(line["parts"])
        if p["type"] == "text"
    ]
    parts += [
        ToolPart(
            PartId(f"c{number}-{i}"),
            p["id"],
            p["name"],
            p["input"],
            ToolCompleted(Output(""), 0, 0),
        )
        for i, p in enumerate(line["parts"])
        if p["type"] == "tool_call"
    ]
    if line["role"] == "assistant":
        used = line["usage"] or {}
        usage = Usage(input=used.get("prompt") or 0, output=used.get("output") or 0)
        parts.append(StepFinishPart(PartId(f"f{number}"), "tool_use", usage, None))
    message = Message(
        MessageId(f"m{number}"), TurnId("t"), line["role"], tuple(parts), number, "complete", "m"
    )
    history.append(message)


def answered(output: str) -> ToolCompleted:
    """Give the state of a call that has this output."""
    return ToolCompleted(Output(output), 0, 0)


def answer(history: list[Message], line: dict[str, Any]) -> None:
    """Put recorded outputs into their calls."""
    outputs = {p["id"]: str(p["output"]) for p in line["parts"] if p["type"] == "tool_result"}
    for index in range(len(history) - 1, -1, -1):
        parts = history[index].parts
        if not any(isinstance(p, ToolPart) and p.call_id in outputs for p in parts):
            continue
        done = tuple(
            ToolPart(
                p.id, p.call_id, p.name, p.input, ToolCompleted(Output(outputs[p.call_id]), 0, 0)
            )
            if isinstance(p, ToolPart) and p.call_id in outputs
            else p
            for p in parts
        )
        old = history[index]
        history[index] = Message(
            old.id, old.turn_id, old.role, done, old.created, old.status, old.model
        )
        return


def text(line: dict[str, Any]) -> str:
    """Give a message's text."""
    return "\n".join(p["text"] for p in line["parts"] if p["type"] == "text")


def read(path: Path) -> list[dict[str, Any]]:
    """Read a session; damaged lines are passed over."""
    lines = []
    with gzip.open(path, "rt") as file:
        for line in file:
            try:
                lines.append(json.loads(line))
            except ValueError:
                continue
    return lines


if __name__ == "__main__":
    main()
