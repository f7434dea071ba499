"""What an editor without a plugin is asked: the title, and the input where that says less."""

from typing import Any

import pytest

from sidecar.core.parts import Json, SessionId
from sidecar.tools.tool_contract import PermissionOption
from sidecar.wire.connection import Connection
from sidecar.wire.outbox import Outbox
from sidecar.wire.plain_editor import PlainEditor

OPTIONS = (
    PermissionOption("once", "Allow once", "allow_once"),
    PermissionOption("no", "Reject", "reject_once"),
)


async def nothing(_: bytes) -> None: ...


async def asked(title: str, given: Json, content: Json = None) -> str:
    """The question's only page."""
    questions: list[str] = []

    class Editor(PlainEditor):
        async def choose(self, question: str, choices: Any) -> str | None:
            questions.append(question)
            return None

    editor = Editor(Connection(Outbox(nothing, lambda _: 1)))
    call: dict[str, Json] = {"title": title, "rawInput": given, "content": content}
    assert await editor.request_permission(SessionId("ses_1"), call, OPTIONS) is None
    (question,) = questions
    return question


@pytest.mark.parametrize(
    ("title", "given"),
    [
        ("Run ls", {"command": "ls"}),
        ("Run in sub: ls", {"command": "ls", "cwd": "sub"}),
        ("Subtask “look”: Run ls", {"command": "ls"}),
        ("Read /etc/hosts", {"path": "/etc/hosts"}),
        ("List ..", {"path": ".."}),
        ("mcp__clock__now", {}),
    ],
)
async def test_a_title_of_ours_that_says_all_is_the_question(title: str, given: Json) -> None:
    assert await asked(title, given) == title


@pytest.mark.parametrize(
    ("title", "given", "shown"),
    [
        ("mcp__files__write notes.md", {"path": "notes.md", "content": ""}, '"content": ""'),
        ("mcp__git__push origin", {"remote": "origin", "mode": "push"}, '"mode": "push"'),
        ("mcp__sh__run ls", {"command": "ls"}, '"command": "ls"'),
        ("mine Read a", {"path": "Read a"}, '"path": "Read a"'),
        ("Run in sub: ls", {"command": "in sub: ls"}, '"command": "in sub: ls"'),
        ("Run in a: b: ls", {"command": "ls", "cwd": "a: b"}, '"cwd": "a: b"'),
        ("Read a", {"path": "a", "limit": ""}, '"limit": ""'),
        ("mcp__x__y", ["rm"], '"rm"'),
    ],
)
async def test_any_other_input_is_shown_whole(title: str, given: Json, shown: str) -> None:
    first, *lines = (await asked(title, given)).split("\n")
    assert first == title
    assert shown in "\n".join(lines)


async def test_whoever_turns_pages_by_one_key_allows_nothing_by_it() -> None:
    """The first answer leads on, and from the last page to the first; behind it none allows yet."""
    shown: list[tuple[str, tuple[str, ...]]] = []

    class Editor(PlainEditor):
        async def choose(self, question: str, choices: Any) -> str | None:
            shown.append((question, tuple(choices)))
            return None if len(shown) == 5 else choices[0]

    call: dict[str, Json] = {"title": "x", "rawInput": {"a": ["line"] * 100}}
    editor = Editor(Connection(Outbox(nothing, lambda _: 1)))
    assert await editor.request_permission(SessionId("ses_1"), call, OPTIONS) is None
    assert [choices for _, choices in shown] == [
        *[("Next page", "Reject")] * 3,
        ("First page", "Allow once", "Reject"),
        ("Next page", "Reject"),
    ]
    assert [question.splitlines()[-1] for question, _ in shown][3:] == [
        "[page 4 of 4]",
        "[page 1 of 4]",
    ]


async def test_no_piece_of_a_long_line_passes_for_a_line() -> None:
    hidden = "ok = check(user)".ljust(199) + "-     grant(user)"
    diff: Json = {"type": "diff", "path": "a.py", "oldText": "x", "newText": hidden}
    shown = await asked("Edit a.py", {"path": "a.py"}, [diff])
    assert [line[0] for line in shown.splitlines()[-3:]] == ["-", "+", "↪"]
