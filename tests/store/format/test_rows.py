"""decode(encode(x)) is x, whatever is in it."""

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core import parts as core
from sidecar.core.parts import Json, Message, Part
from sidecar.store.format import rows
from sidecar.store.format.fields import BodyBroken
from sidecar.store.format.packing import SPILL_BYTES, Packed, kind_of, pack
from sidecar.store.format.values import Record, SessionRow

texts = st.text(st.characters(), max_size=30)
long_texts = texts | texts.map(lambda text: (text + "x") * 1100)
counts = st.integers(0, 2**63 - 1)
leaves = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts
leaves |= st.integers(2**64, 2**200) | st.sampled_from(["\ud800", "\ud83d\ude00", 1.0, 1, -0.0])
opaque = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4)
)
objects = st.dictionaries(texts, opaque, max_size=4)
media = st.builds(core.Media, texts, long_texts, texts)
outputs = st.builds(
    core.Output,
    long_texts,
    st.none() | texts,
    counts,
    counts,
    st.lists(media, max_size=2).map(tuple),
)
failures = st.sampled_from(get_args(core.ToolFailure))
states = (
    st.builds(core.ToolPending, long_texts)
    | st.builds(core.ToolRunning, counts)
    | st.builds(core.ToolCompleted, outputs, counts, counts, texts, objects)
    | st.builds(
        core.ToolError, texts, failures, counts, counts, texts, objects, st.none() | outputs
    )
)
usages = st.builds(core.Usage, counts, counts, counts, counts, counts, counts, counts)
by_type = {
    core.TextPart: (texts, long_texts, st.sampled_from(get_args(core.TextSource))),
    core.ReasoningPart: (texts, long_texts, objects),
    core.ToolPart: (texts, texts, texts, opaque, states),
    core.FilePart: (texts, texts, texts, st.none() | media, st.none() | long_texts),
    core.OpaquePart: (texts, objects),
    core.StepStartPart: (texts, texts),
    core.StepFinishPart: (texts, texts, usages, st.none() | texts, counts),
    core.PatchPart: (texts, st.lists(st.tuples(texts, texts), max_size=3).map(tuple), objects),
    core.CompactionPart: (texts, texts, texts),
    core.SubtaskPart: (texts, texts, long_texts, texts),
}
any_part = st.one_of(*(st.builds(kind, *fields) for kind, fields in by_type.items()))


def blobs_of(packed: Packed) -> "dict[str, bytes]":
    return dict(packed.blobs)


def no_blobs(name: str) -> bytes:
    raise AssertionError(f"{name} should not be needed")


def same(before: object, after: object) -> None:
    """Equal, and of the same types and in the same order: 1, 1.0 and True are three things."""
    assert after == before
    assert repr(after) == repr(before)


def test_every_part_type_is_tried() -> None:
    assert set(by_type) == set(get_args(Part))


@given(any_part, st.booleans())
def test_a_part_is_read_as_it_was_written(part: Part, spill: bool) -> None:
    packed = rows.encode_part(part, 0, spill=spill)
    same(part, rows.decode_part(packed.body, blobs_of(packed).__getitem__))


@given(st.builds(SessionRow, *[texts] * 3, *[counts] * 5, st.none() | texts, objects))
def test_a_session_is_read_as_it_was_written(row: SessionRow) -> None:
    packed = pack(rows.session_fields(row))
    same(row, rows.decode_session(packed.body, blobs_of(packed).__getitem__))


@given(
    st.builds(
        Message,
        texts,
        texts,
        st.sampled_from(get_args(core.Role)),
        st.just(()),
        counts,
        st.sampled_from(get_args(core.MessageStatus)),
        texts,
    )
)
def test_a_message_is_read_as_it_was_written(message: Message) -> None:
    packed = pack(rows.message_fields(message))
    same(message, rows.decode_message(packed.body, blobs_of(packed).__getitem__))


