"""How many examples hypothesis tries: a fifth in the short run, all in the long one."""

from hypothesis import settings

ALL, FEW = 100, 20
"""Of a test that says no number, as hypothesis has it, and in the short run."""


def try_few() -> None:
    """Begin a short run."""
    settings.register_profile("short", settings(), max_examples=FEW, deadline=None)
    settings.load_profile("short")


def examples(number: int) -> int:
    """As many as this in the long run."""
    return max(1, number * settings().max_examples // ALL)
