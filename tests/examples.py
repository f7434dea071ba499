"""How many examples hypothesis tries: a fifth in the short run, all in the long one."""

from collections.abc import Iterable

import pytest
from hypothesis import settings

ALL, FEW = 100, 20
"""Of a test that says no number, as hypothesis has it, and in the short run."""


def begin(*, short: bool) -> None:
    """Begin a run. No example fails for its time: other work on the machine would decide."""
    # Not the profile that is taken where CI is set, which tries the same examples each time.
    usual = settings.get_profile("default")
    settings.register_profile("here", usual, max_examples=FEW if short else ALL, deadline=None)
    settings.load_profile("here")


def examples(number: int) -> int:
    """As many as this in the long run."""
    return max(1, number * settings().max_examples // ALL)


def few_of(values: Iterable[object], few: int) -> list[object]:
    """Give parameters of which all but the first few are for the long run."""
    long = pytest.mark.long
    return [pytest.param(v, marks=long if n >= few else ()) for n, v in enumerate(values)]
