"""Finds signs in an output: checks passed or failed, programs missing, remedies."""

import re

_PASSED = re.compile(
    r"\b\d+ (?:tests? )?pass(?:ed|ing)?\b|^(?:ok|PASS)\b|\b0 (?:errors?|issues)\b", re.M
)
_FAILS = re.compile(r"^\W*FAIL|\b[1-9]\d* (?:tests? )?fail(?:ed|ing|ures?)?\b|\bERROR\b", re.M)
_PLACES = re.compile(r"([\w.-]+\.\w{1,5})(?::|\(|\", line )\d+")
MOST_PLACES = 8
"""Files that a failed check complains of, by which a change may mend it."""
_MISSING = re.compile(
    r"No module named '([\w-]+)|Cannot find (?:module|package) '([@\w/-]+)'|"
    r"(\S+): command not found"
)
_UNLIKE = re.compile(
    r"(?:string|text|lines?|match)\b.* not found|not been read|modified since|failed to find|"
    r"\b\d+ (?:matches|occurrences)|not unique|could not find",
    re.I,
)
_MENDED = re.compile(
    r"^\W*FAIL|\b[1-9]\d* (?:tests? )?failed\b|\bERROR task failed|^CONFLICT |\bcould not apply\b|"
    r"^[ \t]*\S+\.\w{1,5}:\d+:\d+: \S",
    re.M,
)


_CONFLICTS = re.compile(r"^CONFLICT |\bcould not apply\b|^Automatic merge failed", re.M | re.I)


def passes(text: str) -> bool:
    return bool(_PASSED.search(text[-1_000:]))


def all_passed(text: str) -> bool:
    return passes(text) and not _FAILS.search(text[-4_000:])


def places(text: str) -> frozenset[str]:
    found = dict.fromkeys(_PLACES.findall(text[:8_000] + text[-8_000:]))
    return frozenset(list(found)[:MOST_PLACES])


def lacking(text: str) -> frozenset[str]:
    found = _MISSING.findall(text[-8_000:])
    return frozenset(name for names in found for name in names if name)


def unlike(text: str) -> bool:
    """Whether an edit found an unexpected text, so the file must be read."""
    return bool(_UNLIKE.search(text[:300]))


def to_mend(text: str) -> bool:
    """Whether files must be mended first, after a failed check or merge conflicts."""
    return bool(_MENDED.search(text[-8_000:]))


def met_conflicts(text: str) -> bool:
    return bool(_CONFLICTS.search(text[-8_000:]))
