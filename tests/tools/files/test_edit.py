"""write_file and edit_file: exact, unique, through the editor where it can, never outside."""

import asyncio
import os
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.errors import BadRequest
from sidecar.core.parts import Json
from sidecar.core.text.digest import bytes_hash
from sidecar.tools.files.edit import foreseen, replaced
from sidecar.tools.runner import run_builtin
from sidecar.tools.tool_contract import ToolAnswer, ToolContext, Unfollowed


async def edit(context: ToolContext, old: str, new: str, **more: Json) -> ToolAnswer:
    given: dict[str, Json] = {"path": "a", "oldText": old, "newText": new, **more}
    return await run_builtin("edit_file", given, context)


async def write(context: ToolContext, path: str, content: str) -> ToolAnswer:
    return await run_builtin("write_file", {"path": path, "content": content}, context)


@pytest.mark.parametrize(
    ("text", "old", "new", "result"),
    [
        ("a\nb\nc\n", "b", "X", "a\nX\nc\n"),
        ("no newline", "newline", "end", "no end"),
        ("a\r\nb\r\nc\r\n", "a\nb\n", "x\ny\nz\n", "x\r\ny\r\nz\r\nc\r\n"),
        ("a\r\nb\r\n", "b", "x\ny", "a\r\nx\r\ny\r\n"),
        ("a\nb\n", "a\r\nb", "x\r\ny", "x\r\ny\n"),
        ("a\r\nb\n", "a\nb\n", "c\n", "c\n"),
        ("(.*)\\1", "(.*)", "\\1", "\\1\\1"),
    ],
)
def test_a_text_that_stands_once_is_replaced(text: str, old: str, new: str, result: str) -> None:
    assert replaced(text, old, new) == result


@given(st.lists(st.sampled_from(["a", "b", "\n", "\r\n", "\r"]), max_size=14), st.data())
def test_line_ends_count_alike_as_a_pattern_finds_them(
    pieces: list[str], data: st.DataObject
) -> None:
    text = "".join(pieces)
    start = data.draw(st.integers(0, len(text)))
    old = text[start : data.draw(st.integers(start, len(text)))].replace("\r\n", "\n")
    pattern = re.escape(old.replace("\r\n", "\n")).replace("\\\n", "\r?\n")
    # Half of a line end is found no more.
    if "\n" not in old or old in text or "\r" in old or not re.search(pattern, text):
        return
    expected = re.sub(pattern, "X", text)
    assert replaced(text, old, "X", everywhere=True) == expected


def test_a_run_of_line_ends_is_looked_through_at_once() -> None:
    """By a regular expression it took hours."""
    with pytest.raises(BadRequest, match="oldText"):
        replaced("\n" * 1_000_000, "\n" * 20_000 + "x", "y")


def test_a_text_is_replaced_everywhere_where_that_is_asked_for() -> None:
    assert replaced("aXbXc", "X", "", everywhere=True) == "abc"
    assert replaced("aaaa", "aa", "b", everywhere=True) == "bb"


def test_no_edit_makes_a_file_larger_than_can_be_edited() -> None:
    text = "a" * 20_000
    with pytest.raises(BadRequest, match="over 16,777,216 characters"):
        replaced(text, "a", "b" * 50_000, everywhere=True)
    assert len(replaced(text, "a", "b" * 800, everywhere=True)) == 16_000_000


def test_at_most_so_many_places_are_replaced_at_once() -> None:
    assert replaced("a\n" * 100_000, "a", "b", everywhere=True) == "b\n" * 100_000
    with pytest.raises(BadRequest, match=r"over 100,000 times"):
        replaced("a\n" * 100_001, "a", "b", everywhere=True)


@given(st.text("ab\n", min_size=1, max_size=8), st.text("abc\n"), st.text("abc\n\r"))
def test_replacing_everywhere_is_what_python_does(old: str, new: str, text: str) -> None:
    if "\r" in text or old not in text:
        return
    assert replaced(text, old, new, everywhere=True) == text.replace(old, new)


def test_a_refused_edit_says_where_to_look() -> None:
    with pytest.raises(BadRequest, match=re.escape("occurs 3 times (at lines 1, 2, 4)")):
        replaced("x\nx\ny\nx", "x", "z")
    with pytest.raises(BadRequest, match="nearest lines are:\n2:     return one"):
        replaced("def f():\n    return one\n", "  return  one", "x")
    with pytest.raises(BadRequest, match="Read the file again"):
        replaced("abc", "zzzzzz", "x")


