"""Lines of two texts: what differs, counted and shown, checked against other tools."""

import difflib
import random
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.text.line_diff import Hunk, count, hunks, is_binary, partly, split, unified
from sidecar.tools.files.edit_diff import compare

TEXT = st.lists(st.sampled_from([b"a\n", b"b\n", b"c\n", b"d\r\n", b"\n", b"e"]), max_size=30).map(
    b"".join
)


@given(st.binary(max_size=60))
def test_lines_joined_are_the_same_bytes(data: bytes) -> None:
    lines = split(data)
    assert b"".join(lines) == data
    assert all(line.endswith(b"\n") for line in lines[:-1])
    assert b"" not in lines


@given(TEXT, TEXT)
def test_hunks_lead_from_one_text_to_the_other(old: bytes, new: bytes) -> None:
    before, after = split(old), split(new)
    built: list[bytes] = []
    at = at_new = 0
    for hunk in hunks(before, after):
        assert before[at : hunk.old_from] == after[at_new : hunk.new_from]
        built += before[at : hunk.old_from] + after[hunk.new_from : hunk.new_to]
        at, at_new = hunk.old_to, hunk.new_to
    assert built + before[at:] == after


@given(TEXT, TEXT)
def test_no_fewer_lines_could_change(old: bytes, new: bytes) -> None:
    a, b = split(old), split(new)
    longest = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            best = max(longest[i][j + 1], longest[i + 1][j])
            longest[i + 1][j + 1] = longest[i][j] + 1 if x == y else best
    common = longest[-1][-1]
    assert count(old, new) == (len(b) - common, len(a) - common)


def test_between_two_hunks_stands_a_line_that_does_not_differ() -> None:
    old, new = split(b"1\n2\n3\n4\n5\n"), split(b"1\nx\n3\ny\nz\n5\n")
    assert hunks(old, new) == [Hunk(1, 2, 1, 2), Hunk(3, 4, 3, 5)]
    assert hunks(old, old) == []


def test_what_is_absent_or_no_text_counts_no_lines() -> None:
    assert count(None, b"a\nb") == (2, 0)
    assert count(b"a\nb\n", None) == (0, 2)
    assert count(b"a\0", b"b\n") == (0, 0)
    assert count(None, None) == (0, 0)
    assert is_binary(b"a\0b")
    assert not is_binary(b"\xff\xfe a")


def test_a_diff_is_shown_as_people_know_it() -> None:
    old = b"".join(b"%d\n" % n for n in range(1, 13))
    new = old.replace(b"2\n", b"two\n", 1).replace(b"12\n", b"twelve")
    told = unified("src/a.py", old, new)
    assert (told.additions, told.deletions) == count(old, new) == (2, 2)
    assert told.diff == (
        "--- a/src/a.py\n+++ b/src/a.py\n"
        "@@ -1,5 +1,5 @@\n 1\n-2\n+two\n 3\n 4\n 5\n"
        "@@ -9,4 +9,4 @@\n 9\n 10\n 11\n-12\n+twelve\n\\ No newline at end of file\n"
    )


def test_hunks_whose_context_meets_are_shown_as_one() -> None:
    old = b"".join(b"%d\n" % n for n in range(20))
    near = old.replace(b"\n3\n", b"\nx\n").replace(b"\n10\n", b"\ny\n")
    far = old.replace(b"\n3\n", b"\nx\n").replace(b"\n11\n", b"\ny\n")
    assert unified("a", old, near).diff.count("@@ -") == 1
    assert unified("a", old, far).diff.count("@@ -") == 2


@given(TEXT, TEXT, st.randoms())
def test_chosen_hunks_leave_the_others_to_be_made(
    old: bytes, new: bytes, dice: random.Random
) -> None:
    def shown(text: bytes) -> list[str]:
        return re.split(r"^(?=@@ )", unified("f", text, new).diff, flags=re.MULTILINE)[1:]

    every = shown(old)
    chosen = [hunk for hunk in every if dice.random() < 0.5]
    made = partly(old, new, chosen)
    assert made is not None
    assert len(shown(made)) == len(every) - len(chosen)
    assert partly(made, new, shown(made)) == new
    assert partly(old, new, ["@@ -1 +1 @@\n-none\n+such\n"]) is None


def test_created_deleted_renamed_and_binary_files_say_so() -> None:
    assert unified("a", None, b"x\n").diff == "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n"
    assert unified("a", b"x\n", None).diff == "--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    assert unified("new", b"x\n", b"y\n", source="old").diff.startswith("--- a/old\n+++ b/new\n")
    assert unified("a", b"\0", b"\1").diff == "Binary files a/a and b/a differ\n"
    assert unified("a", b"x", b"x") == unified("a", None, b"")


def test_a_long_diff_is_cut_and_counted_in_full() -> None:
    told = unified("a", None, b"x\n" * 50, most=10)
    assert told.diff.endswith("+x\n[… 41 more lines]\n")
    assert told.diff.count("\n") == 13
    assert told.additions == 50


@pytest.mark.skipif(shutil.which("patch") is None, reason="patch is not installed")
def test_patch_can_apply_what_is_shown(tmp_path: Path) -> None:
    dice = random.Random(7)
    for _ in range(40):
        old, new = (
            b"".join(dice.choice([b"a\n", b"b\n", b"c\n", b"%d\n" % n]) for n in range(30))
            for _ in range(2)
        )
        old, new = (text[: len(text) - dice.choice((0, 1))] for text in (old, new))
        path = tmp_path / "f"
        path.write_bytes(old)
        told = unified("f", old, new)
        subprocess.run(
            ["patch", "-p1", "-s"], input=told.diff.encode(), cwd=tmp_path, check=True, timeout=10
        )
        assert path.read_bytes() == new
        shown = re.findall(r"^([-+])", told.diff.partition("@@")[2], re.M)
        assert (told.additions, told.deletions) == (shown.count("+"), shown.count("-"))


def test_large_texts_are_compared_in_bounded_time() -> None:
    dice = random.Random(3)
    old = [b"%d\n" % dice.randrange(400) for _ in range(50_000)]
    new = [line if dice.random() < 0.7 else b"%d\n" % dice.randrange(400) for line in old]
    begun = time.process_time()
    found = hunks(old, new)
    assert time.process_time() - begun < 5
    assert found


def test_much_that_moved_is_still_told_apart_by_the_lines_that_stand_once() -> None:
    old = [b"%d\n" % n for n in range(3000)]
    new = [line for n, line in enumerate(old) if n % 3]
    new = new[:900] + [b"same\n", b"0\n"] * 400 + new[900:]
    matched = len(old) - sum(h.old_to - h.old_from for h in hunks(old, new))
    lines = difflib.SequenceMatcher(None, old, new, autojunk=False)
    assert matched >= 0.99 * sum(block.size for block in lines.get_matching_blocks())


@pytest.mark.parametrize("name", ["a\nFORGED", "tab\t\x1b[2J", 'q"\\\r', "\x85\u2028x"])
def test_no_name_forges_a_line_of_a_diff_and_git_still_reads_it(tmp_path: Path, name: str) -> None:
    told = unified(name, b"1\n", b"2\n")
    assert len(told.diff.splitlines()) == 5, told.diff
    assert compare(name, "1\n", "2\n").diff == told.diff
    (tmp_path / name).write_text("1\n", "utf-8")
    apply = ["git", "apply", "-"]
    subprocess.run(apply, input=told.diff.encode(), cwd=tmp_path, check=True, timeout=10)
    assert (tmp_path / name).read_text("utf-8") == "2\n"
