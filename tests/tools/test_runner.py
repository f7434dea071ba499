"""The catalogue, todo, recall, and how calls are described before they run."""

import json
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from sidecar.core.errors import BadRequest
from sidecar.core.files.authorship import Intent
from sidecar.core.parts import Json
from sidecar.core.prompt.prompt import ToolSpec
from sidecar.tools import delegate, shell
from sidecar.tools.access import access
from sidecar.tools.builtin_tools import BUILTIN, BY_NAME, kept_end, signature
from sidecar.tools.files import find, reach
from sidecar.tools.mcp import mcp_bounds
from sidecar.tools.runner import TOOLS, run_builtin
from sidecar.tools.tool_contract import (
    Access,
    TerminalEnd,
    Terminals,
    ToolContext,
    Unfollowed,
)
from tests.tools.conftest import Editor


def test_the_catalogue_is_sorted_and_complete() -> None:
    names = [spec.name for spec in BUILTIN]
    assert names == sorted(names)
    assert set(names) == set(TOOLS)
    assert {spec.name: signature(spec) for spec in BUILTIN} == {
        "delegate": "{task, context?, tools?}",
        "edit_file": "{path, oldText, newText, replaceAll?}",
        "list_files": "{path?, pattern?}",
        "read_file": "{path, offset?, limit?}",
        "recall": "{id, offset?, limit?, pattern?}",
        "search": "{pattern, path?, glob?, limit?}",
        "shell": "{command, timeoutMs?, cwd?}",
        "todo": "{items}",
        "write_file": "{path, content}",
    }
    assert all(len(json.dumps(spec.input_schema)) < 1500 for spec in BUILTIN)
    assert [spec.name for spec in BUILTIN if kept_end(spec) == "head"] == [
        "list_files", "read_file", "search",
    ]  # fmt: skip


def test_a_call_names_the_files_and_folders_that_it_touches(
    root: Path, context: ToolContext
) -> None:
    def check(tool: str, given: Json, expected: Access) -> None:
        assert access(BY_NAME[tool], given, context) == expected

    real, above = str(root), str(root.parent)
    check("read_file", {"path": "a"}, Access("read", "Read a", (f"{real}/a",), shown=("a",)))
    check("list_files", {}, Access("search", "List .", (real,), shown=(".",)))
    check(
        "search", {"pattern": "x", "path": ".."},
        Access("search", f"Search {above}", (above,), (above,), shown=(above,)),
    )  # fmt: skip
    check(
        "shell", {"command": "ls -l"},
        Access("execute", "Run ls -l", (real,), (), "ls -l", ("ls", "-l"), shown=(".",)),
    )  # fmt: skip
    check("todo", {"items": []}, Access("other", "todo"))
    spec = ToolSpec("theirs", "", {}, kind="edit", origin="client")
    assert access(spec, {"n": 1, "file": "x\ny"}, context) == Access("edit", "theirs x")
    assert access(spec, None, context) == Access("edit", "theirs")


async def test_a_plan_is_shown_with_what_is_done(context: ToolContext) -> None:
    items: Json = [
        {"content": "one", "status": "completed"},
        {"content": "two", "status": "in_progress", "extra": 1},
        {"content": "three", "status": "pending"},
    ]
    answer = await run_builtin("todo", {"items": items}, context)
    assert answer.text == "[x] one\n[~] two\n[ ] three"
    assert answer.title == "1 of 3 done"
    assert answer.metadata["items"] == [
        {"content": "one", "status": "completed"},
        {"content": "two", "status": "in_progress"},
        {"content": "three", "status": "pending"},
    ]
    assert (await run_builtin("todo", {"items": []}, context)).text == "[empty list]"


async def test_todo_says_which_item_is_wrong(context: ToolContext) -> None:
    async def said(items: Json) -> str:
        answer = await run_builtin("todo", {"items": items}, context)
        assert answer.is_error
        return answer.text

    good: Json = {"content": "x", "status": "pending"}
    assert "array, not a string" in await said("x")
    assert await said([good, 3]) == "Item 1: The input must be an object, not a number."
    assert "Item 0: `status` is missing" in await said([{"content": "x"}])
    assert "must be one of pending, in_progress, completed, not 'done'" in await said(
        [{"content": "x", "status": "done"}]
    )
    assert "more than 200" in await said([good] * 201)


async def test_what_was_left_out_is_recalled_by_its_part(context: ToolContext) -> None:
    asked: list[tuple[str, int, int | None, str | None]] = []

    async def recall(part: str, offset: int, limit: int | None, pattern: str | None) -> str:
        asked.append((part, offset, limit, pattern))
        if part == "part_2":
            raise BadRequest("nothing has this id")
        return "found" if pattern is None else ""

    recalling = replace(context, recall=recall, trusted=False)
    assert (await run_builtin("recall", {"id": "part_1"}, recalling)).text == "found"
    given: Json = {"id": "part_1", "offset": 5.0, "limit": 9, "pattern": "x"}
    assert (await run_builtin("recall", given, recalling)).text == "[no line matches]"
    assert asked == [("part_1", 0, None, None), ("part_1", 5, 9, "x")]
    failed = await run_builtin("recall", {"id": "part_2"}, recalling)
    assert (failed.is_error, failed.text) == (True, "nothing has this id")


