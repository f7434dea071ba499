"""Shows recordings under several vendors' prices and rules of the cache, side by side."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from statistics import median

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Json, JsonObject
from sidecar.replay.compare import PolicyTally, ReplayedSession, Settings, totals
from sidecar.replay.page import framed, session_card
from sidecar.replay.summary import policy_json, share

CARRYING_ON = "manual"
MOST_SESSIONS = 3
"""Sessions whose context is drawn under each vendor."""


@dataclass(frozen=True, slots=True)
class VendorReplay:
    """Sessions under the rules of a vendor's model, by a policy and by carrying on."""

    model: str
    settings: Settings
    sessions: tuple[ReplayedSession, ...]

    def tallies(self) -> tuple[PolicyTally, PolicyTally]:
        """Returns sums of the policy, and of carrying on."""
        sums = totals(self.sessions, self.settings.policies)
        return sums[0], sums[-1]

    @property
    def firsts(self) -> list[int]:
        """Requests before which sessions were rewritten first."""
        return [session.rewrites[0].step for session in self.sessions if session.rewrites]


LEGEND = (
    "cost: with what is read again as an edit needs it; carrying on: the same requests without a "
    "rewrite, above the window too, by the same rules and prices. first: the request before which "
    "sessions are rewritten first, and runway: requests from one rewrite to the next (medians)."
)


def vendor_figures(one: VendorReplay) -> Mapping[str, str]:
    ours, plain = one.tallies()
    cost = ours.with_rereads
    return {
        "cost $": f"{cost:.2f}",
        "carrying on $": f"{plain.cost:.2f}",
        "ratio": f"{cost / plain.cost:.3f}" if plain.cost else "-",
        "read": f"{share(ours.read, ours.prompt):.1%}",
        "rewrites": str(ours.rewrites),
        "first": f"{median(one.firsts):.0f}" if one.firsts else "-",
        "runway": f"{median(ours.runways):.0f}" if ours.runways else "-",
        "why": causes(ours.causes),
    }


def causes(counts: Counter[str]) -> str:
    return ", ".join(f"{number} {cause}" for cause, number in counts.most_common())


def dearest(replays: Sequence[VendorReplay]) -> list[str]:
    """Names sessions, the dearest under the first vendor first."""
    ordered = sorted(replays[0].sessions, key=lambda session: -session.tallies[0].cost)
    return [session.name for session in ordered]


def times(replays: Sequence[VendorReplay], name: str) -> Iterator[tuple[str, str]]:
    """Yields each model with the requests preceded by rewrites, and why."""
    for one in replays:
        rewrites = next(s.rewrites for s in one.sessions if s.name == name)
        yield one.model, ", ".join(f"{r.step} ({r.cause})" for r in rewrites) or "never"


def vendors_json(replays: Sequence[VendorReplay], window: int) -> JsonObject:
    return {"window": window, "vendors": [_vendor(one) for one in replays]}


def _vendor(one: VendorReplay) -> JsonObject:
    rules = one.settings.rules
    ours, plain = one.tallies()
    steps: dict[str, Json] = {
        session.name: [rewrite.step for rewrite in session.rewrites] for session in one.sessions
    }
    return {
        "model": one.model,
        "rules": {
            "cachedBy": rules.by,
            "granularity": rules.granularity,
            "minimum": rules.minimum,
            "life": rules.life,
            "lifeMs": rules.short,
            "writesCost": rules.writes_cost,
            "source": rules.source,
        },
        "policy": policy_json(ours),
        "carryingOn": policy_json(plain),
        "rewrittenBefore": steps,
    }


def vendors_page(replays: Sequence[VendorReplay], window: int) -> str:
    policy = replays[0].settings.policies[0]
    head = "".join(f"<th>{name}</th>" for name in ("model", *vendor_figures(replays[0])))
    rows = "".join(
        f"<tr><td>{escape(one.model)}</td>"
        + "".join(f"<td>{escape(cell)}</td>" for cell in vendor_figures(one).values())
        + "</tr>"
        for one in replays
    )
    rules = "".join(
        f"<li>{escape(one.model)}: {escape(one.settings.rules.source)}</li>" for one in replays
    )
    drawn = "".join(_drawn(replays, name, window) for name in dearest(replays)[:MOST_SESSIONS])
    return framed(
        f"Recordings under {escape(policy)}, by vendor",
        f"<p>Window {window:,} tokens. Each vendor's prices and rules of the cache; the recorded "
        f'answers are played as they were.</p><div class="card"><table><tr>{head}</tr>{rows}'
        f"</table></div><p>{LEGEND}</p><details><summary>Rules</summary><ul>{rules}</ul></details>"
        f"{drawn}",
    )


def _drawn(replays: Sequence[VendorReplay], name: str, window: int) -> str:
    cards = (
        session_card(session, window, one.model)
        for one in replays
        for session in one.sessions
        if session.name == name
    )
    return f"<h2>{escape(name)}</h2>{''.join(cards)}"
