"""What a recorded answer needed word for word: replaced texts, and lines written again."""

from pathlib import Path

import pytest

from sidecar.core.parts import Json, JsonObject
from sidecar.replay.conversation import FAR, Conversation
from sidecar.replay.measures.needs import Needs, needs_of, plain_text
from tests.replay.neutral_files import line, result, text, write
from tests.replay.recorded import messages_of, overheard

FILE = "def first():\n    return 1\n\n\ndef second():\n    return first() + 1\n"


def used(call_id: str, name: str, given: Json) -> Json:
    return {"type": "tool_call", "id": call_id, "name": name, "input": given}


def heard(tmp_path: Path, lines: list[JsonObject]) -> Conversation:
    return overheard(messages_of(write(tmp_path / "one.jsonl", lines)), "one", count=len)


def read(shown: str, between: int = 0) -> list[JsonObject]:
    """A file is read, and `between` answers say nothing of it."""
    lines = [
        line("user", 1, text("change it")),
        line("assistant", 2, used("c0", "Read", {"file_path": "a.py"}), model="m"),
        line("tool", 3, result("c0", shown)),
    ]
    return lines + [
        line("assistant", 4 + n, text(f"Thought {n}."), model="m") for n in range(between)
    ]


def edited(given: Json, name: str = "Edit", **more: Json) -> list[JsonObject]:
    return [
        line("assistant", 900, used("c9", name, given), model="m"),
        line("tool", 901, result("c9", "ok", **more)),
    ]


def needs(conversation: Conversation) -> Needs:
    return needs_of(conversation).get(len(conversation.requests) - 1, Needs())


def test_an_edit_needs_what_it_replaces_where_that_was_shown(tmp_path: Path) -> None:
    given: Json = {
        "file_path": "a.py",
        "old_string": "def first():\n    return 1\n",
        "new_string": "    return 2",
    }
    found = needs(heard(tmp_path, read(FILE) + edited(given)))
    (edit,) = found.edits
    assert edit.text == "def first():\n    return 1"
    assert [of_call for _, of_call in edit.shown] == [False]
    assert edit.around == ("def second():", "return first() + 1")
    assert not edit.far


def test_line_numbers_and_ends_of_lines_do_not_count(tmp_path: Path) -> None:
    numbered = "\n".join(f"{n:5}→{row}  " for n, row in enumerate(FILE.split("\n"), 1))
    given: Json = {"old_string": "def second():\n    return first() + 1", "new_string": ""}
    assert len(needs(heard(tmp_path, read(numbered) + edited(given))).edits) == 1


def test_few_numbered_lines_are_no_gutter() -> None:
    assert plain_text("1: one\ntwo\nthree  ") == "1: one\ntwo\nthree"


FIRST, SECOND = "def first():\n    return 1", "def second():\n    return first() + 1"
PATCH = """*** Begin Patch
*** Update File: a.py
@@
 def first():
-    return 1
+    return 2
@@
 def second():
-    return first() + 1
+    pass
*** End Patch"""


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("MultiEdit", {"edits": [{"old_string": FIRST}, {"old_string": SECOND}]}),
        ("multi_edit", {"edits": [{"oldString": FIRST}, {"oldString": SECOND}]}),
        ("edit", {"edits": [{"oldText": FIRST}, {"old_str": SECOND}]}),
        ("apply_patch", {"input": PATCH}),
        ("apply_patch", PATCH),
        ("exec_command", {"cmd": f"apply_patch <<'E'\n{PATCH}\nE"}),
    ],
)
def test_each_way_to_edit_is_known(name: str, given: Json, tmp_path: Path) -> None:
    found = needs(heard(tmp_path, read(FILE) + edited(given, name)))
    assert [edit.text for edit in found.edits] == [FIRST, SECOND]


@pytest.mark.parametrize(
    ("given", "more"),
    [
        ({"old_string": "def third():", "new_string": ""}, {}),
        ({"old_string": "def", "new_string": ""}, {}),
        ({"old_string": "def first():", "new_string": ""}, {"is_error": True}),
    ],
    ids=["never shown", "too short", "failed"],
)
def test_nothing_is_needed_for_an_edit(given: Json, more: JsonObject, tmp_path: Path) -> None:
    assert needs(heard(tmp_path, read(FILE) + edited(given, **more))) == Needs()


def test_an_edit_is_far_from_the_request_on_that_comes_after_many(tmp_path: Path) -> None:
    given: Json = {"old_string": "def second():", "new_string": ""}
    for between in (FAR - 1, FAR):
        (edit,) = needs(heard(tmp_path, read(FILE, between) + edited(given))).edits
        assert edit.far == (between == FAR)


def test_a_line_written_again_after_many_requests_is_needed(tmp_path: Path) -> None:
    row = "SETTINGS = load_settings_of(environment)"
    for between in (FAR - 1, FAR):
        again = line("assistant", 900, text(f"So:\n  {row}\nshort"), model="m")
        found = needs(heard(tmp_path, [*read(f"x\n{row}\n", between), again]))
        assert [one.line for one in found.lines] == ([row] if between == FAR else [])


def test_the_agents_own_words_have_shown_a_line_too(tmp_path: Path) -> None:
    row = "SETTINGS = load_settings_of(environment)"
    own = line("assistant", 3, text(row), model="m")
    again = line("assistant", 900, text(row), model="m")
    lines = [*read("x"), own, *read("", FAR)[3:], again]
    (found,) = needs(heard(tmp_path, lines)).lines
    assert found.line == row
