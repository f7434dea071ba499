"""Records of a log: what is on the disk, as types, and back."""

import sqlite3
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import pytest

from sidecar.core.parts import JsonObject, Usage
from sidecar.store.content import session_rows
from sidecar.store.format.log_records import DiscardedRecord, UnknownRecord
from sidecar.store.format.record_codec import (
    LogRecord,
    checked,
    comes_with,
    named_by,
    read,
    read_all,
    write,
)
from sidecar.store.format.values import Record
from sidecar.store.format.view_records import (
    FilesRestoredRecord,
    RewriteRecord,
    TalkRestoredRecord,
    TruncatedShape,
)
from tests.e2e.old_store import STORES, unpacked

RESTORED: JsonObject = {
    "restoreId": "cp_1", "scope": "files", "title": "Changed a.txt", "head": None, "newest": None,
    "undoes": None, "left": [], "back": [], "fates": [["a.txt", "restored"]],
}  # fmt: skip
REWRITTEN: JsonObject = {
    "compactionId": "cmp_1", "cause": "user", "shown": {"p": None, "q": {"kind": "dropped"}},
    "notes": [{"id": "n", "text": "…", "before": "m", "region": "ledger"}], "retired": [],
    "policy": "evict", "reason": "asked", "tokensBefore": 9, "tokensAfter": 5, "price": None,
    "steps": 1, "anchor": None, "opens": True, "factor": 1, "observations": 0, "bias": 0,
    "figures": {},
}  # fmt: skip


def stored(name: str, /, **body: Any) -> Record:
    """A record as a store has it."""
    return Record(7, name, 1_000, body)


@pytest.mark.parametrize("name", sorted(path.stem for path in STORES.glob("*.json")))
def test_every_record_of_an_earlier_version_has_a_type_and_comes_back_as_it_was(
    name: str, tmp_path: Path
) -> None:
    folder = unpacked(name, tmp_path / "data")
    with closing(sqlite3.connect(folder / "store.db", isolation_level=None)) as con:
        names = [row[0] for row in con.execute("SELECT id FROM session")]
        records = [record for one in names for record in session_rows.load(con, one).records]
    assert len({record.kind for record in records}) > 8
    for record in records:
        typed = checked(record)
        assert not isinstance(typed, UnknownRecord), record
        again = write(typed)
        assert (again.revision, again.kind, again.at) == (record.revision, record.kind, record.at)
        assert read(again) == typed
        left = {name: value for name, value in record.body.items() if name not in again.body}
        assert again.body == {n: v for n, v in record.body.items() if n not in left}
        # What says nothing is not written.
        assert not any(left.values()), left


def test_each_kind_has_one_type_and_a_restore_has_two() -> None:
    kinds = [str(one.__struct_config__.tag) for one in get_args(LogRecord)]
    assert sorted(kinds)[:3] == ["UnknownRecord", "asked", "begun_again"]
    assert {kind for kind in kinds if kinds.count(kind) > 1} == {"restored"}


def test_a_kind_of_a_later_version_is_kept_as_it_is() -> None:
    later = stored("dreamed", messageId="m1", of={"sheep": [1, 2]})
    record = read(later)
    assert isinstance(record, UnknownRecord)
    assert (named_by(record), comes_with(record)) == (("m1",), ())
    assert write(record) == later


def test_a_record_that_does_not_fit_is_kept_as_it_is_and_named_where_it_matters() -> None:
    odd = stored("step", messageId=4)
    assert isinstance(read(odd), UnknownRecord)
    assert write(read(odd)) == odd
    with pytest.raises(ValueError, match=r"step: .*messageId"):
        checked(odd)
    with pytest.raises(ValueError, match=r"dreamed: .*turnId"):
        checked(stored("dreamed", turnId=4))


def test_an_absent_field_stays_absent_and_null_stays_null() -> None:
    for body in ({"messageId": "m", "why": "late"}, {"messageId": "m", "why": "late", "kind": "x"}):
        record = stored("discarded", **body)
        assert isinstance(read(record), DiscardedRecord)
        assert write(read(record)) == record
    unpriced = stored("asked", purpose="summary", model="m", usage=asdict(Usage(3)), cost=None)
    assert write(read(unpriced)).body == unpriced.body
    for error in ({}, {"status": None}, {"status": 529}):
        failure = {"kind": "overloaded", "message": "later", "retryable": True, **error}
        ended = stored("turn_ended", turnId="t", stopReason="error", error=failure)
        assert write(read(ended)) == ended


def test_a_restore_of_files_is_told_from_one_of_the_conversation() -> None:
    files, talk = read_all(
        (
            stored("restored", **RESTORED, sets=[], opens=False),
            stored("restored", **RESTORED, **REWRITTEN, sets=[], standing=[3]),
        )
    )
    assert isinstance(files, FilesRestoredRecord)
    assert isinstance(talk, TalkRestoredRecord)
    assert (talk.standing, talk.shown["q"], files.fates) == (
        (3,),
        talk.shown["q"],
        (("a.txt", "restored"),),
    )


def test_a_rewrite_is_read_with_what_it_shows() -> None:
    body = {**REWRITTEN, "shown": {"p": {"kind": "truncated", "keep": "head", "maxBytes": 9}}}
    record = read(stored("rewrite", **body))
    assert isinstance(record, RewriteRecord)
    assert record.shown == {"p": TruncatedShape("head", 9)}
    with pytest.raises(ValueError, match=r"rewrite: .*shown"):
        checked(stored("rewrite", **{**body, "shown": {"p": {"kind": "shredded"}}}))


def test_a_step_and_a_cut_name_the_messages_that_came_with_them() -> None:
    step, cut, ping = read_all(
        (
            stored("step", messageId="m1", predictedRead=0, read=0),
            stored("cut", messageIds=["m1", "m2"], failure="cancelled"),
            stored("ping", messageId="m1", started=1, cost=None, why="", uncached=0, read=9,
                   write5m=0, write1h=0),
        )
    )  # fmt: skip
    assert [named_by(one) for one in (step, cut, ping)] == [("m1",), ("m1", "m2"), ("m1",)]
    assert [comes_with(one) for one in (step, cut, ping)] == [("m1",), ("m1", "m2"), ()]
