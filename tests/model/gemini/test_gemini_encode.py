"""Whatever stands in a log, the body can be written, and its parts are those that came."""

import json
from dataclasses import replace
from typing import Any

import pytest

from sidecar.core.parts import Json, JsonObject, Media
from sidecar.core.prompt.prompt import ModelRequest, Prompt, ToolSpec
from sidecar.model.gemini.gemini_encode import OPAQUE, UNSIGNED, GeminiEncoder, sent_name
from tests.core.prompts import (
    Content,
    MediaBlock,
    OpaqueBlock,
    Rendered,
    ResultBlock,
    TextBlock,
    calling,
    model,
    opaque,
    system,
    thinking,
    user,
)

ODD = "a\ud800b"
PICTURE = Media("image/png", "iVBORw0KGgo=")


def body(*said: Rendered, name: str = "gemini-3.1-pro", effort: str = "", most: int = 9) -> Any:
    request = ModelRequest(name, Prompt((), (), said), most, effort)
    return json.loads(GeminiEncoder().write(request))


def parts(*said: Content, name: str = "gemini-3.1-pro") -> Any:
    return body(model(*said), name=name)["contents"][0]["parts"]


BLOCKS: tuple[Content, ...] = (
    TextBlock(ODD),
    TextBlock(ODD, {"signatures": [[0, 2, ODD]]}),
    thinking(ODD, {"signature": ODD}),
    replace(calling(ODD, ODD, {ODD: [ODD, {"x": ODD}], "n": 2**70}), metadata={"signature": ODD}),
    ResultBlock(ODD, ODD, (PICTURE,)),
    MediaBlock(Media("image/png", ODD)),
    OpaqueBlock({"type": OPAQUE, "part": {"executableCode": {"code": ODD}}}),
)


@pytest.mark.parametrize("content", BLOCKS, ids=lambda block: type(block).__name__)
def test_lone_surrogates_are_replaced_everywhere(content: Content) -> None:
    tool = ToolSpec("look", ODD, {"type": "object", "title": ODD})
    prompt = Prompt((tool,), system(ODD), (Rendered("assistant", model(content).blocks),))
    assert GeminiEncoder().write(ModelRequest("gemini-3", prompt, 9)).count(b"a?b") >= 4


def test_numbers_keep_their_size() -> None:
    given: JsonObject = {"n": 2**70, "small": 1e-7, "text": '\x7f\x00\u2028"\\é'}
    assert parts(calling("c", "look", given))[0]["functionCall"]["args"] == given


@pytest.mark.parametrize(
    ("signatures", "sent"),
    [
        ([[6, 6, "x"]], ["so far", ("", "x")]),
        ([[0, 2, "x"]], [("so", "x"), " far"]),
        ([[0, 2, "x"], [2, 6, "y"], [6, 6, "z"]], [("so", "x"), (" far", "y"), ("", "z")]),
        ([[3, 6, "x"]], ["so ", ("far", "x")]),
        ([[0, 7, "x"]], ["so far"]),
        ([[4, 2, "x"], [-1, 2, "y"], [0, 2, 3], "no", [2]], ["so far"]),
        ("no", ["so far"]),
    ],
)
def test_pieces_of_a_text_go_back_as_they_came(signatures: Json, sent: list[Any]) -> None:
    expected = [
        {"text": one} if isinstance(one, str) else {"text": one[0], "thoughtSignature": one[1]}
        for one in sent
    ]
    assert parts(TextBlock("so far", {"signatures": signatures})) == expected


def test_the_first_call_of_an_answer_is_signed_or_said_not_to_be() -> None:
    signed = replace(calling("a", "look"), metadata={"signature": "x"})
    plain = calling("b", "look")

    def signatures(*calls: Content, name: str = "gemini-3.1-pro") -> list[str | None]:
        return [part.get("thoughtSignature") for part in parts(*calls, name=name)]

    assert signatures(signed, plain) == ["x", None]
    assert signatures(plain, plain) == [UNSIGNED, None]
    assert signatures(plain, signed) == [UNSIGNED, "x"]
    assert signatures(plain, name="gemini-flash-latest") == [UNSIGNED]
    assert signatures(plain, name="models/gemini-4-argon") == [UNSIGNED]
    for older in ("gemini-2.5-pro", "gemini-2.0-flash", "gemma-4-31b-it"):
        assert signatures(signed, plain, name=older) == ["x", None]
        assert signatures(plain, name=older) == [None]


