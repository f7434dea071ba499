"""What edits came to: hunks that stand, later edits taken in, and how they are shown."""

import pytest

from sidecar.core.ledger.net_changes import NetHunk, diff_lines, net_changes
from sidecar.core.ledger.replacements import Replacement, replacements
from sidecar.core.parts import PartId
from tests.core.ledger.test_ledger import call


def hunks(*replaced: Replacement) -> dict[str, list[tuple[str, str]]]:
    numbered = ((PartId(f"p{n}"), one) for n, one in enumerate(replaced))
    return {
        path: [(hunk.old, hunk.new) for hunk in found]
        for path, found in net_changes(numbered).items()
    }


def edit(old: str, new: str, path: str = "a.py") -> Replacement:
    return Replacement(path, old, new)


def test_a_later_edit_of_the_same_text_is_taken_in() -> None:
    assert hunks(edit("a = 1", "a = 2\nb = 3"), edit("b = 3", "b = 4")) == {
        "a.py": [("a = 1", "a = 2\nb = 4")]
    }


def test_an_edit_that_was_taken_back_leaves_nothing() -> None:
    assert hunks(edit("a = 1", "a = 2"), edit("a = 2", "a = 1")) == {"a.py": []}


def test_an_edit_of_every_place_is_taken_in_everywhere() -> None:
    rename = Replacement("a.py", "x", "xs", every=True)
    assert hunks(edit("a", "x + x"), edit("b", "f(x)"), edit("c = xs", "c = x"), rename) == {
        "a.py": [("a", "xs + xs"), ("b", "f(xs)")]
    }
    assert hunks(edit("a", "b"), rename) == {"a.py": [("a", "b"), ("x", "xs")]}


def test_a_hunk_whose_line_was_removed_later_is_told_no_more() -> None:
    first = edit("x", "print('debugging')\ny = 2")
    wide = edit("y0\nprint('debugging')\ny = 2\nz", "y0\ny = 2\nz")
    assert hunks(first, edit("q", "r"), wide) == {
        "a.py": [("q", "r"), ("y0\nx\nz", "y0\ny = 2\nz")]
    }
    across = edit("print('debugging')\nz", "z")
    assert hunks(first, edit("q", "r"), across) == {"a.py": [("q", "r"), (across.old, across.new)]}


def test_an_edit_that_reaches_around_others_and_takes_them_back_leaves_nothing() -> None:
    first = edit("def last():", "def first_one():\n    pass\n\ndef last():")
    second = edit("return 1", "return calculated()")
    both = f"# End.\n{first.new}\n    {second.new}"
    before, after = (f"# End.\n{first.old}\n    {text}" for text in ("return 1", "return 2"))
    assert hunks(first, second, edit(both, before)) == {"a.py": []}
    assert hunks(first, second, edit(both, after)) == {"a.py": [(before, after)]}


def test_a_file_written_whole_or_in_an_unknown_way_has_no_hunks() -> None:
    assert hunks(edit("a", "b"), Replacement("a.py", None, "c\n")) == {"a.py": []}
    assert hunks(edit("a", "b"), Replacement("a.py")) == {"a.py": []}
    assert hunks(edit("a", "b"), edit("a", "b", "b.py"), Replacement("")) == {
        "a.py": [], "b.py": [],
    }  # fmt: skip


def test_the_file_changed_last_comes_last() -> None:
    assert list(hunks(edit("a", "b"), edit("a", "b", "b.py"), edit("c", "d"))) == ["b.py", "a.py"]


def net(*replaced: Replacement) -> NetHunk:
    numbered = ((PartId(f"p{n}"), one) for n, one in enumerate(replaced))
    [hunk] = net_changes(numbered)["a.py"]
    return hunk


def test_all_lines_that_differ_are_shown_and_no_others() -> None:
    hunk = net(edit("head\nold\ntail", "head\n1\n2\n3\ntail"))
    assert diff_lines(hunk) == ["-old", "+1", "+2", "+3"]
    assert diff_lines(net(edit("a\nb", "a"))) == ["-b"]
    assert diff_lines(net(edit("a\nb\nc", ""))) == ["-a", "-b", "-c"]


