"""Paths that change between the look and the use: what is read and written stays where it was."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from sidecar.core.errors import BadRequest
from sidecar.workspace.files import read_beginning, read_lines, read_text, write_atomically
from sidecar.workspace.instructions import read_instructions
from sidecar.workspace.paths import in_git, locate
from sidecar.workspace.unlinked_path import folder_of, standing_in
from sidecar.workspace.walk import list_folder, walk
from tests.workspace.swapping import SECONDS, swapping


@pytest.fixture
def raced(tmp_path: Path) -> Iterator[Path]:
    """A workspace in which `folder` is a link to what lies outside, every other moment."""
    root = Path(os.path.realpath(tmp_path)) / "workspace"
    (root / "folder/inner").mkdir(parents=True)
    (root / "folder/inner/a.txt").write_text("ours")
    outside = root.parent / "outside"
    (outside / "inner").mkdir(parents=True)
    (outside / "inner/a.txt").write_text("secret")
    (root / "link").symlink_to(outside)
    with swapping(root / "folder", root / "link"):
        yield root


def again_and_again(act: Callable[[], None]) -> int:
    """Act until the time is over; gives how often it went through."""
    end, done = time.monotonic() + SECONDS, 0
    while time.monotonic() < end:
        with suppress(OSError, BadRequest):
            act()
            done += 1
    return done


def test_nothing_outside_is_read_while_a_folder_becomes_a_link(raced: Path) -> None:
    seen = set[str]()

    def read() -> None:
        place = locate("folder/inner/a.txt", raced)
        if place.inside:
            seen.add(read_text(place.real))
            seen.add(read_lines(place.real, 1, 1).text)

    assert again_and_again(read) > 10
    assert seen == {"ours"}


def test_no_name_outside_is_listed_while_a_folder_becomes_a_link(raced: Path) -> None:
    (raced.parent / "outside/inner/secret.txt").write_text("")
    seen = set[str]()

    def look() -> None:
        seen.update(path.rpartition("/")[2] for path in walk(raced))
        place = locate("folder/inner", raced)
        if place.inside:
            seen.update(list_folder(place.real))

    assert again_and_again(look) > 10
    assert "a.txt" in seen
    assert seen <= {"a.txt", "link", "folder"}


def test_nothing_outside_is_written_while_a_folder_becomes_a_link(raced: Path) -> None:
    def write() -> None:
        place = locate("folder/inner/new/deep/b.txt", raced)
        if place.inside:
            write_atomically(place.real, "x")

    assert again_and_again(write) > 10
    outside = raced.parent / "outside"
    assert sorted(str(p.relative_to(outside)) for p in outside.rglob("*")) == [
        "inner",
        "inner/a.txt",
    ]


def test_instructions_outside_are_not_taken_while_a_folder_becomes_a_link(raced: Path) -> None:
    """The file is a link in the workspace, which leads on through the folder that is raced."""
    (raced / ".git").mkdir()
    (raced / "AGENTS.md").symlink_to("folder/inner/a.txt")
    seen = set[str]()
    nobody = raced / "nobody"

    def look() -> None:
        seen.update(one.text for one in read_instructions(raced, True, nobody))

    assert again_and_again(look) > 10
    assert seen <= {"ours"}


@pytest.mark.skipif(
    not os.path.isdir("/proc/self/fd"), reason="only where /proc names what is open"
)
def test_no_process_starts_outside_while_a_folder_becomes_a_link(raced: Path) -> None:
    seen = set[str]()

    def start() -> None:
        place = locate("folder/inner", raced)
        if place.inside:
            with standing_in(place.real) as here:
                done = subprocess.run(["cat", "a.txt"], cwd=here, capture_output=True, check=True)
            seen.add(done.stdout.decode())

    assert again_and_again(start) > 3
    assert seen == {"ours"}


@pytest.mark.parametrize("path", ["../outside/inner/a.txt", "link/inner/a.txt", "folder/../../x"])
def test_dots_and_links_lead_outside_and_say_so(tmp_path: Path, path: str) -> None:
    root = tmp_path / "workspace"
    (root / "folder").mkdir(parents=True)
    (root / "link").symlink_to(tmp_path / "outside")
    assert not locate(path, root).inside


def test_a_link_or_a_file_on_the_way_is_told_apart(tmp_path: Path) -> None:
    root = Path(os.path.realpath(tmp_path))
    (root / "link").symlink_to(root)
    (root / "file").write_text("")
    with pytest.raises(PermissionError, match="moved"), folder_of(root / "link/a"):
        pass
    with pytest.raises(NotADirectoryError), folder_of(root / "file/a"):
        pass
    with pytest.raises(FileNotFoundError), folder_of(root / "missing/a"):
        pass


@pytest.mark.parametrize(
    "name",
    [".git", ".GIT", ".Git", ".git.", ".git ", ".g\u200cit", ".gi\ufe0ft", "\uff0egit", "GIT~1",
     "git~2"],
)  # fmt: skip
def test_however_a_history_is_spelt_no_tool_writes_there(name: str) -> None:
    assert in_git(Path("/w") / name / "hooks/pre-commit")


def test_a_history_that_is_called_otherwise_is_one(tmp_path: Path) -> None:
    subprocess.run(
        ["git", "init", "-q", f"--separate-git-dir={tmp_path / '.bare'}", str(tmp_path)],
        timeout=20, check=True,
    )  # fmt: skip
    assert in_git(tmp_path / ".bare/config")
    assert in_git(tmp_path / ".bare/hooks/pre-commit")
    assert not in_git(tmp_path / "config")


def test_a_history_in_two_folders_is_one_in_both(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], timeout=20, check=True)
    (tmp_path / "meta").mkdir()
    (tmp_path / ".git/HEAD").rename(tmp_path / "meta/HEAD")
    (tmp_path / ".git").rename(tmp_path / "store")
    (tmp_path / "meta/commondir").write_text("../store\n")
    (tmp_path / ".git").write_text("gitdir: meta\n")
    subprocess.run(["git", "status"], cwd=tmp_path, timeout=20, check=True)
    for name in ("store/config", "store/hooks/pre-commit", "meta/config.worktree", "meta/a/x.md"):
        assert in_git(tmp_path / name), name
    (tmp_path / "other/objects").mkdir(parents=True)
    (tmp_path / "other/refs").mkdir()
    for name in ("a.py", "other/objects/x", "other/refs/y", "other/a.py"):
        assert not in_git(tmp_path / name), name


@pytest.mark.parametrize("name", [".gitignore", ".github", "git", "x.git"])
def test_what_only_looks_like_a_history_is_a_file_like_others(name: str) -> None:
    assert not in_git(Path("/w") / name)


def test_a_pipe_is_not_waited_for_where_a_file_is_looked_for(tmp_path: Path) -> None:
    for name in (".gitignore", "AGENTS.md"):
        os.mkfifo(tmp_path / name)
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / ".git/HEAD")
    (tmp_path / "a.txt").write_text("")
    assert list_folder(tmp_path)
    assert [found for found in walk(tmp_path) if "a.txt" in str(found)]
    assert read_instructions(tmp_path, True, tmp_path / "nobody") == ()
    with pytest.raises(OSError, match="no regular file"):
        read_beginning(tmp_path / ".gitignore", 10)
