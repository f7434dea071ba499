"""Which instruction files are read, and in which order."""

from pathlib import Path

import pytest

from sidecar.workspace.instructions import read_instructions, user_folder

MAX_INSTRUCTION = 64 * 1024


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "repo/.git").mkdir(parents=True)
    (tmp_path / "repo/sub/deep").mkdir(parents=True)
    (tmp_path / "user").mkdir()
    return tmp_path


def write(root: Path, *names: str) -> None:
    for name in names:
        (root / name).write_text(name)


def check(root: Path, cwd: str, expected: str, *, trusted: bool = True) -> None:
    found = read_instructions(root / cwd, trusted, root / "user")
    assert [instruction.text for instruction in found] == expected.split()
    assert all(instruction.path == str(root / instruction.text) for instruction in found)


def test_the_most_general_first_and_one_of_each_folder(root: Path) -> None:
    write(root, "user/AGENTS.md", "repo/CLAUDE.md", "repo/AGENTS.md", "repo/sub/deep/CLAUDE.md")
    write(root, "AGENTS.md")
    check(root, "repo/sub/deep", "user/AGENTS.md repo/AGENTS.md repo/sub/deep/CLAUDE.md")
    check(root, "repo", "user/AGENTS.md repo/AGENTS.md")


def test_an_untrusted_workspace_gives_nothing(root: Path) -> None:
    write(root, "user/CLAUDE.md", "repo/AGENTS.md")
    check(root, "repo", "user/CLAUDE.md", trusted=False)


def test_a_blank_file_gives_way(root: Path) -> None:
    write(root, "repo/CLAUDE.md")
    (root / "repo/AGENTS.md").write_text(" \n")
    check(root, "repo", "repo/CLAUDE.md")


def test_without_a_repository_it_goes_up_to_the_home(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(root / "home"))
    (root / "home/code/a").mkdir(parents=True)
    write(root, "AGENTS.md", "home/AGENTS.md", "home/code/AGENTS.md")
    check(root, "home/code/a", "home/AGENTS.md home/code/AGENTS.md")


def test_a_folder_that_anybody_may_write_is_passed_over(root: Path) -> None:
    (root / "shared/mine").mkdir(parents=True)
    (root / "shared").chmod(0o777)
    write(root, "shared/AGENTS.md", "shared/mine/AGENTS.md")
    check(root, "shared/mine", "shared/mine/AGENTS.md")


def test_a_link_inside_is_read_and_one_that_leads_out_is_not(root: Path) -> None:
    write(root, "repo/AGENTS.md")
    (root / "repo/sub/CLAUDE.md").symlink_to("../AGENTS.md")
    (root / "secret").write_text("secret")
    (root / "repo/sub/deep/AGENTS.md").symlink_to(root / "secret")
    found = read_instructions(root / "repo/sub/deep", True, root / "user")
    assert [instruction.text for instruction in found] == ["repo/AGENTS.md"] * 2


def test_a_long_file_is_cut_between_characters(root: Path) -> None:
    (root / "repo/AGENTS.md").write_text("x" + "é" * MAX_INSTRUCTION)
    (found,) = read_instructions(root / "repo", True, root / "user")
    text, note = found.text.split("\n")
    assert set(text) == {"x", "é"}
    assert len(text.encode()) == MAX_INSTRUCTION - 1
    assert "cut" in note


def test_line_endings_do_not_matter(root: Path) -> None:
    (root / "repo/AGENTS.md").write_bytes(b"\xef\xbb\xbfa\r\nb")
    (found,) = read_instructions(root / "repo", True, root / "user")
    assert found.text == "a\nb"


def test_the_user_folder_is_the_platforms(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert user_folder().name == "sidecar"