async def test_an_edit_keeps_the_mode_and_says_what_it_changed(
    root: Path, context: ToolContext
) -> None:
    (root / "a").write_text("1\n2\n3\n")
    (root / "a").chmod(0o755)
    answer = await edit(context, "2", "two\nzwei")
    assert (root / "a").read_text() == "1\ntwo\nzwei\n3\n"
    assert (root / "a").stat().st_mode & 0o777 == 0o755
    assert answer.text == "Changed a (+2 -1 lines)."
    assert answer.metadata == {
        "path": "a",
        "diff": "--- a/a\n+++ b/a\n@@ -1,3 +1,4 @@\n 1\n-2\n+two\n+zwei\n 3\n",
        "additions": 2,
        "deletions": 1,
        "created": False,
        "hash": bytes_hash((root / "a").read_bytes()),
    }


async def test_the_hash_is_of_the_file_as_it_stands_on_disk(
    root: Path, context: ToolContext
) -> None:
    (root / "a").write_bytes(b"\xef\xbb\xbfone\r\n\xff two\r\n")
    answer = await edit(context, "one", "1\n2")
    assert answer.metadata["hash"] == bytes_hash((root / "a").read_bytes())


async def test_bad_edits_change_nothing(root: Path, context: ToolContext) -> None:
    (root / "a").write_text("xx")
    for old, new, word in (("", "a", "empty"), ("x", "x", "same"), ("x", "y", "2 times")):
        answer = await edit(context, old, new)
        assert answer.is_error
        assert word in answer.text
    assert (root / "a").read_text() == "xx"
    await edit(context, "x", "y", replaceAll=True)
    assert (root / "a").read_text() == "yy"
    answer = await edit(context, "\ud800", "y")
    assert "not valid Unicode" in answer.text


async def test_bytes_that_are_no_utf8_survive_an_edit(root: Path, context: ToolContext) -> None:
    (root / "a").write_bytes(b"caf\xe9 au lait, two sugars please")
    assert not (await edit(context, "two", "no")).is_error
    assert (root / "a").read_bytes() == b"caf\xe9 au lait, no sugars please"


@pytest.mark.parametrize(
    ("held", "content", "said"),
    [
        (bytes(range(256)) * 400, "hi\n", "nobody could see what would go"),
        ("a;b\n1;2\n".encode("utf-16"), "hi\n", "nobody could see what would go"),
        (b"line of text\n" * 1_400_000, "hi\n", "nobody could see what would go"),
        ("/* Größe, which is kept */\nend=1\n".encode("latin-1") * 9,
         "/* Gr\ufffd\ufffde, which is kept */\nend=2\n" * 9, "Use edit_file"),
    ],
    ids=["binary", "UTF-16", "long", "Latin-1"],
)  # fmt: skip
async def test_what_no_question_could_show_is_not_replaced(
    root: Path, context: ToolContext, held: bytes, content: str, said: str
) -> None:
    (root / "a").write_bytes(held)
    answer = await write(context, "a", content)
    assert answer.is_error
    assert said in answer.text
    assert (root / "a").read_bytes() == held


@pytest.mark.parametrize(
    ("before", "after"),
    [("SAFE=1\nA=1\n", "\ufeffSAFE=1\nA=2\n"), (None, "A=1\r\nB=2\r\n"), ("", "A=1\r\n")],
)
async def test_a_question_shows_a_mark_or_line_ends_that_come_by_it(
    root: Path, context: ToolContext, before: str | None, after: str
) -> None:
    if before is not None:
        (root / "a").write_text(before)
    shown = await foreseen("write_file", {"path": "a", "content": after}, context)
    assert ("\ufeff" in str(shown) or "\\ufeff" in str(shown)) == after.startswith("\ufeff")
    assert ("\\r" in str(shown)) == ("\r" in after)


async def test_a_file_is_made_changed_or_left_as_it_is(root: Path, context: ToolContext) -> None:
    answer = await write(context, "deep/er/new.txt", "a\nb\n")
    assert (root / "deep/er/new.txt").read_text() == "a\nb\n"
    assert answer.metadata["created"] is True
    assert answer.text == "Created deep/er/new.txt (+2 -0 lines)."
    answer = await write(context, "deep/er/new.txt", "a\nc\n")
    assert (answer.metadata["additions"], answer.metadata["deletions"]) == (1, 1)
    assert answer.metadata["created"] is False
    answer = await write(context, "deep/er/new.txt", "a\nc\n")
    assert "nothing was changed" in answer.text
    assert (await write(context, "deep", "x")).text == "deep: is a folder."
    assert not (await write(context, "empty", "")).is_error
    assert (root / "empty").read_text() == ""


