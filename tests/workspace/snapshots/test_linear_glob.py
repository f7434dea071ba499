"""A glob's expression matches as before, and takes no time that grows with its stars."""

import re

from hypothesis import given
from hypothesis import strategies as st
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from sidecar.workspace.snapshots.ignore_patterns import linear

PIECES = st.sampled_from(
    ["*", "*", "a", "b", "?", "[ab]", "[!a]", "/", "/**/", ".", "**/", "\\*", "-"]
)
STEPS = st.text("ab.-*", min_size=1, max_size=3)
NAMES = st.tuples(st.lists(STEPS, min_size=1, max_size=6).map("/".join), st.sampled_from(["", "/"]))


def expressions(glob: str) -> tuple[re.Pattern[str], re.Pattern[str]] | None:
    try:
        text = GitIgnoreSpecPattern.pattern_to_regex(glob)[0]
    except ValueError:
        return None
    if text is None:
        return None
    # Brackets match no `/`, as in git.
    return re.compile(text.replace("[^a]", "[^a/]")), re.compile(linear(text))


@given(
    st.lists(PIECES, min_size=1, max_size=9).map("".join), st.lists(NAMES.map("".join), max_size=6)
)
def test_it_matches_what_the_glob_does(glob: str, names: list[str]) -> None:
    found = expressions(glob)
    if found is not None:
        before, after = found
        assert [bool(before.match(name)) for name in names] == [
            bool(after.match(name)) for name in names
        ]


def test_many_stars_take_no_time() -> None:
    """Twelve took hours."""
    for step in ("*a", "*?", "*[ab]", "a*"):
        found = expressions(step * 12 + "@")
        assert found is not None
        assert not found[1].match("a" * 200)
    for start in ("", "**/"):
        found = expressions(start + "a/**/" * 9 + "b")
        assert found is not None
        assert not found[1].match("a/" * 200 + "c")