@given(st.builds(Record, counts, texts, counts, objects))
def test_a_record_is_read_as_it_was_written(record: Record) -> None:
    packed = pack(rows.record_fields(record), previous="b2:before")
    same(record, rows.decode_record(packed.body, blobs_of(packed).__getitem__))


def test_deep_nesting_comes_back() -> None:
    deep: Json = {"b": 1, "a": [2**70, "\ud800"]}
    for _ in range(200):
        deep = {"x": [deep]}
    part = core.ToolPart(core.PartId("p"), "c", "n", deep, core.ToolRunning(1))
    packed = rows.encode_part(part, 0)
    same(part, rows.decode_part(packed.body, blobs_of(packed).__getitem__))


def test_long_strings_leave_the_body_and_short_ones_stay() -> None:
    whole = "x" * (SPILL_BYTES + 1)
    short = "y" * SPILL_BYTES
    packed = rows.encode_part(core.FilePart(core.PartId("p"), "uri", short, None, whole), 0)
    assert [data for _, data in packed.blobs] == [whole.encode()]
    assert len(packed.body) < SPILL_BYTES + 200
    grown = rows.encode_part(core.TextPart(core.PartId("p"), whole, "model"), 0, spill=False)
    assert grown.blobs == ()


def test_bytes_decide_what_is_long() -> None:
    packed = rows.encode_part(core.TextPart(core.PartId("p"), "é" * 600, "model"), 0)
    assert len(packed.blobs) == 1


def test_fields_of_a_later_version_are_ignored() -> None:
    body = pack(
        {"id": "p", "type": "text", "text": "t", "source": "typed", "mood": {"new": [1]}}
    ).body
    assert rows.decode_part(body, no_blobs) == core.TextPart(core.PartId("p"), "t", "typed")


def test_fields_that_an_earlier_version_lacked_have_defaults() -> None:
    body = pack({"id": "p", "type": "step_finish", "stop": "end_turn", "usage": {}}).body
    expected = core.StepFinishPart(core.PartId("p"), "end_turn", core.Usage(), None)
    assert rows.decode_part(body, no_blobs) == expected


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"mp9:\x80", "unknown format"),
        (b"mp1:\xc1", "not msgpack"),
        (b"mp1:\x01", "expected fields"),
        (b"mp1:\x81\xa2id\xd4\x07x", "unknown extension"),
        (pack({"id": 1}).body, "'id' should be text"),
        (pack({"id": "p", "type": "dream"}).body, "unknown part type"),
        (pack({"id": "p", "type": "x" * 999}, spill=False).body, "^.{20,100}$"),
        (pack({"id": "p", "type": "text", "text": "t", "source": "x"}).body, "should be one of"),
        (pack({"id": "p", "type": "opaque", "block": "{"}).body, "should be JSON"),
        (pack({"id": "p", "type": "opaque", "block": "[]"}).body, "should be a JSON object"),
        (
            pack({"id": "p", "type": "tool", "call": "", "name": "", "state": {}}).body,
            "'type' should be text",
        ),
    ],
)
def test_broken_bodies_say_what_is_wrong(body: bytes, reason: str) -> None:
    with pytest.raises(BodyBroken, match=reason):
        rows.decode_part(body, no_blobs)


@given(any_part)
def test_a_part_tells_its_kind_unless_in_doubt(part: Part) -> None:
    kind = str(rows.part_fields(part)["type"])
    assert kind_of(rows.encode_part(part, 0).body) in (kind, "")
    plain = replace(part, id=core.PartId("part_01k9"))
    assert kind_of(rows.encode_part(plain, 0).body) == kind
    assert kind_of(b"mp1:") == kind_of(b"") == kind_of(None) == kind_of(7) == ""


@given(st.integers(0, 2**63 - 1), st.sampled_from(("restored", "turn_started", "step")))
def test_a_record_tells_its_kind_too(revision: int, kind: str) -> None:
    body = pack(rows.record_fields(Record(revision, kind, 1, {"kind": "other"}))).body
    assert kind_of(body) == kind