async def test_a_call_that_would_touch_anything_else_by_now_does_not_run(
    root: Path, context: ToolContext
) -> None:
    (root / "a").symlink_to("a")
    (root / "b").symlink_to(root / "c")
    (root / "c").mkdir()
    calls: list[tuple[str, Json]] = [
        ("write_file", {"path": "a", "content": "x"}),
        ("shell", {"command": "touch P", "cwd": "b"}),
        ("shell", {"command": "cat b/passwd"}),
    ]
    decided = [access(BY_NAME[name], given, context) for name, given in calls]
    assert decided[0].problem
    for name in ("a", "b"):
        (root / name).unlink()
    (root / "b").symlink_to("/etc")
    said = ("leads to itself", "leads outside", "changed since")
    for (name, given), wanted, why in zip(calls, decided, said, strict=True):
        answer = await run_builtin(name, given, context, wanted)
        assert answer.is_error
        assert why in answer.text
    assert not (root / "a").exists()


@pytest.mark.parametrize("client", [None, Editor(can_write_files=True)])
async def test_a_call_does_not_run_if_a_link_moves_while_its_changes_begin_to_be_followed(
    client: Editor | None, root: Path, context: ToolContext
) -> None:
    """As by another command of the same answer, while a snapshot is taken."""
    (root / "data").mkdir()
    (root / "data" / "a.py").write_text("x")
    elsewhere = root.parent / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "a.py").write_text("theirs")

    class Swapped(Unfollowed):
        def editing(self, real: Path, text: str) -> AbstractAsyncContextManager[None]:
            return self.running(Intent())

        @asynccontextmanager
        async def running(self, call: Intent) -> AsyncIterator[None]:
            (root / "data").rename(root / "was")
            (root / "data").symlink_to(elsewhere)
            try:
                yield
            finally:
                (root / "data").unlink()
                (root / "was").rename(root / "data")

    calls: list[tuple[str, Json]] = [
        ("shell", {"command": "rm data/a.py"}),
        ("write_file", {"path": "data/a.py", "content": "ours"}),
    ]
    swapped = replace(context, client=client, changes=Swapped())
    for name, given in calls:
        decided = access(BY_NAME[name], given, context)
        answer = await run_builtin(name, given, swapped, decided)
        assert answer.is_error
        assert "changed since" in answer.text
    assert (elsewhere / "a.py").read_text() == "theirs"
    assert client is None or client.asked == []


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("edit_file", {"path": "a.py", "oldText": "PASSWORD=?", "newText": "y"}),
        ("write_file", {"path": "a.py", "content": "PASSWORD=ours"}),
        ("read_file", {"path": "a.py"}),
        ("search", {"path": "a.py", "pattern": "PASSWORD"}),
        ("list_files", {"path": "sub"}),
        ("shell", {"command": "cat key.txt", "cwd": "sub"}),
    ],
)
async def test_a_call_reaches_no_other_place_of_the_workspace_than_was_decided_on(
    name: str, given: Json, root: Path, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a rule keeps that place, and a link leads there for the moment of a look alone."""
    for path, text in (("secrets/key.txt", "PASSWORD=theirs"), ("sub/key.txt", ""), ("a.py", "")):
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    locate, decided = reach.locate, access(BY_NAME[name], given, context)

    def for_a_moment(path: str, cwd: Path) -> object:
        (root / path).rename(root / "was")
        (root / path).symlink_to("secrets" if path == "sub" else "secrets/key.txt")
        try:
            return locate(path, cwd)
        finally:
            (root / path).unlink()
            (root / "was").rename(root / path)

    monkeypatch.setattr(reach, "locate", for_a_moment)
    answer = await run_builtin(name, given, context, decided)
    assert (answer.is_error, "theirs" in answer.text) == (True, False)
    assert "changed since" in answer.text
    assert (root / "secrets/key.txt").read_text() == "PASSWORD=theirs"


def test_limits_are_those_that_the_model_is_told() -> None:
    usual, most = shell.DEFAULT_TIMEOUT_MS, shell.MAX_TIMEOUT_MS
    assert f"Default {usual}, at most {most}." in str(BY_NAME["shell"].input_schema)
    assert f"Default {find.DEFAULT_MATCHES}." in str(BY_NAME["search"].input_schema)
    assert f"at most {delegate.MOST_TOKENS:,} tokens" in BY_NAME["delegate"].description


def test_tools_of_a_server_take_a_third_of_a_usual_window_at_most() -> None:
    tokens = mcp_bounds.MOST_OF_ALL / 3.2
    assert 0.3 < tokens / 128_000 < 1 / 3
    figures = (mcp_bounds.MOST_TOOLS, mcp_bounds.MOST_DESCRIPTION, mcp_bounds.MOST_SCHEMA)
    assert figures == (128, 4_000, 16 * 1024)


async def test_a_terminal_has_no_program_for_git_to_run(context: ToolContext) -> None:
    ran: list[Any] = []

    class Kept:
        async def run(
            self, _: object, __: object, command: tuple[str, ...], *___: object
        ) -> object:
            ran.append(command)
            return TerminalEnd("", 0)

    given = {**context.environment, "GIT_EXTERNAL_DIFF": "./x"}
    editor = Editor(terminals=cast("Terminals", Kept()))
    inside = replace(context, client=editor, environment=given)
    await run_builtin("shell", {"command": "git diff"}, inside)
    (command,) = ran
    assert command[:3] == ("/usr/bin/env", "-u", "GIT_EXTERNAL_DIFF")
    assert command[-2:] == ("-c", "git diff")
