"""Regular expressions compiled when first used.

All take as long as half the other imports.
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
    """As `re.compile`; an invalid `text` fails at first use."""
    return cast("re.Pattern[str]", _LatePattern(text, flags))
