"""The real SDK against the fake API: every way in which a call can fail."""

import asyncio
import logging
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest

from sidecar.core.conversation.stream import (
    AttemptFailed,
    BlockStarted,
    ResponseFinished,
    ResponseStarted,
)
from sidecar.core.errors import ModelFailed
from sidecar.model.gemini import gemini_model
from sidecar.model.stalls import AnswerLimits, limits
from tests.fakes.gemini_api import KEY, TYPE, FakeGeminiApi, broken, call, calls, refuses, says
from tests.model.gemini.gemini_answers import failure, gather, gemini, request
from tests.model.hosted_answers import folded

pytestmark = pytest.mark.long

FAILURES = {
    "429": refuses(429),
    "500": refuses(500),
    "503": refuses(503, "The model is overloaded. Please try again later."),
    "504": refuses(504),
    "error chunk": broken("error_chunk"),
    "bare error": broken("bare_error"),
    "too many, amid": broken("error_chunk", code=429),
    "drop": broken("drop"),
    "early end": broken("early_end"),
    "stall": broken("stall"),
    "silence": broken("silence"),
    "garbage": broken("garbage"),
    "nothing": broken("early_end", after=0),
    "a call that cannot be read": says("so", finish="MALFORMED_FUNCTION_CALL"),
    "a tool that is not there": says("so", finish="UNEXPECTED_TOOL_CALL"),
}


SILENT = {"stall", "silence"}


@pytest.mark.parametrize("name", FAILURES)
async def test_what_can_pass_is_tried_again(name: str) -> None:
    with FakeGeminiApi() as api:
        api.script(FAILURES[name], says("the whole answer"))
        async with gemini(api, stall=0.3 if name in SILENT else 5.0) as source:
            events = await gather(source)
        assert len(api.requests) == 2
    (failed,) = [event for event in events if isinstance(event, AttemptFailed)]
    assert (failed.attempt, failed.max_attempts) == (1, 3)
    assert [part.text for part in folded(events).parts] == ["the whole answer"]
    assert sum(isinstance(event, ResponseFinished) for event in events) == 1


INFO: dict[str, Any] = {"@type": f"{TYPE}.ErrorInfo", "reason": "API_KEY_INVALID"}
FINAL = {
    "bad request": (refuses(400, "no such thing"), "bad_request", 400),
    "bad request, amid": (broken("error_chunk", code=400), "bad_request", 400),
    "unknown model": (refuses(404, "models/x is not found"), "bad_request", 404),
    "no key": (refuses(401, "no credentials"), "authentication", 401),
    "bad key": (refuses(403, "API key was reported as leaked"), "authentication", 403),
    "invalid key": (refuses(400, "API key not valid.", INFO), "authentication", 400),
    "too long": (
        refuses(400, "The input token count (1200293) exceeds the maximum number of tokens "
                "allowed (1048576)."), "context_overflow", 400),
    "too large": (refuses(400, "Request payload size exceeds the limit: 20971520 bytes."),
                  "context_overflow", 400),
    "lost signature": (says("", finish="MISSING_THOUGHT_SIGNATURE"), "bad_request", None),
    "closed account": (says("", finish="PUP_LIMITED_DISABLED"), "authentication", None),
}  # fmt: skip


@pytest.mark.parametrize("name", FINAL)
async def test_what_cannot_pass_is_not_tried_again(name: str) -> None:
    reply, kind, status = FINAL[name]
    with FakeGeminiApi() as api:
        failed = await failure(api, reply)
        assert len(api.requests) == 1
    assert (failed.failure, failed.status, failed.retryable) == (kind, status, False)


