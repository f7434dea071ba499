"""Compiles regular expressions when first used.

Compiling all at import takes half the other imports' time.
"""

import re
from typing import Any, cast


class _LatePattern:
    def __init__(self, text: str, flags: int) -> None:
        self._given = text, flags

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whichever method of a pattern
        found = getattr(re.compile(*self._given), name)
        setattr(self, name, found)
        return found


def late_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Works as `re.compile`, but an invalid `text` raises only at first use."""
    return cast("re.Pattern[str]", _LatePattern(text, flags))
