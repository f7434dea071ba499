"""Lines of rule files match as git's do, and take no time that grows with their stars."""

import random
import re
import subprocess
from pathlib import Path

import pytest

from sidecar.workspace.snapshots.ignore_line import parsed
from sidecar.workspace.walk import walk

SIGNS = (
    *"aab//*?-!]#. ", "**", "**/", "/**", "[ab]", "[!a]", "[^a]", "[]a]", "[!]b]", "[a-]", "[b-a]",
    "[a-b-]", "[[:alpha:]]", "[[:digit:]b]", "[[:no:]]", "[[:]", "[/]", "[a/]", "[!/]", "[\\]]",
    "[+--]", "[", "\\", "\\*", "\\a", "\\/", "\\ ", "é",
)  # fmt: skip
NAMES = ("a", "b", "ab", "-", "]a", "#a", "!a", "a b", "a ", "*", "é.a", ".b", "aab-a")
FOLDERS = ("", "b/", "b/a/", "a.b/", "a.b/aa/b/", "aa/aa/aa/")
"""Each holds all names but those that are folders."""


def line(chance: random.Random) -> str:
    text = "".join(chance.choices(SIGNS, k=chance.randint(1, 8)))
    # Of `**` beside letters git compares addresses of memory; its manual says a star.
    return re.sub(r"(?<=[^/])\*\*+|\*\*+(?=[^/])", "*", text)


def compare(root: Path, seed: int, folders: int = 60) -> None:
    """Has git and the walk list many small trees, each with lines of its own."""
    chance = random.Random(seed)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    for number in range(folders):
        top = root / f"t{number}"
        for folder in FOLDERS:
            (top / folder).mkdir(parents=True, exist_ok=True)
        for folder in FOLDERS:
            for name in NAMES:
                if not (top / folder / name).is_dir():
                    (top / folder / name).touch()
        lines = [line(chance) for _ in range(chance.choice((1, 1, 2, 4)))]
        (top / ".gitignore").write_text("\n".join(lines) + chance.choice(("\n", "\r\n", "")))
    asked = ["git", "-c", "core.precomposeUnicode=false", "ls-files", "-oz", "--exclude-standard"]
    listed = subprocess.run(asked, cwd=root, check=True, stdout=-1).stdout.decode().split("\0")[:-1]
    ours, theirs = set(walk(root)), set(listed)
    differing = sorted(path.split("/")[0] for path in ours ^ theirs)
    assert not differing, (
        (root / differing[0] / ".gitignore").read_bytes(),
        sorted(path for path in ours ^ theirs if path.startswith(differing[0] + "/"))[:4],
    )


@pytest.mark.parametrize("seed", range(4))
def test_they_match_as_gits(tmp_path: Path, seed: int) -> None:
    compare(tmp_path, seed)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 130))
def test_many_more_match_as_gits(tmp_path: Path, seed: int) -> None:
    compare(tmp_path, seed)


@pytest.mark.parametrize("step", ["*a", "*?", "*[ab]", "a*", "*[]a]", "*[!]b]", "*[[:alpha:]]"])
def test_many_stars_take_no_time(step: str) -> None:
    """Twelve took hours."""
    found = parsed(step * 12 + "@")
    assert found
    assert not found.regex.match("a" * 200)


@pytest.mark.parametrize("start", ["", "**/", "/"])
def test_many_double_stars_take_no_time(start: str) -> None:
    found = parsed(start + "a/**/" * 9 + "b")
    assert found
    assert not found.regex.match("a/" * 400 + "c")
    assert found.regex.match("a/" * 400 + "b")


def test_two_stars_beside_letters_are_one() -> None:
    found = parsed("a**/b")
    assert found
    assert found.regex.match("aa/b")
    assert not found.regex.match("a/a/b")