async def test_writing_keeps_line_endings_and_mark(root: Path, context: ToolContext) -> None:
    (root / "a").write_bytes(b"\xef\xbb\xbf1\r\n2\r\n")
    await write(context, "a", "1\n3\n")
    assert (root / "a").read_bytes() == b"\xef\xbb\xbf1\r\n3\r\n"


async def test_a_link_inside_is_followed_and_stays(root: Path, context: ToolContext) -> None:
    (root / "real").write_text("x")
    (root / "a").symlink_to("real")
    await edit(context, "x", "y")
    assert (root / "a").is_symlink()
    assert (root / "real").read_text() == "y"


async def test_nothing_outside_is_written(root: Path, context: ToolContext) -> None:
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "a").write_text("x")
    (root / "a").symlink_to(outside / "a")
    (root / "folder").symlink_to(outside)
    (root / "broken").symlink_to(outside / "not-yet")
    for path in ("a", "folder/new", "broken", "../outside/new", str(outside / "new")):
        answer = await write(context, path, "y")
        assert answer.is_error
        assert "outside" in answer.text
    assert (await edit(context, "x", "y")).is_error
    assert os.listdir(outside) == ["a"]
    assert (outside / "a").read_text() == "x"
    granted = replace(context, granted=(str(outside / "a"),))
    assert not (await edit(granted, "x", "y")).is_error
    assert (outside / "a").read_text() == "y"


async def test_a_repository_s_own_folder_is_left_alone(root: Path, context: ToolContext) -> None:
    (root / ".git").mkdir()
    answer = await write(context, ".git/hooks/pre-commit", "x")
    assert "belongs to git" in answer.text
    assert os.listdir(root / ".git") == []


async def test_an_untrusted_workspace_is_not_changed(root: Path, context: ToolContext) -> None:
    answer = await write(replace(context, trusted=False), "a", "x")
    assert answer.is_error
    assert not (root / "a").exists()


async def test_parallel_edits_of_one_file_all_arrive(root: Path, context: ToolContext) -> None:
    names = [f"<{number}>" for number in range(20)]
    (root / "a").write_text("\n".join(names))
    answers = await asyncio.gather(*(edit(context, name, f"done {name[1:-1]};") for name in names))
    assert not any(answer.is_error for answer in answers)
    assert (root / "a").read_text() == "\n".join(f"done {number};" for number in range(20))


async def test_an_open_document_is_changed_in_the_editor(
    root: Path, with_editor: Callable[..., tuple[ToolContext, Any]]
) -> None:
    context, editor = with_editor(can_apply_edits=True, can_write_files=True)
    (root / "a").write_text("old text")
    context.buffers.set(root / "a", "unsaved text", 4, editor)
    assert not (await edit(context, "unsaved", "new")).is_error
    assert editor.asked == [("apply", str(root / "a"))]
    assert editor.texts[str(root / "a")] == "new text"
    assert (root / "a").read_text() == "old text"
    # The next call sees the change, though the editor has not told of it yet.
    assert not (await edit(context, "new", "newer")).is_error
    assert editor.texts[str(root / "a")] == "newer text"


async def test_a_saved_document_stays_saved(
    root: Path, with_editor: Callable[..., tuple[ToolContext, Any]]
) -> None:
    context, editor = with_editor(can_apply_edits=True)
    (root / "a").write_text("text")
    context.buffers.set(root / "a", "text", 1, editor)
    await edit(context, "text", "new")
    assert editor.asked == [("apply", str(root / "a"))]
    assert (root / "a").read_text() == "new"


async def test_an_editor_that_declines_an_edit(
    root: Path, with_editor: Callable[..., tuple[ToolContext, Any]]
) -> None:
    context, editor = with_editor(can_apply_edits=True)
    editor.applies = False
    (root / "a").write_text("text")
    context.buffers.set(root / "a", "text", 1, editor)
    await edit(context, "text", "new")
    assert (root / "a").read_text() == "new"
    found = context.buffers.get(root / "a")
    assert found is not None
    assert found.text == "new"


