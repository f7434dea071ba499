"""Recorded sessions as scripts: what the user typed, what the model said, what the tools gave."""

import gzip
import json
import os
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from tests.fakes.messages_api import Reply, text, tools

RECORDED = Path(__file__).parents[2].parent / "shared" / "sessions"


@dataclass
class Turn:
    """A typed message, when it was typed (seconds), and the answers to it."""

    words: str
    at: float
    answers: list[Reply] = field(default_factory=list)


@dataclass
class Script:
    """A session to be played again."""

    turns: list[Turn]
    outputs: dict[str, dict[str, Any]]

    @property
    def tools(self) -> list[str]:
        """The names of all tools that are called."""
        blocks = (b for turn in self.turns for reply in turn.answers for b in reply.blocks)
        return sorted({block["name"] for block in blocks if block["type"] == "tool_use"})

    def answer(self, params: Any) -> Any:
        """Give the recorded output of a call, as a client would."""
        found = self.outputs.get(params["callId"], {})
        content = [{"type": "text", "text": str(found.get("output", ""))}]
        return {"content": content, "isError": bool(found.get("is_error"))}


ALL = os.environ.get("SIDECAR_RECORDED") == "all"
"""Whether every recording is played, which takes an hour; else it is a few of each agent."""


def catalogue(*, core: bool) -> list[Path]:
    """Give the recordings that have human turns and calls; `core` is the small set."""
    if not RECORDED.is_dir():
        return []
    entries = json.loads((RECORDED / "catalogue.json").read_text())
    chosen = [e for e in entries if not core or e.get("core")]
    return sorted((RECORDED / e["file"] for e in chosen), key=lambda path: path.stat().st_size)


def script(path: Path, most_turns: int = 10_000) -> Script:
    """Read a recording; a damaged line is passed over."""
    lines = []
    with gzip.open(path, "rt", errors="replace") as file:
        for line in file:
            with suppress(ValueError):
                lines.append(json.loads(line))
    parts = (p for line in lines for p in line["parts"] if p["type"] == "tool_result")
    return Script(_turns(lines)[:most_turns], {part["id"]: part for part in parts})


def _turns(lines: list[dict[str, Any]]) -> list[Turn]:
    turns: list[Turn] = []
    used: set[str] = set()
    for line in lines:
        words = "\n".join(p["text"] for p in line["parts"] if p["type"] == "text").strip()
        if line["role"] == "user" and line["origin"] == "human" and words:
            turns.append(Turn(words, _seconds(line.get("ts"), turns)))
        elif line["role"] == "assistant" and turns:
            reply = _reply(line, words, used)
            if reply is not None:
                turns[-1].answers.append(reply)
    # A turn whose last answer still calls tools was interrupted; a closing text ends it here.
    whole = [turn for turn in turns if turn.answers]
    for turn in whole:
        if turn.answers[-1].stop == "tool_use":
            turn.answers.append(text("Interrupted."))
        # An answer without calls in the middle would end the turn early.
        turn.answers[:-1] = [a for a in turn.answers[:-1] if a.stop == "tool_use"]
    return whole


def _reply(line: dict[str, Any], words: str, used: set[str]) -> Reply | None:
    calls = [p for p in line["parts"] if p["type"] == "tool_call" and isinstance(p["input"], dict)]
    made = tuple((c["id"], c["name"], c["input"]) for c in calls if c["id"] not in used)
    used |= {call[0] for call in made}
    if made:
        return tools(*made, words=words, piece=4000)
    return text(words, piece=4000) if words else None


def _seconds(stamp: Any, turns: list[Turn]) -> float:
    if isinstance(stamp, str):
        with suppress(ValueError):
            return datetime.fromisoformat(stamp).timestamp()
    if isinstance(stamp, int | float):
        return stamp / 1000 if stamp > 1e11 else float(stamp)
    return turns[-1].at if turns else 0.0
