"""Whatever a model answers, what is sent next is such as the Messages API takes."""

import asyncio
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sidecar.config import Config
from sidecar.core.conversation.stream import StreamEvent
from sidecar.core.errors import ModelFailed
from sidecar.core.parts import Json, Message, ToolError, ToolPart
from sidecar.core.prompt.prompt import ModelRequest, ToolSpec
from sidecar.model.messages.decode import ResponseDecoder
from sidecar.model.messages.encode import encode
from sidecar.store.format.log_records import OptionRecord
from tests.examples import examples
from tests.fakes.messages_api import events, text, tools
from tests.fakes.scripted_model import Script, calls, says
from tests.fakes.validation import refusal
from tests.session import inside
from tests.session.conftest import Desk, World

LOOK = ToolSpec("look", "Look.", {"type": "object"}, "read", read_only=True, origin="client")
FILLERS = 12
"""Plain answers behind the generated ones; results of tools are answered by them."""

ODD = (
    "",
    " ",
    "\n",
    "a b",
    "c1\x1b[31m",
    "\ud800",
    "Ünï",
    "x" * 65,
    "x" * 200,
    "a\n",
    "t1",
    "T.1:0",
)
words = st.sampled_from((*ODD, "so be it", "ends in blanks \n")) | st.text(max_size=8)
ids = st.sampled_from((*ODD, "toolu_1")) | st.text(max_size=5)
names = st.sampled_from((*ODD, "look", "read_file", " look", "todo"))
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=5,
)
raws = st.sampled_from(
    ("{}", "null", "[1,2]", '"text"', "7", "", " ", "{", '{"a": NaN}', '{"path": "a"}', "true")
)
kinds = st.sampled_from(
    ("", " ", "server_tool_use", "tool_result", "image", "document", "later", "text")
)


def blocks() -> st.SearchStrategy[list[Any]]:
    """A block's events, without index: a start, deltas of any kind, and perhaps an end."""
    texts = st.fixed_dictionaries({"type": st.just("text"), "text": words})
    thoughts = st.fixed_dictionaries(
        {"type": st.just("thinking"), "thinking": words}, optional={"signature": words}
    )
    hidden = st.fixed_dictionaries({"type": st.just("redacted_thinking")}, optional={"data": words})
    uses = st.fixed_dictionaries(
        {"type": st.just("tool_use"), "id": ids, "name": names}, optional={"input": values}
    )
    others = st.fixed_dictionaries(
        {}, optional={"type": kinds | values, "text": words, "cache_control": values}
    )
    deltas = st.one_of(
        st.builds(lambda t: {"type": "text_delta", "text": t}, words),
        st.builds(lambda t: {"type": "thinking_delta", "thinking": t}, words),
        st.builds(lambda t: {"type": "signature_delta", "signature": t}, words),
        st.builds(lambda t: {"type": "input_json_delta", "partial_json": t}, raws),
    )
    return st.builds(
        lambda block, more, ends: [
            {"type": "content_block_start", "content_block": block},
            *({"type": "content_block_delta", "delta": delta} for delta in more),
            *([{"type": "content_block_stop"}] if ends else []),
        ],
        texts | thoughts | hidden | uses | others,
        st.lists(deltas, max_size=2),
        st.sampled_from((True, True, True, True, False)),
    )


def answers() -> st.SearchStrategy[list[Any]]:
    """A whole stream of events; blocks may share an index."""
    stops = st.sampled_from(
        ("end_turn", "tool_use", "tool_use", "max_tokens", "refusal", "pause_turn", "odd", "")
    )
    numbered = st.lists(st.tuples(st.integers(0, 4), blocks()), max_size=5)
    return st.builds(
        lambda several, stop: [
            {"type": "message_start", "message": {"usage": {"input_tokens": 9}}},
            *({**event, "index": index} for index, block in several for event in block),
            {"type": "message_delta", "delta": {"stop_reason": stop}},
            {"type": "message_stop"},
        ],
        numbered,
        stops,
    )


def decoded(stream: list[Any]) -> Script:
    """What the session is given of a stream, as the vendor's client gives it."""
    decoder = ResponseDecoder()
    said: list[StreamEvent | Exception] = [
        event for given in stream for event in decoder.take(given)
    ]
    if not decoder.finished:
        said.append(ModelFailed("the answer ended before it was complete", kind="interrupted"))
    return said  # type: ignore[return-value] # lists are invariant


