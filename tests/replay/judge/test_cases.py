"""A recording made ready to be judged."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from sidecar.core.errors import BadRequest
from sidecar.core.plans.plan import REWRITE_ID
from sidecar.core.prompt.pricing import ModelInfo
from sidecar.replay.compare import Settings
from sidecar.replay.judge.cases import Case, read_case
from sidecar.replay.judge.judge_questions import CUTS
from tests.replay.neutral_files import line, long_recording, recording, text, write
from tests.replay.talks import RATES

INFO = ModelInfo("judge", 200_000, 16_000, 1.0)
SETTINGS = Settings(("economic",), 20_000, RATES)
SCORING = Settings(("aircher",), 20_000, RATES)
SUMMARISING = Settings(("opencode",), 20_000, RATES)


def count(words: str) -> int:
    return len(words) // 3


def case(path: Path, settings: Settings = SETTINGS, info: ModelInfo = INFO) -> Case:
    return read_case(path, count, settings, info, 1_000)


def test_all_that_was_said_stands_beside_what_is_left_of_it(tmp_path: Path) -> None:
    made = case(long_recording(tmp_path / "one.jsonl"))
    assert (made.name, made.requests, made.cut) == ("one", 61, CUTS[0])
    assert made.rewrites > 0
    assert len(made.compacted) < 0.8 * len(made.full)
    assert REWRITE_ID not in made.compacted
    goal = "Make src/main.py read settings_file_0 again."
    assert goal in made.full
    assert goal in made.compacted
    assert "value_0_59 = 59" in made.full
    assert "value_0_59 = 59" not in made.compacted
    assert "ImportError: no module_4" in made.compacted


def test_the_last_answer_is_neither_shown_nor_asked_about(tmp_path: Path) -> None:
    made = case(long_recording(tmp_path / "one.jsonl"))
    asked = "".join(question.evidence for question in made.questions)
    assert ("Done." in made.full, "Done." in asked) == (False, False)
    assert "module_59" in made.full


def test_what_asking_takes_is_told_before(tmp_path: Path) -> None:
    made = case(long_recording(tmp_path / "one.jsonl"))
    full, compacted, verdicts = made.asking
    assert count(made.full) < full.input < count(made.full) + 2_000
    assert compacted.input < full.input
    assert 0 < verdicts.output < full.output
    assert made.summaries == ()


def test_a_policy_with_summaries_says_what_they_take_and_has_them_written(tmp_path: Path) -> None:
    made = case(long_recording(tmp_path / "one.jsonl"), SUMMARISING)
    assert made.summaries
    assert all(usage.input > 0 and usage.output > 0 for usage in made.summaries)
    assert "put together from its own sentences" in made.compacted
    requests: list[str] = []

    def summarise(request: str) -> str:
        requests.append(request)
        return f"## Decisions\n- number {len(requests)}"

    context, failed = made.with_summaries(summarise, 10_000)
    # A model's summaries may be shorter than the log's own words, so that fewer are needed.
    assert 0 < len(requests) <= len(made.summaries)
    assert failed == ()
    assert "<conversation>" in requests[0]
    assert f"- number {len(requests)}" in context
    assert all(f"- number {n}" in request for n, request in enumerate(requests[1:], start=1))


def test_a_summary_that_cannot_be_had_is_made_of_the_logs_own_words(tmp_path: Path) -> None:
    made = case(long_recording(tmp_path / "one.jsonl"), SUMMARISING)

    def fails(_: str) -> str:
        raise ValueError("busy")

    context, failed = made.with_summaries(fails, 10_000)
    assert context == made.compacted
    assert failed == ("busy",) * len(made.summaries)


def test_scores_that_a_policy_asks_for_decide_what_stays(tmp_path: Path) -> None:
    made = case(long_recording(tmp_path / "one.jsonl"), SCORING)
    requests: list[str] = []

    def drop_all(request: str) -> str:
        requests.append(request)
        turns = dict.fromkeys(re.findall(r"^(T\d+)\b", request, re.M))
        return json.dumps(
            {"turns": [{"id": t, "action": "drop", "reason": "old"} for t in turns], "facts": []}
        )

    context, failed = made.with_summaries(drop_all, 100_000)
    assert (failed, len(requests) > 0) == ((), True)
    assert context != made.compacted
    # What is scored has been seen whole: also what stays.
    assert "Make src/main.py read settings_file_0 again." in requests[0]


def test_scores_that_are_none_leave_it_to_code(tmp_path: Path) -> None:
    made = case(long_recording(tmp_path / "one.jsonl"), SCORING)
    context, failed = made.with_summaries(lambda _: "these are no scores", 10_000)
    assert len(failed) == len(made.summaries)
    assert context == made.compacted


def test_results_are_cut_in_both_until_they_fit(tmp_path: Path) -> None:
    path = long_recording(tmp_path / "one.jsonl")
    whole = case(path)
    cut = case(path, info=replace(INFO, window=count(whole.full) - 1_000 + 5_000))
    assert cut.cut in CUTS[1:]
    assert len(cut.full) < len(whole.full)
    assert cut.questions == whole.questions


@pytest.mark.parametrize(
    ("answers", "window", "info", "word"),
    [
        (30, 200_000, INFO, "one is not compacted in a window of 200,000 tokens: choose a smaller"),
        (60, 20_000, replace(INFO, window=6_000), "does not fit into judge's window of 6,000"),
    ],
)
def test_what_cannot_be_judged_is_refused(
    tmp_path: Path, answers: int, window: int, info: ModelInfo, word: str
) -> None:
    path = long_recording(tmp_path / "one.jsonl", answers)
    with pytest.raises(BadRequest, match=word):
        case(path, replace(SETTINGS, window=window), info)


def test_a_recording_without_an_answer_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "one.jsonl", [line("user", 1, text("hello"))])
    with pytest.raises(BadRequest, match="holds no answer of a model"):
        case(path)
    with pytest.raises(BadRequest, match="is not compacted"):
        case(recording(tmp_path / "two.jsonl"))
