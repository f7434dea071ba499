"""A file's lines are read whatever is wrong with some of them, packed or not."""

import gzip
import json
from pathlib import Path

import pytest

from sidecar.core.errors import BadRequest
from sidecar.replay.importers import json_lines
from sidecar.replay.importers.json_lines import read_document, read_lines
from sidecar.replay.transcript import DamagedLine


def write(folder: Path, data: bytes) -> Path:
    path = folder / "recording"
    path.write_bytes(data)
    return path


def damaged(path: Path) -> list[tuple[int, str]]:
    return [(line.line, line.why) for line in read_lines(path) if isinstance(line, DamagedLine)]


def test_reads_objects_with_their_line_numbers(tmp_path: Path) -> None:
    data = b'\xef\xbb\xbf{"a": 1}\n\n  \r\n{"b": "\xc3\xa9"}\r\n{"c": 3}'
    assert list(read_lines(write(tmp_path, data))) == [
        (1, {"a": 1}),
        (4, {"b": "é"}),
        (5, {"c": 3}),
    ]


def test_reads_gzip_by_its_content(tmp_path: Path) -> None:
    path = write(tmp_path, gzip.compress(b'{"a": 1}\n{"b": 2}\n'))
    assert list(read_lines(path)) == [(1, {"a": 1}), (2, {"b": 2})]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b'{"a": "\xff"}', "not UTF-8"),
        (b'{"a": ', "not JSON: Expecting value"),
        (b"[1]", "not an object"),
        (b'"text"', "not an object"),
        (b"\x00\x00", "not JSON"),
        (b'{"a": ' + b"[" * 150 + b"]" * 150 + b"}", "nested too deep"),
        (b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "nested too deep"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not JSON"),
        (b'{"a": [' + b"[]," * 1_000_001 + b"[]]}", "it has more than 1000000 lists"),
    ],
)
def test_a_damaged_line_is_told_of_and_the_next_is_read(
    tmp_path: Path, line: bytes, why: str
) -> None:
    first, second, third = read_lines(write(tmp_path, b"{}\n" + line + b'\n{"b": 2}\n'))
    assert first == (1, {})
    assert isinstance(second, DamagedLine)
    assert second.line == 2
    assert second.why.startswith(why)
    assert third == (3, {"b": 2})


def test_a_backslash_that_begins_no_escape_is_one_itself(tmp_path: Path) -> None:
    data = rb'{"a": "C:\dir \\dir \n \u00e9 \u12 \""}'
    assert list(read_lines(write(tmp_path, data))) == [(1, {"a": 'C:\\dir \\dir \n é \\u12 "'})]


@pytest.mark.parametrize("size", [2, 40, 60])
def test_a_torn_archive_gives_what_came_before_and_says_so(tmp_path: Path, size: int) -> None:
    packed = gzip.compress(b'{"a": 1}\n' + json.dumps({"b": list(range(500))}).encode())
    found = list(read_lines(write(tmp_path, packed[:size])))
    assert isinstance(found[-1], DamagedLine)
    assert found[-1].why.startswith("the file is cut off or damaged")
    assert all(line == (1, {"a": 1}) for line in found[:-1])


def test_a_damaged_archive_is_told_of(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(bytes(range(256)) * 50))
    packed[30:40] = b"\xff" * 10
    assert damaged(write(tmp_path, bytes(packed)))


@pytest.mark.parametrize("length", [8, 9, 16, 17, 24])
def test_a_line_that_is_too_long_is_skipped_and_still_counts_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, length: int
) -> None:
    monkeypatch.setattr(json_lines, "LONGEST_LINE", 8)
    path = write(tmp_path, b"x" * length + b'\n{"b":2}\n' + b"y" * length)
    numbers = [line.line if isinstance(line, DamagedLine) else line[0] for line in read_lines(path)]
    assert numbers == [1, 2, 3]


def test_says_how_to_unpack_what_it_cannot(tmp_path: Path) -> None:
    with pytest.raises(BadRequest, match="zstd -d"):
        list(read_lines(write(tmp_path, b"\x28\xb5\x2f\xfd1234")))


def test_reads_one_document_over_many_lines(tmp_path: Path) -> None:
    assert read_document(write(tmp_path, b'{\n "a": 1\n}\n')) == [(1, {"a": 1})]
    assert read_document(write(tmp_path, b'[\n{"a": 1},\n3,\n{}]')) == [(1, {"a": 1}), (3, {})]
    assert read_document(write(tmp_path, gzip.compress(b"3"))) == []


def test_refuses_a_document_that_is_none_or_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(BadRequest, match="not JSON"):
        read_document(write(tmp_path, b'{\n "a": 1\n'))
    with pytest.raises(BadRequest, match="cut off"):
        read_document(write(tmp_path, gzip.compress(b"3" * 100)[:-4]))
    monkeypatch.setattr(json_lines, "LARGEST_DOCUMENT", 4)
    with pytest.raises(BadRequest, match="too large"):
        read_document(write(tmp_path, b'{"a": 1}'))


def test_numbers_that_json_cannot_say_become_null(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": NaN, "b": [1e999, 0.5]}\n{"c": -Infinity}\n')
    assert list(read_lines(path)) == [(1, {"a": None, "b": [None, 0.5]}), (2, {"c": None})]
