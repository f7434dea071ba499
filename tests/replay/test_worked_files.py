"""Files that are worked on, in a replay: each has one name, whichever path a call gives it."""

import json
from itertools import repeat
from pathlib import Path

from sidecar.core.parts import JsonObject
from sidecar.core.prompt.prompt_text import prompt_text
from sidecar.replay.compare import Settings, sent_last
from tests.replay.own_session import called, quarters, typed
from tests.replay.recorded import CARD

FOLDER = "/home/me/app"
LINES = "\n".join(f"value_{number} = {number}" for number in range(1, 41))
CHANGE: JsonObject = {
    "path": f"{FOLDER}/src/main.py",
    "oldText": "value_7 = 7\n",
    "newText": "value_7 = 70\n",
}


def sent(tmp_path: Path, cwd: str) -> str:
    """What is sent after a rewrite, of a file read by one path and changed by another."""
    said = [{"sessionId": "s", "cwd": cwd}, typed("Set value_7 to 70.")]
    said += called("r", "read_file", {"path": "src/main.py"}, LINES)
    said += called("e", "edit_file", CHANGE, "edited")
    for number, text in enumerate(repeat("word " * 4_000, 8)):
        said += called(f"s{number}", "shell", {"command": f"make part{number}"}, text, 0)
    path = tmp_path / "app.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in said), "utf-8")
    return prompt_text(sent_last(path, quarters, Settings(("economic",), 30_000, CARD)))


def test_with_the_sessions_folder_a_file_has_one_name(tmp_path: Path) -> None:
    assert "\nsrc/main.py\n[lines 1-40]\n```\nvalue_1 = 1\n" in sent(tmp_path, FOLDER)


def test_another_folders_file_is_another_file(tmp_path: Path) -> None:
    assert "[Files that you work on" not in sent(tmp_path, "/home/me")