async def test_a_rate_limit_says_how_long_to_wait() -> None:
    details = {"@type": f"{TYPE}.RetryInfo", "retryDelay": "36.5s"}
    with FakeGeminiApi() as api:
        failed = await failure(api, refuses(429, "slow down", details))
        assert failed.failure == "rate_limit"
        assert "asks to wait 36 seconds" in failed.message
        assert len(api.requests) == 1
        wait = {"@type": f"{TYPE}.RetryInfo", "retryDelay": "2s"}
        api.script(refuses(429, "slow down", wait), says("hi"))
        async with gemini(api) as source:
            (tried,) = [e for e in await gather(source) if isinstance(e, AttemptFailed)]
    assert tried.delay_ms >= 2000


async def test_a_days_quota_is_not_waited_for() -> None:
    quota = {
        "@type": f"{TYPE}.QuotaFailure",
        "violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}],
    }
    wait = {"@type": f"{TYPE}.RetryInfo", "retryDelay": "2s"}
    with FakeGeminiApi() as api:
        failed = await failure(api, refuses(429, "You exceeded your current quota", quota, wait))
        assert len(api.requests) == 1
    assert (failed.failure, failed.retryable) == ("rate_limit", False)


async def test_attempts_are_bounded() -> None:
    with FakeGeminiApi() as api:
        failed = await failure(api, *[refuses(503, "busy")] * 9)
        assert len(api.requests) == 3
    assert (failed.failure, failed.retryable) == ("overloaded", True)


async def test_signs_of_life_are_not_an_answer() -> None:
    def short(tokens: int, stall: float) -> AnswerLimits:
        return replace(limits(tokens, stall), quiet=0.4)

    with FakeGeminiApi() as api:
        api.script(broken("drip"))
        async with gemini(api, limited=short) as source:
            with pytest.raises(ModelFailed, match=r"nothing but pings for 0\.4 seconds"):
                await gather(source)


@pytest.mark.parametrize("said", ["much", "long pieces", "signatures"])
async def test_an_answer_without_end_is_given_up(said: str) -> None:
    endless = {
        "much": says("word " * 9_000, piece=99),
        "long pieces": says("word " * 400_000, piece=1_000_000),
        "signatures": calls(*[call("look", {}, f"c{n}", "A" * 200_000) for n in range(20)]),
    }
    with FakeGeminiApi() as api:
        failed = await failure(api, endless[said])
        assert len(api.requests) == 1
    assert "given up" in failed.message


async def test_a_server_that_is_not_there_is_a_failure_of_the_network() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    failed = await failure(f"http://127.0.0.1:{port}")
    assert (failed.failure, failed.retryable) == ("network", True)


async def test_closing_gives_up_its_connections() -> None:
    with FakeGeminiApi() as api:
        api.script(says("word " * 4_000, pace=0.002))
        async with gemini(api) as source:
            answer = source.stream(request())
            assert isinstance(await anext(answer), ResponseStarted)
            await source.aclose()
            assert await asyncio.to_thread(api.closed_early.wait, 10)
            with pytest.raises(ModelFailed):
                await gather(source)


BEHIND = {
    "an error": b'data: {"error": {"code": 503, "message": "late"}}\r\n\r\n',
    "no JSON": b"data: {\r\n\r\n",
    "no UTF-8": b"\xff\xfe\r\n\r\n",
}


@pytest.mark.parametrize("behind", BEHIND)
async def test_what_follows_an_answer_does_not_spoil_it(behind: str) -> None:
    with FakeGeminiApi() as api:
        api.script(says("all", behind=(BEHIND[behind],)))
        async with gemini(api) as source:
            events = await gather(source)
        assert len(api.requests) == 1
    assert [part.text for part in folded(events).parts] == ["all"]


async def test_usage_that_follows_an_answer_is_of_it() -> None:
    late = b'data: {"usageMetadata": {"promptTokenCount": 5, "candidatesTokenCount": 6}}\n\n'
    with FakeGeminiApi() as api:
        api.script(says("all", behind=(b": so far\n\n", late)))
        async with gemini(api) as source:
            draft = folded(await gather(source))
    assert (draft.usage.input, draft.usage.output) == (5, 6)


