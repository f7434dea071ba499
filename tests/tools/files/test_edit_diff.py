"""Diffs: right, bounded, and fast where much is equal or all is different."""

from hypothesis import given
from hypothesis import strategies as st

from sidecar.tools.files.edit_diff import MAX_DIFF_LINES, compare

TEXTS = st.lists(st.sampled_from("abc"), max_size=30).map("\n".join)


@given(TEXTS, TEXTS)
def test_counts_and_hunks_hold(before: str, after: str) -> None:
    change = compare("f", before, after)
    old = before.split("\n") if before else []
    new = after.split("\n") if after else []
    assert change.additions - change.deletions == len(new) - len(old)
    if before == after:
        assert change.diff == ""
    # Applying the hunks where they say gives the new text.
    result, at = [], 0
    for line in change.diff.split("\n")[2:-1]:
        if line.startswith("@@"):
            start, _, length = line.split()[1][1:].partition(",")
            begin = int(start) - (length != "0")
            result += old[at:begin]
            at = begin
        elif line[0] == "+":
            result.append(line[1:])
        else:
            assert old[at] == line[1:]
            if line[0] == " ":
                result.append(line[1:])
            at += 1
    assert result + old[at:] == new


def test_a_change_deep_in_a_file_is_where_it_says() -> None:
    before = "".join(f"{n}\n" for n in range(1, 100_001))
    change = compare("f", before, before.replace("\n50000\n", "\nx\n"))
    assert change.diff.split("\n")[2] == "@@ -49997,7 +49997,7 @@"
    assert (change.additions, change.deletions) == (1, 1)


def test_long_diffs_are_cut() -> None:
    before = "".join(f"{n}\n" for n in range(1000))
    change = compare("f", before, before.replace("\n", "!\n"))
    assert (change.additions, change.deletions) == (1000, 1000)
    assert len(change.diff.splitlines()) == MAX_DIFF_LINES + 1
    assert len(compare("f", "", "x" * 100_000).diff) < 1000


def test_too_much_to_compare_is_counted() -> None:
    before = "".join(f"{n}\n" for n in range(10_000))
    change = compare("f", before, before.replace("\n", "!\n"))
    assert (change.additions, change.deletions) == (10_000, 10_000)
    assert "too many to compare" in change.diff


def test_of_millions_of_lines_those_that_differ_are_compared_alone() -> None:
    """All were split off, for gigabytes and half a minute."""
    before = "a\n" * 2_000_000
    change = compare("x", before, before[:2_000_000] + "b\n" + before[2_000_000:])
    assert (change.additions, change.deletions) == (1, 0)
    assert "@@ -999998,6 +999998,7 @@\n a\n a\n a\n+b\n" in change.diff
    changed = compare("x", before, before.replace("a", "b"))
    assert (changed.additions, changed.deletions) == (2_000_000, 2_000_000)
    assert "2000000 lines replaced by 2000000" in changed.diff
