"""The cache breakpoints that OpenAI's newer models are sent."""

from dataclasses import replace

import pytest

from sidecar.core.parts import Media
from sidecar.core.prompt.prompt import Breakpoint
from tests.core.prompts import answering, calling, model, user
from tests.fakes.responses_api import FakeResponsesApi
from tests.model.hosted_answers import PNG, asking, gather
from tests.model.responses.conftest import Hosted

pytestmark = pytest.mark.long


async def test_breakpoints_go_to_models_that_take_them_and_change_no_other_byte(
    hosted: Hosted,
) -> None:
    picture = Media("image/png", PNG)
    said_so = (user("hello", picture), model(calling("c", "look")), user(answering("c")))
    marks = (Breakpoint(None, 1), Breakpoint(0, 1), Breakpoint(2, 0))
    marked = replace(asking(*said_so), model="gpt-6.1-sol")
    marked = replace(marked, prompt=replace(marked.prompt, breakpoints=marks))
    plain = replace(marked, prompt=replace(marked.prompt, breakpoints=()))
    with FakeResponsesApi() as api:
        source = hosted(api)
        for asked in (marked, replace(marked, model="gpt-5.5"), plain, marked):
            await gather(source, asked)
            assert api.requests[-1].body == source.body(asked)
        assert api.refused == []
        first, older, bare, again = api.requests
    mark = b',"prompt_cache_breakpoint":{"mode":"explicit"}'
    assert first.content == again.content
    assert first.content.count(mark) == 3
    assert first.content.replace(mark, b"") == bare.content
    assert "instructions" not in first.body
    assert b"breakpoint" not in older.content
    assert older.body["instructions"] == "Be brief.\n\nBe kind."
    ends = [item["content"][-1] for item in first.body["input"][:2]]
    ends.append(first.body["input"][-1]["output"][-1])
    assert [one["type"] for one in ends] == ["input_text", "input_image", "input_text"]
    assert all("prompt_cache_breakpoint" in one for one in ends)
