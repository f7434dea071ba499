"""A client's tools: their answers in any shape, and what goes wrong."""

from collections.abc import Callable
from typing import Any

import pytest

from sidecar.core.parts import Json, Media
from sidecar.tools.client_tool import call_client_tool, read_answer
from sidecar.tools.tool_contract import ToolAnswer, ToolContext

TEXT: Json = {"type": "text", "text": "one"}
IMAGE: Json = {"type": "image", "data": "AAAA", "mimeType": "image/png"}


def test_a_full_answer_comes_back_unchanged() -> None:
    metadata: Json = {"exitCode": 1, "_x": {"jsonrpc": 2}}
    result: Json = {
        "content": [TEXT, IMAGE, {"type": "text", "text": "two"}],
        "isError": True,
        "title": "Ran it",
        "metadata": metadata,
    }
    image = Media("image/png", "AAAA")
    assert read_answer("t", result) == ToolAnswer("one\ntwo", True, "Ran it", metadata, (image,))


@pytest.mark.parametrize(
    ("block", "text"),
    [
        ({"type": "resource", "resource": {"uri": "f:///a", "text": "inner"}}, "inner"),
        ({"type": "resource_link", "uri": "f:///a", "name": "a"}, "f:///a"),
        ({"type": "audio", "data": ""}, "[a block of type audio, which cannot be shown]"),
        (
            {"type": "resource", "resource": {"uri": "f:///z", "blob": "AA"}},
            "[binary resource f:///z, which cannot be shown]",
        ),
        ({"type": "text", "text": "half \ud800"}, "half ?"),
        (
            {"type": "image", "data": "-0", "mimeType": "image/png"},
            "[image/png whose data is no base64, which cannot be shown]",
        ),
    ],
)
def test_a_block_of_a_clients_answer_becomes_text(block: Json, text: str) -> None:
    assert read_answer("t", {"content": [block]}) == ToolAnswer(text)


def test_media_and_odd_but_clear_answers() -> None:
    blob: Json = {"uri": "f:///a.pdf", "blob": "AA", "mimeType": "application/pdf"}
    pdf = read_answer("t", {"content": [], "attachments": [{"type": "resource", "resource": blob}]})
    assert pdf == ToolAnswer("", media=(Media("application/pdf", "AA==", "f:///a.pdf"),))
    assert read_answer("t", {"content": "plain"}).text == "plain"
    assert read_answer("t", {"content": []}) == ToolAnswer("[no output]")
    odd: Json = {"content": [TEXT], "isError": "yes", "title": 3, "metadata": []}
    assert read_answer("t", odd) == ToolAnswer("one")


@pytest.mark.parametrize(
    "result",
    [None, [], "x", {}, {"content": 3}, {"content": ["x"]}, {"content": [{"type": "text"}]},
     {"content": [{"type": "image", "data": 3}]}, {"content": [{"type": "resource"}]},
     {"content": [{"type": "resource", "resource": {"blob": 3}}]}, {"content": [{}]}],
)  # fmt: skip
def test_malformed_answers_are_errors(result: Json) -> None:
    answer = read_answer("theirs", result)
    assert answer.is_error
    assert answer.text.startswith("theirs ran, but its client answered wrongly")


async def test_a_clients_tool_is_called_by_the_client_or_fails(
    context: ToolContext, with_editor: Callable[..., tuple[ToolContext, Any]]
) -> None:
    connected, editor = with_editor()
    editor.answers["theirs"] = {"content": [TEXT]}
    assert (await call_client_tool("theirs", {"a": 1}, connected)).text == "one"
    failed = await call_client_tool("missing", {}, connected)
    assert failed.is_error
    assert failed.text == "The client could not run missing: no such tool here"
    assert (await call_client_tool("theirs", {}, context)).is_error


@pytest.mark.parametrize(
    ("media_type", "data", "said"),
    [
        ("image/svg+xml", "AAAA", "[image/svg+xml, which cannot be shown; these can: image/png, "),
        ("image/bmp", "AAAA", "[image/bmp, "),
        ("image/", "AAAA", "[image/, "),
        ("image/png", "A" * (5 * 1024 * 1024 + 4), "[image/png of more than 5 MiB, which cannot"),
    ],
)
def test_an_image_that_the_provider_refuses_is_told_and_never_sent(
    media_type: str, data: str, said: str
) -> None:
    image: Json = {"type": "image", "data": data, "mimeType": media_type}
    blob: Json = {"uri": "file:///a", "blob": data, "mimeType": media_type}
    for block in (image, {"type": "resource", "resource": blob}):
        answer = read_answer("t", {"content": [block]})
        assert (answer.media, answer.is_error) == ((), False)
        assert answer.text.startswith(said)
