"""Sessions that ask Gemini: what it signs goes back as it came, also from another daemon."""

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from sidecar.core.conversation.stream import StreamEvent
from sidecar.core.prompt.prompt import ModelRequest, ToolSpec
from sidecar.model.gemini.gemini_model import GeminiModel
from tests.fakes.gemini_api import FakeGeminiApi, Reply, call, calls, refuses, says, thinks
from tests.model.gemini.gemini_answers import NEW, OLD, gemini
from tests.session.conftest import Desk, World

pytestmark = pytest.mark.long

TOOLS = tuple(ToolSpec(n, n, {"type": "object"}, "read", origin="client") for n in ("one", "two"))


@contextmanager
def asking(desk: Desk, source: GeminiModel, model: str) -> Iterator[None]:
    """Have a desk's sessions ask Gemini, whatever their model is called."""

    async def stream(request: ModelRequest) -> AsyncIterator[StreamEvent]:
        async for event in source.stream(replace(request, model=model)):
            yield event

    desk.model.stream = stream  # type: ignore[method-assign]
    desk.editor.tools.update({name: lambda given: f"seen {given}" for name in ("one", "two")})
    yield


@pytest.mark.parametrize("model", [NEW, OLD])
async def test_signatures_outlive_the_daemon_that_got_them(world: World, model: str) -> None:
    first, second = ("a", "b") if model == NEW else ("", "")
    signed = {"text": "I'll ", "thoughtSignature": "dGV4dA=="}
    work = (call("one", {"x": 1}, first, "Zmlyc3Q="), call("two", {}, second))
    with FakeGeminiApi() as api:
        api.script(
            thinks("hm", Reply((signed, {"text": "look."}, *work))),
            calls(call("one", {}, first and "c", "c2Vjb25k"), words="Again."),
            says("All is well.", "ZW5k"),
        )
        async with gemini(api) as source:
            async with world.daemon(kill=True) as desk:
                with asking(desk, source, model):
                    session = await desk.open(tools=TOOLS)
                    result = await desk.ask(session)
                    assert (result.stop_reason, result.usage.requests) == ("end_turn", 3)
            async with world.daemon() as again:
                with asking(again, source, model):
                    await again.ask(await again.sessions.get(session.id), "more")
        assert api.refused == []
        *_, third, last = (request.body["contents"] for request in api.requests)
    assert last[: len(third)] == third
    parts = last[1]["parts"]
    assert parts[:2] == [signed, {"text": "look."}]
    assert [part.get("thoughtSignature") for part in parts[2:]] == ["Zmlyc3Q=", None]
    assert last[len(third)]["parts"][-1] == {"text": "", "thoughtSignature": "ZW5k"}
    ids = [p["functionCall"]["id"] for c in last for p in c["parts"] if "functionCall" in p]
    assert len(set(ids)) == 3


async def test_an_answer_that_breaks_off_leaves_nothing_of_itself(desk: Desk) -> None:
    half = calls(call("one", {}, "a", "Zmlyc3Q="), words="I", failure="error_chunk", after=1)
    with FakeGeminiApi() as api:
        api.script(half, says("done"))
        async with gemini(api) as source:
            with asking(desk, source, NEW):
                session = await desk.open(tools=TOOLS)
                assert (await desk.ask(session)).stop_reason == "end_turn"
                await desk.ask(session)
        assert api.refused == []
        sent = api.requests[-1].body["contents"]
    assert sent[1]["parts"] == [{"text": "done"}]


async def test_a_prompt_that_is_too_long_makes_room(desk: Desk) -> None:
    words = "The input token count (9) exceeds the maximum number of tokens allowed (8)."
    with FakeGeminiApi() as api:
        api.script(refuses(400, words))
        async with gemini(api) as source:
            with asking(desk, source, NEW):
                session = await desk.open(tools=TOOLS)
                result = await desk.ask(session)
    assert result.error is not None
    assert result.error["kind"] == "context_overflow"
