"""`sidecar replay --vendor`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from sidecar.commands.terminal import shown
from sidecar.config.provider_settings import KINDS, ProviderKind
from sidecar.core.errors import BadRequest
from sidecar.model.catalogue import lookup_at
from sidecar.replay.compare import Settings
from sidecar.replay.vendors import (
    CARRYING_ON,
    LEGEND,
    VendorReplay,
    dearest,
    times,
    vendor_figures,
)
from sidecar.session.meter.gauge import rates

USUAL: Mapping[str, str] = {
    "anthropic": "claude-opus-5-5",
    "openai": "gpt-6.1-sol",
    "gemini": "gemini-3.1-pro-preview",
    "deepseek": "deepseek-v4-pro",
    "openrouter": "anthropic/claude-opus-4.8",
}
"""Models that are played where only a provider's kind is given."""


def vendor_settings(names: Sequence[str], settings: Settings) -> dict[str, Settings]:
    """Gives each model's prices and rules; raises BadRequest."""
    policies = tuple(dict.fromkeys((settings.policies[0], CARRYING_ON)))
    found: dict[str, Settings] = {}
    for name in names:
        kind, _, model = name.partition("/")
        known = next((one for one in KINDS if one == kind), None)
        model = model or USUAL.get(kind, "")
        if known is None or not model:
            raise BadRequest(
                f"there is no vendor {name!r:.200}: give {', '.join(USUAL)}, or a model as "
                "openai/gpt-5.5",
                "vendor",
            )
        found[f"{kind}/{model}"] = _priced(settings, known, model, policies)
    return found


def _priced(
    settings: Settings, kind: ProviderKind, model: str, policies: tuple[str, ...]
) -> Settings:
    info = lookup_at(model, kind, None)
    if info.price is None:
        raise BadRequest(f"the prices of {kind}/{model} are not known", "vendor")
    return replace(settings, policies=policies, rates=rates(info), rules=info.cache, priced=None)


def show_vendors(console: Console, replays: Sequence[VendorReplay], window: int) -> None:
    policy = replays[0].settings.policies[0]
    table = Table(box=SIMPLE, title=f"{policy}, window {window:,} tokens", padding=(0, 1, 0, 0))
    table.add_column("model", overflow="fold")
    for column in vendor_figures(replays[0]):
        table.add_column(column, justify="left" if column == "why" else "right", overflow="fold")
    for one in replays:
        table.add_row(one.model, *vendor_figures(one).values())
    console.print(table)
    console.print(f"{LEGEND}\n")
    name = dearest(replays)[0]
    console.print(shown(f"{name} is rewritten before these requests:"))
    for model, told in times(replays, name):
        console.print(f"  {model}: {told}", soft_wrap=True)
