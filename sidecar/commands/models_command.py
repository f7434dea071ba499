"""`sidecar models`."""

import json
import os
from decimal import Decimal

from rich.table import Table

from sidecar.commands.terminal import terminal, wide_terminal
from sidecar.config import load
from sidecar.core.parts import JsonObject
from sidecar.core.prompt.pricing import ModelInfo, money
from sidecar.daemon.clock_and_ids import read_clock
from sidecar.model.models import Models
from sidecar.model.suggestions import every

HEADINGS = ("model", "window", "input", "cached", "written", "output", "cache", "to use it")


def show(*, as_json: bool) -> int:
    config, _ = load(workspace=None, environment=os.environ, options={})
    models = Models(read_clock, lambda: 0.0)
    models.configure(config)
    rows = [(models.info(name), missing) for name, missing in every(config)]
    if as_json:
        terminal().print(json.dumps([_told(*row) for row in rows], indent=2), soft_wrap=True)
        return 0
    table = Table(box=None, pad_edge=False)
    for heading in HEADINGS:
        numeric = heading not in (HEADINGS[0], *HEADINGS[-2:])
        table.add_column(heading, justify="right" if numeric else "left")
    for info, missing in rows:
        card = info.price
        prices = (card.input, card.read, card.write_5m, card.output) if card else (None,) * 4
        cells = (f"${money(one)}" if one is not None else "unknown" for one in prices)
        cached = info.cache.lifetimes
        table.add_row(info.id, f"{info.window:,}", *cells, cached, missing or "ready")
    console = wide_terminal()
    console.print(table)
    console.print(
        "Prices are in USD per million tokens. Any other model is called by its provider's name "
        "and id, such as openrouter/z-ai/glm-latest or ollama/qwen3."
    )
    return 0


def _told(info: ModelInfo, missing: str) -> JsonObject:
    card = info.price
    prices: dict[str, Decimal] = {}
    if card is not None:
        prices = {
            "input": card.input,
            "cacheRead": card.read,
            "cacheWrite": card.write_5m,
            "output": card.output,
        }
    return {
        "id": info.id,
        "window": info.window,
        "maxOutput": info.max_output,
        "price": {name: money(one) for name, one in prices.items()} if card else None,
        "cache": info.cache.lifetimes,
        "missing": missing or None,
    }
