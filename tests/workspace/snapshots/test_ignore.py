"""Which paths are left out, as git itself says."""

import os
import random
import struct
import subprocess
from pathlib import Path
from threading import Thread

import pytest

from sidecar.workspace.snapshots.git_index import NOTHING, Tracked, read_tracked
from sidecar.workspace.snapshots.ignore import HISTORIES, STAGING, IgnoreRules, root_rules
from sidecar.workspace.snapshots.known_paths import KnownPaths
from sidecar.workspace.snapshots.scan.scan import Scan
from sidecar.workspace.snapshots.watch.unwatched_paths import Unwatched

PATTERNS = r"""
*.log
!keep.log
build/
/only-top
docs/*.txt
docs/**/deep
**/cache
cache/**
a/**/b
!a/x/b
*.py[co]
# a comment
\#file
\!file
trailing\
space at end\\
[abc]x
[!abc]y
foo/
!foo/
ba?
/a/b/
*~
sub/*
!sub/keep
größe*
\
**
""".split("\n")  # noqa: SIM905 - patterns are lines
NAMES = [
    "a", "b", "x", "build", "only-top", "docs", "deep", "cache", "keep.log", "m.log", "m.pyc",
    "ax", "dy", "foo", "bar", "sub", "keep", "größe1", "#file", "!file", "n~", "t.txt",
]  # fmt: skip


