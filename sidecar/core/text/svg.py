"""Shared parts of SVG charts."""

from collections.abc import Iterable, Iterator
from html import escape
from math import ceil, floor, log10

LETTER = 6.7
"""Units of a letter at most, on average."""
ROW = 14
"""Units between lines of text."""


def frame(width: int, height: int, body: str, label: str) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(label)}">{body}</svg>'
    )


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    rough = (high - low) / most
    size = 10.0 ** floor(log10(rough))
    step = next(size * n for n in (1, 2, 5, 10) if size * n >= rough * 0.999)
    first, last = ceil(low / step - 1e-9), floor(high / step + 1e-9)
    return [round(n * step, 9) for n in range(first, last + 1)]


def spaced(values: Iterable[float], scale: float) -> Iterator[float]:
    """Gives values a line's height or more apart, highest first; `scale`: units per value."""
    last = None
    for value in sorted(set(values), reverse=True):
        if last is None or (last - value) * scale >= ROW:
            last = value
            yield value


def short(tokens: float) -> str:
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if abs(tokens) >= size:
            return f"{tokens / size:.1f}".removesuffix(".0") + letter
    return f"{tokens:.0f}"
