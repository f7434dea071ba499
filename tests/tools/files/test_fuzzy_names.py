"""Files found by a few letters of their paths, as `session/findFiles` gives them."""

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from threading import Event

import pytest

from sidecar.tools.files import fuzzy_names
from sidecar.tools.files.fuzzy_names import find_names
from sidecar.workspace.walk import TimeLeft


def lay(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")


async def found(root: Path, query: str, limit: int = 50) -> list[str]:
    names, partial = await find_names(root, query, limit)
    assert not partial
    return names


async def test_the_best_match_is_first(tmp_path: Path) -> None:
    lay(tmp_path, "src/composer.ts", "src/my_composer.ts", "composer/a.ts", "c/o/m/poser.md")
    lay(tmp_path, "src/c_o_m_p_o_s_e_r.ts", "zebra.ts")
    assert await found(tmp_path, "composer") == [
        "src/composer.ts",
        "src/my_composer.ts",
        "composer/a.ts",
        "src/c_o_m_p_o_s_e_r.ts",
        "c/o/m/poser.md",
    ]
    assert await found(tmp_path, " SRC/MyC ") == ["src/my_composer.ts"]
    assert await found(tmp_path, "composer", limit=1) == ["src/composer.ts"]
    assert await found(tmp_path, "no such letters") == []


async def test_no_letters_give_the_topmost_files(tmp_path: Path) -> None:
    lay(tmp_path, "a/b/c.py", "long name of a file.md", "a/d.py")
    assert await found(tmp_path, "") == ["long name of a file.md", "a/d.py", "a/b/c.py"]


async def test_ignored_files_and_what_links_lead_to_are_left_out(tmp_path: Path) -> None:
    root = tmp_path / "root"
    lay(root, ".git/HEAD", "kept.py", "built/kept.py", "node_modules/kept.py")
    (root / ".gitignore").write_text("built/\n")
    lay(tmp_path, "outside/kept.py")
    os.symlink(tmp_path / "outside", root / "link")
    assert await found(root, "kept") == ["kept.py"]


async def test_a_folder_that_is_gone_has_no_files(tmp_path: Path) -> None:
    assert await found(tmp_path / "none", "a") == []


async def test_a_large_folder_is_looked_at_in_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay(tmp_path, "a.py", "b.py", "c.py")
    monkeypatch.setattr(fuzzy_names, "MAX_WALKED", 2)
    assert await find_names(tmp_path, "py", 50) == (["a.py", "b.py"], True)
    monkeypatch.setattr(fuzzy_names, "SECONDS", 0.0)
    assert await find_names(tmp_path, "py", 50) == ([], True)


async def test_a_look_that_is_cancelled_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended = Event(), Event()

    def endless(_: Path, left: TimeLeft) -> Iterator[str]:
        begun.set()
        try:
            while left() > 0:
                yield "a.py"
        finally:
            ended.set()

    monkeypatch.setattr(fuzzy_names, "walk", endless)
    monkeypatch.setattr(fuzzy_names, "MAX_WALKED", 10_000_000_000)
    monkeypatch.setattr(fuzzy_names, "SECONDS", 60.0)
    task = asyncio.create_task(find_names(tmp_path, "zz", 1))
    assert await asyncio.to_thread(begun.wait, 10)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await asyncio.to_thread(ended.wait, 1)
