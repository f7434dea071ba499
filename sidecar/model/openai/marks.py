"""Breakpoints by the message that they stand in."""

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from sidecar.core.prompt.prompt import Breakpoint

Marks: TypeAlias = Mapping[int, Breakpoint]
"""By block."""


def by_message(breakpoints: Iterable[Breakpoint]) -> dict[int | None, Marks]:
    found: dict[int | None, dict[int, Breakpoint]] = {}
    for mark in breakpoints:
        found.setdefault(mark.message, {})[mark.block] = mark
    return {**found}
