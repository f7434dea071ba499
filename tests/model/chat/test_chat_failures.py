"""Every way in which a call of Chat Completions can fail, and what is made of it."""

import pytest

from sidecar.core.conversation.stream import AttemptFailed, ResponseFinished
from sidecar.core.errors import ModelFailed
from tests.fakes.chat_api import FakeChatApi
from tests.fakes.streaming_server import Answer, broken, failing, said
from tests.model.chat.conftest import Hosted
from tests.model.hosted_answers import folded, gather, shown

pytestmark = pytest.mark.long

FAILURES = {
    "429": (failing(429, headers={"retry-after": "1"}, code="rate_limit_exceeded"), "rate_limit"),
    "500": (failing(500), "overloaded"),
    "503": (failing(503), "overloaded"),
    "error": (broken("told"), "overloaded"),
    "rate limit": (broken("told", code=429), "rate_limit"),
    "rate limit in words": (broken("told", code="rate_limit_exceeded"), "rate_limit"),
    "server error": (broken("told", code=None, type="server_error"), "overloaded"),
    "unknown error": (broken("told", code="some_future_code"), "interrupted"),
    "error of no kind": (broken("told", code=None), "interrupted"),
    "no room": (said("and", stop="insufficient_system_resource"), "overloaded"),
    "an end in error": (said("and", stop="error"), "interrupted"),
    "drop": (broken("drop"), "network"),
    "early end": (broken("early_end"), "interrupted"),
    "nothing": (broken("early_end", after=0), "interrupted"),
    "stall": (broken("stall"), "interrupted"),
    "drip": (broken("drip"), "interrupted"),
    "garbage": (broken("garbage"), "interrupted"),
}


@pytest.mark.parametrize(("failure", "kind"), FAILURES.values(), ids=FAILURES)
async def test_what_can_pass_is_tried_again(hosted: Hosted, failure: Answer, kind: str) -> None:
    with FakeChatApi("openai") as api:
        api.script(failure, said("the whole answer"))
        events = await gather(hosted(api, stall=1.0))
        assert len(api.requests) == 2
    (failed,) = [event for event in events if isinstance(event, AttemptFailed)]
    assert (failed.attempt, failed.kind) == (1, kind)
    assert shown(folded(events)) == [("text", "the whole answer")]
    assert sum(isinstance(event, ResponseFinished) for event in events) == 1


CONTEXT = "This endpoint's maximum context length is 8192 tokens. However, you requested 9000."
LLAMA = "the request exceeds the available context size, try increasing it"
EXCEEDED = "Context size has been exceeded."
VLLM = "max_tokens must be at least 1, got -186."
REFUSALS = {
    "400": (failing(400, message="no such thing"), "bad_request"),
    "401": (failing(401, code="invalid_api_key"), "authentication"),
    "402": (failing(402, message="Insufficient Balance"), "bad_request"),
    "404": (failing(404), "bad_request"),
    "413": (failing(413), "context_overflow"),
    "filter": (failing(400, code="content_filter"), "bad_request"),
    "openai": (failing(400, code="context_length_exceeded"), "context_overflow"),
    "openrouter": (failing(400, message=CONTEXT, code=400), "context_overflow"),
    "llama.cpp": (failing(400, message=LLAMA, code=400), "context_overflow"),
    "llama.cpp by type": (failing(400, type="exceed_context_size_error"), "context_overflow"),
    "llama.cpp's 500": (failing(500, message=LLAMA), "context_overflow"),
    "llama.cpp's other": (failing(500, message=EXCEEDED), "context_overflow"),
    "vllm": (failing(400, message=VLLM, code=400), "context_overflow"),
    "quota": (failing(429, code="insufficient_quota"), "rate_limit"),
    "in the stream": (broken("told", code=400, message=CONTEXT), "context_overflow"),
    "a wrong request": (broken("told", code="invalid_request_error", message="no"), "bad_request"),
}


@pytest.mark.parametrize(("failure", "kind"), REFUSALS.values(), ids=REFUSALS)
async def test_what_cannot_pass_is_not_tried_again(
    hosted: Hosted, failure: Answer, kind: str
) -> None:
    with FakeChatApi("vllm") as api:
        api.script(failure)
        with pytest.raises(ModelFailed) as failed:
            await gather(hosted(api))
        assert len(api.requests) == 1
    assert (failed.value.failure, failed.value.retryable) == (kind, False)
    assert failed.value.message.startswith(str(failure.error["message"]).rstrip("."))


async def test_an_endless_answer_is_given_up(hosted: Hosted) -> None:
    with FakeChatApi("openai") as api:
        api.script(said("word " * 10_000, piece=500))
        with pytest.raises(ModelFailed, match="none of 99 tokens") as failed:
            await gather(hosted(api))
    assert not failed.value.retryable