@pytest.fixture(autouse=True)
def no_rules_of_this_user(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home/.config"))
    (tmp_path / "home/.config/git").mkdir(parents=True)


def git(root: Path, *arguments: str) -> bytes:
    done = subprocess.run(
        ["git", "-c", "user.name=x", "-c", "user.email=x@x", *arguments],
        cwd=root,
        capture_output=True,
        check=True,
        timeout=60,
    )
    return done.stdout


def kept(root: Path) -> set[bytes]:
    """Give the files that a scan finds."""
    rules: dict[bytes, IgnoreRules] = {}
    scan = Scan(root, KnownPaths(), rules, None, Unwatched(os.fsencode(root)))
    scan.everything(deep=True)
    return {
        path for path, found in scan.stats.items() if not os.path.isdir(root / os.fsdecode(path))
    }


def kept_by_git(root: Path) -> set[bytes]:
    listed = git(root, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
    return {
        path for path in listed.split(b"\0") if path and os.path.lexists(root / os.fsdecode(path))
    }


def is_matched_by_git(root: Path, folder: Path) -> bool:
    """Whether a rule leaves a folder out, whatever of it was added."""
    asking = ["git", "check-ignore", "-q", "--no-index", f"{folder.name}/"]
    return subprocess.run(asking, cwd=root, check=False, timeout=60).returncode == 0


def fill(folder: Path, dice: random.Random, depth: int) -> None:
    for name in dice.sample(NAMES, 8):
        if depth and dice.random() < 0.5:
            (folder / name).mkdir()
            fill(folder / name, dice, depth - 1)
        else:
            (folder / name).write_text("x")
    if dice.random() < 0.4:
        (folder / ".gitignore").write_text("\n".join(dice.sample(PATTERNS[:-2], 5)))


@pytest.mark.parametrize("seed", range(int(os.environ.get("SIDECAR_SEEDS", "5"))))
def test_what_is_left_out_is_what_git_leaves_out(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    root = tmp_path / "work"
    root.mkdir()
    git(root, "init", "-q")
    fill(root, dice, 3)
    (root / ".git/info/exclude").write_text("\n".join(dice.sample(PATTERNS[:-2], 3)))
    (tmp_path / "home/.config/git/ignore").write_text("\n".join(dice.sample(PATTERNS[:-2], 2)))
    for path in dice.sample(sorted(root.rglob("*.log")) + sorted(root.rglob("b")), 2):
        if path.is_file():
            git(root, "add", "-f", str(path))
    assert kept(root) == kept_by_git(root)
    inner = next(path for path in sorted(root.iterdir()) if path.is_dir() and path.name != ".git")
    found = kept(inner)
    if not is_matched_by_git(root, inner):
        prefix = os.fsencode(inner.name) + b"/"
        below = {path for path in kept_by_git(root) if path.startswith(prefix)}
        assert {prefix + path for path in found} == below


@pytest.mark.parametrize("line", PATTERNS)
def test_what_keeps_all_names_leaves_none_out(tmp_path: Path, line: str) -> None:
    (tmp_path / ".gitignore").write_text(line)
    rules = root_rules(tmp_path)
    names = [*map(os.fsencode, NAMES), b"two\nlines", b"\xff.log", b".#lock", b"target"]
    names += [*HISTORIES, STAGING + b"1"]
    for name in names:
        left_out = rules.ignored(name, False) or rules.ignored(name, True)
        assert not (left_out and rules.keeps_all([b"plain", name]))


def test_usual_rules_keep_all_of_most_folders(tmp_path: Path) -> None:
    lines = ["*.log", "*.py[co]", "/dist/", "docs/_build/", "node_modules", "!keep.log", ".env*"]
    (tmp_path / ".gitignore").write_text("\n".join(lines))
    rules = root_rules(tmp_path)
    assert rules.keeps_all([b"main.rs", b"mod.rs", b".gitignore", b"tests"])
    for name in (b"m.log", b"m.pyc", b"dist", b"_build", b"node_modules", b".env.local"):
        assert not rules.keeps_all([b"main.rs", name])


def test_without_git_what_is_built_is_left_out(tmp_path: Path) -> None:
    for path in ("node_modules/a/b", "src/__pycache__/m.pyc", "src/target/x", "src/main.rs"):
        (tmp_path / "w" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "w" / path).write_text("x")
    (tmp_path / "w/.gitignore").write_text("!target\n")
    assert kept(tmp_path / "w") == {b".gitignore", b"src/main.rs", b"src/target/x"}


def test_a_lock_of_emacs_is_nobodys_change(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / ".#notes.txt").symlink_to("user@host.42:1")
    rules = root_rules(tmp_path)
    assert rules.ignored(b".#notes.txt", False)
    assert not rules.ignored(b"notes.txt", False)


@pytest.mark.parametrize("version", ["2", "4"])
def test_the_index_is_read_in_every_form(tmp_path: Path, version: str) -> None:
    git(tmp_path, "init", "-q")
    names = [f"some/folder{n % 9}/{'long' * (n % 30)}{n}" for n in range(300)]
    for name in [*names, "x" * 200, "größe"]:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    git(tmp_path, "add", "-A")
    (tmp_path / "later").write_text("x")
    git(tmp_path, "add", "-N", "later")
    git(tmp_path, "update-index", "--index-version", version)
    tracked = read_tracked(tmp_path / ".git")
    assert tracked.files == {path for path in git(tmp_path, "ls-files", "-z").split(b"\0") if path}
    assert b"some/folder3" in tracked.folders
    assert b"some" in tracked.folders


@pytest.mark.parametrize("data", [b"", b"DIRC", b"DIRC\0\0\0\2\0\0\0\7" + b"x" * 90, b"\xff" * 500])
def test_a_broken_index_tracks_nothing(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "index").write_bytes(data)
    assert len(read_tracked(tmp_path).files) == 0
    assert read_tracked(tmp_path / "missing").folders == frozenset()


@pytest.mark.parametrize("count", [3, 3_000, 30_000])
def test_an_index_whose_paths_grow_tracks_nothing(tmp_path: Path, count: int) -> None:
    """Each path is the one before and a letter: 30,000 would take half a gigabyte."""
    entry = bytes(60) + b"\0\1" + b"\0" + b"a\0"
    (tmp_path / "index").write_bytes(b"DIRC" + struct.pack(">LL", 4, count) + entry * count)
    assert len(read_tracked(tmp_path).files) == (3 if count == 3 else 0)


def test_rules_of_a_repository_around_hold_and_those_of_one_inside_are_its_own(
    tmp_path: Path,
) -> None:
    root = tmp_path / "repo/packages/app"
    (root / "inner/.git").mkdir(parents=True)
    (tmp_path / "repo/.git").mkdir()
    (tmp_path / "repo/.gitignore").write_text("/packages/app/gen\n*.tmp\n")
    for name in ("gen", "a.tmp", "kept", "inner/b.tmp"):
        (root / name).write_text("x")
    assert kept(root) == {b"kept", b"inner/b.tmp"}
    outside = root_rules(root).outside
    assert tmp_path / "repo/.gitignore" in outside
    assert tmp_path / "repo/.git/info/exclude" in outside


def test_a_folder_that_is_ignored_is_seen_when_it_is_opened(tmp_path: Path) -> None:
    root = tmp_path / "repo/build/app"
    root.mkdir(parents=True)
    (tmp_path / "repo/.git").mkdir()
    (tmp_path / "repo/.gitignore").write_text("build/**\n")
    (root / "made").write_text("x")
    assert kept(root) == {b"made"}


def test_brackets_fit_no_slash(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    for path in ("in/a/x", "in/by", "inza/x", "in5by"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x")
    (tmp_path / ".gitignore").write_text("/in[!a]a/x\n/in[+-9]by\n")
    assert kept(tmp_path) == kept_by_git(tmp_path) == {b".gitignore", b"in/a/x", b"in/by"}


def test_an_index_that_is_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "index")
    found: list[Tracked] = []
    reading = Thread(target=lambda: found.append(read_tracked(tmp_path)), daemon=True)
    reading.start()
    reading.join(10)
    assert found == [NOTHING]


def test_a_repository_that_is_named_by_no_path_is_none(tmp_path: Path) -> None:
    (tmp_path / ".git").write_bytes(b"gitdir: a\0b\n")
    repository = root_rules(tmp_path).repository
    assert repository is not None
    assert repository.tracked == NOTHING
