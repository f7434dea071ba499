"""After a rewrite a long run of tests stands as its failures, and a line for what passed."""

import json
from pathlib import Path

from sidecar.core.prompt.prompt_text import prompt_text
from sidecar.replay.compare import Settings, sent_last
from tests.replay.own_session import called, quarters, typed
from tests.replay.recorded import CARD

PASSED = [f"tests/test_plan.py::test_case_{number} PASSED" for number in range(500)]
FAILED = ["tests/test_plan.py::test_odd FAILED", "E   assert 3 == 2", "1 failed, 500 passed"]


def test_the_newest_listing_of_passed_tests_is_cut_to_its_failures(tmp_path: Path) -> None:
    said = [{"sessionId": "s", "cwd": "/w"}, typed("Mend the plan.")]
    for number in range(3):
        said += called(f"s{number}", "shell", {"command": f"make {number}"}, "word " * 4_000, 0)
    output = "\n".join((*PASSED, *FAILED))
    said += called("t", "shell", {"command": "pytest -v"}, output, 0)
    said += called("n", "shell", {"command": "make all"}, "word " * 400, 0)
    path = tmp_path / "app.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in said), "utf-8")
    sent = prompt_text(sent_last(path, quarters, Settings(("economic",), 30_000, CARD)))
    assert "\n".join((PASSED[0], "…", *FAILED)) in sent
    assert PASSED[1] not in sent
    assert "[499 of 503 lines left out: recall " in sent
