"""Whatever a server streams, an answer can be sent back, or its failure is told."""

import json
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.parts import Message, MessageId, PartId, StepFinishPart, TextPart, TurnId
from sidecar.core.prompt.prompt import ModelRequest, broken_pairs
from sidecar.model.chat.chat_body import ChatWriter, chat_body
from sidecar.model.chat.chat_chunks import ChunkDecoder
from sidecar.model.chat.dialects import DIALECTS
from sidecar.model.failures import ToldFailure
from sidecar.model.responses.response_events import ItemDecoder
from sidecar.model.responses.response_items import ResponseOptions, ResponseWriter, response_body
from sidecar.model.stalls import Endless, limits
from sidecar.store.format import rows
from tests.core.prompts import alone
from tests.fakes.chat_api import FakeChatApi
from tests.fakes.responses_api import FakeResponsesApi
from tests.fakes.streaming_server import Answer, Asked, FakeStreamingApi, called, thought
from tests.fuzz.dice import Dice
from tests.fuzz.mutations import ODD, deep, mutated
from tests.model.hosted_answers import MODEL, folded

ANSWER = thought("a|b", called(("c1", "look", {"a": 1}), ("c2", "run", {}), words="Looking."))
MORE = Answer((*ANSWER.parts, {"refusal": "no"}, {"thought": "hm", "open": True}))
OWN = (
    "uplicate",
    "Invalid type",
    "Missing",
    "reasoning",
    "encrypted",
    "required following item",
    "Invalid value: 'input",
    "Unknown",
)
"""In refusals of what sessions see to, and of what only a server can have made odd in its own."""
Decoder = ItemDecoder | ChunkDecoder


@pytest.fixture(scope="module", params=["responses", "openrouter", "deepseek", "ollama"])
def api(request: pytest.FixtureRequest) -> Iterator[FakeStreamingApi]:
    name = request.param
    with FakeResponsesApi() if name == "responses" else FakeChatApi(name) as made:
        yield made


def events_of(api: FakeStreamingApi, answer: Answer) -> list[Any]:
    if isinstance(api, FakeResponsesApi):
        made = enumerate(api.events(answer, {"model": MODEL}))
        return [{"type": kind, "sequence_number": n, **data} for n, (kind, data) in made]
    assert isinstance(api, FakeChatApi)
    return [*api.chunks(answer, {"model": MODEL})]


def bodies(api: FakeStreamingApi, asked: ModelRequest) -> tuple[Any, bytes]:
    if isinstance(api, FakeResponsesApi):
        options = ResponseOptions()
        return response_body(asked, options, "k"), ResponseWriter(options).write(asked, "k")
    assert isinstance(api, FakeChatApi)
    dialect = DIALECTS[api.dialect]
    return chat_body(asked, dialect, "k"), ChatWriter(dialect).write(asked, "k")


def decoder_of(api: FakeStreamingApi) -> Callable[[], Decoder]:
    if isinstance(api, FakeChatApi):
        return lambda: ChunkDecoder(DIALECTS[api.dialect])
    return ItemDecoder


@pytest.mark.parametrize("make", [ItemDecoder, partial(ChunkDecoder, DIALECTS["vllm"])])
def test_events_without_end_are_given_up(make: Callable[..., Decoder]) -> None:
    endless = ({"type": "some_future_event"} for _ in range(2_000))
    with pytest.raises(Endless, match="pieces"):
        deque(map(list, map(make(limits=limits(10)).take, endless)), maxlen=0)


@given(data=st.binary(max_size=60))
def test_an_odd_answer_can_be_lived_with(api: FakeStreamingApi, data: bytes) -> None:
    dice = Dice(data)
    stream = events_of(api, dice.pick([ANSWER, MORE]))
    odd = (*ODD, *stream, deep(200))
    stream = mutated(stream, dice, odd=odd, donors=odd)
    decoder, taken = decoder_of(api)(), []
    try:
        for event in stream if isinstance(stream, list) else [stream]:
            taken += decoder.take(event)
        taken += decoder.end()
    except ToldFailure:
        pass
    draft = folded(taken)
    finish = StepFinishPart(PartId("f"), draft.stop, draft.usage, None)
    said = Message(
        MessageId("m"), TurnId("t"), "assistant", (*draft.parts, finish), 5, "open", MODEL
    )
    for place, part in enumerate(said.parts):
        packed = rows.encode_part(part, place)
        assert rows.decode_part(packed.body, dict(packed.blobs).__getitem__) == part
    user = Message(MessageId("u"), TurnId("t"), "user", (TextPart(PartId("q"), "x", "typed"),), 1)
    prompt = alone((user, said), MODEL)
    assert not broken_pairs(prompt)
    body, content = bodies(api, ModelRequest(MODEL, prompt, 99))
    assert json.loads(content) == body
    path = "/v1/responses" if isinstance(api, FakeResponsesApi) else "/v1/chat/completions"
    reason = api.refusal(Asked(path, "", {}, content, body)) or ""
    assert not reason or any(word in reason for word in OWN)
