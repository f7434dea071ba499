"""What a remote's address names, and a folder's project."""

import os
import shutil
from pathlib import Path

import pytest

from sidecar.session.sync.sync_remotes import project_in, project_of
from tests.e2e.sync_users import git


@pytest.mark.parametrize(
    ("address", "project"),
    [
        ("git@example.org:ada/engine.git", "example.org/ada/engine"),
        ("example.org:/ada/engine", "example.org/ada/engine"),
        ("ssh://git@Example.org:2222/ada/engine.git/", "example.org/ada/engine"),
        ("https://ada:secret@example.org/ada/engine?x=1", "example.org/ada/engine"),
        ("file:///mnt/engine.git", "/mnt/engine"),
        ("/mnt/engine.git", "/mnt/engine"),
        ("/mnt/engine/.git", "/mnt/engine"),
    ],
)
def test_a_project_is_called_the_same_by_all_its_addresses(address: str, project: str) -> None:
    assert project_of(address) == project


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A folder's repository and another, each with an `origin`."""
    made = tmp_path / "ours", tmp_path / "secret"
    for folder in made:
        folder.mkdir()
        git("init", "--quiet", ".", cwd=folder)
        origin = f"https://example.org/ada/{folder.name}.git"
        git("remote", "add", "origin", origin, cwd=folder)
    return made


@pytest.mark.parametrize("relative", [False, True])
async def test_a_worktree_is_of_its_repositorys_project(
    folders: tuple[Path, Path], relative: bool
) -> None:
    ours, _ = folders
    git("commit", "--quiet", "--allow-empty", "-m", "Begin", cwd=ours)
    git("worktree", "add", "--quiet", "../beside", cwd=ours)
    if relative:
        # As git 2.48 does where `worktree.useRelativePaths` is set.
        (ours.parent / "beside/.git").write_text("gitdir: ../ours/.git/worktrees/beside\n")
        (ours / ".git/worktrees/beside/gitdir").write_text("../../../../beside/.git\n")
    for folder in (ours, ours.parent / "beside"):
        assert await project_in(str(folder), os.environ) == "example.org/ada/ours"


@pytest.mark.parametrize("how", ["gitdir", "commondir", "worktree's settings", "link", "above"])
async def test_no_other_repositorys_name_is_taken(folders: tuple[Path, Path], how: str) -> None:
    """Files that an archive may bring lead git to another repository, whose name may be secret."""
    ours, secret = folders
    own = ours / ".git"
    if how == "commondir":
        (own / "commondir").write_text(f"{secret}/.git\n")
    elif how == "worktree's settings":
        git("config", "--unset", "remote.origin.url", cwd=ours)
        git("config", "extensions.worktreeConfig", "true", cwd=ours)
        (own / "config.worktree").symlink_to(secret / ".git/config")
    elif how == "link":
        (own / "config").unlink()
        (own / "config").symlink_to(secret / ".git/config")
    else:
        shutil.rmtree(own)
        if how == "gitdir":
            own.write_text(f"gitdir: {secret}/.git\n")
        else:
            ours = secret / "inner"
            ours.mkdir()
    assert await project_in(str(ours), os.environ) == ""
