"""Of a test run's output all stands but what only says that tests passed."""

import pytest

from sidecar.core.conversation.passed_tests import MANY, RUN, beside_passed
from sidecar.core.text.truncate import lines_kept

FAILED = ["FAILED tests/test_b.py::test_odd - assert 3 == 2", "    assert 3 == 2", "1 failed"]


def left(*lines: str) -> list[str]:
    text = "\n".join(lines)
    return lines_kept(text, beside_passed(text), "p1").split("\n")


@pytest.mark.parametrize(
    "passed",
    [
        "tests/test_a.py::test_{} PASSED   [ 12%]",
        "--- PASS: TestPlan{} (0.00s)",
        "=== RUN   TestPlan{}",
        "ok  \tsome.host/app/part{}\t0.2s",
        "[test] ok  \tsome.host/app/part{}\t(cached)",
        "?   \tsome.host/app/part{}\t[no test files]",
        "app test: (pass) plan > case {} [1.00ms]",
        "   ✓ case {} (3 ms)",
        "test plan::case_{} ... ok",
        "test_case{} (tests.test_a.Plan) ... ok",
        "ok {} - plan",
        "[       OK ] Plan.Case{} (0 ms)",
        "PASS src/case{}.test.ts",
        "  Passed Plan.Case{} [2 ms]",
    ],
)
def test_of_passed_tests_the_first_stands_and_failures_are_whole(passed: str) -> None:
    many = [passed.format(n) for n in range(2 * MANY)]
    shown = left("collected", *many[:MANY], *FAILED, *many[MANY:], "done")
    assert shown[:-1] == ["collected", many[0], "…", *FAILED, many[MANY], "…", "done"]
    assert shown[-1].startswith(f"[{2 * MANY - 2} of {2 * MANY + 5} lines left out: recall p1")


def test_names_of_files_between_go_and_a_failing_test_keeps_its_own() -> None:
    rows = [f"(pass) case {n}" for n in range(MANY)]
    shown = left(*rows[:9], "", "src/b.test.ts:", *rows[9:], "", "src/c.test.ts:", "(fail) odd")
    assert shown[:-1] == [rows[0], "…", "", "src/c.test.ts:", "(fail) odd"]


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"(pass) case {n}" for n in range(MANY - 1)),
        "\n".join(f"(pass) case {n}\nwarning {n}" for n in range(MANY * RUN)),
        "\n".join(f"test_{n} FAILED" for n in range(MANY)),
        "\n".join(f"the check {n} passed what was PASSED on" for n in range(MANY)),
    ],
)
def test_short_listings_and_other_texts_are_left_alone(text: str) -> None:
    assert beside_passed(text) == ()
