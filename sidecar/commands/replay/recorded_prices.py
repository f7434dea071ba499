"""Prices of recorded models."""

import re

from sidecar.core.plans.plan import Rates
from sidecar.model.catalogue import lookup, lookup_at
from sidecar.session.meter.gauge import rates

RECORDED = "recorded"
"""The choice of prices by which each session has those of its own model."""


def rates_recorded(model: str) -> Rates | None:
    """List prices of a model as any agent names it; `None` if they are not known."""
    name = model.rpartition("/")[2]
    if not name:
        return None
    if "claude" in name:
        # Others write a version's dot where Anthropic has a dash.
        info = lookup(re.sub(r"(?<=\d)\.(?=\d)", "-", name))
    elif name.startswith("gpt-"):
        info = lookup_at(name, "openai", None)
    else:
        info = lookup(name)
    return None if info.price is None else rates(info)
