"""A file that has another place or name, once its change is allowed, is not changed."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sidecar.core.parts import Json, ToolError, ToolPart
from tests.fakes.scripted_model import calls, says
from tests.session import inside
from tests.session.conftest import Desk

Move = Callable[[Path], None]


def link_swapped(root: Path) -> None:
    (root / "way").unlink()
    (root / "way").symlink_to("other")


def folder_replaced(root: Path) -> None:
    (root / "data").rename(root / "was")
    (root / "data").symlink_to("other")


def led_outside(root: Path) -> None:
    (root / "data").rename(root / "was")
    (root / "data").symlink_to(root.parent)


def named_anew(root: Path) -> None:
    (root / ".envrc").symlink_to("data/a.py")


def hard_linked(root: Path) -> None:
    (root / ".envrc").hardlink_to(root / "data" / "a.py")


MOVES = (link_swapped, folder_replaced, led_outside)
NAMES = (named_anew, hard_linked)
WRITE: Json = {"path": "way/a.py", "content": "theirs"}
EDIT: Json = {"path": "way/a.py", "oldText": "ours", "newText": "theirs"}
RUN: Json = {"command": "cp ../new a.py", "cwd": "way"}


@pytest.mark.parametrize(
    ("name", "given", "move"),
    [
        *(("write_file", WRITE, move) for move in (*MOVES, *NAMES)),
        *(("edit_file", EDIT, move) for move in (*MOVES, *NAMES)),
        *(("shell", RUN, move) for move in MOVES),
    ],
)
async def test_a_file_moved_while_the_user_is_asked_is_not_changed(
    name: str, given: Json, move: Move, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = desk.workspace
    (root / "new").write_text("theirs")
    files = [root / folder / "a.py" for folder in ("data", "other", "..")]
    for file in files:
        file.parent.mkdir(exist_ok=True)
        file.write_text("ours")
    (root / "way").symlink_to("data")

    async def answer(*_: object) -> str:
        move(root)
        return "allow_once"

    monkeypatch.setattr(desk.editor, "request_permission", answer)
    session = await desk.open()
    desk.script(calls(("a", name, given)), says("Done."))
    await desk.ask(session)
    (part,) = inside.parts(session, ToolPart)
    assert isinstance(part.state, ToolError)
    assert any(said in part.state.message for said in ("changed", "leads outside"))
    moved = root / "was" / "a.py"
    assert {file.read_text() for file in (*files, moved) if file.exists()} == {"ours"}
