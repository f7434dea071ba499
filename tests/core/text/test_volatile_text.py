"""What is volatile in a static prompt, and what only looks so."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.text.volatile_text import Volatile, volatile

VOLATILE = {
    "date": [
        ("Today is 2026-11-21.", "2026-11-21"),
        ("(2026-11-21)", "2026-11-21"),
        ("today: 2026/11/21", "2026/11/21"),
        ("It is 11/21/2026 now", "11/21/2026"),
        ("Stand: 21.11.2026.", "21.11.2026"),
        ("November 21, 2026", "November 21, 2026"),
        ("on Nov. 21st 2026", "Nov. 21st 2026"),
        ("the 3rd of May 2026", "3rd of May 2026"),
        ("21 november 2026", "21 november 2026"),
        ("Sat Nov 21", "Sat Nov 21"),
        ("Thursday, 2 July", "Thursday, 2 July"),
        ("## [1.2.0] - 2024-05-01", "2024-05-01"),
    ],
    "time": [
        ("2026-11-21T07:12:48.873Z", "2026-11-21T07:12:48.873Z"),
        ("at 2026-11-21 07:12 UTC", "2026-11-21 07:12 UTC"),
        ("2026-11-21T07:12:48+01:00.", "2026-11-21T07:12:48+01:00"),
        ("started 07:12:48", "07:12:48"),
        ("at 7:05 pm", "7:05 pm"),
        ("at 7:05 p.m., sharp", "7:05 p.m."),
        ("19:05 CEST", "19:05 CEST"),
        ("Current time: 07:12", "07:12"),
        ("now is 7:12", "7:12"),
    ],
    "epoch": [("ts=1763709168", "1763709168"), ("since 1763709168873 ms", "1763709168873")],
    "id": [
        ("session 3f2504e0-4f89-41d3-9a0c-0305e82c3301", "3f2504e0-4f89-41d3-9a0c-0305e82c3301"),
        ("3F2504E0-4F89-41D3-9A0C-0305E82C3301", "3F2504E0-4F89-41D3-9A0C-0305E82C3301"),
        ("id 01ARZ3NDEKTSV4RRFFQ69G5FAV;", "01ARZ3NDEKTSV4RRFFQ69G5FAV"),
    ],
    "temporary path": [
        ("cwd: /tmp/tmpa_sobpca/repo", "/tmp/tmpa_sobpca/repo"),
        ("see /tmp/build-8f3a2c91/out.log.", "/tmp/build-8f3a2c91/out.log"),
        ("/tmp/pytest-of-me/pytest-12/x", "/tmp/pytest-of-me/pytest-12/x"),
        ("/private/var/folders/zz/abc/T/x", "/private/var/folders/zz/abc/T/x"),
        ("in /dev/shm/job_48213", "/dev/shm/job_48213"),
        (r"C:\Users\me\AppData\Local\Temp\x7f3k9a", r"C:\Users\me\AppData\Local\Temp\x7f3k9a"),
    ],
    "git hash": [
        ("HEAD is 79447bc", "79447bc"),
        ("commit: `79447bc1`", "79447bc1"),
        ("79447bc Add the presets", "79447bc"),
        ("* 79447bc Add the presets", "79447bc"),
        ("at da6f7618ad7e6bcab319dbc82c6c0a77abd0e8f8", "da6f7618ad7e6bcab319dbc82c6c0a77abd0e8f8"),
    ],
    "port": [
        ("http://localhost:53412/", "53412"),
        ("127.0.0.1:32768", "32768"),
        ("[::1]:40000", "40000"),
        ("on port 49152", "49152"),
    ],
    "process id": [("pid 4711", "4711"), ("PID=24339", "24339"), ("process id: 77", "77")],
}
STEADY = [
    "Use Python 3.11.7, ruff 0.14 and 2024.1.",
    "Version 2024.10.3; Ubuntu 24.04; 1.2.3-rc.1; v2026.11",
    "Copyright 2024 The Authors. 1999-2024.",
    "In 2026 we said so; knowledge until January 2025.",
    "model claude-haiku-4-5-20251001, beta thinking-binding-controls-2026-08-01",
    "actions/checkout@da6f7618ad7e6bcab319dbc82c6c0a77abd0e8f8",
    "The ratio is 16:9 or 10:30; see John 3:16 and foo.py:10:30.",
    "Write `main.py:12:34: error` and https://example.org/2024/05/01/post.",
    "Colours #1a2b3c4d and #79447bc; the words deadbeef, defaced, facade.",
    "Put scratch files into /tmp, /tmp/notes.md or /tmp/build/output; $TMPDIR/x.",
    "Serve on localhost:3000, 127.0.0.1:8080, port 5432 or port 27017.",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "00000000-0000-0000-0000-000000000000",
    "Call +1 555 1763 70, order 1234567890, 1,763,709,168 rows, 0.1763709168.",
    "at most 100 lines, 50 KiB, 20:1, 1-2-3, 12/25, 3/4/5",
    "Run `kill -9 $PID`; pid 1 is init; a process identifies itself.",
    "may 5 people march 3 miles?",
    "commit early; head over; HEAD~1; rev 12; the sha of it",
    "1234567 items are left",
    "00:00 is midnight; between 9:00 and 17:00",
]


@pytest.mark.parametrize(
    ("kind", "text", "piece"),
    [(kind, text, piece) for kind, cases in VOLATILE.items() for text, piece in cases],
)
def test_what_changes_with_each_run_is_found(kind: str, text: str, piece: str) -> None:
    assert [(one.kind, one.text) for one in volatile(text)] == [(kind, piece)]


@pytest.mark.parametrize("text", STEADY)
def test_what_stays_the_same_is_not_taken_for_volatile(text: str) -> None:
    assert volatile(text) == ()


def test_findings_are_in_order_and_do_not_overlap() -> None:
    text = "On 2026-11-21 07:12:48 pid 4711 wrote /tmp/x1763709168y at 2026-11-21\n79447bc Add"
    assert volatile(text) == (
        Volatile("time", "2026-11-21 07:12:48", 3),
        Volatile("process id", "4711", 27),
        Volatile("temporary path", "/tmp/x1763709168y", 38),
        Volatile("date", "2026-11-21", 59),
        Volatile("git hash", "79447bc", 70),
    )


@given(st.text(alphabet="0123456789abcdef-:/.\\ TZtmpNov\n", max_size=200))
def test_offsets_are_of_the_text(text: str) -> None:
    found = volatile(text)
    end = 0
    for one in found:
        assert text[one.offset : one.offset + len(one.text)] == one.text
        assert one.offset >= end
        end = one.offset + len(one.text)


@pytest.mark.parametrize(
    "unit",
    ["1", "a", "/", "\\a", "-", "12:", "2026-", " ", "/tmp/a", "C:\\a", "0a1b-", ".", "may 1 "],
)
def test_long_texts_take_no_longer_than_their_length(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    began = time.perf_counter()
    volatile(text)
    assert time.perf_counter() - began < 5
