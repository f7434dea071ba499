"""What a note opens with: what is asked when a rewrite is made, and how it stands."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from sidecar.core.ledger.units import Item
from sidecar.core.parts import JsonObject
from sidecar.core.plans.typed_text import ANSWERED, REQUEST, UNANSWERED, request_lines
from tests.core.plans.test_note import touched
from tests.core.plans.test_story import answered
from tests.core.policies.situations import history, saying


def opening(notation: str, *typed: str) -> list[str]:
    units = [item.unit for item in typing(notation, *typed)]
    return "\n".join(request_lines(units)).splitlines()


def typing(notation: str, *typed: str) -> list[Item]:
    """Give these items, of which the user typed that, one after the other."""
    said = iter(typed)
    return [telling(item, said) for item in history(notation)]


def telling(item: Item, typed: Iterator[str]) -> Item:
    if item.unit.kind == "typed":
        return saying(item, next(typed))
    if item.unit.tool == "edit":
        return replace(item, unit=replace(item.unit, deeds=touched(item.unit.argument)))
    return item


@pytest.mark.parametrize(
    ("given", "stands"),
    [
        ("U9 C9 A9; U9", ["- Add a test."]),
        (
            "U9 C9 A9; U9 C9:edit(D:\\src\\a.py) C9:edit(w/b.py) C9",
            ["- Add a test.", "Done for it by then: 3 calls, last changes of src/a.py, w/b.py."],
        ),
        ("U9 A9 C9; U9 C9", ["- Mend it.", "- Add a test.", "Done for it by then: 1 call."]),
        (
            "U9 A9 C9; U9 C9; U9",
            ["- Mend it.", "- Add a test."],
        ),
    ],
)
def test_a_note_opens_with_what_is_asked_and_how_it_stands(given: str, stands: list[str]) -> None:
    assert opening(given, "- Mend it.", "Add a test.", "Add a test.") == [UNANSWERED, *stands]


def test_of_a_file_that_came_and_went_nothing_is_told() -> None:
    items = typing("U9 A9; U9 C9:edit(w/probe.py) C9:edit(w/a.py) C9 C9", "Mend it.", "Go on.")
    for n, path in ((5, "w/probe.py"), (6, "w/old.py")):
        items[n] = replace(items[n], unit=replace(items[n].unit, deeds=touched(path, "deleted")))
    said = "\n".join(request_lines([item.unit for item in items]))
    assert said.endswith("Done for it by then: 4 calls, last changes of w/a.py, w/old.py.")


def test_a_word_or_two_are_told_with_the_question_that_they_reply_to() -> None:
    items = typing("U9 A9; U9 C9", "Mend it.", "folded in")
    for said, told in (
        ("Done. **Alone, or in one?** Say it.", "folded in (to: **Alone, or in one?**)"),
        ("Done.", "folded in"),
    ):
        items[1] = saying(items[1], said)
        lines = "\n".join(request_lines([item.unit for item in items])).splitlines()
        assert lines[1] == f"- {told}"


def test_a_request_that_was_answered_is_told_as_such() -> None:
    told = opening("U9 C9 A9; U9 C9 A9", "Mend it.", "Add a test.")
    assert told == [f"{ANSWERED} Add a test."]


def todos(*states: str) -> JsonObject:
    return {"todos": [{"content": state, "status": state} for state in states]}


@pytest.mark.parametrize(
    ("since", "name", "given", "result"),
    [
        ("C9 A9 X9", "Bash", {"command": "make"}, "made"),
        ("C9 A9", "Agent", {"prompt": "look"}, "Async agent launched successfully."),
        ("C9 A9", "Agent", {"prompt": "look", "run_in_background": True}, "begun"),
        ("C9 A9", "TodoWrite", todos("completed", "pending"), "listed"),
        ("C9 A9", "TaskCreate", {"subject": "Look"}, "Task #1 created"),
    ],
)
def test_where_the_work_goes_on_a_status_is_no_answer(
    since: str, name: str, given: JsonObject, result: str
) -> None:
    items = typing(f"U9 A9; U9 X9 {since}", "Mend it.", "Add a test.")
    items[4] = answered(items[4], name, given, result)
    [said, _, _] = "\n".join(request_lines([item.unit for item in items])).splitlines()
    assert said == UNANSWERED


@pytest.mark.parametrize(
    ("name", "given"),
    [("Agent", {"prompt": "look"}), ("TodoWrite", todos("completed")), ("TodoWrite", todos())],
)
def test_where_nothing_is_open_the_last_words_are_the_answer(name: str, given: JsonObject) -> None:
    items = typing("U9 A9; U9 X9 C9; C9 A9", "Mend it.", "Add a test.")
    if name == "TodoWrite":
        items[4] = answered(items[4], name, todos("pending"), "listed")
    items[5] = answered(items[5], name, given, "It is red.")
    assert list(request_lines([item.unit for item in items])) == [f"{ANSWERED} Add a test."]


def test_of_a_long_request_both_ends_are_told() -> None:
    text = f"npm run start\n{'[INFO] it runs. ' * 90}\nWhy does the page stay blank?"
    [_, said, _] = opening("U9 C9", text)
    assert said.startswith("- npm run start [INFO] it runs.")
    assert said.endswith("Why does the page stay blank?")
    assert len(said) <= REQUEST + 9
