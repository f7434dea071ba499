"""How full a wrapped agent's context is: as it reports, else estimated. Pure."""

from sidecar.core.dataclass import dataclass

WARN, CALM = 0.8, 0.7
"""Shares of the window: from the first on the user is warned, below the second anew."""


@dataclass(frozen=True, slots=True)
class ContextGauge:
    """Tokens in use; a `size` of 0 is not known."""

    used: int = 0
    size: int = 0
    reported: bool = False
    warned: bool = False

    @property
    def share(self) -> float:
        return self.used / self.size if self.size else 0.0


def due(gauge: ContextGauge) -> bool:
    return gauge.share >= WARN and not gauge.warned


def settled(gauge: ContextGauge, before: ContextGauge) -> ContextGauge:
    """The newer gauge, which knows whether the user was warned of this fullness."""
    warned = before.warned and gauge.share >= CALM
    return ContextGauge(gauge.used, gauge.size, gauge.reported, warned)


def said(gauge: ContextGauge) -> str:
    how = "as the agent reports" if gauge.reported else "estimated: the agent reports nothing"
    if not gauge.size:
        return f"Context: about {gauge.used:,} tokens ({how}); how many fit is not known."
    percent = f"{gauge.share:.0%}".replace("%", " %")
    return f"Context: {percent}, {gauge.used:,} of {gauge.size:,} tokens ({how})."


def warning(gauge: ContextGauge) -> str:
    return (
        f"\n\n[Sidecar: {said(gauge)} The agent will soon shorten its context or refuse: this is "
        "a good moment to compact, or to begin another session.]"
    )
