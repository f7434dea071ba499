"""The real SDK against the Responses API: what is sent, what comes, and how it can fail."""

import logging
from importlib.metadata import version
from threading import get_ident

import pytest

from sidecar.core.conversation.stream import (
    ResponseFinished,
    ResponseStarted,
)
from sidecar.core.errors import ModelFailed
from sidecar.core.parts import Media, Output, Usage
from sidecar.core.prompt.prompt import ModelRequest, Prompt, ToolSpec
from sidecar.extras import adding
from sidecar.model.openai.openai_model import NO_SDK
from sidecar.model.responses.response_items import ResponseOptions, response_body
from sidecar.model.responses.responses_model import ResponsesModel
from tests.core.prompts import answering, calling, model, system, thinking, user
from tests.fakes.responses_api import FakeResponsesApi
from tests.fakes.streaming_server import Answer, called, failing, said, thought
from tests.model.hosted_answers import (
    GIVEN,
    KEY,
    LOOK,
    MODEL,
    PNG,
    asking,
    at,
    folded,
    gather,
    replied,
    shown,
)
from tests.model.responses.conftest import Hosted

pytestmark = pytest.mark.long


async def test_a_whole_answer_comes_through_and_goes_back_as_it_came(hosted: Hosted) -> None:
    with FakeResponsesApi() as api:
        first = thought("I look|twice", called(("call_1", "look", {"at": "a"}), words="Looking."))
        first = Answer(
            (*first.parts, {"thought": ""}, {"call": "call_2", "name": "look", "input": {}})
        )
        api.script(first, said("done"))
        source = hosted(api)
        draft = folded(await gather(source, asking(effort="high")))
        assert shown(draft) == [
            ("thought", "I look\n\ntwice"),
            ("text", "Looking."),
            ("call", "call_1", "look", {"at": "a"}),
            ("thought", ""),
            ("call", "call_2", "look", {}),
        ]
        assert draft.stop == "tool_use"
        again = asking(user("hello"), *replied(draft), user("and?"), effort="high")
        await gather(source, again)
        sent = api.requests[1].body["input"]
        assert api.refused == []
    assert [item.get("role", item["type"]) for item in sent] == [
        "user",
        "reasoning",
        "assistant",
        "function_call",
        "reasoning",
        "function_call",
        "function_call_output",
        "function_call_output",
        "user",
    ]
    assert sent[1] == {
        "type": "reasoning",
        "id": "rs_0",
        "summary": [
            {"type": "summary_text", "text": "I look"},
            {"type": "summary_text", "text": "twice"},
        ],
        "encrypted_content": "gAAAA0" + "x" * 40,
    }
    assert sent[2]["phase"] == "commentary"


async def test_an_answer_begins_with_the_library_and_ends_with_all_that_was_used(
    hosted: Hosted,
) -> None:
    with FakeResponsesApi() as api:
        usage = {
            "input_tokens": 1000,
            "input_tokens_details": {
                "cached_tokens": 600,
                "cache_write_tokens": 300,
                "cache_write_tokens_details": {"ttl_12h_tokens": 100, "ttl_30m_tokens": 200},
            },
            "output_tokens": 50,
            "output_tokens_details": {"reasoning_tokens": 20},
        }
        api.script(said("hi", usage=usage))
        events = await gather(hosted(api))
    assert events[0] == ResponseStarted(MODEL, Usage(), f"openai {version('openai')}")
    assert events[-1] == ResponseFinished("end_turn", Usage(100, 600, 200, 100, 50, 20))


async def test_the_same_prompt_is_the_same_bytes_whatever_was_sent_before(hosted: Hosted) -> None:
    first = asking(user("é", Media("image/png", PNG)), effort="low")
    longer = asking(
        user("é"), model(calling("c", "look", {"b": 1, "a": "x"})), user(answering("c"))
    )
    with FakeResponsesApi() as api:
        source = hosted(api)
        for asked in (first, longer, first):
            await gather(source, asked)
        await gather(hosted(api), first)
        one, _, two, three = (asked.content for asked in api.requests)
        bodies = [asked.body for asked in api.requests]
        assert api.refused == []
    assert one == two == three
    assert bodies[:2] == [source.body(first), source.body(longer)]
    assert "é".encode() in one


async def test_thousands_of_calls_are_written_beside_the_event_loop(
    hosted: Hosted, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"c{n}" for n in range(300)]
    many = (model(*(calling(n, "look") for n in names)), user(*(answering(n) for n in names)))
    threads: list[int] = []
    with FakeResponsesApi() as api:
        source = hosted(api)
        await source.warm_up()
        written = source.written

        def noted(asked: ModelRequest) -> bytes:
            threads.append(get_ident())
            return written(asked)

        monkeypatch.setattr(source, "written", noted)
        for asked in (asking(user("hello"), *many), asking(user("hello"), *many, user("and?"))):
            await gather(source, asked)
        assert api.refused == []
        assert api.requests[0].body == source.body(asking(user("hello"), *many))
    assert threads[0] != threads[1] == get_ident(), "what was written is written no more"


