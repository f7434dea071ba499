"""How parts are shown: the fold over rewrites, and what each way to show leaves of a part."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.conversation.call_outcome import placeholder
from sidecar.core.parts import (
    FilePart,
    Media,
    Message,
    MessageId,
    Output,
    Part,
    PartId,
    ReasoningPart,
    TextPart,
    ToolCompleted,
    ToolError,
    ToolPart,
    ToolRunning,
    TurnId,
)
from sidecar.core.prompt.visibility import (
    Dropped,
    Excerpt,
    Note,
    Placeholder,
    Rewrite,
    Shown,
    Truncated,
    View,
    fold_rewrites,
    notes_before,
    rendered_note,
    shorten,
    show,
    show_part,
)
from tests.core.prompts import user

TEXT = "".join(f"line {number}\n" for number in range(1, 101))
HIDDEN: list[Shown] = [Truncated("both", 60), Excerpt(((2, 3),)), Placeholder(), Dropped()]
P = [PartId(f"p{number}") for number in range(6)]


def note(name: str, before: str = "m1", text: str = "note") -> Note:
    return Note(PartId(name), text, MessageId(before))


def rewrite(
    name: str,
    shown: dict[PartId, Shown | None],
    notes: tuple[Note, ...] = (),
    retired: tuple[str, ...] = (),
) -> Rewrite:
    return Rewrite(name, "user", shown, notes, tuple(map(PartId, retired)))


def message(*parts: Part, name: str = "m1") -> Message:
    return Message(MessageId(name), TurnId("t1"), "assistant", parts, 1, model="m")


def call(state: ToolCompleted | ToolError | ToolRunning) -> ToolPart:
    return ToolPart(P[0], "call1", "read", {"path": "a.py"}, state)


def test_nothing_is_hidden_before_the_first_rewrite() -> None:
    assert fold_rewrites([]) == View({}, {})


def test_later_rewrites_win_and_none_means_verbatim_again() -> None:
    view = fold_rewrites(
        [
            rewrite("one", {P[0]: Dropped(), P[1]: Dropped(), P[2]: Placeholder()}),
            rewrite("two", {P[1]: Placeholder(), P[2]: None, P[3]: None}),
        ]
    )
    assert view.shown == {P[0]: Dropped(), P[1]: Placeholder()}


def test_retired_notes_go_and_come_back_when_what_retired_them_is_undone() -> None:
    one = rewrite("one", {}, (note("n1"), note("n2")))
    two = rewrite("two", {}, (note("n3"),), ("n1", "n9"))
    assert list(fold_rewrites([one, two]).notes) == ["n2", "n3"]
    assert fold_rewrites([one]).notes == {"n1": note("n1"), "n2": note("n2")}
    assert fold_rewrites([two]).notes == {"n3": note("n3")}


def test_a_rewrite_may_replace_a_note_by_one_of_the_same_id() -> None:
    one = rewrite("one", {}, (note("n1", text="old"),))
    two = rewrite("two", {}, (note("n1", text="new"),), ("n1",))
    assert fold_rewrites([one, two]).notes == {"n1": note("n1", text="new")}


SHOWN = st.dictionaries(st.sampled_from(P), st.sampled_from([None, *HIDDEN]), max_size=4)
MADE = st.lists(st.tuples(SHOWN, st.integers(0, 2), st.sets(st.integers(0, 5))), max_size=6)


def numbered(made: list[tuple[dict[PartId, Shown | None], int, set[int]]]) -> list[Rewrite]:
    """Give rewrites whose notes have ids of their own, and which retire notes made before."""
    rewrites = []
    ids: list[str] = []
    for number, (shown, count, retired) in enumerate(made):
        gone = tuple(ids[index] for index in sorted(retired) if index < len(ids))
        fresh = [f"n{number}.{index}" for index in range(count)]
        rewrites.append(rewrite(f"r{number}", shown, tuple(map(note, fresh)), gone))
        ids += fresh
    return rewrites


@given(MADE, st.data())
def test_undoing_the_last_rewrites_gives_the_view_of_before(
    made: list[tuple[dict[PartId, Shown | None], int, set[int]]], data: st.DataObject
) -> None:
    rewrites = numbered(made)
    views = [fold_rewrites(rewrites[:count]) for count in range(len(rewrites) + 1)]
    shown = [[show_all(view), *map(rendered_note, view.notes.values())] for view in views]
    count = data.draw(st.integers(0, len(rewrites)))
    left = [r for r in rewrites if r.id not in {undone.id for undone in rewrites[count:]}]
    again = fold_rewrites(left)
    assert again == views[count]
    assert list(again.notes) == list(views[count].notes)
    assert [show_all(again), *map(rendered_note, again.notes.values())] == shown[count]


@given(MADE, st.data())
def test_undoing_a_rewrite_in_the_middle_leaves_what_the_others_say(
    made: list[tuple[dict[PartId, Shown | None], int, set[int]]], data: st.DataObject
) -> None:
    rewrites = numbered(made)
    if not rewrites:
        return
    undone = data.draw(st.sampled_from(rewrites))
    left = [r for r in rewrites if r is not undone]
    view, before = fold_rewrites(left), fold_rewrites(rewrites)
    for part_id in P:
        said = [r.shown[part_id] for r in left if part_id in r.shown]
        assert view.shown.get(part_id) == (said[-1] if said else None)
        if part_id not in undone.shown:
            assert view.shown.get(part_id) == before.shown.get(part_id)
    assert not {made.id for made in undone.notes} & set(view.notes)


def show_all(view: View) -> list[Message]:
    messages = [message(TextPart(part_id, TEXT, "model"), name=part_id) for part_id in P]
    return [show(one, view.shown) for one in messages]


def test_a_message_of_which_nothing_is_hidden_is_the_same_object() -> None:
    whole = message(TextPart(P[0], TEXT, "model"), call(ToolCompleted(Output(TEXT), 0, 1)))
    assert show(whole, {}) is whole
    assert show(whole, {P[5]: Dropped()}) is whole


def test_dropped_parts_are_gone_and_the_others_are_the_same_objects() -> None:
    parts = [TextPart(part_id, TEXT, "model") for part_id in P[:3]]
    left = show(message(*parts), {P[1]: Dropped()})
    assert [part.id for part in left.parts] == [P[0], P[2]]
    assert left.parts[0] is parts[0]
    assert replace(left, parts=tuple(parts)) == message(*parts)
    assert show(message(*parts), dict.fromkeys(P, Dropped())).parts == ()


@pytest.mark.parametrize("how", HIDDEN[:3], ids=lambda how: type(how).__name__)
def test_a_call_keeps_its_input_and_its_result_is_shortened(how: Shown) -> None:
    image = Media("image/png", "AAAA")
    whole = call(
        ToolCompleted(Output(TEXT, "b2:hash", 900, 100, (image,)), 3, 4, "title", {"a": 1})
    )
    left = show_part(whole, how)
    said = placeholder(whole) if how == Placeholder() else shorten(TEXT, how, P[0])
    state = ToolCompleted(Output(said), 3, 4, "title", {"a": 1})
    assert left == replace(whole, state=state)
    assert len(said) < len(TEXT)
    assert P[0] in said


@pytest.mark.parametrize("how", HIDDEN[:3], ids=lambda how: type(how).__name__)
def test_an_error_stays_an_error(how: Shown) -> None:
    whole = call(ToolError("no such thing", "error", 3, 4, output=Output(TEXT)))
    left = show_part(whole, how)
    assert isinstance(left, ToolPart)
    assert isinstance(left.state, ToolError)
    assert left.state.output is None
    assert P[0] in left.state.message
    assert (left.input, left.call_id) == (whole.input, whole.call_id)


def test_what_runs_or_is_thought_cannot_be_shortened() -> None:
    for part in (call(ToolRunning(0)), ReasoningPart(P[0], TEXT, {"signature": "s"})):
        assert show_part(part, Truncated("head", 10)) is part
        assert show_part(part, Placeholder()) is part
        assert show_part(part, Dropped()) is None
        assert show_part(part, None) is part


def test_attachments_are_shortened_or_lose_their_image() -> None:
    text = FilePart(P[0], "file:///a.py", "a.py", text=TEXT)
    left = show_part(text, Truncated("head", 20))
    assert isinstance(left, FilePart)
    assert left.text is not None
    assert left.text.startswith("line 1\nline 2\n[…")
    image = FilePart(P[0], "file:///a.png", "a.png", Media("image/png", "AAAA"))
    assert show_part(image, Placeholder()) == FilePart(P[0], "file:///a.png", "a.png")
    link = FilePart(P[0], "file:///a.bin")
    assert show_part(link, Placeholder()) is link


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        (
            Truncated("head", 14),
            'line 1\nline 2\n[… 98 lines (778 bytes) left out: recall {"id": "p0", "offset": 14} '
            "reads them …]",
        ),
        (
            Truncated("tail", 9),
            '[… 99 lines (783 bytes) left out: recall {"id": "p0", "offset": 0} reads them …]\n'
            "line 100\n",
        ),
        (Truncated("both", 10_000), TEXT),
        (Excerpt(((2, 3),)), "…\nline 2\nline 3\n…\n[98 of 100 lines left out: recall p0]"),
        (Placeholder(), "[left out: 792 characters, recall p0]"),
        (Dropped(), ""),
    ],
)
def test_what_is_left_of_a_text(how: Shown, expected: str) -> None:
    assert shorten(TEXT, how, P[0]) == expected


def test_a_text_that_is_shortened_loses_what_the_provider_says_of_it() -> None:
    said = TextPart(P[0], TEXT, "model", {"signatures": [[0, 9, "x"]]})
    left = show_part(said, Truncated("head", 14))
    assert isinstance(left, TextPart)
    assert left.metadata == {}


def test_notes_stand_before_their_messages_in_the_order_they_were_made() -> None:
    made = (note("n1", "m2"), note("n2", "m1"), note("n3", "m2"), note("n4", "gone"))
    view = fold_rewrites([rewrite("one", {}, made)])
    messages = [message(name="m1"), message(name="m2"), message(name="m3")]
    assert notes_before(view, messages) == {"m2": (made[0], made[2]), "m1": (made[1],)}


def test_a_note_is_a_users_text_that_counts_for_its_region() -> None:
    assert note("n1").region == "ledger"
    made = Note(PartId("n1"), "said", MessageId("m1"), "summary")
    shown = rendered_note(made)
    assert [block.part_id for block in shown.blocks] == [made.id]
    assert replace(shown.blocks[0], part_id=None) == user("said", region="summary").blocks[0]
    assert shown.role == "user"
