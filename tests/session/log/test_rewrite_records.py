"""Rewrites as records: they come back as they were written, and the view follows from them."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, get_args

from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from sidecar.core.parts import MessageId, PartId
from sidecar.core.prompt.visibility import (
    Cause,
    Dropped,
    Excerpt,
    Note,
    Placeholder,
    Quoted,
    Rewrite,
    Shown,
    Truncated,
    View,
    fold_rewrites,
)
from sidecar.core.text.truncate import Keep
from sidecar.session.log.rewrite_records import Recorded, recorded_in, written
from sidecar.session.view.view_history import Views
from sidecar.store.format.log_records import StepRecord
from sidecar.store.format.record_codec import LogRecord, read, write
from sidecar.store.format.view_records import PinRecord, RewriteRecord, UndoneRecord
from tests.core.prompts import REGIONS

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
ids = st.sampled_from([PartId(f"part_{n}") for n in range(6)])
counts = st.integers(0, 2) | st.integers(0, 10**12)
lines = st.tuples(st.integers(1, 99), st.integers(1, 99))
shown = st.one_of(
    st.builds(Truncated, st.sampled_from(get_args(Keep)), counts),
    st.builds(Excerpt, st.lists(lines, max_size=3).map(tuple)),
    st.builds(Quoted, st.lists(lines, max_size=3).map(tuple)),
    st.just(Placeholder()),
    st.just(Dropped()),
)
regions = st.sampled_from(REGIONS)
notes = st.builds(Note, words.map(PartId), words, words.map(MessageId), regions)
rewrites = st.builds(
    Rewrite,
    words,
    st.sampled_from(get_args(Cause)),
    st.dictionaries(ids, st.none() | shown, max_size=4),
    st.lists(notes, max_size=2).map(tuple),
    st.lists(ids, max_size=2).map(tuple),
)
recorded = st.builds(
    Recorded,
    rewrites,
    words,
    words,
    counts,
    counts,
    st.none() | st.just("0.0125"),
    st.integers(0, 1000),
    st.none() | words.map(MessageId),
    st.booleans(),
    st.floats(0.1, 9),
    st.integers(0, 1000),
    st.integers(-9000, 9000),
    st.dictionaries(words, st.floats(allow_nan=False, allow_infinity=False), max_size=3),
)


def made(
    number: int, changes: Mapping[Any, Shown | None], text: str = "", retired: tuple[str, ...] = ()
) -> Recorded:
    """A rewrite as a policy would record it."""
    note = Note(PartId(f"note_{number}"), text, MessageId("msg_1"))
    rewrite = Rewrite(
        f"cmp_{number}",
        "user",
        {PartId(part): how for part, how in changes.items()},
        (note,) if text else (),
        tuple(PartId(one) for one in retired),
    )
    return Recorded(rewrite, "economic", "asked", 900, 500, None, number, None, True, 1.5)


def left_out(views: Views, number: int) -> set[str] | None:
    """What a rewrite left out, as plain words."""
    gone = views.left_out(f"cmp_{number}")
    return None if gone is None else {str(part) for part in gone}


def taken_back(number: int, *dropped: str) -> Recorded:
    """The undoing of a rewrite, with the thinking that it costs."""
    gone = {PartId(part): Dropped() for part in dropped}
    undone = Rewrite(f"cmp_{number}", "undo", gone)
    return replace(made(number, {}), rewrite=undone, policy="", reason="taken back")


def log(*entries: Recorded | tuple[str, bool]) -> list[LogRecord]:
    """Give records as a log has them, among others that say nothing of the view."""
    records: list[LogRecord] = []
    for number, entry in enumerate(entries):
        record: LogRecord
        if isinstance(entry, tuple):
            record = PinRecord(part_id=PartId(entry[0]), pinned=entry[1])
        elif entry.rewrite.cause == "undo":
            record = written(entry, UndoneRecord)
        else:
            record = written(entry, RewriteRecord)
        for one in (StepRecord(message_id=MessageId("msg_1")), record):
            revision, at = len(records) + 1, 1000 + number
            records.append(structs.replace(one, revision=revision, at=at))
    return records


@given(recorded)
def test_a_rewrite_comes_back_from_the_disk(one: Recorded) -> None:
    stored = write(written(one, RewriteRecord))
    again = read(replace(stored, body=json.loads(json.dumps(stored.body))))
    assert isinstance(again, RewriteRecord)
    assert recorded_in(again) == one
    assert list(again.shown) == list(one.rewrite.shown)


@given(st.data())
def test_views_follow_any_log_step_by_step(data: st.DataObject) -> None:
    entries: list[Recorded | tuple[str, bool]] = []
    standing: list[int] = []
    for number in range(1, data.draw(st.integers(1, 8)) + 1):
        match data.draw(st.sampled_from(["rewrite", "undo", "pin"])):
            case "undo" if standing:
                gone = data.draw(st.sampled_from(standing))
                standing.remove(gone)
                entries.append(taken_back(gone, data.draw(ids)))
            case "pin":
                entries.append((data.draw(ids), data.draw(st.booleans())))
            case _:
                changes = data.draw(st.dictionaries(ids, st.none() | shown, max_size=4))
                standing.append(number)
                entries.append(made(number, changes, f"note {number}"))
    records: list[LogRecord] = []
    followed = Views(records)
    for record in log(*entries):
        records.append(record)
        fresh = Views(list(records))
        assert followed.view() == fresh.view()
        assert followed.epochs() == fresh.epochs()
        assert followed.standing() == fresh.standing()
        assert (followed.pinned, followed.made) == (fresh.pinned, fresh.made)
    left = [r for r in followed.standing() if r.rewrite.cause != "undo"]
    assert [r.rewrite.id for r in left] == [f"cmp_{number}" for number in standing]
    assert followed.view() == fold_rewrites(r.rewrite for r in followed.standing())
    followed.forget()
    assert followed.view() == Views(records).view()


def test_views_of_the_past_share_what_they_list() -> None:
    entries = [made(n, {f"{n}.{m}": Dropped() for m in range(5)}, f"note {n}") for n in range(200)]
    views = Views(log(*entries))
    epochs = views.epochs()
    held = {id(epoch.base): len(epoch.base.shown) for epoch in epochs}
    assert sum(held.values()) < sum(len(epoch.view.shown) for epoch in epochs) / 10
    for number, epoch in enumerate(epochs):
        shown = epoch.view
        assert shown is epoch.view
        assert shown == fold_rewrites(entry.rewrite for entry in entries[:number])


def test_undoing_shows_what_an_earlier_rewrite_had_left() -> None:
    first = made(1, {"a": Placeholder(), "b": Dropped()}, "first")
    second = made(2, {"a": Dropped(), "b": None}, "second", retired=("note_1",))
    views = Views(log(first, second))
    assert views.view().shown == {"a": Dropped()}
    assert list(views.view().notes) == ["note_2"]
    views = Views(log(first, second, taken_back(2)))
    assert views.view() == fold_rewrites([first.rewrite])
    assert list(views.view().notes) == ["note_1"]
    views = Views(log(first, second, taken_back(1)))
    assert views.view() == fold_rewrites([second.rewrite])
    both = Views(log(first, second, taken_back(1), taken_back(2)))
    assert both.view() == View()
    assert both.is_undone("cmp_1")


def test_thinking_dropped_by_an_undoing_stays_dropped() -> None:
    views = Views(log(made(1, {"a": Dropped()}), taken_back(1, "thought")))
    assert views.view().shown == {"thought": Dropped()}
    views = Views(log(made(1, {"a": Dropped()}), taken_back(1, "thought"), made(2, {"b": None})))
    assert views.view().shown == {"thought": Dropped()}


def test_pins_are_the_last_that_was_said() -> None:
    views = Views(log(("a", True), ("b", True), ("a", False), ("c", False)))
    assert views.pinned == {PartId("b")}


def test_what_was_left_out_includes_that_of_retired_notes() -> None:
    first = made(1, {"a": Placeholder(), "kept": None}, "first")
    second = made(2, {"b": Dropped()}, "second", retired=("note_1",))
    views = Views(log(first, second))
    assert left_out(views, 1) == {"a"}
    assert left_out(views, 2) == {"a", "b"}
    assert left_out(views, 3) is None
    assert views.find("cmp_3") is None
    undone = Views(log(first, second, taken_back(2)))
    assert left_out(undone, 2) == {"a", "b"}


def test_a_record_that_was_not_written_is_forgotten() -> None:
    records = log(made(1, {"a": Dropped()}))
    views = Views(records)
    assert views.view().shown
    records.pop()
    views.forget()
    assert views.view() == View()
    assert views.made == 0
    assert views.opened is None
