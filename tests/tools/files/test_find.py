"""list_files and search: by ripgrep where there is one, and the same without."""

import asyncio
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event

import pytest

from sidecar.core.parts import Json
from sidecar.tools.files import find
from sidecar.tools.runner import run_builtin
from sidecar.tools.tool_contract import ToolAnswer, ToolContext
from sidecar.workspace.snapshots import ignore_line, ignore_patterns
from sidecar.workspace.snapshots.ignore_line import Pattern
from sidecar.workspace.walk import TimeLeft
from tests.workspace.swapping import SECONDS, swapping


@pytest.fixture(params=["python", "ripgrep"])
def searching(request: pytest.FixtureRequest, context: ToolContext, tmp_path: Path) -> ToolContext:
    """A context whose PATH has no ripgrep, and one whose PATH has it."""
    if request.param == "python":
        return replace(context, environment={"PATH": str(tmp_path / "empty")})
    if shutil.which("rg") is None:
        pytest.skip("ripgrep is not installed")
    return context


def tree(root: Path, **texts: str) -> None:
    for name, text in texts.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


async def search(context: ToolContext, pattern: str, **more: Json) -> ToolAnswer:
    async with asyncio.timeout(30):
        return await run_builtin("search", {"pattern": pattern, **more}, context)


async def check(context: ToolContext, expected: str, pattern: str, **more: Json) -> None:
    assert (await search(context, pattern, **more)).text == expected


async def listed(context: ToolContext, **given: Json) -> str:
    return (await run_builtin("list_files", given, context)).text


async def test_what_is_no_file_is_refused_at_once(root: Path, searching: ToolContext) -> None:
    os.mkfifo(root / "pipe")
    start = time.monotonic()
    answer = await search(searching, "word", path="pipe")
    assert answer.is_error
    assert answer.text == "pipe is no file that can be searched: a pipe, a socket or a device."
    assert time.monotonic() - start < find.DEADLINE / 2


async def test_no_line_outside_is_found_while_a_folder_becomes_a_link(
    root: Path, searching: ToolContext
) -> None:
    tree(root, folder__inner__a_dot_txt="the word is ours\n")
    tree(root.parent / "outside", inner__a_dot_txt="the word is secret\n")
    (root / "link").symlink_to(root.parent / "outside")
    end, seen = time.monotonic() + SECONDS, set[str]()
    with swapping(root / "folder", root / "link"):
        while time.monotonic() < end:
            seen.add((await search(searching, "word")).text)
    assert any("ours" in text for text in seen)
    assert not any("secret" in text for text in seen)


