"""Which files a walk yields: as git would, and without the usual clutter."""

import subprocess
from pathlib import Path

import pytest

from sidecar.core.errors import BadRequest
from sidecar.workspace.snapshots import ignore_patterns
from sidecar.workspace.walk import Unignored, glob, list_folder, walk


def tree(root: Path, **texts: str) -> Path:
    for name, text in texts.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def check(root: Path, expected: str) -> None:
    found = list(walk(root))
    assert found == expected.split()
    unignored = Unignored(root)
    assert all(map(unignored.has, found))
    hidden = {str(p.relative_to(root)) for p in root.rglob("*") if not p.is_dir()} - set(found)
    assert not any(map(unignored.has, hidden))


def test_ignore_files_hold_for_their_folder_and_below(tmp_path: Path) -> None:
    tree(
        tmp_path,
        _dot_gitignore="*.log\nbuild/\n/top\n",
        a_dot_log="",
        top="",
        build__x="",
        sub___dot_gitignore="!keep.log\nlocal\n",
        sub__keep_dot_log="",
        sub__other_dot_log="",
        sub__local="",
        sub__top="",
        sub__deep__local="",
        sub__deep__keep_dot_log="",
    )
    check(tmp_path, ".gitignore sub/.gitignore sub/deep/keep.log sub/keep.log sub/top")


@pytest.mark.parametrize("name", ["a", "bb"])
def test_a_folder_may_be_called_as_a_file_of_it_is(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / name).write_text("")
    (tmp_path / ".gitignore").write_text(f"{name}/\n!{name}/{name}\n")
    assert list(walk(tmp_path)) == [".gitignore"]
    assert not Unignored(tmp_path).has(f"{name}/{name}")


def test_it_agrees_with_git(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    tree(
        tmp_path,
        _dot_gitignore="*.o\n!keep.o\nout/*\n!out/kept\nd?c/\n**/gen/**\n# no\n\\#yes\n",
        a_dot_o="",
        keep_dot_o="",
        out__x="",
        out__kept="",
        doc__x="",
        src__gen__deep__x="",
        src__main_dot_c="",
    )
    (tmp_path / "#yes").write_text("")
    (tmp_path / "é file").write_text("")
    (tmp_path / ".git/info/exclude").write_text("main.c\n")
    listed = subprocess.run(
        ["git", "ls-files", "-oz", "--exclude-standard"], cwd=tmp_path, check=True, stdout=-1
    ).stdout.decode()
    assert sorted(walk(tmp_path)) == sorted(listed.split("\0")[:-1])


def test_rules_of_the_folders_above_hold(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    tree(tmp_path, _dot_gitignore="*.log\n/sub/x\n", sub__a_dot_log="", sub__x="", sub__y="")
    check(tmp_path / "sub", "y")


def test_outside_of_git_the_folders_above_do_not_count(tmp_path: Path) -> None:
    tree(tmp_path, _dot_gitignore="*\n", sub__y="")
    check(tmp_path / "sub", "y")


def test_clutter_is_left_out_and_links_are_not_followed(tmp_path: Path) -> None:
    tree(tmp_path, node_modules__a="", _dot_venv__a="", _dot_git__config="", b="", _dot_env="")
    (tmp_path / "loop").symlink_to(tmp_path)
    check(tmp_path, ".env b loop")


def test_bad_lines_in_gitignore_are_passed_over(tmp_path: Path) -> None:
    tree(tmp_path, _dot_gitignore="!\nx\n", x="", y="")
    check(tmp_path, ".gitignore y")


def test_of_an_endless_gitignore_whole_lines_are_taken(tmp_path: Path) -> None:
    tree(
        tmp_path,
        _dot_gitignore="x\n#" + "-" * (ignore_patterns.MAX_BYTES - 5) + "\nyes\n",
        x="",
        y="",
    )
    check(tmp_path, ".gitignore y")


def test_the_order_does_not_depend_on_the_disk(tmp_path: Path) -> None:
    tree(tmp_path, c="", b__x="", a="")
    assert list(walk(tmp_path)) == ["a", "b/x", "c"]
    assert list_folder(tmp_path) == ("a", "b/", "c")


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("*.py", "a.py src/b.py", "a.pyc"),
        ("src/*.py", "src/a.py", "src/deep/a.py x/src/a.py"),
        ("**/test_*.py", "test_a.py x/y/test_b.py", "x/atest_.py"),
        ("*.{ts,tsx}", "a.ts b/c.tsx", "a.t a.js"),
        ("{a,b/{c,d}}.x", "a.x b/c.x b/d.x", "c.x"),
        ("./src/**", "src/a src/b/c", "a"),
        ("src/", "src/a", "srcs"),
    ],
)
def test_a_pattern_matches_the_paths_it_should_and_no_others(
    pattern: str, yes: str, no: str
) -> None:
    matches = glob(pattern)
    assert [path for path in yes.split() if not matches(path)] == []
    assert [path for path in no.split() if matches(path)] == []


@pytest.mark.parametrize(
    "pattern", ["!", "[a", "a" * 1001, "x" * 500 + "{" + "," * 64 + "}", "{a,b}" * 7]
)
def test_a_bad_glob_is_refused(pattern: str) -> None:
    with pytest.raises(BadRequest):
        glob(pattern)
