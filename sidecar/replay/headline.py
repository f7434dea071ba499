"""What recorded sessions cost, and what they would have cost here, in one sentence.

Like for like: the recorded agent's way and a policy's are simulated by the same rules, and what was
paid changes as they differ. So what a simulation gets wrong about both is no cost of either.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil
from statistics import median

from sidecar.core.dataclass import dataclass
from sidecar.core.plans.plan import Rates
from sidecar.core.text.visible import many
from sidecar.replay.compare import ReplayedSession, Subagents
from sidecar.replay.money.session_money import Charge, SessionMoney

MINUS = "\N{MINUS SIGN}"
FAR_OFF = 0.05
"""The share from which on a simulation of a session is said to be off."""


@dataclass(frozen=True, slots=True)
class Compared:
    """USD of a session: `theirs` and `ours` are simulated; `ours` counts what is read again.

    `paid`: without requests that an earlier session has too, and without `aside`, the subagents';
    `here`: `paid` as it changes from `theirs` to `ours`. `share`: of the session's own requests in
    all of them; 0 for a copy.
    """

    session: ReplayedSession
    money: SessionMoney
    paid: float
    aside: float
    share: float
    ours: float

    @property
    def theirs(self) -> float:
        return self.money.theirs

    @property
    def change(self) -> float:
        """A share, below 0 if cheaper here."""
        return self.ours / self.theirs - 1 if self.theirs else 0.0

    @property
    def here(self) -> float:
        return self.paid * (1 + self.change)

    @property
    def missed(self) -> float:
        """USD by which the simulation misses what was reported, at the same prices."""
        return abs(self.theirs - self.money.listed) * self.share


@dataclass(frozen=True, slots=True)
class Headline:
    """Sums over sessions with usage, copies once, subagents on both sides. `error`: a share."""

    sessions: int
    paid: float
    here: float
    theirs: float
    ours: float
    aside: float
    error: float
    copies: int
    dearer: int

    @property
    def change(self) -> float:
        return self.here / self.paid - 1 if self.paid else 0.0


@dataclass(frozen=True, slots=True)
class Comparison:
    """Sessions with usage, in order; `aside`: USD of files with subagents' requests alone."""

    sessions: tuple[Compared, ...]
    aside: float = 0.0


def compared(
    sessions: Sequence[ReplayedSession], alone: Sequence[Subagents] = (), policy: int = 0
) -> Comparison:
    """Compares by the policy of this number; sessions without usage are left out.

    Of requests that several recordings have, those of the longest count.
    """
    seen: set[str] = set()
    found: dict[int, Compared] = {}
    for number in sorted(range(len(sessions)), key=lambda n: -sessions[n].requests):
        session, money = sessions[number], sessions[number].money
        if money is None:
            continue
        paid, aside = _sums(_fresh(money.charges, seen))
        whole, _ = _sums(money.charges)
        share = paid / whole if whole else 1.0
        ours = session.tallies[policy].with_rereads
        found[number] = Compared(session, money, paid, aside, share, ours)
    more = sum(charge.usd for one in alone for charge in _fresh(one.charges, seen))
    return Comparison(tuple(found[number] for number in sorted(found)), more)


def _fresh(charges: Iterable[Charge], seen: set[str]) -> list[Charge]:
    fresh = [charge for charge in charges if not seen.intersection(charge.keys)]
    seen.update(key for charge in charges for key in charge.keys)
    return fresh


def _sums(charges: Iterable[Charge]) -> tuple[float, float]:
    main = aside = 0.0
    for charge in charges:
        if charge.aside:
            aside += charge.usd
        else:
            main += charge.usd
    return main, aside


def headline(found: Comparison) -> Headline | None:
    """`None` without a recording that says what was used."""
    counted = [one for one in found.sessions if one.share]
    if not counted:
        return None
    aside = sum(one.aside for one in found.sessions) + found.aside
    listed = sum(one.money.listed * one.share for one in counted)
    return Headline(
        sessions=len(counted),
        paid=sum(one.paid for one in counted) + aside,
        here=sum(one.here for one in counted) + aside,
        theirs=sum(one.theirs * one.share for one in counted),
        ours=sum(one.ours * one.share for one in counted),
        aside=aside,
        error=sum(one.missed for one in counted) / listed if listed else 0.0,
        copies=len(found.sessions) - len(counted),
        dearer=sum(round(100 * one.change) > 0 for one in counted),
    )


def told(head: Headline) -> str:
    """The sentence, and whether the difference is one."""
    within = max(1, ceil(100 * head.error))
    figures = (
        f"{many(head.sessions, 'session')}: you paid {head.paid:,.2f} USD; "
        f"here {head.here:,.2f}, {percent(head.change)}, re-reads included, "
        f"±{within} % by simulation"
    )
    if abs(round(100 * head.change)) <= within:
        return f"{figures}: no difference that can be told."
    return f"{figures}: dearer here." if head.change > 0 else f"{figures}."


def caveats(head: Headline, found: Comparison, sessions: int) -> list[str]:
    """What a reader of the sentence must know, each where there is cause."""
    counted = [one for one in found.sessions if one.share]
    lines = [
        f"Like for like, both ways simulated: {head.theirs:,.2f} the recorded agent's, "
        f"{head.ours:,.2f} here. Playing the recorded way, the simulation misses what was reported "
        f"by {_off(counted)}."
    ]
    if head.dearer:
        lines.append(f"{head.dearer} of {head.sessions} would have been dearer here.")
    if head.aside:
        lines.append(
            f"Subagents' {head.aside:,.2f} USD are in both sums as they were: they are not played."
        )
    if head.copies:
        lines.append(f"Copies of other recordings here, counted once: {head.copies}.")
    if silent := sessions - len(found.sessions):
        lines.append(f"Without usage figures, and so not in it: {silent}.")
    if sum(one.money.unsaid for one in counted) >= head.paid / 100:
        lines.append(
            "Some recordings count less output than they hold, so more was paid than they say."
        )
    if any(one.money.own for one in counted):
        lines.append("Where an agent told a cost itself, that is what was paid.")
    return lines


def _off(counted: Sequence[Compared]) -> str:
    known = [one.missed / (one.money.listed * one.share) for one in counted if one.money.listed]
    over = sum(missed > FAR_OFF for missed in known)
    middle = f"{100 * median(known):.0f} %" if known else "an unknown share"
    return f"{middle} (median), by over {100 * FAR_OFF:.0f} % in {over} of {len(known)}"


def percent(share: float) -> str:
    whole = round(100 * share)
    return "±0 %" if whole == 0 else f"{MINUS if whole < 0 else '+'}{abs(whole)} %"


def prices_told(found: Comparison, usual: Rates) -> str:
    """Names each model's prices, and the models whose prices are not known."""
    prices: Mapping[str, Rates | None] = {
        model: rates for one in found.sessions for model, rates in one.money.prices.items()
    }
    by_card: dict[str, list[str]] = {}
    for name, rates in sorted(prices.items()):
        by_card.setdefault(card_told(rates or usual), []).append(
            (name or "unnamed") + ("" if rates else " (unknown, so the usual price)")
        )
    cards = (f"{', '.join(names)} {card}" for card, names in by_card.items())
    return f"Prices in USD per million tokens, in/out/written/read: {'; '.join(cards)}."


def card_told(card: Rates) -> str:
    figures = (card.input, card.output, card.write, card.read)
    return "/".join(f"{figure * 1_000_000:.4g}" for figure in figures)
