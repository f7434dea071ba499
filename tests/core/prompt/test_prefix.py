"""A prompt's chain: what is shared is not hashed again, and what differs has another hash."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.parts import Media
from sidecar.core.prompt.prefix import Chain, PrefixPiece, label, link, rendered
from sidecar.core.prompt.prompt import Breakpoint, Prompt, ToolSpec
from sidecar.core.prompt.render import (
    Block,
    CallBlock,
    Content,
    MediaBlock,
    OpaqueBlock,
    ReasoningBlock,
    Rendered,
    ResultBlock,
    TextBlock,
)
from tests.core.prompts import system

TOOLS = (ToolSpec("read", "Reads.", {"type": "object"}), ToolSpec("edit", "Edits.", {}))
PICTURE = Media("image/png", "aGk=")


def user(*contents: Content) -> Rendered:
    return Rendered("user", tuple(Block(content, "user") for content in contents))


def model(*contents: Content) -> Rendered:
    return Rendered("assistant", tuple(Block(content, "assistant") for content in contents))


STATIC = Prompt(TOOLS, system("Be brief."), ())
SESSION = replace(
    STATIC,
    messages=(
        user(TextBlock("hi"), MediaBlock(PICTURE)),
        model(ReasoningBlock("hm", {"signature": "s"}), CallBlock("c1", "read", {"path": "a"})),
        user(ResultBlock("c1", "text"), TextBlock("go on")),
        model(OpaqueBlock({"type": "new"})),
    ),
)


def chained(prompt: Prompt, before: Chain | None = None, settings: str = "") -> Chain:
    return link("m", prompt, lambda piece: len(rendered(piece)), before or Chain(), settings)


def test_segments_are_the_tools_then_system_blocks_then_message_blocks() -> None:
    chain = chained(SESSION)
    assert [label(chain, i) for i in range(len(chain.hashes) + 1)] == [
        "tools",
        "system block 0",
        "message 0, block 0 (user text)",
        "message 0, block 1 (user media)",
        "message 1, block 0 (thinking)",
        "message 1, block 1 (call of read)",
        "message 2, block 0 (result of read)",
        "message 2, block 1 (user text)",
        "message 3, block 0 (opaque)",
        "the end of the prompt",
    ]
    assert list(chain.places) == [0, 1, 2, 3, 4, 5, 6, 7, 8]
    assert chain.sizes[-1] == sum(len(rendered(piece)) for piece in chain.contents)


def test_runs_of_calls_and_of_results_share_a_position() -> None:
    calls = [CallBlock(str(n), "read", {}) for n in range(3)]
    results = [ResultBlock(str(n), "") for n in range(3)]
    chain = chained(Prompt((), (), (model(*calls), user(*results, TextBlock("so")))))
    assert list(chain.places) == [0, 1, 1, 1, 2, 2, 2, 3]


def test_marks_stand_after_their_segments() -> None:
    spots = (Breakpoint(None, 0, "1h"), Breakpoint(0, 1), Breakpoint(2, 0))
    chain = chained(replace(SESSION, breakpoints=spots))
    assert chain.marks == ((1, "1h"), (3, "5m"), (6, "5m"))


def test_only_what_is_new_is_weighed() -> None:
    weighed: list[PrefixPiece] = []

    def weigh(piece: PrefixPiece) -> int:
        weighed.append(piece)
        return 1

    before = link("m", replace(SESSION, messages=SESSION.messages[:3]), weigh, Chain())
    weighed.clear()
    after = link("m", SESSION, weigh, before)
    assert weighed == [SESSION.messages[3].blocks[0]]
    assert after == link("m", SESSION, lambda _: 1, Chain())


@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.text(alphabet="tcrk", max_size=8)), min_size=1, max_size=8
    )
)
def test_a_chain_is_the_same_whatever_it_was_extended_from(edits: list[tuple[int, str]]) -> None:
    known: dict[str, Block] = {
        "t": Block(TextBlock("t"), "user"),
        "c": Block(CallBlock("c", "read", {}), "assistant"),
        "r": Block(ResultBlock("c", ""), "toolResults"),
        "k": Block(ReasoningBlock("k", {}), "reasoning"),
    }
    history: tuple[Block, ...] = ()
    chain = Chain()
    for keep, added in edits:
        history = (*history[:keep], *(known[letter] for letter in added))
        prompt = replace(STATIC, messages=(Rendered("user", history),))
        chain = chained(prompt, chain)
        assert chain == chained(prompt)


OTHER: dict[str, Content] = {
    "text": TextBlock("ho"),
    "kind": OpaqueBlock({}),
    "media": MediaBlock(PICTURE),
    "media type": MediaBlock(replace(PICTURE, media_type="image/gif")),
    "thinking": ReasoningBlock("hi", {}),
    "signature": ReasoningBlock("hi", {"signature": "t"}),
    "call": CallBlock("c", "read", {"a": 1, "b": 2}),
    "order of keys": CallBlock("c", "read", {"b": 2, "a": 1}),
    "tool": CallBlock("c", "edit", {"a": 1, "b": 2}),
    "id": CallBlock("d", "read", {"a": 1, "b": 2}),
    "said of a text": TextBlock("ho", {"signature": "t"}),
    "said of a call": CallBlock("c", "read", {"a": 1, "b": 2}, {"signature": "t"}),
    "result": ResultBlock("c", "hi"),
    "failed": ResultBlock("c", "hi", is_error=True),
    "with a picture": ResultBlock("c", "hi", (PICTURE,)),
    "surrogate": TextBlock("\ud800"),
}


def test_whatever_is_sent_otherwise_has_another_hash() -> None:
    prompts = [replace(STATIC, messages=(user(content),)) for content in OTHER.values()]
    prompts.append(replace(STATIC, messages=(model(OTHER["text"]),)))
    prompts.append(replace(prompts[0], tools=TOOLS[:1]))
    prompts.append(replace(prompts[0], system=()))
    ends = [chained(prompt).hashes[-1] for prompt in prompts]
    ends.append(link("n", prompts[0], lambda _: 1, Chain()).hashes[-1])
    ends.append(chained(prompts[0], settings="high").hashes[-1])
    assert len(set(ends)) == len(prompts) + 2


@pytest.mark.parametrize("first", ["", "low"])
def test_other_settings_leave_the_static_part_as_it_is(first: str) -> None:
    before = chained(SESSION, settings=first)
    after = chained(SESSION, before, "high")
    assert after == chained(SESSION, settings="high")
    assert list(after.hashes[:2]) == list(before.hashes[:2])
    assert not set(after.hashes[2:]) & set(before.hashes[2:])


def test_another_model_shares_nothing() -> None:
    before = chained(SESSION)
    after = link("n", SESSION, lambda _: 1, before)
    assert not set(after.hashes) & set(before.hashes)


def test_equal_blocks_have_equal_hashes_though_they_are_other_objects() -> None:
    copy = replace(STATIC, messages=(user(TextBlock("hi"), MediaBlock(PICTURE)),))
    assert list(chained(copy).hashes) == list(chained(SESSION).hashes[:4])
