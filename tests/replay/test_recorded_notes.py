"""Real sessions: after any rewrite of any policy, what failed and what was changed is known."""

import re
from collections.abc import Callable

import pytest

from sidecar.core.conversation.call_outcome import result_text
from sidecar.core.ledger.ledger import read_ledger
from sidecar.core.ledger.net_changes import net_files, told_files, told_more
from sidecar.core.ledger.units import Unit, overcome
from sidecar.core.parts import Message, ToolPart
from sidecar.core.plans.plan import Plan, Situation
from sidecar.core.policies import policies
from sidecar.core.prompt.visibility import Dropped
from sidecar.core.sights.taken_back import taken_back
from sidecar.replay.prices import read_card
from sidecar.replay.simulate import simulate
from tests.replay.recorded import AT_HAND, Watched, conversation, recorded

WINDOW = 64_000
PREFIXES = ("claude-cli-1284c080", "codex-agentv-019efc87", "pi-pi-mono", "opencode-go-Noora-25")
"""Of each kind one that changes files and is long enough to be rewritten in a small window."""
QUOTED = 60
EDITORS = {"edit", "write", "multiedit"}

pytestmark = [
    pytest.mark.long,
    AT_HAND,
]


def edited(messages: tuple[Message | None, ...]) -> set[str]:
    """Name the files that calls of the best known tools changed, looked up in another way."""
    parts = (part for message in messages if message is not None for part in message.parts)
    found = set()
    for part in parts:
        if isinstance(part, ToolPart) and part.name.lower() in EDITORS:
            given, metadata = part.input, getattr(part.state, "metadata", {})
            if isinstance(given, dict) and not metadata.get("isError"):
                found.add(str(given.get("file_path", given.get("path", given.get("filePath")))))
        elif isinstance(part, ToolPart) and part.name == "apply_patch":
            found |= set(re.findall(r"^M (.+)$", result_text(part), re.M))
    return found - {"None", ""}


def looking(changed: tuple[tuple[str, str], ...]) -> Callable[[Plan, Situation], None]:
    """Hold every rewrite to telling what failed and what was changed, and not taken back by git."""

    def look(plan: Plan, situation: Situation) -> None:
        if not (plan.note or plan.retired):
            return
        after = {change.part_id: change.shown for change in plan.changes}
        units = [item.unit for item in situation.items]
        stay = [u.text for u in units if u.kind == "ledger" and u.part_id not in plan.retired]
        notes = "\n".join((*stay, plan.note))
        later = overcome(units)
        for item in situation.items:
            if item.unit.part_id in later:
                continue
            how = after.get(item.unit.part_id, item.shown)
            if item.unit.kind == "call" and item.unit.failed and isinstance(how, Dropped):
                assert is_told(item.unit, notes), item.unit.argument
        there = {unit.part_id for unit in units}
        back = taken_back(units)
        kept = ([d for d in u.changed if (u.part_id, d.path) not in back] for u in units)
        differ, told = net_files(kept), "\n".join(told_files([notes]))
        unnamed = {path for part, path in changed if part in there and path not in told}
        assert len(unnamed & differ.keys()) <= told_more([notes])

    return look


def is_told(unit: Unit, notes: str) -> bool:
    lines = (line for line in notes.splitlines() if unit.argument[:QUOTED] in line)
    return any(unit.error[:QUOTED] in line for line in lines)


def changed_by(messages: tuple[Message | None, ...]) -> tuple[tuple[str, str], ...]:
    """Give the calls that changed files, and which."""
    found = ((message, edited((message,))) for message in messages if message is not None)
    return tuple(
        (part.id, path)
        for message, paths in found
        for part in message.parts
        for path in paths
        if isinstance(part, ToolPart)
    )


@pytest.mark.parametrize("prefix", PREFIXES)
def test_the_ledger_names_all_that_the_best_known_tools_changed(prefix: str) -> None:
    messages = recorded(prefix)
    ledger = read_ledger(message for message in messages if message is not None)
    named = {file.path for file in ledger.files if file.state != "read"}
    assert edited(messages)
    assert edited(messages) <= named
    assert ledger.goal is not None
    assert ledger == read_ledger([message for message in messages if message is not None])


@pytest.mark.parametrize("prefix", PREFIXES)
@pytest.mark.parametrize("name", sorted(policies()))
def test_no_rewrite_forgets_what_failed_or_what_was_changed(prefix: str, name: str) -> None:
    watched = Watched(policies()[name], looking(changed_by(recorded(prefix))))
    run = simulate(conversation(prefix), watched, WINDOW, read_card("classic"))
    assert run.memory.failures_kept == run.memory.failures