async def test_a_body_keeps_no_state_and_names_its_cache(hosted: Hosted) -> None:
    with FakeResponsesApi() as api:
        await gather(hosted(api), asking(effort="high", tokens=1))
        other = ModelRequest(MODEL, Prompt((), system("Else."), (user("hello"),)), 99)
        await gather(hosted(api), other)
        told, plain = api.requests
        assert api.refused == []
    assert told.body["store"] is False
    assert told.body["include"] == ["reasoning.encrypted_content"]
    assert told.body["reasoning"] == {"effort": "high", "summary": "auto"}
    assert told.body["max_output_tokens"] == 16
    assert told.body["parallel_tool_calls"] is True
    assert told.body["instructions"] == "Be brief.\n\nBe kind."
    assert {"tools", "parallel_tool_calls", "reasoning"}.isdisjoint(plain.body)
    assert told.body["prompt_cache_key"] != plain.body["prompt_cache_key"]
    assert told.headers["authorization"] == f"Bearer {KEY}"
    assert told.headers["content-type"] == "application/json"
    assert told.headers["x-sidecar-purpose"] == "turn"


async def test_thinking_is_summarized_unless_there_is_none() -> None:
    with FakeResponsesApi() as api:
        for options, effort in ((None, "none"), (ResponseOptions(summary=""), "low")):
            source = ResponsesModel(at(api.url), options=options, **GIVEN)
            await gather(source, asking(effort=effort))
            await source.aclose()
        assert [asked.body["reasoning"] for asked in api.requests] == [
            {"effort": "none"},
            {"effort": "low"},
        ]


async def test_the_next_request_takes_the_same_connection(hosted: Hosted) -> None:
    with FakeResponsesApi() as api:
        api.script(*[said("hi", kept=True)] * 3)
        source = hosted(api)
        for _ in range(3):
            assert folded(await gather(source)).stop == "end_turn"
        assert api.connections == 1
        await source.aclose()


async def test_the_key_of_the_cache_is_the_callers() -> None:
    with FakeResponsesApi() as api:
        for key in ("mine", ""):
            endpoint = at(api.url)
            source = ResponsesModel(endpoint, cache_key=lambda _, key=key: key, **GIVEN)
            await gather(source)
            await source.aclose()
        assert [r.body.get("prompt_cache_key") for r in api.requests] == ["mine", None]


async def test_images_and_documents_go_in_messages_and_in_results(hosted: Hosted) -> None:
    picture, paper = Media("image/png", PNG), Media("application/pdf", "JVBERi0=", "a.pdf")
    with FakeResponsesApi() as api:
        api.script(called(("c1", "look", {})))
        source = hosted(api)
        draft = folded(await gather(source))
        result = Output("a picture", media=(picture,))
        await gather(source, asking(user("see", picture, paper), *replied(draft, result)))
        items = api.requests[1].body["input"]
        assert api.refused == []
    image = {
        "type": "input_image",
        "detail": "auto",
        "image_url": f"data:image/png;base64,{PNG}",
    }
    assert items[0]["content"] == [
        {"type": "input_text", "text": "see"},
        image,
        {
            "type": "input_file",
            "filename": "a.pdf",
            "file_data": "data:application/pdf;base64,JVBERi0=",
        },
    ]
    assert items[2]["output"] == [{"type": "input_text", "text": "a picture"}, image]


async def test_what_another_model_thought_is_not_sent(hosted: Hosted) -> None:
    with FakeResponsesApi() as api:
        api.script(thought("hm", called(("c1", "look", {}))))
        source = hosted(api)
        draft = folded(await gather(source))
        foreign = replied(draft, model="another-model")
        signed = model(thinking("hm", {"signature": "s"}), "so")
        await gather(source, asking(user("hello"), *foreign, user("and?"), signed, user("go on")))
        assert api.refused == []
        assert "reasoning" not in [item["type"] for item in api.requests[1].body["input"]]


async def test_texts_say_whether_they_end_a_turn(hosted: Hosted) -> None:
    said_so = (
        user("hello"),
        model("Looking.", calling("c", "look"), "On it."),
        user(answering("c")),
        model("Well.", "Done."),
        user("thanks"),
    )
    with FakeResponsesApi() as api:
        await gather(hosted(api), asking(*said_so))
        endpoint = at(api.url)
        source = ResponsesModel(endpoint, **GIVEN)
        await gather(source, asking(*said_so))
        await source.aclose()
        phases = [
            [item.get("phase") for item in asked.body["input"] if item.get("role") == "assistant"]
            for asked in api.requests
        ]
        assert api.refused == []
    assert phases == [["commentary", "commentary", "commentary", "final_answer"], [None] * 4]


