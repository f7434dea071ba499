"""The ledger: what must outlive any rewrite, folded from the log by code, so nothing is made up.

Failed approaches with what was tried, files changed, commands that worked, the thread of what was
said, and the identifiers that are likeliest to be needed again.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sidecar.core.outcome import error_line, one_line
from sidecar.core.plan import tokens_of
from sidecar.core.units import Unit

EDITS = frozenset({"edit", "write", "multiedit", "apply_patch", "edit_file", "write_file", "patch"})
SHELLS = frozenset({"bash", "shell", "exec_command", "local_shell", "run_shell_command"})


@dataclass(frozen=True, slots=True)
class Room:
    """How many tokens each section may take."""

    files: int = 400
    commands: int = 200
    names: int = 4_000
    prose: int = 700


def ledger(gone: Sequence[Unit], names: Sequence[str], room: Room, head: str) -> str:
    """Write the note for units that are left out; `names` are the likeliest first."""
    sections = [head]
    failures = _failures(gone)
    if failures:
        sections.append("Failed, do not repeat:\n" + "\n".join(f"- {line}" for line in failures))
    edited = _newest(gone, EDITS)
    if edited:
        sections.append("Changed: " + ", ".join(_within(edited, room.files)))
    commands = [u.argument for u in reversed(gone) if _ran(u)]
    if commands:
        worked = _within(dict.fromkeys(commands), room.commands)
        sections.append("Worked:\n" + "\n".join(f"- {command}" for command in worked))
    said = [thread for u in reversed(gone) if u.kind == "prose" and (thread := _thread(u.text))]
    if said:
        kept = list(_within(said, room.prose))[::-1]
        sections.append("Said:\n" + "\n".join(f"- {line}" for line in kept))
    if names:
        sections.append("Seen: " + " · ".join(_within(names, room.names)))
    return "\n".join(sections)


def _failures(gone: Iterable[Unit]) -> list[str]:
    lines = [
        f"{u.tool} {u.argument} → {error_line(u.text)}"
        for u in gone
        if u.kind == "call" and u.failed
    ]
    return list(dict.fromkeys(lines))


def _newest(gone: Sequence[Unit], tools: frozenset[str]) -> list[str]:
    paths = [u.argument for u in reversed(gone) if u.tool.lower() in tools and not u.failed]
    return list(dict.fromkeys(paths))


def _ran(unit: Unit) -> bool:
    return unit.kind == "call" and unit.tool.lower() in SHELLS and not unit.failed


def _thread(text: str) -> str:
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return one_line(line, 100) if len(text) >= 40 else ""


def _within(items: Iterable[str], room: int) -> Iterable[str]:
    left = room
    for item in items:
        size = tokens_of(item) - 6
        if size > left:
            return
        left -= size
        yield item
