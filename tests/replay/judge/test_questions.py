"""The questions about a session: what the log answers is asked, and the log's words are given."""

from collections.abc import Sequence
from dataclasses import replace

from sidecar.core.parts import (
    JsonObject,
    Message,
    MessageId,
    Output,
    Part,
    PartId,
    TextPart,
    ToolCompleted,
    ToolPart,
    TurnId,
)
from sidecar.replay.judge.questions import EVIDENCE, LISTED, Question, questions_of


class Log:
    """Messages in order, each with ids of its own."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    def typed(self, words: str) -> "Log":
        return self._add("user", [TextPart(PartId(f"t{len(self.messages)}"), words, "typed")])

    def said(self, words: str) -> "Log":
        return self._add("assistant", [TextPart(PartId(f"s{len(self.messages)}"), words, "model")])

    def called(self, name: str, given: JsonObject, result: str, code: int = 0) -> "Log":
        number = len(self.messages)
        done = ToolCompleted(Output(result), 1, 2, "", {"exitCode": code})
        return self._add(
            "assistant", [ToolPart(PartId(f"c{number}"), f"c{number}", name, given, done)]
        )

    def _add(self, role: str, parts: Sequence[Part]) -> "Log":
        number = len(self.messages)
        turn = sum(message.role == "user" for message in self.messages) + (role == "user")
        message = Message(
            MessageId(f"m{number}"), TurnId(f"turn{turn}"), role, tuple(parts), number
        )
        self.messages.append(message)
        return self


def failing(log: Log, number: int) -> Log:
    error = f"ImportError: no module named thing_{number}"
    return log.called("bash", {"command": f"python tools/make_{number}.py"}, error, 1)


def worked() -> Log:
    log = Log().typed("Make the parser read dates. Never touch vendor/.")
    log.called("write", {"file_path": "src/dates.py", "content": "x = 1"}, "written")
    for number in range(3):
        failing(log, number)
    log.said(
        "We decided to use fromisoformat instead of a regular expression, because it is exact."
    )
    log.called("bash", {"command": "pytest -q"}, "12 passed")
    log.typed("Now the same for times.")
    todo = [
        {"content": "dates", "status": "completed"},
        {"content": "times", "status": "in_progress"},
    ]
    log.called("todo", {"todos": todo}, "noted")
    return log.said("I found that times are parsed in src/clock.py. Next I will change it.")


def of_kind(questions: Sequence[Question], kind: str) -> list[Question]:
    return [question for question in questions if question.kind == kind]


def test_all_that_matters_is_asked_with_what_the_log_says() -> None:
    found = questions_of(worked().messages)
    assert [question.id for question in found] == [f"q{n}" for n in range(1, len(found) + 1)]
    assert 8 <= len(found) <= 12
    first, latest = of_kind(found, "goal")
    assert first.evidence == "Make the parser read dates. Never touch vendor/."
    assert latest.evidence == "Now the same for times."
    assert "Never touch vendor/." in of_kind(found, "constraints")[0].evidence
    assert of_kind(found, "files")[0].evidence == "- src/dates.py (edited)"
    assert of_kind(found, "commands")[0].evidence.splitlines()[-1] == "- pytest -q → succeeded"
    assert "fromisoformat" in of_kind(found, "decisions")[0].evidence
    assert "- [~] times" in of_kind(found, "state")[0].evidence
    coming = of_kind(found, "next")[0].evidence
    assert ("- [~] times" in coming, "[x]" in coming) == (True, False)


def test_failures_are_asked_about_together_and_two_of_them_by_themselves() -> None:
    together, first, middle = of_kind(questions_of(worked().messages), "failures")
    assert together.evidence.count("ImportError") == 3
    assert "python tools/make_0.py" in first.text
    assert "python tools/make_1.py" in middle.text
    assert "thing_1" not in middle.text
    assert middle.evidence.endswith("→ ImportError: no module named thing_1")


def test_a_single_failure_is_asked_about_once() -> None:
    [one] = of_kind(questions_of(failing(Log().typed("go"), 7).messages), "failures")
    assert "thing_7" in one.evidence


def test_what_cannot_be_named_is_not_asked_about_by_itself() -> None:
    log = Log().typed("go")
    for number in range(4):
        log.called("write_stdin", {"chars": "\x03"}, f"error: {number}", 1)
    assert len(of_kind(questions_of(log.messages), "failures")) == 1


def test_the_same_log_gives_the_same_questions() -> None:
    assert questions_of(worked().messages) == questions_of(worked().messages)


def test_nothing_is_asked_that_the_log_does_not_answer() -> None:
    found = questions_of(Log().typed("Hello").said("Hello.").messages)
    assert [question.kind for question in found] == ["goal", "files", "state"]
    assert found[1].evidence == "The log shows no changed file."
    assert found[2].evidence == "Hello."


def test_what_was_typed_between_counts_where_no_limit_was_named() -> None:
    log = Log().typed("go").said("ok").typed("blue please").said("ok").typed("thanks")
    [between] = of_kind(questions_of(log.messages), "constraints")
    assert between.evidence == "- blue please"


def test_evidence_is_bounded_and_both_ends_of_it_are_given() -> None:
    log = Log().typed("begin " + "x" * 9_000 + " end")
    for number in range(100):
        failing(log, number)
    for question in questions_of(log.messages):
        assert len(question.evidence) <= EVIDENCE + 40
        assert question.evidence.count("\n") <= LISTED + 1
    goal = questions_of(log.messages)[0].evidence
    assert goal.startswith("begin ")
    assert goal.endswith(" end")


def test_what_was_withdrawn_is_not_asked_about() -> None:
    log = failing(Log().typed("go"), 7).said("It is done.")
    withdrawn = [replace(message, status="discarded") for message in log.messages[1:]]
    found = questions_of([log.messages[0], *withdrawn])
    assert [question.kind for question in found] == ["goal", "files"]
