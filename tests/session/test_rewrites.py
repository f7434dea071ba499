"""Rewrites as records: what is written is what is read, and what is folded from it."""

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.parts import MessageId, PartId
from sidecar.core.view import Dropped, Excerpt, Note, Placeholder, Rewrite, Truncated, View
from sidecar.session.rewrites import PINNED, REWRITE, UNDONE, Recorded, from_json, to_json
from sidecar.session.views import Views
from sidecar.store.packing import to_json as stored
from sidecar.store.values import Record

IDS = st.sampled_from([PartId(f"p{n}") for n in range(6)])
NUMBERS = st.integers(0, 10**7)
TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
SHOWN = st.one_of(
    st.none(),
    st.just(Dropped()),
    st.just(Placeholder()),
    st.builds(Truncated, st.sampled_from(["head", "tail", "both"]), NUMBERS),
    st.builds(Excerpt, st.lists(st.tuples(NUMBERS, NUMBERS), max_size=3).map(tuple)),
)
NOTES = st.builds(
    Note, IDS, TEXT, st.builds(MessageId, TEXT), st.sampled_from(["ledger", "summary"])
)
REWRITES = st.builds(
    Rewrite,
    TEXT,
    st.sampled_from(["user", "budget", "cold", "pays", "overflow"]),
    st.dictionaries(IDS, SHOWN),
    st.lists(NOTES, max_size=2).map(tuple),
    st.lists(IDS, max_size=2).map(tuple),
)
RECORDED = st.builds(
    Recorded,
    REWRITES,
    policy=TEXT,
    reason=TEXT,
    tokens_before=NUMBERS,
    tokens_after=NUMBERS,
    price=st.none() | TEXT,
    steps=NUMBERS,
    anchor=st.none() | st.builds(MessageId, TEXT),
    opens=st.booleans(),
    factor=st.floats(0.8, 3),
    observations=NUMBERS,
    bias=st.integers(-5_000, 5_000),
    figures=st.dictionaries(TEXT, st.floats(allow_nan=False), max_size=3),
)


@given(RECORDED)
def test_what_is_written_is_what_is_read(recorded: Recorded) -> None:
    assert from_json(json.loads(stored(to_json(recorded)))) == recorded


def made(number: int, shown: dict[str, object], **given: object) -> Recorded:
    parts = {PartId(part_id): how for part_id, how in shown.items()}
    notes = tuple(
        Note(PartId(note), note, MessageId("m"))
        for note in given.pop("notes", ())  # type: ignore[attr-defined]
    )
    retired = tuple(PartId(note) for note in given.pop("retired", ()))  # type: ignore[attr-defined]
    rewrite = Rewrite(f"cmp_{number}", "user", parts, notes, retired)  # type: ignore[arg-type]
    return Recorded(rewrite, "p", "", 10, 5, None, number, None, True, 1.0, **given)  # type: ignore[arg-type]


def log_of(*entries: tuple[str, Recorded]) -> list[Record]:
    return [Record(n, kind, 10 * n, to_json(made)) for n, (kind, made) in enumerate(entries, 1)]


def test_views_follow_a_log_as_it_grows() -> None:
    first = made(1, {"a": Dropped(), "b": Placeholder()}, notes=["n1"])
    second = made(2, {"a": None, "c": Dropped()}, retired=["n1"], notes=["n2"])
    taken_back = Rewrite("cmp_2", "undo", {PartId("t"): Dropped()})
    records: list[Record] = []
    views = Views(records)
    assert views.view() == View()
    records += log_of((REWRITE, first))
    assert views.view().shown == {"a": Dropped(), "b": Placeholder()}
    records += log_of((REWRITE, first), (REWRITE, second))[1:]
    assert views.view().shown == {"b": Placeholder(), "c": Dropped()}
    assert list(views.view().notes) == ["n2"]
    assert views.left_out("cmp_2") == {"a", "b", "c"}
    undo = replace(second, rewrite=taken_back)
    records += log_of((REWRITE, first), (REWRITE, second), (UNDONE, undo))[2:]
    assert views.view().shown == {"a": Dropped(), "b": Placeholder(), "t": Dropped()}
    assert list(views.view().notes) == ["n1"]
    assert [recorded.rewrite.cause for recorded in views.standing()] == ["user", "undo"]
    assert (views.made, views.is_undone("cmp_2"), views.is_undone("cmp_1")) == (2, True, False)
    assert [epoch.since for epoch in views.epochs()] == [0, 10, 20, 30]
    assert Views(records).epochs() == views.epochs()
    assert views.left_out("cmp_2") == {"a", "b", "c"}
    assert views.left_out("cmp_9") is None


def test_pins_are_the_newest_word_on_each_part() -> None:
    pins = (("a", True), ("b", True), ("a", False))
    records = [
        Record(n, PINNED, n, {"partId": part, "pinned": pinned})
        for n, (part, pinned) in enumerate(pins)
    ]
    assert Views(records).pinned == {"b"}