@pytest.mark.parametrize("folder", ["", ".", "bin"])
async def test_no_program_of_the_workspace_is_run_to_search(
    folder: str, root: Path, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PATH may name the current folder, where nothing runs unless the workspace is trusted."""
    tree(
        root, a_dot_txt="a word\n", **{"bin__rg" if folder == "bin" else "rg": "#!/bin/sh\n>ran\n"}
    )
    (root / folder / "rg").chmod(0o755)
    monkeypatch.chdir(root)
    monkeypatch.setenv("PATH", folder + os.pathsep)
    untrusted = replace(context, trusted=False, environment=dict(os.environ))
    assert (await search(untrusted, "a word")).text == "a.txt:1: a word"
    assert not (root / "ran").exists()


async def test_where_nothing_is_trusted_no_program_searches(
    root: Path, context: ToolContext
) -> None:
    """One of a version manager's runs what a file of the folder names."""
    (root.parent / "shims").mkdir()
    shim = root.parent / "shims" / "rg"
    shim.write_text("#!/bin/sh\nexec ./$(cat .tool-versions)\n")
    shim.chmod(0o755)
    tree(root, a_dot_txt="a word\n")
    (root / ".tool-versions").write_text("own-rg")
    (root / "own-rg").write_text(f"#!/bin/sh\ntouch {root}/ran\n")
    (root / "own-rg").chmod(0o755)
    path = f"{shim.parent}{os.pathsep}{os.environ['PATH']}"
    for trusted in (False, True):
        given = replace(context, trusted=trusted, environment={**os.environ, "PATH": path})
        found = await search(given, "a word")
        assert (root / "ran").exists() == trusted
        assert trusted or found.text == "a.txt:1: a word"


async def test_ripgrep_is_run_with_the_variables_of_the_window(
    root: Path, context: ToolContext
) -> None:
    (root.parent / "bin").mkdir()
    ripgrep = root.parent / "bin" / "rg"
    ripgrep.write_text('#!/bin/sh\necho "$MINE|$MY_TOKEN" > ran\n')
    ripgrep.chmod(0o755)
    path = f"{ripgrep.parent}{os.pathsep}{os.environ['PATH']}"
    mine = {"PATH": path, "MINE": "yes", "MY_TOKEN": "hidden-from-programs"}
    await search(replace(context, environment=mine), "a word")
    assert (root / "ran").read_text() == "yes|\n"


async def test_files_are_listed_by_folder_and_pattern(root: Path, context: ToolContext) -> None:
    tree(root, src__a_dot_py="", src__deep__b_dot_py="", node_modules__c_dot_py="", _dot_env="")
    tree(root, _dot_gitignore="*.log\n", x_dot_log="")
    assert await listed(context) == ".env\n.gitignore\nnode_modules/\nsrc/\nx.log"
    assert await listed(context, path="src") == "a.py\ndeep/"
    assert await listed(context, pattern="*.py") == "src/a.py\nsrc/deep/b.py"
    assert await listed(context, path="src", pattern="*.py") == "a.py\ndeep/b.py"
    assert await listed(context, pattern="*.log") == "[no file below . matches *.log]"
    (root / "none").mkdir()
    assert await listed(context, path="none") == "[empty folder]"
    assert (await run_builtin("list_files", {"path": ".."}, context)).is_error
    assert (await run_builtin("list_files", {"path": "x.log"}, context)).text == (
        "x.log: is no folder."
    )


async def test_long_listings_are_cut(root: Path, context: ToolContext) -> None:
    for number in range(find.MAX_LISTED + 5):
        (root / f"{number:05}").touch()
    for given in ({}, {"pattern": "*"}):
        lines = (await listed(context, **given)).split("\n")
        assert len(lines) == find.MAX_LISTED + 1
        assert "more than 1000" in lines[-1]


async def test_names_that_are_not_utf8(root: Path, searching: ToolContext) -> None:
    (root / os.fsdecode(b"caf\xe9")).write_text("needle\n")
    assert await listed(searching) == r"caf\xe9"
    await check(searching, r"caf\xe9:1: needle", "needle")


async def test_lines_are_found_in_all_files_that_are_not_ignored(
    root: Path, searching: ToolContext
) -> None:
    tree(
        root, a_dot_py="one\ntwo needle\n", sub__b_dot_py="needle (here)\r\nend", c_dot_js="needle"
    )
    tree(root, _dot_gitignore="*.log\nout/\n", x_dot_log="needle", out__y_dot_py="needle")
    tree(root, node_modules__z="needle", _dot_hidden="needle")
    (root / "binary").write_bytes(b"needle\0needle")
    (root / "link").symlink_to(root / "a.py")
    check_all = ".hidden:1: needle\na.py:2: two needle\nc.js:1: needle\nsub/b.py:1: needle (here)"
    await check(searching, check_all, "needle")
    await check(searching, "sub/b.py:1: needle (here)", r"needle \(")
    await check(searching, "sub/b.py:1: needle (here)", r"\)$")
    await check(searching, "c.js:1: needle", "needle", glob="*.{js,ts}")
    await check(searching, "a.py:2: two needle\nsub/b.py:1: needle (here)", "needle", glob="*.py")
    await check(searching, "[nothing in . matches needle]", "needle", glob="*.log")
    await check(searching, "sub/b.py:1: needle (here)", "needle", path="sub")
    await check(searching, "sub/b.py:1: needle (here)", "needle", path="sub/b.py")
    await check(searching, "x.log:1: needle", "needle", path="x.log")
    await check(searching, "[nothing in . matches absent]", "absent")
    # What only one of the dialects knows works with either.
    await check(searching, "a.py:2: two needle", r"(?<=two )needle")


async def test_an_ignored_folder_is_searched_when_asked_for(
    root: Path, searching: ToolContext
) -> None:
    (root / ".git").mkdir()
    tree(root, _dot_gitignore="out/\n*.log\n", out__deep__a="needle", out__b_dot_log="needle")
    tree(root, sub__a="needle", sub__b_dot_log="needle", node_modules__x__y="needle")
    await check(searching, "sub/a:1: needle", "needle")
    await check(searching, "sub/a:1: needle", "needle", path="sub")
    await check(searching, "out/b.log:1: needle\nout/deep/a:1: needle", "needle", path="out")
    await check(searching, "out/deep/a:1: needle", "needle", path="out/deep", glob="a")
    await check(searching, "node_modules/x/y:1: needle", "needle", path="node_modules")
    assert await listed(searching, path="out", pattern="*") == "b.log\ndeep/a"


async def test_rules_above_do_not_count_outside_of_git(root: Path, searching: ToolContext) -> None:
    tree(root, _dot_gitignore="*.log\n", sub__b_dot_log="needle")
    await check(searching, "sub/b.log:1: needle", "needle", path="sub")


async def test_all_matches_are_counted_unless_there_are_too_many(
    root: Path, searching: ToolContext
) -> None:
    tree(root, a="x\nx\nx\n", b="x\n")
    answer = await search(searching, "x", limit=2)
    assert answer.text == "a:1: x\na:2: x\n[… more than 2 lines match; narrow the search]"
    answer = await search(searching, "x")
    assert answer.metadata == {"path": ".", "matches": 4, "files": 2}


async def test_unsaved_text_is_searched(root: Path, searching: ToolContext) -> None:
    tree(root, a="old needle\n", b="needle\n", _dot_gitignore="ignored\n", ignored="needle")
    searching.buffers.set(root / "a", "new text\nunsaved needle", 1)
    searching.buffers.set(root / "0new", "needle", 1)
    searching.buffers.set(root / "ignored", "needle", 1)
    searching.buffers.set(root.parent / "elsewhere", "needle", 1)
    await check(searching, "0new:1: needle\na:2: unsaved needle\nb:1: needle", "needle")
    await check(searching, "a:2: unsaved needle", "needle", path="a")


@pytest.mark.parametrize("glob", [None, "*.txt"])
async def test_what_a_rule_keeps_back_is_left_out(
    root: Path, searching: ToolContext, glob: str | None
) -> None:
    tree(root, kept__a_dot_txt="needle", kept__b_dot_txt="needle", seen__c_dot_txt="needle")
    searching.buffers.set(root / "kept/b.txt", "unsaved needle", 1)
    asked: list[tuple[str, str]] = []

    def is_kept(path: str, shown: str, spelt: tuple[str, ...]) -> bool:
        assert spelt == ()
        asked.append((path, shown))
        return "kept/" in shown

    context = replace(searching, kept_back=lambda: is_kept)
    more: dict[str, Json] = {} if glob is None else {"glob": glob}
    await check(context, "seen/c.txt:1: needle", "needle", **more)
    await check(context, "seen/c.txt:1: needle", "needle", path="seen", **more)
    assert {path for path, _ in asked} == {str(root / shown) for _, shown in asked}


async def test_long_lines_are_cut(root: Path, searching: ToolContext) -> None:
    tree(root, a="needle" + "é" * 100_000)
    (line,) = (await search(searching, "needle")).text.split("\n")
    assert 400 < len(line) < 600


async def test_a_slow_pattern_holds_up_nothing(
    root: Path, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find, "DEADLINE", 0.5)
    tree(root, a="a" * 60 + "b")
    slow = replace(context, environment={})
    looks = 0

    async def watch() -> None:
        nonlocal looks
        while True:
            await asyncio.sleep(0.005)
            looks += 1

    async with asyncio.TaskGroup() as group:
        watching = group.create_task(watch())
        answer = await search(slow, r"(a|aa|a+)+$")
        watching.cancel()
    assert "took too long" in answer.text
    assert looks > 10


async def test_many_slow_searches_keep_no_thread_from_other_work(
    root: Path, context: ToolContext
) -> None:
    tree(root, a="\n".join(["a" * 60 + "b"] * 99))
    slow = replace(context, environment={})
    running = [asyncio.create_task(search(slow, r"(a|aa|a+)+$")) for _ in range(60)]
    await asyncio.sleep(0.3)
    await asyncio.wait_for(asyncio.to_thread(int), 5)
    for task in running:
        task.cancel()
    await asyncio.wait(running)


async def test_cancelling_stops_the_thread(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    began, ended = Event(), Event()

    def walk(_: Path, left: TimeLeft) -> Iterator[str]:
        began.set()
        try:
            while left() > 0:
                time.sleep(0.001)
                yield "another"
        finally:
            ended.set()

    monkeypatch.setattr(find, "walk", walk)
    monkeypatch.setattr(find, "DEADLINE", 60)
    async with asyncio.TaskGroup() as group:
        running = group.create_task(listed(context, pattern="none"))
        assert await asyncio.to_thread(began.wait, 5)
        running.cancel()
    assert await asyncio.to_thread(ended.wait, 5)


async def test_folders_that_hold_nothing_take_time_as_well(
    root: Path, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(find, "DEADLINE", 0.0)
    for name in "abc":
        (root / name).mkdir()
    assert "took too long" in await listed(context, pattern="*.py")
    assert "took too long" in (await search(replace(context, environment={}), "word")).text


async def test_a_file_of_rules_is_parsed_once_in_a_search(
    root: Path, searching: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed = list[str]()

    def counted(line: str) -> Pattern | None:
        parsed.extend([line] if line.startswith("x") else [])
        return ignore_line.parsed(line)

    monkeypatch.setattr(ignore_patterns, "parsed", counted)
    rules = "".join(f"x{n}\n" for n in range(ignore_patterns.MOST_PATTERNS)) + "late\n"
    for folder in "ab":
        names = [f"{folder}__{name}" for name in ("c", "d__e", "late")]
        tree(root, **dict.fromkeys(names, "word"), **{f"{folder}___dot_gitignore": "#\n" + rules})
    found = (await search(searching, "word", glob="[a-z]*")).text
    assert [line.partition(":")[0] for line in found.split("\n")] == [
        "a/c", "a/d/e", "a/late", "b/c", "b/d/e", "b/late"
    ]  # fmt: skip
    assert len(parsed) == ignore_patterns.MOST_PATTERNS


@pytest.mark.parametrize(
    "pattern",
    [
        "(?:a{1000}){e<1}{1000}",
        "(?:a{3000}){3000}",
        "a{4000000}",
        "(?:(?:a{50}){50}){50}",
        "[ab]{9999999}",
        f"[{''.join(map(chr, range(0x4E00, 0x5500)))}]{{48000}}",
    ],
)
async def test_a_pattern_that_would_be_written_out_to_gigabytes_is_refused(
    pattern: str, root: Path, context: ToolContext
) -> None:
    (root / "a").write_text("aaaa-11-0f0f\n")
    answer = await search(context, pattern)
    assert answer.is_error
    assert "repeats over 100,000 pieces" in answer.text
    await check(context, "a:1: aaaa-11-0f0f", r"a{4}-(?:\d{1}){2}-[0-9a-f]{4}|[0-9a-f]{900}")


async def test_bad_patterns_are_explained(context: ToolContext) -> None:
    for pattern in (
        "(",
        "[",
        "x" * 3000,
        "*",
        "(?R)",
        "(?P<x>(?&x)a|b)",
        "(?ix)a {9} {9}",
        "(?if)[ß-ﬆ]",
        "(?V1i)a",
    ):
        answer = await search(context, pattern)
        assert answer.is_error
        assert "pattern" in answer.text or "regular expression" in answer.text
    answer = await search(context, "x", glob="!")
    assert "glob" in answer.text
    answer = await search(context, "x", path="missing")
    assert answer.text == "missing: does not exist."
    answer = await search(context, "x", path="/etc")
    assert "outside" in answer.text


async def test_many_stars_and_folders_take_no_time(root: Path, searching: ToolContext) -> None:
    """Five of `**` and a hundred folders took minutes."""
    deep = "/".join("a" * 60)
    (root / deep).mkdir(parents=True)
    (root / deep / "c").write_text("word")
    (root / ".gitignore").write_text("a/**/" * 9 + "b\n")
    assert (
        await listed(searching, pattern="a/**/" * 9 + "b")
        == f"[no file below . matches {'a/**/' * 9}b]"
    )
    assert await listed(searching, pattern="a/**/" * 9 + "c") == f"{deep}/c"
    await check(searching, f"{deep}/c:1: word", "word")


async def test_a_pattern_that_looks_like_an_option(root: Path, searching: ToolContext) -> None:
    tree(root, a="--files -x\n")
    await check(searching, "a:1: --files -x", "--files")
    await check(searching, "a:1: --files -x", "-x", path="a")
