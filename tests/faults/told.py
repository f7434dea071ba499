"""What a client was told of one session, and what a later daemon must therefore still know."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

SETTLED = ("completed", "failed")


@dataclass
class Told:
    """Updates by what they are about. Texts are joined; a later state replaces an earlier one."""

    typed: dict[str, str] = field(default_factory=dict)
    """Texts of the user's messages, by part."""
    said: dict[str, str] = field(default_factory=dict)
    """Texts of the model, by part, as far as they have come."""
    turn_of: dict[str, str] = field(default_factory=dict)
    calls: dict[str, tuple[str, Any, str]] = field(default_factory=dict)
    """State, input and output of each call, by part."""
    ended: dict[str, str] = field(default_factory=dict)
    """Why each turn ended, by turn."""
    rewrites: dict[str, str] = field(default_factory=dict)
    numbers: list[int] = field(default_factory=list)
    """The sequence numbers, in the order of their coming."""

    def take(self, update: dict[str, Any]) -> None:
        """Take in one update."""
        about = update.get("_meta", {}).get("sidecar", {})
        part = about.get("partId", "")
        if "seq" in about:
            self.numbers.append(about["seq"])
        match update["sessionUpdate"]:
            case "user_message_chunk":
                self.typed[part] = self.typed.get(part, "") + update["content"]["text"]
            case "agent_message_chunk" | "agent_thought_chunk":
                self.turn_of[part] = about["turnId"]
                self.said[part] = self.said.get(part, "") + update["content"]["text"]
            case "tool_call" | "tool_call_update" if "status" in update:
                _, given, _ = self.calls.get(part, ("", None, ""))
                given = update.get("rawInput", given)
                self.turn_of[part] = about["turnId"]
                self.calls[part] = (update["status"], given, update.get("rawOutput", ""))
            case "turn_ended":
                self.ended[update["turnId"]] = update["stopReason"]
            case "compaction_update" if update["status"] in ("completed", "undone"):
                self.rewrites[update["compactionId"]] = update["status"]
            case _:
                pass

    def durable(self) -> "Told":
        """Give what a later daemon must know: all but what still streamed or ran."""
        return Told(
            typed=self.typed,
            said={p: t for p, t in self.said.items() if self.turn_of[p] in self.ended},
            calls={p: c for p, c in self.calls.items() if c[0] in SETTLED},
            ended=self.ended,
            rewrites=self.rewrites,
            numbers=self.numbers,
        )

    def items(self) -> int:
        """Count what was told."""
        return sum(map(len, (self.typed, self.said, self.calls, self.ended, self.rewrites)))


def gather(notifications: Iterable[dict[str, Any]], session: str) -> Told:
    """Read what one client was told of a session."""
    told = Told()
    for message in notifications:
        if message["method"] == "session/update" and message["params"]["sessionId"] == session:
            told.take(message["params"]["update"])
    return told


def missing(before: Told, now: Told, *, undoing: bool) -> list[str]:
    """Say what was durable before and is not the same in what is told now, a line each.

    `undoing`: it was asked for that a rewrite be undone, and that was not answered.
    """
    lost: list[str] = []
    for kind, old, new in (
        ("typed text", before.typed, now.typed),
        ("said text", before.said, now.said),
        ("call", before.calls, now.calls),
        ("end of turn", before.ended, now.ended),
        ("rewrite", before.rewrites, now.rewrites),
    ):
        for name, value in old.items():
            undone = kind == "rewrite" and undoing and new.get(name) == "undone"
            if new.get(name) != value and not undone:
                lost.append(f"{kind} {name} was {value!r:.200} and is {new.get(name)!r:.200}")
    if before.numbers and now.numbers and min(now.numbers) <= max(before.numbers):
        lost.append("sequence numbers were used twice")
    return lost


def half(now: Told) -> list[str]:
    """Say what a replay shows that is neither whole nor absent."""
    wrong = [f"call {p} is {s}" for p, (s, _, _) in now.calls.items() if s not in SETTLED]
    if now.numbers != sorted(set(now.numbers)):
        wrong.append("sequence numbers do not rise")
    return wrong
