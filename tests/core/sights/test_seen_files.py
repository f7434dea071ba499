"""Files as a log tells them: lines shown, edits since, and what the workspace says of them."""

from random import Random

import pytest

from sidecar.core.parts import JsonObject, ToolPart
from sidecar.core.sights.seen_files import MOST_REMOVED
from tests.core.sights.calls import PATH, edit, ended, heard, known, read, unit_of, worked_on
from tests.examples import few_of


def lines(*parts: ToolPart, path: str = PATH) -> dict[int, str]:
    return known(heard(*parts).files[path])


@pytest.mark.parametrize(
    ("name", "given", "text"),
    [
        ("Read", {"file_path": PATH, "offset": 5}, "     5→a\n     6→b\n\n<system>be careful"),
        ("read", {"path": PATH, "offset": 5, "limit": 2}, "a\nb"),
        ("read_file", {"path": PATH, "offset": 5, "limit": 2},
         "a\nb\n[lines 5 to 6; the file goes on at 7]"),
        ("view", {"path": PATH, "view_range": [5, 6]}, "5. a\n6. b"),
        ("bash", {"command": f"sed -n '5,6p' {PATH}"}, "a\nb\n"),
        ("bash", {"command": "cd /w && nl -ba a.py | sed -n 5,6p"}, "     5\ta\n     6\tb"),
        ("exec_command", {"cmd": "sed -n 5,6p a.py", "workdir": "/w"},
         "Chunk ID: 1f\nWall time: 0.1\nOutput:\na\nb\n"),
    ],
)  # fmt: skip
def test_a_read_shows_its_lines(name: str, given: JsonObject, text: str) -> None:
    part = ended(name, given, text)
    assert lines(part) == {5: "a", 6: "b"}
    assert heard(part).reads == {part.id: (0, (PATH,))}


def test_a_file_of_empty_lines_is_read_at_once() -> None:
    """It took minutes, on the event loop."""
    part = ended("read_file", {"path": PATH}, "\n" * 200_000)
    assert heard(part).reads == {part.id: (0, (PATH,))}


def test_an_edit_moves_the_lines_below() -> None:
    done = edit(PATH, "b\nc", "B\nand\nC")
    assert lines(read(PATH, ["a", "b", "c", "d"], 3), done) == {
        3: "a", 4: "B", 5: "and", 6: "C", 7: "d",
    }  # fmt: skip


def test_an_edit_inside_a_line_keeps_the_rest_of_the_line() -> None:
    assert lines(read(PATH, ["x = f(1) + 2"]), edit(PATH, "f(1)", "g(3)")) == {1: "x = g(3) + 2"}


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (["f(x, x) + x", "y"], "x", "long", ["f(long, long) + long", "y"]),
        (["a, a", "a"], "a", "b\nc", ["b", "c, b", "c", "b", "c"]),
        (["b", "ab", "a."], "b\na", "-", ["--."]),
    ],
)
def test_an_edit_of_every_place_reaches_all_in_a_line(
    before: list[str], old: str, new: str, after: list[str]
) -> None:
    given: JsonObject = {
        "file_path": PATH,
        "old_string": old,
        "new_string": new,
        "replace_all": True,
    }
    told = lines(read(PATH, before), ended("Edit", given))
    assert list(told.values()) == after
    assert "\n".join(after) == "\n".join(before).replace(old, new)


def test_a_file_that_is_shown_whole_goes_no_further() -> None:
    before = read(PATH, ["a", "b", "c", "d"])
    assert lines(before, ended("read", {"path": PATH}, "a\nb\n")) == {1: "a", 2: "b"}


def test_a_patch_that_was_refused_changes_nothing() -> None:
    patch = f"*** Begin Patch\n*** Update File: {PATH}\n@@\n-b\n+B\n*** End Patch"
    said = f"apply_patch verification failed: Failed to find expected lines in {PATH}:\nb"
    files = heard(read(PATH, ["a", "b"]), ended("apply_patch", {"input": patch}, said))
    assert known(files.files[PATH]) == {1: "a", 2: "b"}
    assert files.changed() == []


