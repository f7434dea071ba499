"""What an editor without a plugin is asked: the title, and the input where that says less."""

from typing import Any

import pytest

from sidecar.core.parts import Json, SessionId
from sidecar.tools.tool_contract import PermissionOption
from sidecar.wire.connection import Connection
from sidecar.wire.outbox import Outbox
from sidecar.wire.plain_editor import PlainEditor


async def asked(title: str, given: Json) -> str:
    """The question's only page."""
    questions: list[str] = []

    class Editor(PlainEditor):
        async def choose(self, question: str, choices: Any) -> str | None:
            questions.append(question)
            return None

    async def write(_: bytes) -> None: ...

    editor = Editor(Connection(Outbox(write, lambda _: 1)))
    options = (PermissionOption("once", "Allow once", "allow_once"),)
    call: dict[str, Json] = {"title": title, "rawInput": given}
    assert await editor.request_permission(SessionId("ses_1"), call, options) is None
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