async def test_a_file_that_is_not_open_is_written_by_the_client(
    root: Path, with_editor: Callable[..., tuple[ToolContext, Any]]
) -> None:
    context, editor = with_editor(can_apply_edits=True, can_write_files=True)
    await write(context, "a", "x")
    assert editor.asked == [("write", str(root / "a"))]
    assert not (root / "a").exists()
    # What no message can carry is written by ourselves.
    (root / "a").write_bytes(b"caf\xe9 au lait, two sugars please")
    await edit(context, "two", "no")
    assert len(editor.asked) == 1
    assert b"no sugars" in (root / "a").read_bytes()


async def test_a_document_with_half_a_pair_is_no_crash(root: Path, context: ToolContext) -> None:
    (root / "a").write_text("old")
    context.buffers.set(root / "a", "text \ud800", 1)
    assert (await run_builtin("read_file", {"path": "a"}, context)).text == "text \ufffd"
    answer = await edit(context, "text", "new")
    assert answer.is_error
    assert "surrogate" in answer.text
    assert (root / "a").read_text() == "old"


@pytest.mark.parametrize("large", [False, True])
async def test_a_question_shows_a_change_up_to_a_size(
    context: ToolContext, root: Path, large: bool
) -> None:
    (root / "a").write_text("x" * 3_000_000 if large else "old")
    given: dict[str, Json] = {"path": "a", "content": "y" * (500_000 if large else 3)}
    (shown,) = await foreseen("write_file", given, context)
    assert isinstance(shown, dict)
    old, new = str(shown["oldText"]), str(shown["newText"])
    assert len(old) + len(new) < 401_000
    assert ("not shown here" in old, "not shown here" in new) == (large, large)
    assert large or (old, new) == ("old", "yyy")
    # A change behind much that stays is shown.
    (root / "a").write_text("x" * 600_000)
    (found,) = await foreseen("write_file", {"path": "a", "content": "x" * 600_000 + "y"}, context)
    assert isinstance(found, dict)
    assert str(found["newText"]).endswith("xy")
    assert "characters before, not shown here" in str(found["oldText"])
    (root / "a").write_text("x" * 3_000_000 if large else "old")
    # A change of the part that is not shown is another change.
    (again,) = await foreseen(
        "write_file", {**given, "content": f"{str(given['content'])[:-1]}z"}, context
    )
    assert again != shown


@pytest.mark.parametrize("saved", ["one\nthe user's\n", None])
async def test_a_text_that_is_saved_meanwhile_is_not_overwritten(
    root: Path, context: ToolContext, saved: str | None
) -> None:
    """Taking a snapshot before a change may take seconds."""
    file = root / "a"

    class Saved(Unfollowed):
        @asynccontextmanager
        async def editing(self, real: Path, text: str) -> AsyncIterator[None]:
            if saved is None:
                file.unlink(missing_ok=True)
            else:
                file.write_text(saved)
            yield

    meanwhile = replace(context, changes=Saved())
    file.write_text("one\n")
    answers = [await edit(meanwhile, "one", "two")]
    file.write_text("one\n")
    answers.append(await write(meanwhile, "a", "two\n"))
    if saved is not None:
        file.unlink()
        answers.append(await write(meanwhile, "a", "two\n"))
    for answer in answers:
        assert answer.is_error
        assert "changed meanwhile" in answer.text
    assert (file.read_text() if file.exists() else None) == saved


async def test_a_byte_that_is_no_text_is_not_lost_beside_a_sign_for_one(
    root: Path, context: ToolContext
) -> None:
    """Nobody would see a change: both are read as U+FFFD."""
    lines = "a line of text\n" * 20
    (root / "a").write_bytes(f"{lines}\ufffd".encode() + b" \xff\n")
    answer = await write(context, "a", f"{lines}\ufffd \ufffd\n")
    assert answer.is_error
    assert "Use edit_file, which keeps them" in answer.text
    (root / "a").write_text("\ufffd\n")
    assert not (await write(context, "a", "\ufffd \ufffd\n")).is_error


async def test_what_was_not_shown_is_not_written(root: Path, context: ToolContext) -> None:
    """Another call of the same answer may change the file after the question."""
    (root / "a").write_text("one\ntwo\n")
    shown = await foreseen("edit_file", {"path": "a", "oldText": "one", "newText": "1"}, context)
    asked = replace(context, shown=shown)
    (root / "a").write_text("two\none\n")
    answer = await edit(asked, "one", "1")
    assert answer.is_error
    assert "The file changed while the user was asked" in answer.text
    assert (root / "a").read_text() == "two\none\n"
    (root / "a").write_text("one\ntwo\n")
    assert not (await edit(asked, "one", "1")).is_error
    assert (await edit(replace(context, shown=[]), "two", "2")).is_error
