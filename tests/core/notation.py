"""Histories in one line: `U10 A20[t1] T30(t1) | U5`.

`U` a user's text, `A` an assistant's text with the calls it makes in brackets, `T` a result for
the call in parentheses, `!` after a result an error; the number is the length in characters, a
bar begins a new turn. `A0[t1]` has calls and no text. A call without a `T` is still running.
"""

import re
from dataclasses import replace

from sidecar.core.parts import (
    Message,
    MessageId,
    Output,
    PartId,
    TextPart,
    ToolCompleted,
    ToolError,
    ToolPart,
    ToolRunning,
    TurnId,
)

TOKEN = re.compile(r"([UAT])(\d+)(?:\[([\w,]*)\])?(?:\((\w+)\))?(!)?")


def history(text: str, model: str = "m") -> tuple[Message, ...]:
    """Read a history."""
    messages: list[Message] = []
    turn = 1
    for number, token in enumerate(text.split(), 1):
        if token == "|":
            turn += 1
            continue
        match = TOKEN.fullmatch(token)
        assert match, f"not in the notation: {token}"
        kind, length, calls, answers, failed = match.groups()
        words = ("x" * int(length)) if length != "0" else ""
        if kind == "T":
            _answer(messages, answers, words, failed is not None)
            continue
        parts = [TextPart(PartId(f"p{number}"), words, "typed" if kind == "U" else "model")]
        tools = [
            ToolPart(PartId(f"p-{call}"), call, "tool", {"n": call}, ToolRunning(0))
            for call in (calls or "").split(",")
            if call
        ]
        messages.append(
            Message(
                MessageId(f"m{number}"),
                TurnId(f"turn{turn}"),
                "user" if kind == "U" else "assistant",
                (*([parts[0]] if words else []), *tools),
                number,
                "complete",
                "" if kind == "U" else model,
            )
        )
    return tuple(messages)


def _answer(messages: list[Message], call: str, text: str, failed: bool) -> None:
    for index, message in enumerate(messages):
        parts = list(message.parts)
        for position, part in enumerate(parts):
            if isinstance(part, ToolPart) and part.call_id == call:
                state = (
                    ToolError(text, "error", 0, 1)
                    if failed
                    else ToolCompleted(Output(text, None, len(text), 1), 0, 1)
                )
                parts[position] = replace(part, state=state)
                messages[index] = replace(message, parts=tuple(parts))
                return
    raise AssertionError(f"no call {call}")
