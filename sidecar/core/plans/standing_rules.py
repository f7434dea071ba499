"""Rules that a rewrite would take out of view, word for word and by who stated them."""

from collections.abc import Iterator

from sidecar.core.conversation.call_outcome import one_line
from sidecar.core.ledger.guidance import HANDED_ON, LONGEST_RULE
from sidecar.core.plans.plan import UnitsShown
from sidecar.core.prompt.tokens import tokens_of
from sidecar.core.prompt.visibility import Dropped
from sidecar.core.text.rule_sentences import FIRM

THE_USERS = "Rules that the user typed in messages left out:"
READ = "Rules that were read, not typed by the user, so they bind as far as their source does:"


def standing_rules(shown: UnitsShown, room: int) -> Iterator[str]:
    """Sections of rules in about `room` tokens: typed ones first, of each kind the newest."""
    typed: dict[str, None] = {}
    read: dict[str, dict[str, None]] = {}
    stating = [one for one in shown if one[0].guidance or one[0].kind == "typed"]
    stays = {rule for unit, how in stating if how is None for rule in unit.guidance[1:]}
    told: set[str] = set()
    for unit, how in reversed(stating):
        if not isinstance(how, Dropped):
            continue
        if unit.kind == "typed" and not unit.attached:
            own = unit.text.partition(HANDED_ON)[0]
            firm = (
                own[slice(*rule.span)]
                for rule in unit.rules
                if rule.sure == FIRM and rule.span[1] <= len(own)
            )
            typed.update((one_line(rule, LONGEST_RULE), None) for rule in firm)
        if unit.guidance:
            source, *rules = unit.guidance
            fresh = dict.fromkeys(rule for rule in rules if rule not in stays | told)
            read.setdefault(source, {}).update(fresh)
            told.update(fresh)
    kept: list[str] = []
    for rule in typed:
        if (size := tokens_of(rule) - 6) <= room:
            room -= size
            kept.append(f"- {rule}")
    if kept:
        yield "\n".join((THE_USERS, *reversed(kept)))
    lines: list[str] = []
    for source, stated in read.items():
        mine = []
        for rule in stated:
            if (size := tokens_of(rule) - 6) <= room:
                room -= size
                mine.append(f"- {rule}")
        lines += [f"{source}:", *mine] if mine else []
    if lines:
        yield "\n".join((READ, *lines))
