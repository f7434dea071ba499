"""The real SDK against the fake API: what is sent, what comes."""

import re
from contextlib import suppress
from dataclasses import replace
from importlib.metadata import version
from typing import Any

import pytest
from google import genai
from google.genai.errors import APIError
from google.genai.types import Content, GenerateContentConfig, HttpOptions

from sidecar.core.conversation.stream import ResponseStarted
from sidecar.core.parts import (
    Media,
    Message,
    MessageId,
    Output,
    PartId,
    ReasoningPart,
    TextPart,
    ToolCompleted,
    ToolPart,
    TurnId,
    Usage,
)
from sidecar.core.prompt.prompt import ModelRequest, assemble
from tests.core.prompts import (
    Rendered,
    ResultBlock,
    TextBlock,
    calling,
    render,
    static,
    thinking,
    user,
)
from tests.core.prompts import model as answered
from tests.fakes.gemini_api import KEY, FakeGeminiApi, Reply, call, calls, says, thinks
from tests.model.gemini.gemini_answers import NEW, OLD, answer, gather, gemini, request
from tests.model.hosted_answers import Draft, folded

pytestmark = pytest.mark.long

PIXEL = Media("image/png", "iVBORw0KGgo=")


async def test_a_whole_answer_comes_through() -> None:
    with FakeGeminiApi() as api:
        given = {"file-path": "a", "n": 2**70, "deep": [{"x": None}]}
        then = calls(call("look", given, "c1", "c2ln"), words="Looking.")
        draft = await answer(api, thinks("let me see", then))
        (sent,) = api.requests
    thought, said, tool = draft.parts
    assert thought == ReasoningPart(PartId("p1"), "let me see")
    assert said == TextPart(PartId("p2"), "Looking.", "model")
    assert isinstance(tool, ToolPart)
    assert (tool.call_id, tool.name, tool.input) == ("c1", "look", given)
    assert tool.metadata == {"signature": "c2ln"}
    assert draft.stop == "tool_use"
    assert sent.path == f"/v1beta/models/{NEW}:streamGenerateContent?alt=sse"
    assert sent.headers["x-sidecar-purpose"] == "turn"
    assert sent.headers["x-goog-api-client"].startswith("google-genai-sdk/")
    assert api.refused == []


async def test_an_answer_begins_with_the_library_that_asks_for_it() -> None:
    with FakeGeminiApi() as api:
        api.script(says("hi"))
        async with gemini(api) as source:
            first = (await gather(source))[0]
            assert api.requests[0].body == source.body(request())
    usage = Usage(input=100, output=1)
    assert first == ResponseStarted(NEW, usage, f"google-genai {version('google-genai')}")


@pytest.mark.parametrize("model", [NEW, OLD])
async def test_a_conversation_goes_back_as_it_came(model: str) -> None:
    """What was answered is logged, rendered and sent: the fake knows each signature's part."""
    named = model == NEW
    first, second = ("a", "b") if named else ("", "")
    one = call("look", {"at": "x"}, first, "Zmlyc3Q=")
    two = call("look", {"at": "y"}, second)
    signed = {"text": "I'll ", "thoughtSignature": "dGV4dA=="}
    last = ({"text": "All "}, {"text": "is"}, {"text": " well."})
    with FakeGeminiApi() as api:
        api.script(
            thinks("hm", Reply((signed, {"text": "look."}, one, two), together=named)),
            Reply((*last, {"text": "", "thoughtSignature": "ZW5k"}), pace=0.001),
        )
        said: list[Rendered] = [user("go", PIXEL)]
        async with gemini(api) as source:
            for turn in range(3):
                draft = folded(await gather(source, whole(said, model)))
                said += logged(draft, turn, model)
                said += [user("and now?")] if turn else []
        assert api.refused == []
        contents = api.requests[2].body["contents"]
    assert [content["role"] for content in contents] == ["user", "model"] * 2 + ["user"]
    assert contents[0]["parts"][1] == {"inlineData": {"mimeType": "image/png", "data": PIXEL.data}}
    ids = ["a", "b"] if named else [f"call_Il0taoSYJ5Cez7IP_{n}" for n in (0, 1)]
    assert contents[1]["parts"] == [
        signed,
        {"text": "look."},
        {**one, "functionCall": {**one["functionCall"], "id": ids[0]}},
        {**two, "functionCall": {**two["functionCall"], "id": ids[1]}},
    ]
    results = contents[2]["parts"]
    picture = {"inlineData": {"mimeType": "image/png", "data": PIXEL.data}}
    shown = [{"id": i, "name": "look", "response": {"output": "seen"}} for i in ids]
    if named:
        assert results == [{"functionResponse": {**one, "parts": [picture]}} for one in shown]
    else:
        assert results == [*({"functionResponse": one} for one in shown), picture, picture]
    assert contents[3]["parts"] == [
        {"text": "All is well."},
        {"text": "", "thoughtSignature": "ZW5k"},
    ]


def whole(said: list[Rendered], model: str) -> ModelRequest:
    return request(*assemble(static(model=model), said).messages, model=model)


def logged(draft: Draft, turn: int, model: str) -> tuple[Rendered, ...]:
    """Put an answer's parts into a message, run its calls, and render it."""
    done = ToolCompleted(Output("seen", media=(PIXEL,)), 0, 1)
    parts = tuple(replace(p, state=done) if isinstance(p, ToolPart) else p for p in draft.parts)
    name = MessageId(f"m{turn}")
    return render(Message(name, TurnId("t"), "assistant", parts, 0, "complete", model), model)


