"""Tells rules taken out of view by a rewrite, word for word, with sources."""

from collections.abc import Iterable, Iterator

from sidecar.core.conversation.call_outcome import one_line
from sidecar.core.ledger.guidance import HANDED_ON, LONGEST_RULE
from sidecar.core.ledger.units import Unit
from sidecar.core.plans.plan import UnitsShown
from sidecar.core.prompt.tokens import tokens_of
from sidecar.core.prompt.visibility import Dropped, Quoted, Shown
from sidecar.core.text.identifiers import names_in
from sidecar.core.text.rule_sentences import FIRM, each_once, standing, wording

THE_USERS = "Rules that the user typed in messages left out:"
READ = "Rules that were read, not typed by the user, so they bind as far as their source does:"
_TYPED = ""
"""The source of typed rules."""


def standing_rules(shown: UnitsShown, room: int, beside: str = "") -> Iterator[str]:
    """Gives sections of rules in about `room` tokens, without rules that `beside` tells.

    Those of earlier notes come first, then typed ones, newest first; those without room are
    counted.
    """
    before = _joined("\n".join(unit.text for unit, _ in shown if unit.kind == "ledger"))
    said = _joined(beside)
    found = [one for one in _out_of_view(shown) if one[1] not in said]
    told = sorted(found, key=lambda one: (one[1] not in before, bool(one[0])))
    kept: dict[str, list[str]] = {}
    for source, rule in told:
        size = tokens_of(rule) - 6 + (0 if source in kept else len(source) // 3)
        if size <= room:
            room -= size
            kept.setdefault(source, []).append(f"- {rule}")
    left = len(told) - sum(map(len, kept.values()))
    if typed := kept.pop(_TYPED, None):
        yield "\n".join((THE_USERS, *reversed(typed)))
    lines = [line for source, rules in kept.items() for line in (f"{source}:", *rules)]
    if lines:
        yield "\n".join((READ, *lines))
    if left:
        yield f"⋯ {left} more rule{'s' * (left > 1)} without room here; recall finds them"


def _out_of_view(shown: UnitsShown) -> Iterable[tuple[str, str]]:
    stating = [one for one in shown if one[0].guidance or one[0].kind == "typed"]
    stays = {rule for unit, how in stating if how is None for rule in unit.guidance[1:]}
    found: dict[str, str] = {}
    for unit, how in reversed(stating):
        if unit.kind == "typed" and not unit.attached:
            mine = each_once(_typed(unit, how))
            found |= {rule: _TYPED for rule in mine if found.get(rule) != _TYPED}
        if unit.guidance and isinstance(how, Dropped):
            source, *rules = unit.guidance
            found |= {rule: source for rule in rules if rule not in stays and rule not in found}
    once = {wording(rule): (source, rule) for rule, source in reversed(found.items())}
    return list(reversed(once.values()))


def _typed(unit: Unit, how: Shown | None) -> Iterator[str]:
    """Gives the user's firm rules out of view.

    A rule that leans on the sentence before is told with it; without one, only if the rule names
    something.
    """
    if not isinstance(how, Dropped | Quoted):
        return
    own = len(unit.text.partition(HANDED_ON)[0])
    seen = how.spans if isinstance(how, Quoted) else ()
    for rule in unit.rules:
        first, last = rule.span
        if rule.sure < FIRM or last > own or any(a <= first < b for a, b in seen):
            continue
        whole = standing(unit.text, rule.span)
        if whole and last - whole[0] <= LONGEST_RULE:
            first, _ = whole
        if whole or names_in(unit.text[first:last]):
            yield one_line(unit.text[first:last], LONGEST_RULE)


def _joined(text: str) -> str:
    return " ".join(text.split())