def test_a_line_above_what_differs_or_below_it_tells_the_place() -> None:
    assert diff_lines(net(edit("def parsed(text):\n\n    x", "def parsed(text):\n\n    y"))) == [
        "@@ def parsed(text):", "-    x", "+    y",
    ]  # fmt: skip
    below = net(edit("x\n    return parsed", "y\n    return parsed"))
    assert diff_lines(below) == ["@@ above return parsed", "-x", "+y"]


def test_nothing_is_told_of_lines_that_stand_in_view() -> None:
    hunk = net(edit("old line", "first line\n}\nsecond line"))
    assert diff_lines(hunk, {"first line", "second line", "else"}) == []
    assert diff_lines(hunk, {"first line"}) == ["-old line", "+first line", "+}", "+second line"]


PATCH = """*** Begin Patch
*** Update File: a.py
@@ def f():
 x = 1
-y = 2
+y = 3
@@
-q
*** Add File: b.py
+one
+two
*** Delete File: c.py
*** End Patch"""


def test_a_call_s_replacements_are_read_from_edits_writes_patches_and_commands() -> None:
    both = {"path": "a.py", "edits": [{"oldText": "x", "newText": "y"}, {"oldText": "z"}]}
    assert replacements(call("edit_file", both)) == (edit("x", "y"), Replacement("a.py"))
    whole = {"file_path": "a.py", "content": "c"}
    assert replacements(call("Write", whole)) == (Replacement("a.py", None, "c"),)
    assert replacements(call("Write", whole, failure="error")) == ()
    patched = (
        edit("x = 1\ny = 2", "x = 1\ny = 3"),
        edit("q", ""),
        Replacement("b.py", None, "one\ntwo"),
        Replacement("c.py"),
    )
    assert replacements(call("apply_patch", PATCH)) == patched
    assert replacements(call("exec_command", {"cmd": f"apply_patch <<'E'\n{PATCH}\nE"})) == patched
    assert replacements(call("Bash", {"command": "sed -i s/a/b/ d.py"})) == (Replacement("d.py"),)
    assert replacements(call("Bash", {"command": "git checkout main"})) == (Replacement(""),)
    assert replacements(call("Bash", {"command": "git checkout -b new"})) == ()


@pytest.mark.parametrize(
    ("command", "paths"),
    [
        ("git merge-base main HEAD; git stash list; git stash drop", ()),
        ("git diff $(git merge-base main HEAD)..HEAD -- a.py", ()),
        ("git reset HEAD a.py && git restore --staged a.py", ()),
        ("git apply --check a.patch; git commit -m 'git stash is no way'", ()),
        ("cd /w && git checkout -- a.py lib", ("/w/a.py", "/w/lib")),
        ("git -C /w restore --source HEAD~1 -- a.py", ("/w/a.py",)),
        ("git restore a.py 'b*.py'", ("a.py", "")),
        ("for c in $(git rev-list x); do git checkout -q $c; done", ("",)),
        ("git checkout -q -B new $BASE", ("",)),
        ("xargs -a list git checkout $BASE --", ("",)),
        ("bash -lc 'git reset --hard'", ("",)),
        ("cat > /tmp/b.sh <<'E'\ngit rebase main\nE\nbash /tmp/b.sh", ("",)),
    ],
)
@pytest.mark.parametrize(("name", "key"), [("Bash", "command"), ("exec_command", "cmd")])
def test_git_may_change_the_files_it_names_or_any(
    name: str, key: str, command: str, paths: tuple[str, ...]
) -> None:
    found = replacements(call(name, {key: command}))
    assert tuple(one.path for one in found) == paths
    assert not any(one.old or one.new for one in found)


@pytest.mark.parametrize("path", ["src/a.py", "/w/src", "src", "./src/"])
def test_a_hunk_goes_with_its_file_by_any_spelling(path: str) -> None:
    kept = edit("a", "b", "/w/asrc/a.py")
    for mine in ("/w/src/a.py", "D:\\w\\src\\a.py") if path[0] != "/" else ("/w/src/a.py",):
        found = hunks(edit("a", "b", mine), kept, Replacement(path))
        assert (found[mine], found["/w/asrc/a.py"]) == ([], [("a", "b")])
