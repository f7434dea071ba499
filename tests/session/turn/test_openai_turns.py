"""Whole turns as OpenAI's APIs see them: what is sent is taken, and only grows."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from sidecar.core.prompt.prompt import ModelRequest, ToolSpec
from sidecar.model.chat.chat_body import chat_body
from sidecar.model.chat.chat_chunks import ChunkDecoder
from sidecar.model.chat.dialects import DIALECTS
from sidecar.model.responses.response_events import ItemDecoder
from sidecar.model.responses.response_items import ResponseOptions, response_body
from tests.fakes.chat_api import FakeChatApi
from tests.fakes.responses_api import FakeResponsesApi
from tests.fakes.scripted_model import Script
from tests.fakes.streaming_server import Answer, Asked, called, said, thought
from tests.session.conftest import Desk

LOOK = ToolSpec("look", "Look.", {"type": "object"}, "read", read_only=True, origin="client")
ANSWERS = (
    thought("first|second", called(("c1", "look", {"at": "a"}), ("c2", "look", {}), words="Well.")),
    thought("third", called(("c3", "look", {"at": "b"}))),
    thought("fourth", said("Done.")),
    called(("c4", "look", {})),
    said("Yes."),
)
Api = FakeResponsesApi | FakeChatApi


@pytest.fixture(params=["responses", "openai", "openrouter", "deepseek", "vllm"])
def api(request: pytest.FixtureRequest) -> Iterator[Api]:
    name = request.param
    with FakeResponsesApi() if name == "responses" else FakeChatApi(name) as made:
        yield made


def scripted(api: Api, answer: Answer) -> Script:
    asked = {"model": "scripted"}
    if isinstance(api, FakeResponsesApi):
        decoder: Any = ItemDecoder()
        stream = [{"type": kind, **data} for kind, data in api.events(answer, asked)]
    else:
        decoder = ChunkDecoder(DIALECTS[api.dialect])
        parts = answer.parts if api.manner.thought else answer.parts[-3:]
        kept = tuple(part for part in parts if api.manner.thought or "thought" not in part)
        stream = [*api.chunks(Answer(kept), asked)]
    return [known for event in stream for known in decoder.take(event)]


def sent(api: Api, request: ModelRequest) -> tuple[dict[str, Any], list[Any]]:
    if isinstance(api, FakeResponsesApi):
        body: dict[str, Any] = response_body(request, ResponseOptions(), "k")
        return body, body["input"]
    body = chat_body(request, DIALECTS[api.dialect], "k")
    return body, body["messages"]


async def test_turns_are_taken_and_each_request_begins_as_the_last(api: Api, desk: Desk) -> None:
    # What is taken here, the Messages API would refuse.
    desk.model.observe = lambda _: None
    session = await desk.open(tools=(LOOK,))
    desk.editor.tools["look"] = lambda _: "seen"
    desk.script(*(scripted(api, answer) for answer in ANSWERS))
    await desk.ask(session)
    await desk.ask(session, "And now?")
    path = "/v1/responses" if isinstance(api, FakeResponsesApi) else "/v1/chat/completions"
    before: list[Any] = []
    for request in desk.model.requests:
        body, items = sent(api, request)
        assert api.refusal(Asked(path, "", {}, json.dumps(body).encode(), body)) is None
        assert items[: len(before)] == before
        before = items
    assert len(desk.model.requests) == len(ANSWERS)
    back = json.dumps(before)
    if isinstance(api, FakeResponsesApi):
        assert back.count('"encrypted_content"') == 3
    else:
        assert back.count('"third"') == bool(api.manner.back)