@pytest.mark.parametrize("command", ["git rebase main", "git merge x && make", "git stash pop"])
def test_a_merge_that_stopped_at_conflicts_makes_files_unknown(command: str) -> None:
    said = "CONFLICT (content): Merge conflict in a.py"
    stopped = ended("bash", {"command": command}, said, exitCode=1)
    assert lines(read(PATH, ["a"]), stopped) == {}
    assert lines(read(PATH, ["a"]), ended("bash", {"command": command}, "?", exitCode=1)) == {
        1: "a"
    }


def test_an_edit_at_an_unknown_place_says_how_far_lines_may_have_moved() -> None:
    files = heard(read(PATH, ["a", "b"], 30), edit(PATH, "elsewhere", "else\nwhere")).files
    assert known(files[PATH]) == {30: "a", 31: "b"}
    assert files[PATH].drift == 1


def test_lines_that_an_edit_at_an_unknown_place_may_reach_into_are_forgotten() -> None:
    assert lines(read(PATH, ["a", "b"], 30), edit(PATH, "z\na", "y")) == {}


@pytest.mark.parametrize(
    "changing",
    [
        ended("bash", {"command": f"sed -i s/a/b/ {PATH}"}),
        ended("bash", {"command": "git stash"}),
        ended("delete_file", {"path": PATH}),
    ],
)
def test_a_change_that_the_log_does_not_tell_makes_a_file_unknown(changing: ToolPart) -> None:
    assert lines(read(PATH, ["a"]), changing) == {}


@pytest.mark.parametrize(
    ("command", "known"),
    [
        ("git diff $(git merge-base main HEAD)", {1: "a"}),
        ("git stash list", {1: "a"}),
        ("cd /w && git checkout -- b.py lib", {1: "a"}),
        ("git checkout -- a.py", {}),
        ("git -C / checkout -- w", {}),
        ("rm -r /w", {}),
    ],
)
def test_of_files_that_a_command_leaves_alone_lines_stay_known(
    command: str, known: dict[int, str]
) -> None:
    assert lines(read(PATH, ["a"]), ended("bash", {"command": command})) == known


def test_a_read_that_disagrees_is_believed() -> None:
    assert lines(read(PATH, ["a", "b", "c"]), read(PATH, ["B"], 2)) == {2: "B"}


def test_a_patch_changes_its_files() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n a\n\n-b\n+B\n*** End Patch\n"
    before = ended("bash", {"command": "cat /w/a.py"}, "a\n\nb\nc\n")
    assert lines(before, ended("apply_patch", {"input": patch})) == {1: "a", 2: "", 3: "B", 4: "c"}


def test_a_file_written_whole_is_known_whole() -> None:
    files = heard(ended("Write", {"file_path": PATH, "content": "a\nb\n"})).files
    assert (known(files[PATH]), files[PATH].ends) == ({1: "a", 2: "b"}, True)


def test_of_the_workspace_only_lines_stand_that_were_seen() -> None:
    files = heard(read(PATH, ["a", "b"], 2), read(PATH, ["y", "z"], 8))
    present = {PATH: "secret\nnew\na\nb\nsecret\ny\nsecret\n"}
    file = files.held_against(present).files[PATH]
    assert known(file) == {3: "a", 4: "b", 6: "y"}
    assert file.ends
    assert known(files.held_against({PATH: None}).files[PATH]) == {}
    assert known(files.held_against({}).files[PATH]) == known(files.files[PATH])


def looked(text: str, command: str = "grep -rn total_of src") -> ToolPart:
    """A command that showed lines of files without being a read of them."""
    return ended("bash", {"command": command}, text)


GREP = looked("src/a.py:3:    total_of(rows, 1)\nsrc/b.py:9:    total_of(other, 2)\n")
CHANGE = edit("src/a.py", "    total_of(rows, 1)", "    sum_of(rows, 1)")


