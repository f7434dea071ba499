"""Streamed events into parts."""

from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.conversation.fold import Draft, fold
from sidecar.core.conversation.stream import (
    AttemptFailed,
    BlockDelta,
    BlockFinished,
    BlockMetadata,
    BlockStarted,
    ResponseFinished,
    ResponseStarted,
)
from sidecar.core.parts import (
    OpaquePart,
    PartId,
    ReasoningPart,
    TextPart,
    ToolPart,
    ToolPending,
    Usage,
)


def run(events) -> Draft:
    draft, number = Draft(), 0
    for event in events:
        number += isinstance(event, BlockStarted)
        draft = fold(draft, event, PartId(f"p{number}"))
    return draft


EVENTS = [
    ResponseStarted("m", Usage(input=5)),
    BlockStarted(0, "reasoning"),
    BlockStarted(2, "tool", "c1", "shell"),
    BlockDelta(0, "let me think"),
    BlockDelta(2, '{"command": "ls"}'),
    BlockMetadata(0, {"signature": "sig"}),
    BlockStarted(1, "text"),
    BlockDelta(1, "I will look"),
    BlockFinished(0),
    BlockFinished(1),
    BlockFinished(2, {"command": "ls"}),
    BlockStarted(3, "opaque", block={"type": "server_thing", "x": [1]}),
    ResponseFinished("tool_use", Usage(input=5, output=9)),
]


def test_blocks_grow_independently() -> None:
    draft = run(EVENTS)
    assert draft.parts == (
        ReasoningPart(PartId("p1"), "let me think", {"signature": "sig"}),
        ToolPart(PartId("p2"), "c1", "shell", {"command": "ls"}, ToolPending('{"command": "ls"}')),
        TextPart(PartId("p3"), "I will look", "model"),
        OpaquePart(PartId("p4"), {"type": "server_thing", "x": [1]}),
    )
    assert (draft.stop, draft.usage) == ("tool_use", Usage(input=5, output=9))


@given(st.lists(st.integers(1, 6), max_size=40))
def test_where_deltas_are_cut_does_not_matter(sizes: list[int]) -> None:
    cut = []
    for event in EVENTS:
        if not isinstance(event, BlockDelta):
            cut.append(event)
            continue
        text, widths = event.text, iter(sizes)
        while text:
            width = next(widths, len(text))
            cut.append(BlockDelta(event.index, text[:width]))
            text = text[width:]
    assert run(cut) == run(EVENTS)


def test_the_providers_data_are_kept_on_the_part_on_which_they_came() -> None:
    draft = run(
        [
            BlockStarted(0, "text"),
            BlockDelta(0, "Looking."),
            BlockMetadata(0, {"seen": 1}),
            BlockStarted(1, "tool", "c1", "shell"),
            BlockMetadata(1, {"signature": "sig"}),
            BlockDelta(1, "{}"),
            BlockMetadata(0, {"more": 2}),
            BlockFinished(1, {}),
        ]
    )
    assert draft.parts == (
        TextPart(PartId("p1"), "Looking.", "model", {"seen": 1, "more": 2}),
        ToolPart(PartId("p2"), "c1", "shell", {}, ToolPending("{}"), {"signature": "sig"}),
    )


def test_unreadable_input_is_a_problem_of_its_part() -> None:
    draft = run([BlockStarted(0, "tool", "c", "x"), BlockFinished(0, None, "Expecting value")])
    assert draft.problems == {PartId("p1"): "Expecting value"}


def test_a_failed_attempt_leaves_nothing() -> None:
    assert run([*EVENTS, AttemptFailed(1, 3, 500, "dropped", "network")]) == Draft()


def test_late_events_for_unknown_blocks_are_ignored() -> None:
    assert run([BlockDelta(7, "x"), BlockFinished(7), BlockMetadata(7, {})]) == Draft()
