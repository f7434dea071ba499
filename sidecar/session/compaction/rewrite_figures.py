"""Measures a rewrite's quality."""

from collections.abc import Sequence

from sidecar.core.parts import JsonObject, Message
from sidecar.core.plans.plan import compression
from sidecar.core.plans.value import fidelity
from sidecar.core.prompt.prompt import flat
from sidecar.core.prompt.render import CallBlock, ResultBlock, TextBlock
from sidecar.core.text.identifiers import names_in
from sidecar.session.compaction.decision import Decision


def figures_of(decision: Decision, messages: Sequence[Message]) -> JsonObject:
    """Returns a coming rewrite's `compression`, a ratio, and `fidelity`, 0 to 1."""
    situation, view = decision.situation, decision.view
    touched = decision.recorded.rewrite.shown.keys() | set(decision.recorded.rewrite.retired)
    units = {item.unit.part_id: item.unit for item in situation.items}
    changed: set[str] = set()
    left: set[str] = set()
    for part_id, unit in units.items():
        names = changed if part_id in touched else left
        names.update(unit.names, unit.call_names)
    fresh = touched | view.rendering.shown.notes.keys()
    for block in flat(view.prompt(messages)):
        match block.content:
            case TextBlock(text=text) | ResultBlock(text=text) if block.part_id in fresh:
                left |= names_in(text)
            case CallBlock() if block.part_id in touched and block.part_id in units:
                left.update(units[block.part_id].call_names)
            case _:
                pass
    return {
        "compression": round(compression(situation, decision.plan), 2),
        "fidelity": fidelity(changed, left, situation.names, situation.step),
    }
