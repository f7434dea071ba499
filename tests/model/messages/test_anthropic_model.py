"""The real SDK against the fake API: every way in which a call can fail, and what is sent."""

import asyncio
import logging
import socket
from collections.abc import AsyncIterator
from dataclasses import replace
from importlib.metadata import version
from typing import get_args

import pytest
from anthropic.types import AnthropicBetaParam
from anthropic.types.beta import BetaCompactionConfigParam

from sidecar.core.conversation.stream import (
    AttemptFailed,
    ResponseFinished,
    ResponseStarted,
    StreamEvent,
)
from sidecar.core.errors import ModelFailed
from sidecar.core.parts import ReasoningPart, TextPart, ToolPart, Usage
from sidecar.core.prompt.prompt import Breakpoint, ModelRequest, Prompt, ToolSpec
from sidecar.model.endpoint import Endpoint
from sidecar.model.messages.anthropic_model import COMPACTING, AnthropicModel
from sidecar.model.retry import Patience
from tests.core.prompts import system, user
from tests.fakes.messages_api import FakeMessagesApi, Reply, broken, status, text, thinking, tools
from tests.model.hosted_answers import folded

pytestmark = pytest.mark.long

KEY = "sk-ant-very-secret-key"


_OPEN: list[AnthropicModel] = []


@pytest.fixture(autouse=True)
async def _close_connections() -> AsyncIterator[None]:
    yield
    while _OPEN:
        await _OPEN.pop().aclose()


def model(api: FakeMessagesApi | str, *, stall: float = 5.0, attempts: int = 3) -> AnthropicModel:
    url = api if isinstance(api, str) else api.url
    made = AnthropicModel(
        Endpoint("anthropic", url, KEY),
        now=lambda: 1_700_000_000_000,
        random=lambda: 1.0,
        patience=Patience(attempts, 20.0, 120.0),
        stall=stall,
    )
    _OPEN.append(made)
    return made


def request(words: str = "hello") -> ModelRequest:
    tool = ToolSpec("look", "Looks.", {"type": "object"})
    marks = (Breakpoint(None, 0), Breakpoint(0, 0))
    prompt = Prompt((tool,), system("Be brief."), (user(words),), marks)
    return ModelRequest("claude-test", prompt, 99)


