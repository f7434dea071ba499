"""The real SDK against Chat Completions in every dialect: what is sent, and what comes."""

from importlib.metadata import version

import pytest

from sidecar.config.provider_settings import VARIABLES
from sidecar.core.conversation.stream import ResponseFinished, ResponseStarted
from sidecar.core.errors import ModelFailed
from sidecar.core.parts import Media, Output, Usage
from sidecar.core.prompt.prompt import Breakpoint, ModelRequest, Prompt, ToolSpec
from sidecar.model.chat.chat_model import ChatModel
from sidecar.model.chat.dialects import DIALECTS
from tests.core.prompts import answering, calling, model, system, thinking, user
from tests.fakes.chat_api import MANNERS, FakeChatApi
from tests.fakes.streaming_server import Answer, called, failing, said, thought
from tests.model.chat.conftest import Hosted
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

pytestmark = pytest.mark.long

every_dialect = pytest.mark.parametrize("dialect", DIALECTS)


def test_each_dialect_has_a_server_to_be_tried_on() -> None:
    assert {*DIALECTS} == {*MANNERS}


@every_dialect
async def test_a_whole_answer_comes_through_and_goes_back(hosted: Hosted, dialect: str) -> None:
    with FakeChatApi(dialect) as api:
        calls = called(("c1", "look", {"at": "é"}), ("c2", "look", {}), words="Looking.")
        api.script(thought("I look", calls) if api.manner.thought else calls, said("done"))
        source = hosted(api)
        draft = folded(await gather(source, asking(effort="high")))
        after = asking(user("hello"), *replied(draft), user("and?"), effort="high")
        last = folded(await gather(source, after))
        assert api.refused == []
        sent, again = api.requests
    expected = [
        ("text", "Looking."),
        ("call", "c1", "look", {"at": "é"}),
        ("call", "c2", "look", {}),
    ]
    assert shown(draft) == ([("thought", "I look")] if api.manner.thought else []) + expected
    assert (draft.stop, last.stop) == ("tool_use", "end_turn")
    roles = [message["role"] for message in again.body["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "user"]
    back = again.body["messages"][2].get(api.manner.back)
    assert bool(back) == bool(api.manner.back)
    assert sent.body == source.body(asking(effort="high"))
    assert again.body == source.body(after)
    assert sent.headers["x-sidecar-purpose"] == "turn"
    name = "api-key" if dialect == "azure" else "authorization"
    assert KEY in sent.headers[name]


@every_dialect
async def test_an_answer_begins_with_the_library_and_ends_with_all_that_was_used(
    hosted: Hosted, dialect: str
) -> None:
    usage = {
        "prompt_tokens": 1000,
        "completion_tokens": 50,
        "total_tokens": 1050,
        "prompt_tokens_details": {"cached_tokens": 600, "cache_write_tokens": 300},
        "completion_tokens_details": {"reasoning_tokens": 20},
    }
    if dialect == "deepseek":
        usage |= {"prompt_cache_hit_tokens": 600, "prompt_cache_miss_tokens": 400}
        usage["prompt_tokens_details"] = {"cache_write_tokens": 300}
    with FakeChatApi(dialect) as api:
        api.script(said("hi", usage=usage))
        events = await gather(hosted(api))
    assert events[0] == ResponseStarted(MODEL, Usage(), f"openai {version('openai')}")
    assert events[-1] == ResponseFinished("end_turn", Usage(100, 600, 300, 0, 50, 20))
    assert sum(isinstance(event, ResponseFinished) for event in events) == 1


@every_dialect
async def test_the_same_prompt_is_the_same_bytes_whatever_was_sent_before(
    hosted: Hosted, dialect: str
) -> None:
    first = asking(user("é"), effort="low")
    longer = asking(
        user("é"), model(calling("c", "look", {"b": 1, "a": "x"})), user(answering("c"))
    )
    with FakeChatApi(dialect) as api:
        source = hosted(api)
        for asked in (first, longer, first):
            await gather(source, asked)
        await gather(hosted(api), first)
        one, _, two, three = (asked.content for asked in api.requests)
        assert api.refused == []
    assert one == two == three
    assert "é".encode() in one


@every_dialect
async def test_pictures_of_results_follow_in_the_users_name(hosted: Hosted, dialect: str) -> None:
    picture, paper = Media("image/png", PNG), Media("application/pdf", "JVBERi0=", "a.pdf")
    with FakeChatApi(dialect) as api:
        api.script(called(("c1", "look", {}), ("c2", "look", {})))
        source = hosted(api)
        draft = folded(await gather(source))
        result = Output("a picture", media=(picture,))
        after = asking(user("see", picture, paper), *replied(draft, result))
        await gather(source, after)
        messages = api.requests[1].body["messages"]
        assert api.refused == []
    assert [message["role"] for message in messages[-3:]] == ["tool", "tool", "user"]
    assert messages[-2]["content"] == "a picture"
    kinds = [part["type"] for part in messages[-1]["content"]]
    image = "image_url" if api.manner.images else "text"
    assert kinds == ["text", image, "text", image]
    paper_kind = "file" if api.manner.files else "text"
    assert [part["type"] for part in messages[1]["content"]] == ["text", image, paper_kind]


async def test_hidden_reasoning_goes_back_whole(hosted: Hosted) -> None:
    with FakeChatApi("openrouter") as api:
        api.script(thought("I look", called(("c1", "look", {})), hidden="gAAAA"))
        source = hosted(api)
        draft = folded(await gather(source))
        await gather(source, asking(user("hello"), *replied(draft)))
        assert api.refused == []
        details = api.requests[1].body["messages"][2]["reasoning_details"]
    assert [detail["type"] for detail in details] == ["reasoning.text", "reasoning.encrypted"]
    assert details[0]["text"] == "I look"
    assert details[0]["signature"] == "sig"


async def test_reasoning_that_follows_a_call_goes_back_before_it(hosted: Hosted) -> None:
    detail = {"type": "reasoning.encrypted", "data": "gAAAA", "id": "e", "index": 0}
    with FakeChatApi("openrouter") as api:
        call = called(("c1", "look", {}))
        api.script(Answer((*call.parts, {"content": "", "reasoning_details": [detail]})))
        api._thoughts.append([detail])
        source = hosted(api)
        draft = folded(await gather(source))
        await gather(source, asking(user("hello"), *replied(draft)))
        assert api.refused == []
        assert api.requests[1].body["messages"][2]["reasoning_details"] == [detail]


async def test_what_another_model_thought_is_not_sent(hosted: Hosted) -> None:
    with FakeChatApi("deepseek") as api:
        api.script(thought("hm", called(("c1", "look", {}))))
        source = hosted(api)
        draft = folded(await gather(source))
        foreign = replied(draft, model="another-model")
        signed = model(thinking("hm", {"signature": "s"}), "so")
        await gather(source, asking(user("hello"), *foreign, user("and?"), signed, user("go on")))
        assert api.refused == []
        said_so = [m for m in api.requests[1].body["messages"] if m["role"] == "assistant"]
        assert [message["reasoning_content"] for message in said_so] == ["", ""]


async def test_cache_marks_go_to_models_that_take_them(hosted: Hosted) -> None:
    marks = (
        Breakpoint(None, 1, "1h"),
        Breakpoint(0, 0),
        Breakpoint(1, 0),
        Breakpoint(2, 0),
    )
    said_so = (user("hello"), model("Well.", calling("c", "look")), user(answering("c")))
    prompt = Prompt((LOOK,), system("Be brief.", "Be kind."), said_so, marks)
    with FakeChatApi("openrouter") as api:
        source = hosted(api)
        for name in ("anthropic/some-claude", "another/model", "anthropic/some-claude"):
            asked = ModelRequest(name, prompt, 99)
            await gather(source, asked)
            assert api.requests[-1].body == source.body(asked)
        assert api.refused == []
        marked, plain, again = api.requests
    assert marked.content == again.content
    assert b"cache_control" not in plain.content
    found = [message["content"] for message in marked.body["messages"]]
    brief = {"type": "ephemeral"}
    assert found == [
        [
            {"type": "text", "text": "Be brief."},
            {"type": "text", "text": "Be kind.", "cache_control": {**brief, "ttl": "1h"}},
        ],
        [{"type": "text", "text": "hello", "cache_control": brief}],
        [{"type": "text", "text": "Well.", "cache_control": brief}],
        [{"type": "text", "text": "x", "cache_control": brief}],
    ]


async def test_tools_have_schemas_that_openai_takes(hosted: Hosted) -> None:
    odd = ToolSpec("odd", "", {"type": "object", "anyOf": [{"required": ["a"]}]})
    with FakeChatApi("openai") as api:
        prompt = Prompt((LOOK, odd), (), (user("hello \ud800"),))
        await gather(hosted(api), ModelRequest(MODEL, prompt, 99))
        assert api.refused == []


ENDS = {
    "text": (said("hi"), "end_turn"),
    "refusal": (Answer(({"refusal": "No."},)), "refusal"),
    "calls": (called(("c", "look", {})), "tool_use"),
    "calls that stop": (called(("c", "look", {}), stop="stop"), "tool_use"),
    "an old call": (called(("c", "look", {}), stop="function_call"), "tool_use"),
    "too long": (called(("c", "look", '{"at": "a'), stop="length"), "max_tokens"),
    "filtered": (said("and", stop="content_filter"), "refusal"),
    "unknown": (said("and", stop="some_future_reason"), "some_future_reason"),
}


@pytest.mark.parametrize(("answer", "stop"), ENDS.values(), ids=ENDS)
async def test_an_answer_says_how_it_ended(hosted: Hosted, answer: Answer, stop: str) -> None:
    with FakeChatApi("openai") as api:
        api.script(answer)
        draft = folded(await gather(hosted(api)))
    assert draft.stop == stop
    assert len(draft.parts) == 1


async def test_calls_without_numbers_are_told_apart_by_their_ids(hosted: Hosted) -> None:
    with FakeChatApi("llama.cpp") as api:
        whole = {"id": "c2", "function": {"name": "look", "arguments": {"at": "b"}}}
        more = {"tool_calls": [{"index": 0, **whole}]}
        first = called(("c1", "look", {"at": "a"}))
        api.script(Answer((*first.parts, more)))
        draft = folded(await gather(hosted(api)))
    assert shown(draft) == [
        ("call", "c1", "look", {"at": "a"}),
        ("call", "c2", "look", {"at": "b"}),
    ]


async def test_an_answer_of_which_the_usage_is_not_told_is_whole(hosted: Hosted) -> None:
    with FakeChatApi("llama.cpp") as api:
        api.script(said("hi", usage={"untold": True}))
        events = await gather(hosted(api))
    assert events[-1] == ResponseFinished("end_turn", Usage())


@every_dialect
async def test_the_next_request_takes_the_same_connection(hosted: Hosted, dialect: str) -> None:
    with FakeChatApi(dialect) as api:
        api.script(*[said("hi", kept=True)] * 3)
        source = hosted(api)
        for _ in range(3):
            assert folded(await gather(source)).stop == "end_turn"
        assert api.connections == 1
        await source.aclose()


async def test_comments_are_signs_of_life(hosted: Hosted) -> None:
    with FakeChatApi("openrouter") as api:
        api.script(Answer(tuple({"comment": True} for _ in range(12)), pace=0.25))
        assert folded(await gather(hosted(api, stall=1.5))).stop == "end_turn"
        assert len(api.requests) == 1


async def test_who_thinks_or_reads_unseen_may_be_silent_for_longer(hosted: Hosted) -> None:
    assert {name for name, one in DIALECTS.items() if one.silent == 1} == {"openrouter", "deepseek"}
    with FakeChatApi("vllm") as api:
        api.script(said("hi", pace=0.4))
        assert folded(await gather(hosted(api, stall=0.2, silent=10))).stop == "end_turn"
        assert len(api.requests) == 1


@pytest.mark.parametrize("path", ["/openai/v1", "/openai/deployments/mine"])
async def test_azure_has_addresses_of_several_kinds(path: str) -> None:
    with FakeChatApi("azure") as api:
        endpoint = at(f"{api.origin}{path}", name="azure")
        source = ChatModel(endpoint, DIALECTS["azure"], **GIVEN)
        with pytest.raises(ModelFailed):
            await gather(source)
        await source.aclose()
        assert api.requests[0].path == f"{path}/chat/completions"
        assert api.requests[0].query == ("" if "v1" in path else "api-version=2024-10-21")


@every_dialect
async def test_a_key_is_asked_for_where_one_is_needed(dialect: str) -> None:
    known = DIALECTS[dialect]
    local = ChatModel(at("http://127.0.0.1:9", ""), known, **GIVEN)
    remote = ChatModel(at(key=""), known, **GIVEN)
    [named] = VARIABLES.get(dialect, ("",))
    assert bool(remote.missing_key()) == bool(named)
    assert named in remote.missing_key()
    assert bool(local.missing_key()) == (dialect == "azure")


async def test_azure_needs_an_address() -> None:
    source = ChatModel(at(name="azure"), DIALECTS["azure"], **GIVEN)
    with pytest.raises(ModelFailed, match="baseUrl"):
        await gather(source)


async def test_a_ping_says_that_there_is_none(hosted: Hosted) -> None:
    with FakeChatApi("openai") as api, pytest.raises(ModelFailed, match="renewed by use alone"):
        await hosted(api).ping(asking())


async def test_a_server_that_fails_says_why(hosted: Hosted) -> None:
    with FakeChatApi("openrouter") as api:
        api.script(failing(402, message="Insufficient credits", code=402))
        with pytest.raises(ModelFailed, match="Insufficient credits") as failed:
            await gather(hosted(api))
    assert (failed.value.failure, failed.value.retryable) == ("bad_request", False)
