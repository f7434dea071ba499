"""Where paths lead: no link, dot or odd name gets out of the workspace unseen."""

import os
from pathlib import Path

import pytest

from sidecar.core.errors import BadRequest
from sidecar.workspace.paths import in_git, locate, printable


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "src").mkdir(parents=True)
    (root / "src/a.py").write_text("a")
    (tmp_path / "other").mkdir()
    (tmp_path / "other/secret").write_text("s")
    return root


def check(root: Path, given: str, shown: str | None) -> None:
    """Inside with this display, or outside for `None`."""
    place = locate(given, root)
    assert place.inside is (shown is not None)
    assert place.shown == (shown if shown is not None else str(place.real))
    assert os.path.realpath(place.real) == str(place.real)


def test_a_path_is_taken_only_within_the_workspace(root: Path) -> None:
    check(root, "src/a.py", "src/a.py")
    check(root, str(root / "src/a.py"), "src/a.py")
    check(root, ".", ".")
    check(root, "src/../src/./a.py", "src/a.py")
    check(root, "src/new/deep.py", "src/new/deep.py")
    check(root, "../other/secret", None)
    check(root, "/etc/hosts", None)
    check(root, "src/../../other", None)
    check(root, "~/x", None)


def test_a_sibling_with_the_same_beginning_is_outside(root: Path) -> None:
    (root.parent / "root2").mkdir()
    check(root, "../root2/x", None)


def test_no_link_leads_out_of_the_workspace(root: Path) -> None:
    (root / "out").symlink_to(root.parent / "other")
    (root / "file").symlink_to(root.parent / "other/secret")
    (root / "within").symlink_to(root / "src")
    (root / "broken").symlink_to(root.parent / "not-there")
    (root / "relative").symlink_to("../other/secret")
    (root / "twice").symlink_to("out")
    check(root, "out/secret", None)
    check(root, "out/new", None)
    check(root, "file", None)
    check(root, "within/a.py", "src/a.py")
    check(root, "within/new.py", "src/new.py")
    check(root, "broken", None)
    check(root, "relative", None)
    check(root, "twice/secret", None)
    # `..` after a link goes up from where the link leads, as the system does it.
    check(root, "out/../root/src/a.py", "src/a.py")
    check(root, "out/..", None)


def test_no_workspace_is_a_link(root: Path) -> None:
    """A session's folder is resolved as it begins: what becomes a link later leads elsewhere."""
    link = root.parent / "link"
    link.symlink_to(root)
    check(root, str(link / "src/a.py"), "src/a.py")
    with pytest.raises(BadRequest, match="has become a link and leads to"):
        locate("src/a.py", link)


@pytest.mark.parametrize(
    "given", ["", "  ", "a\0b", "file:///etc/hosts", "a" * 5000, "a/" * 400, "\ud800"]
)
def test_odd_input_is_refused(root: Path, given: str) -> None:
    with pytest.raises(BadRequest):
        locate(given, root)


def test_a_link_to_itself_is_refused(root: Path) -> None:
    (root / "loop").symlink_to("loop")
    with pytest.raises(BadRequest, match="leads to itself"):
        locate("loop", root)


def test_a_name_too_long_for_the_disk_is_refused(root: Path) -> None:
    with pytest.raises(BadRequest, match="too long"):
        locate("n" * 300, root)


def test_names_that_are_not_utf8(root: Path) -> None:
    (root / os.fsdecode(b"caf\xe9")).write_text("x")
    place = locate(os.fsdecode(b"caf\xe9"), root)
    assert place.inside
    assert place.shown == r"caf\xe9"
    assert printable("naïve") == "naïve"


def test_what_lies_in_a_git_folder_is_known() -> None:
    assert in_git(Path("/w/.git/config"))
    assert not in_git(Path("/w/.github/x"))
    assert not in_git(Path("/w/.gitignore"))
