"""What was reached is printed, wherever the tests lie that reached it."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.figures import Figures

ROOT = Path(__file__).parent.parent
INNER = "SIDECAR_TEST_FIGURES"


def test_rows_stand_below_each_other() -> None:
    figures = Figures()
    figures.add("inputs", "1,000,000", 5)
    figures.add("  lost", 0)
    assert figures.lines() == [
        "what      reached  goal",
        "inputs  1,000,000  5",
        "  lost          0",
    ]


if INNER in os.environ:  # What the next test runs.

    @pytest.mark.parametrize("held", [True, False])
    def test_one_that_reaches_something(figures: Figures, held: bool) -> None:
        figures.add("rounds", 7)
        assert held, "on purpose"


def test_any_path_prints_its_table_and_what_failed() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--report", "-n0", __file__, "-k", "reaches"],
        cwd=ROOT,
        env={**os.environ, INNER: "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    ).stdout
    table = done.partition("what was reached")[2]
    assert len(re.findall(r"^rounds +7$", table, re.M)) == 2, done
    assert "failed: tests/test_figures.py::test_one_that_reaches_something[False]" in table


def test_the_documents_name_the_one_command() -> None:
    for page in ("docs/how-to/measuring.md", "CONTRIBUTING.md"):
        text = (ROOT / page).read_text("utf-8")
        assert "uv run pytest tests/faults tests/load tests/fuzz --report" in text, page
