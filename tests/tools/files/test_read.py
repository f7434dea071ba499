"""read_file: the editor's text first, ranges, and errors that say what to do."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from sidecar.core.parts import Json
from sidecar.core.text.digest import bytes_hash
from sidecar.tools.runner import run_builtin
from sidecar.tools.tool_contract import ToolContext


async def check(context: ToolContext, given: Json, text: str, *, error: bool = False) -> None:
    answer = await run_builtin("read_file", given, context)
    assert (answer.text, answer.is_error) == (text, error)


async def test_a_file_is_read_whole(root: Path, context: ToolContext) -> None:
    (root / "a").write_bytes(b"\xef\xbb\xbf1\r\n2\r\n")
    (root / "empty").write_text("")
    (root / "latin").write_bytes(b"caf\xe9 au lait")
    await check(context, {"path": "a"}, "1\n2\n")
    await check(context, {"path": str(root / "a"), "whatever": 1}, "1\n2\n")
    await check(context, {"path": "empty"}, "[empty is empty]")
    await check(context, {"path": "latin"}, "caf\ufffd au lait")


async def test_a_whole_file_is_known_again_by_its_hash(root: Path, context: ToolContext) -> None:
    (root / "a").write_bytes(b"\xef\xbb\xbf1\r\ncaf\xe9\r\n")
    whole = await run_builtin("read_file", {"path": "a"}, context)
    assert whole.metadata["hash"] == bytes_hash((root / "a").read_bytes())
    part = await run_builtin("read_file", {"path": "a", "limit": 1}, context)
    assert "hash" not in part.metadata


async def test_a_part_of_a_file_is_read_and_where_it_goes_on_is_said(
    root: Path, context: ToolContext
) -> None:
    (root / "a").write_bytes(b"1\r\n2\n3\n4")
    await check(context, {"path": "a", "limit": 2}, "1\n2\n[lines 1 to 2; the file goes on at 3]")
    await check(context, {"path": "a", "offset": 3}, "3\n4")
    await check(
        context, {"path": "a", "offset": 2, "limit": 1}, "2\n[lines 2 to 2; the file goes on at 3]"
    )
    await check(context, {"path": "a", "offset": 9}, "The file has fewer than 9 lines.", error=True)


async def test_the_unsaved_buffer_is_read(root: Path, context: ToolContext) -> None:
    (root / "a").write_text("disk")
    context.buffers.set(root / "a", "one\r\ntwo\x0c\nthree", 1)
    context.buffers.set(root / "new", "not on disk yet", 1)
    await check(context, {"path": "a"}, "one\ntwo\x0c\nthree")
    await check(context, {"path": "a", "offset": 3}, "three")
    await check(
        context, {"path": "a", "offset": 2, "limit": 1},
        "two\x0c\n[lines 2 to 2; the file goes on at 3]",
    )  # fmt: skip
    await check(context, {"path": "new"}, "not on disk yet")


async def test_a_client_that_reads_files_is_asked(
    root: Path, with_editor: Callable[..., tuple[ToolContext, Any]]
) -> None:
    context, editor = with_editor(can_read_files=True)
    (root / "a").write_text("disk")
    (root / "b").write_text("only on disk")
    (root / "bin").write_bytes(b"\0")
    editor.texts[str(root / "a")] = "editor"
    await check(context, {"path": "a"}, "editor")
    await check(context, {"path": "b"}, "only on disk")
    asked = len(editor.asked)
    answer = await run_builtin("read_file", {"path": "bin"}, context)
    assert answer.is_error
    assert "binary" in answer.text
    assert len(editor.asked) == asked


async def test_a_missing_file_names_its_likes(root: Path, context: ToolContext) -> None:
    (root / "config.py").write_text("")
    await check(
        context, {"path": "confg.py"},
        "There is no file confg.py. Its folder has config.py.", error=True,
    )  # fmt: skip
    answer = await run_builtin("read_file", {"path": "no/where"}, context)
    assert "nor its folder" in answer.text
    answer = await run_builtin("read_file", {"path": "."}, context)
    assert answer.is_error
    assert "list_files" in answer.text


async def test_outside_only_what_was_granted(root: Path, context: ToolContext) -> None:
    secret = root.parent / "secret"
    secret.write_text("s")
    (root / "link").symlink_to(secret)
    for path in ("../secret", str(secret), "link"):
        answer = await run_builtin("read_file", {"path": path}, context)
        assert answer.is_error
        assert "outside of the workspace" in answer.text
    await check(replace(context, granted=(str(secret),)), {"path": "link"}, "s")


async def test_wrong_input_is_explained(context: ToolContext) -> None:
    usage = " The input of read_file is {path, offset?, limit?}."
    await check(context, {}, "`path` is missing." + usage, error=True)
    await check(context, None, "The input must be an object, not null." + usage, error=True)
    await check(context, {"path": 3}, "`path` must be a string, not a number." + usage, error=True)
    await check(
        context, {"path": "a", "offset": 0}, "`offset` must be at least 1, not 0." + usage,
        error=True,
    )  # fmt: skip
    await check(
        context, {"path": "a", "limit": "x"},
        "`limit` must be a whole number, not a string." + usage, error=True,
    )  # fmt: skip
    answer = await run_builtin("read_file", {"path": "a\0"}, context)
    assert "NUL" in answer.text
    answer = await run_builtin("nothing", {}, context)
    assert "There is no tool nothing" in answer.text
