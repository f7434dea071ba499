"""Images and documents are kept, whichever way an agent writes them down."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from sidecar.core.parts import FilePart, Json, JsonObject, Media, Message, TextPart, ToolPart
from sidecar.core.parts import ToolCompleted as Done
from sidecar.replay.importers.recognition import open_transcript
from sidecar.replay.transcript import media_of
from tests.replay.importers.recordings import CLAUDE, CODEX, FORMATS, OPENCODE, PI

DATA = "iVBORw0KGgo="
URL = f"data:image/png;base64,{DATA}"
CLAUDE_IMAGE: JsonObject = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": DATA},
}
CODEX_IMAGE: JsonObject = {"type": "input_image", "image_url": URL}
PI_IMAGE: JsonObject = {"type": "image", "data": DATA, "mimeType": "image/png"}
OPENCODE_IMAGE: JsonObject = {"type": "file", "mime": "image/png", "url": URL}


def at(value: Any, *path: str | int) -> list[Json]:
    for key in path:
        value = value[key]
    assert isinstance(value, list)
    return value


def with_images(name: str) -> list[JsonObject]:
    """Give the example session with an image at its last question and in its first result."""
    lines = copy.deepcopy(FORMATS[name])
    match name:
        case "claude-code":
            at(lines[len(CLAUDE) - 2], "message", "content").append(CLAUDE_IMAGE)
            at(lines[5], "message", "content", 0, "content").append(CLAUDE_IMAGE)
        case "codex":
            at(lines[len(CODEX) - 3], "payload", "content").append(CODEX_IMAGE)
            output: Json = [{"type": "input_text", "text": "one"}, CODEX_IMAGE]
            payload = lines[7]["payload"]
            assert isinstance(payload, dict)
            payload["output"] = output
        case "pi":
            at(lines[len(PI) - 2], "message", "content").append(PI_IMAGE)
            at(lines[3], "message", "content").append(PI_IMAGE)
        case _:
            messages = at(OPENCODE and lines[0], "messages")
            at(messages[-2], "parts").append(OPENCODE_IMAGE)
            state = at(messages[1], "parts")[3]
            assert isinstance(state, dict)
            assert isinstance(state["state"], dict)
            state["state"]["attachments"] = [OPENCODE_IMAGE]
    return lines


@pytest.mark.parametrize("name", ["claude-code", "codex", "pi", "opencode"])
def test_an_image_is_kept_in_a_question_and_in_a_result(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in with_images(name)))
    messages = [entry for entry in open_transcript(path).entries if isinstance(entry, Message)]
    assert [message.role for message in messages] == [
        *("user", "assistant", "assistant", "user", "assistant")
    ]
    text, image = messages[3].parts
    assert isinstance(text, TextPart)
    assert isinstance(image, FilePart)
    assert image.media == Media("image/png", DATA)
    (call,) = [part for part in messages[1].parts if isinstance(part, ToolPart)]
    assert isinstance(call.state, Done)
    assert call.state.output.text == "one"
    assert call.state.output.media == (Media("image/png", DATA),)


@pytest.mark.parametrize(
    "block",
    [
        {},
        {"type": "image"},
        {"source": {"media_type": "image/png"}},
        {"url": "file:///a.png"},
        {"url": "data:,a"},
        {"image_url": {"url": URL}},
        {"data": DATA, "mimeType": None},
        {"data": "", "mimeType": "image/png"},
        {"data": "abc", "mimeType": "image/png"},
        {"data": "é" * 8, "mimeType": "image/png"},
        {"data": "A" * 401, "mimeType": "image/png"},
    ],
)
def test_what_holds_no_bytes_is_no_image(block: JsonObject) -> None:
    assert media_of(block) is None