async def sent_after(folder: Path, several: list[list[Any]]) -> list[ModelRequest]:
    """Have these answers given in one turn; ask again, and once more after a restart."""
    workspace = folder / "workspace"
    workspace.mkdir()
    config = Config(model="scripted", workspace_trusted=True, data_dir=folder / "data")
    world = World(folder / "data", workspace, config=config, moves_prefix=True)
    world.net.check = lambda *_, **__: None  # type: ignore[method-assign] # judged at the end
    requests: list[ModelRequest] = []
    async with world.daemon() as desk:
        session = await desk.open(tools=(LOOK,))
        desk.editor.tools["look"] = lambda _: "seen"
        desk.script(*map(decoded, several), *[says("Done.")] * FILLERS)
        await desk.ask(session, "Look.")
        desk.model.responses[:] = [says("Done.")]
        await desk.ask(session, "And now?")
        requests += desk.model.requests
    async with world.daemon() as desk:
        session = await desk.sessions.get(session.id)
        desk.script(says("Done."))
        await desk.ask(session, "And after a restart?")
        requests += desk.model.requests
    return requests


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    database=None,
)
@given(st.lists(answers(), min_size=1, max_size=3))
def test_whatever_is_answered_the_next_request_is_taken(several: list[list[Any]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        requests = asyncio.run(sent_after(Path(folder), several))
    assert len(requests) >= 3
    for request in requests:
        assert refusal(encode(request)) is None


INPUTS: list[Json] = [[1, 2], "text", 7, True, None]


@pytest.mark.parametrize("given_input", INPUTS, ids=repr)
async def test_an_input_that_is_no_object_is_answered_and_sent_as_one(
    desk: Desk, given_input: Json
) -> None:
    session = await desk.open(tools=(LOOK,))
    desk.editor.tools["look"] = lambda _: "seen"
    odd = decoded(
        [{"type": k, **d} for k, d in events(tools(("t 1", "look", given_input)), "scripted")]
    )
    desk.script(odd, says("I see."), says("Yes."))
    await desk.ask(session)
    await desk.ask(session, "And?")
    body = encode(desk.model.requests[-1])
    (call,) = uses(body)
    (answer,) = results(body)
    assert refusal(body) is None
    assert call["id"] == answer["tool_use_id"] != "t 1"
    if given_input is None:
        # Many servers write null where a tool takes nothing.
        assert (call["input"], desk.editor.called) == ({}, [("look", {})])
    else:
        assert call["input"] == {"input": given_input}
        assert answer["is_error"] is True
        assert "must be an object" in answer["content"]
        assert desk.editor.called == []


async def test_a_log_that_holds_what_is_refused_can_be_gone_on_with(world: World) -> None:
    """An older daemon stored names, ids and inputs as they came."""
    odd = ("c1\x1b[31m", "a b", "a_b", "", "x" * 200)
    async with world.daemon() as desk:
        session = await desk.open()
        script = calls(*((f"t{n}", "look", {}) for n in range(len(odd))))
        desk.script(script, says("Done."))
        await desk.ask(session)
        log = inside.log(session)
        asked = next(m for m in log if any(isinstance(p, ToolPart) for p in m.parts))
        log.writer.put(replace(asked, parts=tuple(_as_it_came(asked, odd))))
        await log.writer.commit(OptionRecord())
    async with world.daemon() as desk:
        session = await desk.sessions.get(session.id)
        desk.script(says("Done."))
        world.moves_prefix = True
        await desk.ask(session, "Go on.")
        (request,) = desk.model.requests
        body = encode(request)
        assert refusal(body) is None
        assert [one["id"] for one in uses(body)] == [a["tool_use_id"] for a in results(body)]
        assert [one["input"] for one in uses(body)] == [{"input": [n]} for n in range(len(odd))]
        assert uses(body)[2]["id"] == "a_b", "what is taken stays as it is"


def _as_it_came(message: Message, odd: tuple[str, ...]) -> Iterator[Any]:
    number = 0
    for part in message.parts:
        if isinstance(part, ToolPart):
            name = odd[number] if number else "Ünï"
            yield replace(part, call_id=odd[number] or "\x7f", name=name, input=[number])
            number += 1
        else:
            yield part


async def test_a_call_whose_input_never_ended_is_not_run(desk: Desk) -> None:
    session = await desk.open(tools=(LOOK,))
    stream = [
        {"type": k, **d}
        for k, d in events(tools(("t1", "look", {"path": "a"})), "scripted")
        if k != "content_block_stop"
    ]
    desk.script(decoded(stream), says("Done."))
    await desk.ask(session)
    assert desk.editor.called == []
    (part,) = (p for m in desk.messages(session) for p in m.parts if isinstance(p, ToolPart))
    assert isinstance(part.state, ToolError)
    assert "broke off" in part.state.message


async def test_what_is_shown_and_asked_has_the_clean_name_and_id(desk: Desk) -> None:
    session = await desk.open(tools=(LOOK,))
    desk.editor.tools["look"] = lambda _: "seen"
    stream = events(tools(("c1\x1b[31m", " look\n", {})), "scripted")
    desk.script(decoded([{"type": k, **d} for k, d in stream]), says("Done."))
    await desk.ask(session)
    assert desk.editor.called == [("look", {})]
    assert "\x1b" not in repr(desk.events)
    assert "\\x1b" not in repr(desk.events)


async def test_a_pause_without_a_tool_of_the_providers_is_an_end(desk: Desk) -> None:
    session = await desk.open()
    paused = replace(text("So far. "), stop="pause_turn")
    desk.script(decoded([{"type": k, **d} for k, d in events(paused, "scripted")]))
    assert (await desk.ask(session)).stop_reason == "end_turn"


def uses(body: Any) -> list[Any]:
    return [b for m in body["messages"] for b in m["content"] if b["type"] == "tool_use"]


def results(body: Any) -> list[Any]:
    return [b for m in body["messages"] for b in m["content"] if b["type"] == "tool_result"]