async def gather(source: AnthropicModel, asked: ModelRequest | None = None) -> list[StreamEvent]:
    async with asyncio.timeout(30):
        return [event async for event in source.stream(asked or request())]


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retries wait a hundredth of their time."""
    original = asyncio.sleep
    monkeypatch.setattr("sidecar.model.hosted.asyncio.sleep", lambda s: original(min(s, 0.01)))


async def test_a_whole_answer_comes_through() -> None:
    with FakeMessagesApi() as api:
        given = {"file-path": "a", "jsonrpc": "2.0", "n": 2**70, "deep": [{"x": None}]}
        api.script(thinking("let me see", "sig", tools(("t1", "look", given), words="Looking.")))
        draft = folded(await gather(model(api)))
        sent = api.requests[0]
    assert [type(p) for p in draft.parts] == [ReasoningPart, TextPart, ToolPart]
    reasoning, said, tool = draft.parts
    assert (reasoning.text, reasoning.metadata) == ("let me see", {"signature": "sig"})
    assert (said.text, tool.call_id, tool.input) == ("Looking.", "t1", given)
    assert draft.stop == "tool_use"
    assert draft.usage.prompt > 0
    assert sent.headers["authorization"] == f"Bearer {KEY}"
    assert sent.headers["x-sidecar-purpose"] == "turn"
    assert sent.body == {**model(api).body(request())}
    assert api.refused == []


async def test_an_answer_begins_with_the_library_that_reads_it() -> None:
    with FakeMessagesApi() as api:
        api.script(text("hi"))
        first = (await gather(model(api)))[0]
    assert isinstance(first, ResponseStarted)
    assert first.sdk == f"anthropic {version('anthropic')}"


FAILURES = {
    "429": status(429, "rate_limit_error", retry_after="1"),
    "408": status(408),
    "409": status(409),
    "500": status(500),
    "529": status(529, "overloaded_error"),
    "error event": broken("error_event"),
    "api error event": broken("error_event", error="api_error"),
    "drop": broken("drop"),
    "early end": broken("early_end"),
    "stall": broken("stall"),
    "garbage": broken("garbage"),
    "nothing": broken("early_end", after=0),
}


@pytest.mark.parametrize("failure", FAILURES.values(), ids=FAILURES)
async def test_what_can_pass_is_tried_again(failure: Reply) -> None:
    with FakeMessagesApi() as api:
        api.script(failure, text("the whole answer"))
        events = await gather(model(api, stall=0.3))
        assert len(api.requests) == 2
    (failed,) = [event for event in events if isinstance(event, AttemptFailed)]
    assert (failed.attempt, failed.max_attempts) == (1, 3)
    assert [p.text for p in folded(events).parts] == ["the whole answer"]
    assert sum(isinstance(event, ResponseFinished) for event in events) == 1


@pytest.mark.parametrize("code", [400, 401, 403, 404, 413, 422])
async def test_what_cannot_pass_is_not_tried_again(code: int) -> None:
    with FakeMessagesApi() as api:
        api.script(status(code, "invalid_request_error", "no such thing"))
        with pytest.raises(ModelFailed, match="no such thing") as failed:
            await gather(model(api))
        assert len(api.requests) == 1
    assert not failed.value.retryable
    assert failed.value.status == code


async def test_attempts_are_bounded() -> None:
    with FakeMessagesApi(lambda *_: status(529, "overloaded_error", "busy")) as api:
        with pytest.raises(ModelFailed, match="busy") as failed:
            await gather(model(api))
        assert len(api.requests) == 3
    assert (failed.value.failure, failed.value.retryable) == ("overloaded", True)


async def test_a_wait_that_is_too_long_is_told_instead() -> None:
    with FakeMessagesApi() as api:
        api.script(status(429, "rate_limit_error", "slow down", retry_after="3600"))
        with pytest.raises(ModelFailed, match="3600 seconds"):
            await gather(model(api))
        assert len(api.requests) == 1


async def test_a_server_that_is_not_there_is_a_failure_of_the_network() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ModelFailed) as failed:
        await gather(model(f"http://127.0.0.1:{port}", attempts=2))
    assert (failed.value.failure, failed.value.retryable) == ("network", True)


async def test_without_a_key_it_says_what_to_do() -> None:
    keyless = AnthropicModel(Endpoint(), now=lambda: 0, random=lambda: 0.0)
    with pytest.raises(ModelFailed, match="ANTHROPIC_API_KEY") as failed:
        await gather(keyless)
    assert failed.value.failure == "authentication"


async def test_neither_key_nor_address_comes_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("API_KEY", "AUTH_TOKEN", "BASE_URL", "PROFILE"):
        monkeypatch.setenv(f"ANTHROPIC_{name}", "http://127.0.0.1:9/poison")
    with FakeMessagesApi() as api:
        await gather(model(api))
        assert "poison" not in str(api.requests[0].headers)


async def test_closing_gives_up_its_connections() -> None:
    with FakeMessagesApi() as api:
        api.script(text("word " * 4_000, pace=0.002))
        source = model(api)
        answer = source.stream(request())
        await anext(answer)
        await source.aclose()
        assert await asyncio.to_thread(api.closed_early.wait, 10)
        with pytest.raises(ModelFailed):
            await gather(source)
    await model("http://127.0.0.1:9").aclose()


async def test_the_key_is_never_shown(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with FakeMessagesApi() as api:
        source = model(api)
        api.script(status(401, "authentication_error", "invalid x-api-key"))
        with pytest.raises(ModelFailed) as failed:
            await gather(source)
    told = [repr(failed.value), str(failed.value.data), repr(failed.value.__cause__), caplog.text]
    assert KEY not in "".join([*told, repr(source), repr(Endpoint("anthropic", "", KEY))])
    assert failed.value.__suppress_context__


async def test_foundry_is_chosen_by_configuration() -> None:
    with FakeMessagesApi() as api:
        endpoint = Endpoint("foundry", api.url, KEY)
        cloud = AnthropicModel(endpoint, now=lambda: 0, random=lambda: 0.0)
        _OPEN.append(cloud)
        assert folded(await gather(cloud)).stop == "end_turn"
        assert api.refused == []
        assert KEY in str(api.requests[0].headers)


async def test_an_unknown_provider_is_told() -> None:
    unknown = AnthropicModel(Endpoint("elsewhere"), now=lambda: 0, random=lambda: 0.0)
    assert unknown.body(request())["stream"] is True, "what would be sent can be shown"
    with pytest.raises(ModelFailed, match="there are anthropic, bedrock"):
        await gather(unknown)


def compacting() -> ModelRequest:
    return replace(
        request(), model="claude-opus-5-5", purpose="compaction", compaction="In a few words."
    )


async def test_the_providers_own_compaction_comes_as_a_text_with_all_that_it_took() -> None:
    took = {"input_tokens": 5, "cache_read_input_tokens": 900, "output_tokens_final": 20}
    with FakeMessagesApi() as api:
        api.summarise = lambda *_: text("<summary>It went well.</summary>", usage=took)
        source = model(api)
        draft = folded(await gather(source, compacting()))
        [sent] = api.summaries
        await gather(source)
        [turn] = api.requests
    assert [part.text for part in draft.parts] == ["<summary>It went well.</summary>"]
    assert (draft.stop, draft.usage) == ("compaction", Usage(5, 900, output=20))
    assert sent.headers["anthropic-beta"] == "compact-2026-09-04"
    asked = {"type": "summarize", "instructions": "In a few words."}
    plain = source.body(replace(request(), model="claude-opus-5-5"))
    assert sent.body == {**plain, "compaction": asked}
    assert "anthropic-beta" not in turn.headers
    assert api.refused == []


def test_the_library_knows_how_a_compaction_is_asked_for() -> None:
    _, betas = get_args(AnthropicBetaParam)
    assert COMPACTING["anthropic-beta"] in get_args(betas)
    asked = model("http://127.0.0.1").body(compacting())["compaction"]
    assert asked.keys() == BetaCompactionConfigParam.__annotations__.keys()


async def test_a_compaction_that_is_not_there_for_a_moment_is_asked_for_again() -> None:
    with FakeMessagesApi() as api:
        answers = iter((status(529, "overloaded_error"), text("It went well.")))
        api.summarise = lambda *_: next(answers)
        draft = folded(await gather(model(api), compacting()))
    assert [part.text for part in draft.parts] == ["It went well."]


async def test_a_ping_reads_the_prompt_and_asks_for_no_answer() -> None:
    with FakeMessagesApi() as api:
        source, asked = model(api), request("hello " * 1000)
        await gather(source, asked)
        usage = await source.ping(asked)
        sent, pinged = (recorded.body for recorded in api.requests)
        assert api.refused == []
        assert api.requests[1].headers["x-sidecar-purpose"] == "turn"
    assert {**sent, "stream": True, "max_tokens": 0} == {**pinged, "stream": True}
    assert "stream" not in pinged
    assert usage.cache_read > 1000
    assert (usage.cache_write_5m, usage.output, usage.requests) == (0, 0, 1)


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        (status(529, "overloaded_error"), "overloaded"),
        (status(400, "invalid_request_error"), "bad_request"),
    ],
)
async def test_a_ping_is_tried_once(failure: Reply, kind: str) -> None:
    with FakeMessagesApi() as api:
        api.script(failure)
        with pytest.raises(ModelFailed) as failed:
            await model(api).ping(request())
        assert len(api.requests) == 1
    assert failed.value.kind == kind
    assert failed.value.__suppress_context__


async def test_a_ping_without_a_key_says_so() -> None:
    with pytest.raises(ModelFailed, match="ANTHROPIC_API_KEY"):
        await AnthropicModel(Endpoint("anthropic"), now=lambda: 0, random=lambda: 0.0).ping(
            request()
        )