async def test_a_stream_that_does_not_end_behind_its_answer_is_left(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gemini_model, "DRAIN", 0.1)
    with FakeGeminiApi() as api:
        api.script(says("all", held=True))
        async with gemini(api) as source:
            assert isinstance((await gather(source))[-1], ResponseFinished)


async def test_the_connection_is_used_again() -> None:
    with FakeGeminiApi() as api:
        async with gemini(api) as source:
            for _ in range(3):
                await gather(source)
        assert (len(api.requests), api.connections) == (3, 1)


async def test_the_key_is_never_shown(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with FakeGeminiApi() as api:
        failed = await failure(api, refuses(401, f"the key {KEY} is not known"))
    told = [repr(failed), str(failed.data), repr(failed.__cause__), caplog.text]
    assert KEY not in "".join(told)
    assert failed.__suppress_context__


async def test_neither_key_nor_address_nor_account_comes_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    poison = "http://127.0.0.1:9/poison"
    for name in (
        "GOOGLE_API_KEY", "GEMINI_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL",
        "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION", "GOOGLE_GENAI_API_VERSION",
        "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_GENAI_REPLAYS_DIRECTORY",
    ):  # fmt: skip
        monkeypatch.setenv(name, poison)
    for name in ("USE_VERTEXAI", "USE_ENTERPRISE"):
        monkeypatch.setenv(f"GOOGLE_GENAI_{name}", "true")
    monkeypatch.setenv("GOOGLE_GENAI_CLIENT_MODE", "replay")
    with FakeGeminiApi() as api:
        async with gemini(api) as source:
            await gather(source)
        (sent,) = api.requests
    assert "poison" not in f"{sent.path} {sent.headers}"


@pytest.mark.parametrize("end", ["", "/", "/v1beta", "/v1beta/"])
async def test_an_address_may_name_the_version(end: str) -> None:
    with FakeGeminiApi() as api:
        async with gemini(api.url + end) as source:
            await gather(source)
        assert api.refused == []


@contextmanager
def redirecting(to: str) -> Iterator[str]:
    class Connection(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_response(307)
            self.send_header("location", f"{to}{self.path}")
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing on stderr."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Connection)
    thread = Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


async def test_no_redirect_is_followed() -> None:
    with FakeGeminiApi() as api:
        with redirecting(api.url) as url:
            failed = await failure(url)
        assert api.requests == []
        assert f"a redirect to {api.url}" in failed.message
    assert (failed.failure, failed.status) == ("bad_request", 307)


async def test_without_the_sdk_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "google.genai", None)
    async with gemini("http://127.0.0.1:9") as source:
        with pytest.raises(ModelFailed, match="google-genai, an extra of Sidecar") as failed:
            await gather(source)
    assert failed.value.failure == "bad_request"


async def test_there_is_no_ping() -> None:
    async with gemini("http://127.0.0.1:9") as source:
        with pytest.raises(ModelFailed, match="keeps no prefix warm") as failed:
            await source.ping(request())
    assert failed.value.failure == "bad_request"


async def test_a_call_too_deep_is_a_problem_of_the_call() -> None:
    deep: Any = {}
    for _ in range(150):
        deep = {"in": deep}
    with FakeGeminiApi() as api:
        api.script(calls(call("look", deep, "c1"), call("look", [1], "c2")))
        async with gemini(api) as source:
            events = await gather(source)
    assert sum(isinstance(event, BlockStarted) for event in events) == 2
    assert [*folded(events).problems.values()] == [
        "it is nested too deep",
        "it must be an object, not an array",
    ]


async def test_an_sdk_that_has_changed_inside_is_told_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr("google.genai._api_client.BaseApiClient._async_request_once")
    async with gemini("http://127.0.0.1:9") as source:
        with pytest.raises(ModelFailed, match=r"cannot be used: .*_async_request") as failed:
            await gather(source)
    assert failed.value.failure == "bad_request"