async def test_a_text_keeps_the_phase_that_the_model_gave_it(hosted: Hosted) -> None:
    with FakeResponsesApi() as api:
        api.script(Answer(({"text": "So.", "phase": "commentary"}, {"text": "Well."})))
        source = hosted(api)
        draft = folded(await gather(source))
        await gather(source, asking(user("hello"), *replied(draft), user("go on")))
        await gather(source, asking(user("hello"), *replied(draft, model="other"), user("go on")))
        assert api.refused == []
        phases = [[item.get("phase") for item in a.body["input"]] for a in api.requests[1:]]
    assert phases == [[None, "commentary", "final_answer", None]] * 2
    assert draft.parts[0].metadata == {"phase": "commentary"}
    local = ResponseOptions(phases=False)
    body = response_body(asking(user("hello"), *replied(draft), user("go on")), local, "")
    assert [item.get("phase") for item in body["input"]] == [None, "commentary", None, None]


async def test_tools_have_schemas_that_openai_takes(hosted: Hosted) -> None:
    odd = ToolSpec("odd", "", {"type": "object", "anyOf": [{"required": ["a"]}]})
    with FakeResponsesApi() as api:
        prompt = Prompt((LOOK, odd), (), (user("hello \ud800"),))
        await gather(hosted(api), ModelRequest(MODEL, prompt, 99))
        assert api.refused == []
        assert api.requests[0].body["tools"][1]["parameters"] == {
            "type": "object",
            "properties": {},
        }


ENDS = {
    "text": (said("hi"), "end_turn"),
    "refusal": (Answer(({"refusal": "No."},)), "refusal"),
    "calls": (called(("c", "look", {})), "tool_use"),
    "too long": (said("and so on", stop="max_output_tokens"), "max_tokens"),
    "call too long": (called(("c", "look", '{"at": "a')), "tool_use"),
    "filtered": (said("and", stop="content_filter"), "refusal"),
    "unknown": (said("and", stop="some_future_reason"), "some_future_reason"),
}


@pytest.mark.parametrize(("answer", "stop"), ENDS.values(), ids=ENDS)
async def test_an_answer_says_how_it_ended(hosted: Hosted, answer: Answer, stop: str) -> None:
    with FakeResponsesApi() as api:
        api.script(answer)
        draft = folded(await gather(hosted(api)))
    assert draft.stop == stop
    assert len(draft.parts) == 1


@pytest.mark.parametrize("how", ["unstreamed", "untold"])
async def test_what_is_not_streamed_comes_with_its_item(hosted: Hosted, how: str) -> None:
    with FakeResponsesApi() as api:
        parts = (
            {"thought": "hm", how: True},
            {"text": "Looking.", how: True},
            {"call": "c1", "name": "look", "input": {"at": "a"}, how: True},
        )
        api.script(Answer(parts))
        draft = folded(await gather(hosted(api)))
    assert shown(draft) == [
        ("thought", "hm"),
        ("text", "Looking."),
        ("call", "c1", "look", {"at": "a"}),
    ]


async def test_open_thinking_is_shown_and_not_sent_back(hosted: Hosted) -> None:
    with FakeResponsesApi() as api:
        api.script(thought("hm|so", called(("c1", "look", {})), open=True))
        source = hosted(api)
        draft = folded(await gather(source))
        assert shown(draft)[0] == ("thought", "hm\n\nso")
        await gather(source, asking(user("hello"), *replied(draft)))
        assert api.refused == []


async def test_nothing_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("API_KEY", "ADMIN_KEY", "BASE_URL", "ORG_ID", "PROJECT_ID", "WEBHOOK_SECRET")
    for name in names:
        monkeypatch.setenv(f"OPENAI_{name}", "http://127.0.0.1:9/poison")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "x-poison: poison")
    with FakeResponsesApi() as api:
        source = ResponsesModel(at(api.url, ""), **GIVEN)
        await gather(source)
        await source.aclose()
        assert "poison" not in str(api.requests[0].headers)
        assert api.requests[0].headers["authorization"] == "Bearer none"


async def test_the_key_is_never_shown(hosted: Hosted, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with FakeResponsesApi() as api:
        source = hosted(api)
        api.script(failing(401, message=f"Incorrect API key provided: {KEY}"))
        with pytest.raises(ModelFailed) as failed:
            await gather(source)
    told = [repr(failed.value), str(failed.value.data), repr(failed.value.__cause__), caplog.text]
    assert KEY not in "".join([*told, repr(source)])
    assert failed.value.__suppress_context__


async def test_without_the_package_it_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def missing(name: str) -> None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    monkeypatch.setattr("sidecar.model.openai.openai_model.importlib.import_module", missing)
    with pytest.raises(ModelFailed) as failed:
        await gather(ResponsesModel(at("http://127.0.0.1:9"), **GIVEN))
    assert failed.value.message == NO_SDK.format(adding("openai"))
