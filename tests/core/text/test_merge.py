"""Three-way merges: laws for any bytes, and what becomes of texts that people write."""

import random
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.text.line_diff import split
from sidecar.core.text.merge import MergedText, Unmergeable, merge

MOST_BYTES, MOST_LINES = 2 * 1024 * 1024, 50_000

LINES = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"d\r\n", b"\n", b"e"]), max_size=16)
TEXT = LINES.map(b"".join)
ANY = st.one_of(TEXT, st.binary(max_size=40))


def clean(found: MergedText | Unmergeable) -> bytes:
    assert isinstance(found, MergedText)
    assert not found.clashes
    return found.content


@given(ANY, ANY)
def test_an_edit_of_one_side_is_kept_as_it_is(base: bytes, edit: bytes) -> None:
    assert clean(merge(base, edit, base)) == edit
    assert clean(merge(base, base, edit)) == edit
    assert clean(merge(base, edit, edit)) == edit


@given(TEXT, TEXT, TEXT)
def test_the_sides_may_change_places(base: bytes, one: bytes, other: bytes) -> None:
    first, second = merge(base, one, other), merge(base, other, one)
    assert isinstance(first, MergedText)
    assert isinstance(second, MergedText)
    assert first.clashes == second.clashes
    if not first.clashes:
        assert first.content == second.content


@given(TEXT, TEXT, TEXT)
def test_only_the_last_line_may_lack_its_end_and_no_line_is_made_up(
    base: bytes, one: bytes, other: bytes
) -> None:
    found = merge(base, one, other)
    assert isinstance(found, MergedText)
    if not found.clashes:
        assert set(split(found.content)) <= {*split(base), *split(one), *split(other)}


@given(st.lists(st.tuples(st.booleans(), st.booleans(), st.integers(0, 2)), max_size=20))
def test_edits_that_do_not_touch_both_survive(choices: list[tuple[bool, bool, int]]) -> None:
    base, mine, theirs, both = [], [], [], []
    for n, (edited, by_me, how) in enumerate(choices):
        line, stays = b"line %d\n" % n, b"stays %d\n" % n
        new = [[b"new %d\n" % n], [], [line, b"more %d\n" % n]][how] if edited else [line]
        base += [line, stays]
        mine += [*(new if by_me else [line]), stays]
        theirs += [*([line] if by_me else new), stays]
        both += [*new, stays]
    found = merge(b"".join(base), b"".join(mine), b"".join(theirs))
    assert clean(found) == b"".join(both)


def test_edits_that_overlap_or_touch_clash() -> None:
    base = b"1\n2\n3\n4\n"
    for mine, theirs in (
        (b"1\nx\n3\n4\n", b"1\ny\n3\n4\n"),
        (b"1\nx\n3\n4\n", b"1\n2\ny\n4\n"),
        (b"1\n2\nx\n3\n4\n", b"1\n2\ny\n3\n4\n"),
        (b"1\n4\n", b"1\nx\n3\n4\n"),
    ):
        found = merge(base, mine, theirs)
        assert isinstance(found, MergedText)
        assert found.clashes == 1


def test_what_clashes_stands_between_markers_and_the_rest_is_merged() -> None:
    base = b"top\n1\n2\n3\nend\n"
    mine, theirs = b"TOP\n1\nmine\n3\nend\n", b"top\n1\ntheirs\n3\nEND\n"
    found = merge(base, mine, theirs, my_name="now", their_name="before")
    assert found == MergedText(
        b"TOP\n1\n<<<<<<< now\nmine\n=======\ntheirs\n>>>>>>> before\n3\nEND\n", 1
    )


def test_markers_end_as_the_lines_do_and_stand_on_lines_of_their_own() -> None:
    found = merge(b"a\r\n1", b"a\r\nmine", b"a\r\ntheirs")
    assert found == MergedText(
        b"a\r\n<<<<<<< mine\r\nmine\r\n=======\r\ntheirs\r\n>>>>>>> theirs\r\n", 1
    )


def test_line_ends_and_a_missing_last_one_are_kept() -> None:
    base = b"1\r\n2\n3\r\n4\n5"
    assert clean(merge(base, b"x\r\n2\n3\r\n4\n5", b"1\r\n2\n3\r\n4\ny")) == b"x\r\n2\n3\r\n4\ny"
    assert clean(merge(base, base + b"\n", b"0\n" + base)) == b"0\n" + base + b"\n"


def test_what_is_no_text_or_too_large_is_not_merged() -> None:
    assert merge(b"\0a", b"\0b", b"\0c") == "binary"
    assert merge(b"a", b"b", b"\0") == "binary"
    large = b"x" * MOST_BYTES
    assert merge(large, large + b"y", b"z" + large) == "large"
    assert merge(large, large[1:], b"z" + large[1:]) != "large"
    many = b"\n" * MOST_LINES
    assert merge(b"a\n" + many, many, b"b\n" + many) == "large"


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_what_git_merges_cleanly_comes_out_the_same(tmp_path: Path) -> None:
    dice = random.Random(11)
    compared = 0
    for _ in range(60):
        base = [b"line %d\n" % n for n in range(12)]
        sides = []
        for who in (b"mine", b"theirs"):
            side = list(base)
            at = dice.randrange(12)
            side[at : at + dice.randrange(3)] = [b"%s %d\n" % (who, at)] * dice.randrange(3)
            sides.append(side)
        names = []
        for name, lines in (("mine", sides[0]), ("base", base), ("theirs", sides[1])):
            (tmp_path / name).write_bytes(b"".join(lines))
            names.append(str(tmp_path / name))
        git = subprocess.run(
            ["git", "merge-file", "-p", *names], capture_output=True, check=False, timeout=10
        )
        found = merge(b"".join(base), *(b"".join(side) for side in sides))
        assert isinstance(found, MergedText)
        assert (not found.clashes) == (git.returncode == 0)
        if not found.clashes:
            assert found.content == git.stdout
            compared += 1
    assert 10 < compared < 60