def test_other_providers_blocks_are_left_out() -> None:
    anthropics = (thinking("", {"data": "x"}), thinking("hm", {}), opaque({"type": "server_thing"}))
    assert parts(*anthropics) == [{"text": "(no output)"}]
    mine = {"executableCode": {"language": "PYTHON", "code": "1"}}
    assert parts(opaque({"type": OPAQUE, "part": mine})) == [mine]


@pytest.mark.parametrize(
    ("name", "effort", "config"),
    [
        ("gemini-3.8-flash", "", {"includeThoughts": True}),
        ("gemini-3.8-flash", "low", {"includeThoughts": True, "thinkingLevel": "LOW"}),
        ("gemini-3.8-flash", "max", {"includeThoughts": True, "thinkingLevel": "HIGH"}),
        ("gemini-pro-latest", "medium", {"includeThoughts": True, "thinkingLevel": "MEDIUM"}),
        ("gemini-2.5-pro", "", {"includeThoughts": True}),
        ("gemini-2.5-pro", "low", {"includeThoughts": True, "thinkingBudget": 1024}),
        ("gemini-2.5-pro", "max", {"includeThoughts": True, "thinkingBudget": 24576}),
        ("gemini-2.0-flash", "low", None),
        ("gemma-4-31b-it", "", None),
    ],
)
def test_effort_is_told_in_the_models_own_words(name: str, effort: str, config: Any) -> None:
    sent = body(user("go"), name=name, effort=effort, most=60_000)["generationConfig"]
    assert sent == {"maxOutputTokens": 60_000, **({"thinkingConfig": config} if config else {})}


@pytest.mark.parametrize(("most", "budget"), [(8_000, 4_000), (100, 512), (64_000, 24_576)])
def test_thoughts_leave_room_for_an_answer(most: int, budget: int) -> None:
    sent = body(user("go"), name="gemini-2.5-pro", effort="high", most=most)["generationConfig"]
    assert sent["thinkingConfig"]["thinkingBudget"] == budget


@pytest.mark.parametrize("name", ["look", "_look", "7zip_list", "-x"])
def test_a_tools_name_begins_as_the_api_demands(name: str) -> None:
    assert sent_name(name) in (name, f"_{name}")
    assert sent_name(name)[0].isalpha() or sent_name(name)[0] == "_"


def test_a_message_is_written_anew_where_what_stands_before_it_has_changed() -> None:
    results = user(ResultBlock("c", "seen"))
    encoder, names = GeminiEncoder(), []
    for name in ("look", "read", "look"):
        messages = (user("go"), model(calling("c", name)), results)
        raw = encoder.write(ModelRequest("gemini-3", Prompt((), (), messages), 9))
        answer = json.loads(raw)["contents"][2]["parts"][0]["functionResponse"]
        names.append(answer["name"])
    assert names == ["look", "read", "look"]


def test_one_message_may_stand_at_two_places() -> None:
    again = user("go")
    assert len(body(again, model("so"), again)["contents"]) == 3


def test_equal_prompts_become_equal_bytes_whatever_was_written_before() -> None:
    one, two = user("one"), model(calling("c", "look"))
    prompts = [Prompt((), (), said) for said in ((one, two), (one,), (two,), (one, two))]
    encoder = GeminiEncoder()
    for name in ("gemini-3", "gemini-2.5-pro", "gemini-3"):
        for prompt in prompts:
            request = ModelRequest(name, prompt, 9)
            assert encoder.write(request) == GeminiEncoder().write(request)


def test_what_the_last_body_lacked_is_unwritten_and_for_another_model_all() -> None:
    one, two = user("one"), model(calling("c", "look"))
    encoder = GeminiEncoder()
    encoder.write(ModelRequest("gemini-3", Prompt((), (), (one,)), 9))
    both = ModelRequest("gemini-3", Prompt((), (), (one, two)), 9)
    counts = [encoder.unwritten(asked) for asked in (both, replace(both, model="gemini-2.5-pro"))]
    assert counts == [1, 2]
