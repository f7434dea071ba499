"""Every way in which a call of the Responses API can fail, and what is made of it."""

import pytest

from sidecar.core.conversation.stream import AttemptFailed
from sidecar.core.errors import ModelFailed
from tests.fakes.responses_api import FakeResponsesApi
from tests.fakes.streaming_server import Answer, broken, failing, said
from tests.model.hosted_answers import asking, folded, gather, shown
from tests.model.responses.conftest import Hosted

pytestmark = pytest.mark.long


FAILURES = {
    "429": (failing(429, headers={"retry-after": "1"}, code="rate_limit_exceeded"), "rate_limit"),
    "500": (failing(500), "overloaded"),
    "503": (failing(503), "overloaded"),
    "408": (failing(408), "bad_request"),
    "error": (broken("told"), "overloaded"),
    "rate limit": (broken("told", code="rate_limit_exceeded"), "rate_limit"),
    "unknown error": (broken("told", code="some_future_code"), "interrupted"),
    "wrapped error": (broken("told", wrapped=True), "overloaded"),
    "failed": (broken("told", failed=True), "overloaded"),
    "drop": (broken("drop"), "network"),
    "early end": (broken("early_end"), "interrupted"),
    "nothing": (broken("early_end", after=0), "interrupted"),
    "stall": (broken("stall"), "interrupted"),
    "drip": (broken("drip"), "interrupted"),
    "garbage": (broken("garbage"), "interrupted"),
}


@pytest.mark.parametrize(("failure", "kind"), FAILURES.values(), ids=FAILURES)
async def test_what_can_pass_is_tried_again(hosted: Hosted, failure: Answer, kind: str) -> None:
    with FakeResponsesApi() as api:
        api.script(failure, said("the whole answer"))
        events = await gather(hosted(api, stall=1.0))
        assert len(api.requests) == 2
    (failed,) = [event for event in events if isinstance(event, AttemptFailed)]
    assert (failed.attempt, failed.kind) == (1, kind)
    assert shown(folded(events)) == [("text", "the whole answer")]


TOO_LONG = "Your input exceeds the context window of this model."
REFUSALS = {
    "400": (failing(400, message="no such thing"), "bad_request", "no such thing"),
    "401": (failing(401, code="invalid_api_key"), "authentication", "as scripted"),
    "overflow": (failing(400, code="context_length_exceeded"), "context_overflow", "compact"),
    "overflow by words": (failing(400, message=TOO_LONG), "context_overflow", "exceeds"),
    "quota": (failing(429, code="insufficient_quota"), "rate_limit", "as scripted"),
    "prompt": (broken("told", failed=True, code="invalid_prompt"), "bad_request", "mid-stream"),
    "told overflow": (broken("told", code="context_length_exceeded"), "context_overflow", "mid"),
    "elsewhere": (
        failing(307, headers={"location": "http://127.0.0.2/v1"}),
        "bad_request",
        "redirect to http://127.0.0.2",
    ),
}


@pytest.mark.parametrize(("failure", "kind", "words"), REFUSALS.values(), ids=REFUSALS)
async def test_what_cannot_pass_is_not_tried_again(
    hosted: Hosted, failure: Answer, kind: str, words: str
) -> None:
    with FakeResponsesApi() as api:
        api.script(failure)
        with pytest.raises(ModelFailed, match=words) as failed:
            await gather(hosted(api))
        assert len(api.requests) == 1
    assert (failed.value.failure, failed.value.retryable) == (kind, False)


async def test_an_endless_answer_is_given_up(hosted: Hosted) -> None:
    with FakeResponsesApi() as api:
        api.script(said("word " * 10_000, piece=500))
        with pytest.raises(ModelFailed, match="none of 99 tokens") as failed:
            await gather(hosted(api))
    assert not failed.value.retryable


async def test_a_ping_says_that_there_is_none(hosted: Hosted) -> None:
    with FakeResponsesApi() as api:
        with pytest.raises(ModelFailed, match="renewed by use alone") as failed:
            await hosted(api).ping(asking())
        assert api.requests == []
    assert failed.value.failure == "bad_request"
