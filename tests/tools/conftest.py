"""A workspace on disk, and an editor that holds documents as a real one would."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from sidecar.core.errors import BadRequest
from sidecar.core.parts import Json, JsonObject, SessionId
from sidecar.tools.tool_contract import PermissionOption, Terminals, ToolContext
from sidecar.workspace.buffers import Buffers


@dataclass(eq=False)
class Editor:
    """A client with documents of its own; what it was asked stands in `asked`."""

    can_read_files: bool = False
    can_write_files: bool = False
    can_apply_edits: bool = False
    terminals: Terminals | None = None
    applies: bool = True
    texts: dict[str, str] = field(default_factory=dict)
    answers: dict[str, JsonObject] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)

    async def call_tool(
        self, session_id: SessionId, call_id: str, name: str, tool_input: Json
    ) -> JsonObject:
        self.asked.append(("call", name))
        if name not in self.answers:
            raise BadRequest("no such tool here")
        return self.answers[name]

    async def request_permission(
        self, session_id: SessionId, tool_call: JsonObject, options: tuple[PermissionOption, ...]
    ) -> str | None:
        raise NotImplementedError

    async def read_text_file(self, session_id: SessionId, path: str) -> str:
        self.asked.append(("read", path))
        if path not in self.texts:
            raise BadRequest("not open")
        return self.texts[path]

    async def write_text_file(self, session_id: SessionId, path: str, content: str) -> None:
        self.asked.append(("write", path))
        self.texts[path] = content

    async def apply_edit(self, label: str, path: str, content: str) -> bool:
        self.asked.append(("apply", path))
        if self.applies:
            self.texts[path] = content
        return self.applies


async def recall_nothing(part: str, offset: int, limit: int | None, pattern: str | None) -> str:
    raise BadRequest(f"nothing has the id {part}")


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a workspace; where a home is looked through, that is an empty one."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    root = tmp_path / "root"
    root.mkdir()
    return root


def tool_context(root: Path) -> ToolContext:
    return ToolContext(
        session_id=SessionId("ses_1"),
        call_id="call_1",
        cwd=root,
        buffers=Buffers(),
        client=None,
        trusted=True,
        progress=lambda text: None,
        recall=recall_nothing,
        # Any word of another variable, such as a test's own name, may be a file's.
        environment={name: os.environ[name] for name in ("PATH", "HOME")},
    )


@pytest.fixture
def context(root: Path) -> ToolContext:
    return tool_context(root)


@pytest.fixture
def with_editor(context: ToolContext) -> Callable[..., tuple[ToolContext, Editor]]:
    def make(**abilities: bool) -> tuple[ToolContext, Editor]:
        editor = Editor(**abilities)  # type: ignore[arg-type]
        return replace(context, client=editor), editor

    return make
