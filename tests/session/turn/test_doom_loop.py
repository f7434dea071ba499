"""When calls in a row count as the same."""

import pytest

from sidecar.core.parts import Json, Output, PartId, ToolCompleted, ToolPart
from sidecar.session.turn.doom_loop import repeated

CWD = "/tmp/pytest/work"


def call(given: Json, answered: str) -> ToolPart:
    return ToolPart(PartId("p"), "c", "shell", given, ToolCompleted(Output(answered), 0, 0))


def asked(*given: str, answered: str = "") -> list[ToolPart]:
    return [call({"command": one}, answered) for one in given]


def answered(*each: str) -> list[ToolPart]:
    return [call({"command": "make"}, one) for one in each]


@pytest.mark.parametrize(
    "calls",
    [
        answered("same", "same", "same"),
        answered("Ran 3 tests in 0.12s", "Ran 3 tests in 1.5s", "Ran 3 tests in 990ms"),
        answered("2026-11-22T20:31:01Z up", "2026-11-22T20:31:59.5Z up", "2026-11-23T00:00:00Z up"),
        answered("took 998 ms", "took 1.01 s", "took 2 min"),
        answered("pid 81: 0x7f3a", "pid 9000: 0xdeadbeef", "pid 7: 0x1"),
        answered("wrote /tmp/tmpab1/x.log", "wrote /tmp/tmpzz/y.log", "wrote /var/tmp/q"),
        asked("make > /tmp/one.log", "make > /tmp/two.log", "make > /tmp/three.log"),
        asked("log 2026-11-22 20:31:01", "log 2026-11-22 20:31:04", "log 2026-11-22 20:32:00"),
        asked("log --at 1795379461", "log --at 1795379999", "log --at 1795380000"),
    ],
    ids=lambda calls: repr(calls[0].state)[:60],
)
def test_what_changes_by_itself_hides_nothing(calls: list[ToolPart]) -> None:
    assert repeated(calls, CWD)
    assert not repeated(calls[:2], CWD)
    edited = [*calls[:2], call({"command": "edit"}, ""), calls[2]]
    assert not repeated(edited, CWD)


@pytest.mark.parametrize(
    "calls",
    [
        answered("test_a failed", "test_b failed", "test_c failed"),
        answered("ok", "ok", "error"),
        asked("sed -n 1,200p a", "sed -n 200,400p a", "sed -n 400,600p a"),
        asked("cat a", "cat b", "cat c"),
        asked(f"cat {CWD}/a.py", f"cat {CWD}/b.py", f"cat {CWD}/c.py"),
        [call({"path": "a", "offset": n}, "line") for n in (0, 200, 400)],
    ],
    ids=lambda calls: repr((calls[1].input, calls[1].state))[:60],
)
def test_what_goes_on_is_no_loop(calls: list[ToolPart]) -> None:
    assert not repeated(calls, CWD)
