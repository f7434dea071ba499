"""`retention` in the settings: what it is by default, and who may set it."""

from sidecar.config import Layer, merge
from sidecar.config.retention import Retention


def test_outputs_are_kept_for_seven_days_and_sessions_for_ever() -> None:
    assert merge([])[0].retention == Retention(7, 0, 0, 0)


def test_it_is_set_in_a_table_and_never_by_a_workspace() -> None:
    mine = Layer("mine", {"retention": {"outputs_days": 30, "sessionsMib": 2048}})
    theirs = Layer("theirs", {"retention": {"outputs_days": 1}}, restricted=True)
    config, problems = merge([mine, theirs])
    assert config.retention == Retention(outputs_days=30, sessions_mib=2048)
    assert [problem.path for problem in problems] == ["retention.outputs_days"]


def test_what_is_no_number_of_days_is_said() -> None:
    _, problems = merge([Layer("mine", {"retention": {"outputs_days": -1, "archive_day": 3}})])
    assert [str(problem) for problem in problems] == [
        "mine: retention.outputs_days: must be from 0 to 36500, not -1.",
        "mine: retention.archive_day: is not a setting. Did you mean `retention.archive_days`?",
    ]