@pytest.mark.parametrize(
    ("parts", "stale"),
    [
        ((GREP,), False),
        ((GREP, CHANGE), True),
        ((CHANGE, GREP), False),
        ((GREP, CHANGE, edit("src/a.py", "sum_of(rows, 1)", "total_of(rows, 1)")), False),
        ((GREP, edit("src/a.py", "total_of(rows, 1)", "total_of(rows, 1)\nmore()")), False),
        ((GREP, edit("src/a.py", "rows, 1", "rows, 2")), False),
        ((GREP, edit("src/c.py", "    total_of(rows, 1)", "pass")), False),
        ((looked("3:total_of(rows, 1)", "grep -n of src/a.py"), CHANGE), True),
        ((looked("3:total_of(rows, 1)", "grep -n of src/b.py"), CHANGE), False),
    ],
)
def test_what_shows_a_line_that_a_later_edit_removed_is_stale(
    parts: tuple[ToolPart, ...], stale: bool
) -> None:
    step = next(n for n, part in enumerate(parts) if part.name == "bash")
    assert heard(*parts).is_stale(unit_of(parts[step], step)) is stale


def test_a_change_inside_a_line_removes_the_line() -> None:
    parts = read("src/a.py", ["    total_of(rows, 1)"]), GREP, edit("src/a.py", "1)", "2)")
    assert heard(*parts).is_stale(unit_of(GREP, 1))


def test_so_is_what_shows_a_line_that_a_later_writing_left_out() -> None:
    parts = (
        read(PATH, ["first_of_all()", "    total_of(rows, 1)"]),
        looked(f"{PATH}:2:    total_of(rows, 1)"),
        looked(f"{PATH}:1:first_of_all()"),
        ended("Write", {"file_path": PATH, "content": "first_of_all()\n"}),
    )
    files = heard(*parts)
    assert [files.is_stale(unit_of(parts[n], n)) for n in (1, 2)] == [True, False]


def test_an_edit_itself_is_no_stale_look_at_its_file() -> None:
    again = edit(PATH, "    sum_of(rows, 1)", "    mean_of(rows, 1)")
    change = edit(PATH, "    total_of(rows, 1)", "    sum_of(rows, 1)", f"{PATH}: sum_of(rows, 1)")
    assert not heard(change, again).is_stale(unit_of(change, 0))


def test_what_shows_a_line_that_somebody_else_took_out_is_stale() -> None:
    shown = looked(f"{PATH}:2:    total_of(rows, 1)")
    files = heard(read(PATH, ["first_of_all()", "    total_of(rows, 1)", "end"]), shown)
    assert not files.held_against({PATH: "first_of_all()\n  total_of(rows, 1)\nend\n"}).is_stale(
        unit_of(shown, 1)
    )
    assert files.held_against({PATH: "first_of_all()\nend\n"}).is_stale(unit_of(shown, 1))


def test_of_removed_lines_the_newest_are_remembered() -> None:
    old = [f"line number {n}" for n in range(MOST_REMOVED + 5)]
    file = heard(edit(PATH, "\n".join(old), "all gone")).files[PATH]
    assert list(file.removed) == old[5:]


@pytest.mark.parametrize("seed", few_of(range(40), 8))
def test_no_line_is_known_that_is_not_in_the_file(seed: int) -> None:
    dice = Random(seed)
    file = [f"line {number} {dice.random()}" for number in range(dice.randint(1, 60))]
    parts: list[ToolPart] = []
    for part in worked_on(dice, file, 25, 12):
        parts.append(part)
        seen = heard(*parts).files[PATH]
        assert set(known(seen).values()) <= set(file)
        if not seen.drift:
            assert all(file[at - 1] == text for at, text in known(seen).items())
        stands = heard(*parts).held_against({PATH: "\n".join(file)}).files[PATH]
        assert all(file[at - 1] == text for at, text in known(stands).items())


@pytest.mark.parametrize(
    "named", [("a.py", "/w/a.py"), ("/w/a.py", "a.py"), ("./a.py", "/w/b/../a.py")]
)
def test_under_a_folder_a_file_is_one_however_its_path_is_written(named: tuple[str, str]) -> None:
    first, then = named
    files = heard(read(first, ["a", "b"]), edit(then, "b", "B"), root="/w").files
    assert {path: known(file) for path, file in files.items()} == {"a.py": {1: "a", 2: "B"}}


def test_under_a_folder_a_file_is_none_of_the_same_name_elsewhere() -> None:
    files = heard(read("/w/sub/a.py", ["a"]), read("a.py", ["b"]), root="/w").files
    assert {path: known(file) for path, file in files.items()} == {
        "sub/a.py": {1: "a"}, "a.py": {1: "b"},
    }  # fmt: skip
