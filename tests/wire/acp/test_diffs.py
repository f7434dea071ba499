"""Diffs as ACP has them."""

from sidecar.tools.files.edit_diff import compare
from sidecar.wire.acp.diffs import done, wanted


def told(before: str, after: str, **more: object) -> list[object]:
    change = compare("a.py", before, after)
    return [*done({"path": "a.py", "diff": change.diff, **more}, "/nowhere")]  # type: ignore[dict-item]


def test_each_hunk_is_a_diff_of_its_own() -> None:
    lines = [f"line {n}\n" for n in range(40)]
    after = [*lines]
    after[2], after[30] = "two\n", "thirty\n"
    first, second = told("".join(lines), "".join(after))
    assert first == {
        "type": "diff",
        "path": "/nowhere/a.py",
        "oldText": "".join(lines[:6]),
        "newText": "".join(after[:6]),
    }
    assert second["oldText"] == "".join(lines[27:34])  # type: ignore[index]
    assert second["newText"] == "".join(after[27:34])  # type: ignore[index]


def test_a_new_file_had_no_text() -> None:
    (change,) = told("", "one\n\ntwo\n", created=True)
    assert change == {
        "type": "diff",
        "path": "/nowhere/a.py",
        "oldText": None,
        "newText": "one\n\ntwo\n",
    }


def test_lines_that_look_like_a_diff_stay_lines() -> None:
    (change,) = told("--- a\n", "+++ b\n\x0b@@ c\n")
    assert (change["oldText"], change["newText"]) == ("--- a\n", "+++ b\n\x0b@@ c\n")  # type: ignore[index]


def test_what_is_not_known_is_not_made_up() -> None:
    assert done({"exitCode": 1}, "/nowhere") == []
    assert done({"path": "a", "diff": "--- a\n+++ b\n[900 lines replaced by 2]\n"}, "/") == []
    assert wanted({"command": "ls"}, "/nowhere") == []
    assert wanted({"path": "/x/b", "oldText": "1", "newText": "2"}, "/nowhere") == [
        {"type": "diff", "path": "/x/b", "oldText": "1", "newText": "2"}
    ]
