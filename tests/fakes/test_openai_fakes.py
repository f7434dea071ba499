"""The fakes of OpenAI's APIs stream what the SDK's own types allow."""

import json

import pytest
from openai.types.chat import ChatCompletionChunk
from openai.types.responses import ResponseStreamEvent
from pydantic import TypeAdapter

from tests.fakes.chat_api import MANNERS, FakeChatApi
from tests.fakes.responses_api import FakeResponsesApi
from tests.fakes.streaming_server import Answer, broken, called, said, thought


def test_events_of_responses_are_those_that_the_sdk_knows() -> None:
    known: TypeAdapter[object] = TypeAdapter(ResponseStreamEvent)
    answer = thought("a|b", called(("c", "look", {"a": 1}), words="hello there"))
    more = ({"refusal": "no"}, {"thought": "x|y", "open": True})
    with FakeResponsesApi() as api:
        frames = [*api.frames(Answer((*answer.parts, *more)), {"model": "m"})]
        frames += api.frames(said("and", stop="max_output_tokens"), {"model": "m"})
        frames += [api.told(broken("told")), api.told(broken("told", failed=True))]
    for frame in frames:
        event = json.loads(frame.partition("data: ")[2])
        if event["type"] != "keepalive":
            known.validate_python(event, strict=True)


@pytest.mark.parametrize("dialect", MANNERS)
def test_chunks_are_those_that_the_sdk_knows(dialect: str) -> None:
    answer = thought("a", called(("c", "look", {"a": 1}), words="hello there"))
    parts = answer.parts if MANNERS[dialect].thought else answer.parts[1:]
    with FakeChatApi(dialect) as api:
        chunks = [*api.chunks(Answer((*parts, {"refusal": "no"})), {"model": "m"})]
    for chunk in chunks:
        ChatCompletionChunk.model_validate(chunk, strict=True)
    assert chunks[-1]["usage"]
