"""Finds a test run's lines about passed tests."""

import re
from functools import lru_cache

MANY, RUN = 20, 3
"""Passed tests from which on a listing is shortened, and those in a row of which one stands."""
_PASSED = re.compile(
    r"\(pass\) |\bPASSED\b(?: +\[ *\d+%\])?$|^ *--- PASS: |^=== (?:RUN|PAUSE|CONT|NAME) |"
    r"^(?:\[[\w:.-]+\] )?ok\s+\S+\s+(?:\d|\(cached\))|^\?\s.*\[no test files\]$|"
    r"(?:^|[:|>\]]) *[✓✔√] |^test \S.* \.\.\. ok$|^\w+ \([\w.]+\) \.\.\. ok$|^ok \d+ |"
    r"^\[ +(?:OK|RUN) +\] |^ *PASS +\S+\.\w+|^ *Passed \S.* \[[^\]]*m?s\]$"
)
"""As pytest, Go, Bun, Vitest, Jest, Cargo, unittest, TAP, GoogleTest and .NET say so."""
_HEADING = re.compile(r"(?:^|\s)\S+\.\w+:$")
"""The name of a file of tests."""


@lru_cache(maxsize=256)
def beside_passed(text: str) -> tuple[tuple[int, int], ...]:
    """Returns line ranges (first, last; from 1) without rows of passed tests.

    A row's first line stays.
    """
    kept: list[tuple[int, int]] = []
    at, passed, row, first, end = 1, 0, 0, 0, 0
    lines = text.splitlines()
    for number, line in enumerate((*map(str.rstrip, lines), "END"), 1):
        if _PASSED.search(line):
            passed += 1
            row, first, end = row + 1, first if row else number, number
        elif row and line and not _HEADING.search(line):
            if row >= RUN:
                kept.append((at, first))
                at = end + 1
            row = 0
    if at <= len(lines):
        kept.append((at, len(lines)))
    return tuple(kept) if passed >= MANY and at > 1 else ()