@pytest.mark.parametrize("model", [NEW, OLD, "gemini-2.0-flash", "gemma-4-31b-it"])
async def test_another_models_calls_are_taken(model: str) -> None:
    asked = user("go")
    called = answered("I look.", calling("t_1", "look", {"at": "x"}), calling("t_2", "look"))
    results = user(ResultBlock("t_1", ""), ResultBlock("t_2", "no", is_error=True), "and now?")
    again = answered(calling("t_3", "look", {"at": "x"}))
    last = user(ResultBlock("t_3", "a", (replace(PIXEL, media_type="image/gif"), PIXEL)))
    with FakeGeminiApi() as api:
        async with gemini(api) as source:
            await gather(source, request(asked, called, results, again, last, model=model))
        assert api.refused == []


async def test_equal_prompts_become_equal_bytes_whatever_was_sent_before() -> None:
    one, two = user("one"), user("two")
    with FakeGeminiApi() as api:
        async with gemini(api) as source, gemini(api) as other:
            for said in ((one,), (two,), (one, answered("so"), two), (one,)):
                await gather(source, request(*said))
            await gather(other, request(user("one")))
        first, *_, again, anew = (recorded.content for recorded in api.requests)
    assert first == again == anew


async def test_a_body_is_what_the_sdk_would_make_of_it() -> None:
    called = answered(
        thinking("hm", {"signature": "aG0="}),
        TextBlock("So.", {"signatures": [[0, 2, "c28="]]}),
        calling("c1", "look", {"at": "ü"}),
        calling("c2", "look"),
    )
    results = user(ResultBlock("c1", "seen", (PIXEL,)), ResultBlock("c2", "no", is_error=True))
    asked = replace(request(user("go", PIXEL), called, results, user("on")), effort="low")
    with FakeGeminiApi() as api:
        api.issued["aG0="] = {"text": "hm", "thought": True, "thoughtSignature": "aG0="}
        api.issued["c28="] = {"text": "So", "thoughtSignature": "c28="}
        prompt = assemble(static(), asked.prompt.messages)
        asked = replace(asked, prompt=replace(asked.prompt, messages=prompt.messages))
        async with gemini(api) as source:
            await gather(source, asked)
            body = source.body(asked)
        options = HttpOptions(base_url=api.url, api_version="v1beta")
        client = genai.Client(api_key=KEY, http_options=options)
        settings = {key: body[key] for key in ("systemInstruction", "tools", "toolConfig")}
        config = GenerateContentConfig.model_validate(
            {**settings, **body["generationConfig"]}  # type: ignore[dict-item]
        )
        contents: Any = [Content.model_validate(one) for one in body["contents"]]
        assert api.refused == []
        # The SDK spells some names the other way that the API knows, which the fake does not.
        with suppress(APIError):
            stream = client.aio.models.generate_content_stream
            async for _ in await stream(model=NEW, contents=contents, config=config):
                pass
        await client.aio.aclose()
        client.close()
        ours, theirs = api.requests
    assert ours.body == camel(theirs.body)
    assert ours.path == theirs.path
    mine = {"x-sidecar-purpose", "content-length"}
    assert ours.headers.keys() - mine == theirs.headers.keys() - mine


def camel(value: Any) -> Any:
    match value:
        case dict():
            return {
                re.sub("_([a-z])", lambda found: found[1].upper(), key): camel(inner)
                for key, inner in value.items()
            }
        case list():
            return [camel(inner) for inner in value]
        case _:
            return value


STOPS = {
    "STOP": "end_turn",
    "MAX_TOKENS": "max_tokens",
    "CONTINUATION": "max_tokens",
    "SAFETY": "refusal",
    "RECITATION": "refusal",
    "PROHIBITED_CONTENT": "refusal",
    "BLOCKLIST": "refusal",
    "SPII": "refusal",
    "LANGUAGE": "refusal",
    "OTHER": "other",
    "SOMETHING_NEW": "something_new",
}


@pytest.mark.parametrize("reason", STOPS)
async def test_an_end_is_told_in_the_words_that_sessions_know(reason: str) -> None:
    with FakeGeminiApi() as api:
        draft = await answer(api, says("so far", finish=reason))
    assert draft.stop == STOPS[reason]
    assert [part.text for part in draft.parts if isinstance(part, TextPart)] == ["so far"]


@pytest.mark.parametrize("reason", ["SAFETY", "OTHER", "PROHIBITED_CONTENT", "BLOCKLIST"])
async def test_a_prompt_that_is_blocked_is_a_refusal(reason: str) -> None:
    with FakeGeminiApi() as api:
        draft = await answer(api, Reply(blocked=reason))
    assert (draft.stop, draft.parts, draft.usage) == ("refusal", (), Usage(input=9))


async def test_usage_is_counted_once() -> None:
    told = {
        "promptTokenCount": 1000,
        "cachedContentTokenCount": 900,
        "toolUsePromptTokenCount": 7,
        "candidatesTokenCount": 20,
        "thoughtsTokenCount": 30,
    }
    with FakeGeminiApi() as api:
        draft = await answer(api, says("hi", usage=told))
    assert draft.usage == Usage(input=107, cache_read=900, output=50, thinking=30)
