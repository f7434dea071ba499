"""`delegate`: what its input may be, and how what came of a subtask is told to the model."""

from dataclasses import replace

import pytest

from sidecar.core.parts import Json, SessionId
from sidecar.tools.access import access
from sidecar.tools.builtin_tools import BY_NAME
from sidecar.tools.rules.permission import Allow, Ask, Refuse, Rules, decide
from sidecar.tools.runner import run_builtin
from sidecar.tools.tool_contract import Progress, Subtask, SubtaskEnd, ToolContext

SPEC = BY_NAME["delegate"]


def with_child(context: ToolContext, end: SubtaskEnd, asked: list[object]) -> ToolContext:
    async def child(subtask: Subtask, call_id: str, progress: Progress) -> SubtaskEnd:
        asked.append((subtask, call_id))
        progress("Read a\n")
        return end

    return replace(context, delegate=child)


async def test_a_report_comes_back_as_it_is(context: ToolContext) -> None:
    asked: list[object] = []
    shown: list[str] = []
    end = SubtaskEnd(SessionId("ses_2"), "There are three.\nAll in a.py.", 4, "0.01")
    child = with_child(replace(context, progress=shown.append), end, asked)
    given: Json = {"task": " Count them. ", "context": "in src", "tools": ["search"], "extra": 1}
    answer = await run_builtin("delegate", given, child)
    assert asked == [(Subtask("Count them.", "in src", ("search",)), "call_1")]
    assert shown == ["Read a\n"]
    assert (answer.text, answer.is_error) == ("There are three.\nAll in a.py.", False)
    assert answer.title == "Delegate Count them."
    assert answer.metadata == {"sessionId": "ses_2", "cost": "0.01", "steps": 4}
    assert answer.most_tokens == 2_000


async def test_a_failure_says_why_first_and_then_what_was_found(context: ToolContext) -> None:
    end = SubtaskEnd(SessionId("ses_2"), "One is in a.py.", 2, None, "the model is overloaded")
    answer = await run_builtin("delegate", {"task": "Count."}, with_child(context, end, []))
    assert answer.is_error
    assert answer.text == (
        "The subtask did not end well: the model is overloaded\n\n"
        "What it had found so far:\nOne is in a.py."
    )
    assert answer.metadata == {"sessionId": "ses_2", "cost": None, "steps": 2}
    nothing = replace(end, report="")
    answer = await run_builtin("delegate", {"task": "Count."}, with_child(context, nothing, []))
    assert answer.text == "The subtask did not end well: the model is overloaded"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "`task` is missing"),
        ({"task": " \n"}, "`task` is empty"),
        ({"task": 3}, "`task` must be a string"),
        ({"task": "x", "context": []}, "`context` must be a string"),
        ({"task": "x", "tools": "search"}, "`tools` must be an array of names"),
        ({"task": "x", "tools": ["search", 1]}, "`tools` must hold names, not a number"),
    ],
)
async def test_a_wrong_input_begins_nothing(given: Json, said: str, context: ToolContext) -> None:
    asked: list[object] = []
    end = SubtaskEnd(SessionId("ses_2"), "", 0, "0")
    answer = await run_builtin("delegate", given, with_child(context, end, asked))
    assert answer.is_error
    assert said in answer.text
    assert asked == []
    # It only answers that, so nobody is asked for permission.
    assert decide(SPEC, access(SPEC, given, context), Rules(), trusted=True) == Allow()


async def test_where_there_can_be_no_child_the_model_is_told(context: ToolContext) -> None:
    answer = await run_builtin("delegate", {"task": "Count."}, context)
    assert answer.is_error
    assert "do it yourself" in answer.text


@pytest.mark.parametrize("trusted", [True, False])
def test_it_asks_unless_a_rule_says_otherwise(trusted: bool, context: ToolContext) -> None:
    wanted = access(SPEC, {"task": "Count the\nfiles. " + "x" * 200}, context)
    assert wanted.title.startswith("Delegate Count the files. xxx")
    assert len(wanted.title) < 100
    asked = decide(SPEC, wanted, Rules(), trusted)
    assert isinstance(asked, Ask)
    assert asked.rules == {"allow_always": "delegate", "reject_always": "delegate"}
    for rule in ("delegate", "other", "*"):
        assert decide(SPEC, wanted, Rules(allow=(rule,)), trusted) == Allow()
        assert isinstance(decide(SPEC, wanted, Rules(reject=(rule,)), trusted), Refuse)
    theirs = replace(SPEC, origin="client")
    assert decide(theirs, wanted, Rules(), trusted) == Allow()
