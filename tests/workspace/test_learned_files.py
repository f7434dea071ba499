"""Files of what was learned, in a real workspace: written whole, never outside, never untrusted."""

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sidecar.core.conversation.fact import key_of
from sidecar.core.parts import SessionId
from sidecar.workspace.learned_files import MOST_READ, promote, read_learned
from tests.core.stated import stated

SES = SessionId("ses_1")
AT = 1_795_219_200_000


def fact(content: str, kind: Any = "decision") -> Any:
    return stated(content, kind, AT)


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


def learned(cwd: Path, name: str = "decisions") -> Path:
    return cwd / ".sidecar/learned" / f"{name}.md"


def test_each_kind_has_its_file(cwd: Path) -> None:
    kinds = ("decision", "error", "dependency", "constraint", "learning")
    facts = [*(fact(f"about {kind}", kind) for kind in kinds), fact("a file", "file_state")]
    assert promote(cwd, True, SES, facts) == {key_of(f"about {kind}") for kind in kinds}
    names = {path.name for path in learned(cwd).parent.iterdir()}
    assert names == {
        "decisions.md",
        "errors.md",
        "dependencies.md",
        "constraints.md",
        "learnings.md",
    }
    line = learned(cwd).read_text().splitlines()[-1]
    assert line.startswith("- about decision <!-- 2026-11-21 ses_1 turn_1 ")
    assert read_learned(cwd, True).keys() == set(kinds)
    assert stat.S_IMODE(learned(cwd).stat().st_mode) & 0o600 == 0o600


def test_an_untrusted_workspace_is_left_alone(cwd: Path) -> None:
    assert promote(cwd, False, SES, [fact("a")]) == frozenset()
    assert list(cwd.iterdir()) == []
    promote(cwd, True, SES, [fact("a")])
    assert read_learned(cwd, False) == {}


def test_nothing_stands_there_twice(cwd: Path) -> None:
    facts = [fact("Use pnpm."), fact("use `pnpm`"), fact("USE pnpm", "constraint")]
    assert promote(cwd, True, SES, facts) == {key_of("use pnpm")}
    assert learned(cwd).read_text().count("pnpm") == 1
    assert not learned(cwd, "constraints").exists()
    before = learned(cwd).stat()
    learned(cwd, "errors").write_text("Said by hand:\n\n* Never use npm\n")
    again = [fact("Use pnpm"), fact("never use npm", "learning")]
    assert promote(cwd, True, SES, again) == {key_of(f.content) for f in again}
    assert learned(cwd).stat() == before
    assert not learned(cwd, "learnings").exists()


def test_what_people_wrote_stays_byte_for_byte(cwd: Path) -> None:
    by_hand = b"\xef\xbb\xbf# Ours\r\n\r\ncaf\xe9 \r\n- one\r\n"
    learned(cwd).parent.mkdir(parents=True)
    learned(cwd).write_bytes(by_hand)
    learned(cwd).chmod(0o640)
    promote(cwd, True, SES, [fact("two")])
    now = learned(cwd).read_bytes()
    assert now.startswith(by_hand)
    assert now.removeprefix(by_hand).startswith(b"- two <!-- ")
    assert now.endswith(b" -->\r\n")
    assert stat.S_IMODE(learned(cwd).stat().st_mode) == 0o640
    assert "\ufffd" in read_learned(cwd, True)["decision"]
    assert [path.name for path in learned(cwd).parent.iterdir()] == ["decisions.md"]


@pytest.mark.parametrize("link", [".sidecar", ".sidecar/learned", ".sidecar/learned/decisions.md"])
def test_no_link_leads_out(cwd: Path, tmp_path: Path, link: str) -> None:
    outside = tmp_path / "outside"
    (outside / "learned").mkdir(parents=True)
    for name in ("decisions.md", "learned/decisions.md", "note.md"):
        (outside / name).write_text("- a secret\n")
    (cwd / link).parent.mkdir(parents=True, exist_ok=True)
    (cwd / link).symlink_to(outside / "note.md" if link.endswith(".md") else outside)
    assert promote(cwd, True, SES, [fact("a")]) == frozenset()
    assert read_learned(cwd, True) == {}
    assert {path.read_text() for path in outside.rglob("*.md")} == {"- a secret\n"}


@pytest.mark.parametrize("link", [".sidecar", ".sidecar/learned", ".sidecar/learned/decisions.md"])
def test_no_link_within_is_followed_either(cwd: Path, link: str) -> None:
    """It could lead to what a shell runs, or to instructions that every agent obeys."""
    (cwd / "other/learned").mkdir(parents=True)
    there = [
        cwd / name for name in ("AGENTS.md", "other/decisions.md", "other/learned/decisions.md")
    ]
    for file in there:
        file.write_text("- one\n")
    (cwd / link).parent.mkdir(parents=True, exist_ok=True)
    (cwd / link).symlink_to(there[0] if link.endswith(".md") else cwd / "other")
    assert promote(cwd, True, SES, [fact("two")]) == frozenset()
    assert read_learned(cwd, True) == {}
    assert {file.read_text() for file in there} == {"- one\n"}


def test_what_is_no_text_is_left_alone(cwd: Path) -> None:
    learned(cwd).parent.mkdir(parents=True)
    learned(cwd).write_bytes(b"\0\1\2")
    os.mkfifo(learned(cwd, "errors"))
    learned(cwd, "constraints").mkdir()
    learned(cwd, "learnings").write_text("- " + "x" * MOST_READ)
    learned(cwd, "dependencies").symlink_to("dependencies.md")
    kinds = ("decision", "error", "dependency", "constraint", "learning")
    assert promote(cwd, True, SES, [fact(kind, kind) for kind in kinds]) == frozenset()
    assert read_learned(cwd, True) == {}
    assert learned(cwd).read_bytes() == b"\0\1\2"


def test_a_file_in_the_way_is_left_alone(cwd: Path) -> None:
    (cwd / ".sidecar").write_text("a file")
    assert promote(cwd, True, SES, [fact("a")]) == frozenset()
    assert (cwd / ".sidecar").read_text() == "a file"


def test_many_at_once_lose_nothing(cwd: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        for number in range(40):
            pool.submit(promote, cwd, True, SES, [fact(f"number {number}")])
    lines = learned(cwd).read_text().splitlines()
    assert sum(line.startswith("- number ") for line in lines) == 40
