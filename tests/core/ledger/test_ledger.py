"""The ledger: what a log comes to, whatever the model says of it."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.ledger.ledger import Ledger, joined, read_ledger
from sidecar.core.parts import (
    Json,
    JsonObject,
    Message,
    MessageId,
    Output,
    Part,
    PartId,
    SessionId,
    SubtaskPart,
    TextPart,
    ToolCompleted,
    ToolError,
    ToolFailure,
    ToolPart,
    ToolRunning,
    TurnId,
)
from sidecar.core.text.digest import content_hash

numbers = itertools.count()


def typed(*texts: str, turn: str = "turn1", source: str = "typed") -> Message:
    parts = tuple(TextPart(PartId(f"t{next(numbers)}"), text, source) for text in texts)  # type: ignore[arg-type]
    return Message(MessageId(f"m{next(numbers)}"), TurnId(turn), "user", parts, 0)


def call(
    name: str,
    given: Json,
    text: str = "ok",
    *,
    failure: ToolFailure | None = None,
    metadata: JsonObject | None = None,
    running: bool = False,
) -> ToolPart:
    state: ToolRunning | ToolError | ToolCompleted = ToolCompleted(
        Output(text), 0, 1, metadata=metadata or {}
    )
    if running:
        state = ToolRunning(0)
    elif failure is not None:
        state = ToolError(text, failure, 0, 1)
    return ToolPart(PartId(f"c{next(numbers)}"), "call", name, given, state)


def answer(*parts: Part, turn: str = "turn1") -> Message:
    return Message(MessageId(f"m{next(numbers)}"), TurnId(turn), "assistant", parts, 0)


def ledger(*parts: ToolPart) -> Ledger:
    return read_ledger([answer(part) for part in parts])


def files(*parts: ToolPart) -> dict[str, str]:
    return {file.path: file.state for file in ledger(*parts).files}


def test_nothing_is_an_empty_ledger() -> None:
    assert read_ledger([]) == Ledger()


def test_the_goal_and_the_directives_are_word_for_word_with_their_places() -> None:
    goal = "Write a parser.\n\n  Keep `a.py`!  "
    first, second = typed(goal), typed("Now\ttest it.", "And this.", turn="turn2")
    steered = typed("Stop there.", turn="turn2", source="steer")
    context = typed("<context>", turn="turn3", source="context")
    told = read_ledger([first, answer(TextPart(PartId("p"), "Done", "model")), second, steered])
    assert told.goal is not None
    assert (told.goal.text, told.goal.turn_id, told.goal.message_id) == (goal, "turn1", first.id)
    assert [(s.text, s.turn_id) for s in told.directives] == [
        ("Now\ttest it.\n\nAnd this.", "turn2"),
        ("Stop there.", "turn2"),
    ]
    assert read_ledger([context]).goal is None


def test_what_was_withdrawn_never_was() -> None:
    edit = answer(call("edit_file", {"path": "a.py"}))
    assert read_ledger([edit]).files
    assert read_ledger([replace(edit, status="discarded")]) == Ledger()


EDITED = {
    "edit_file": {"path": "a.py", "oldText": "x", "newText": "y"},
    "Edit": {"file_path": "a.py", "old_string": "x", "new_string": "y"},
    "MultiEdit": {"file_path": "a.py", "edits": []},
    "NotebookEdit": {"notebook_path": "a.py", "new_source": "x"},
    "str_replace_editor": {"command": "str_replace", "path": "a.py", "old_str": "x"},
    "str_replace_based_edit_tool": {"command": "insert", "path": "a.py"},
    "apply_patch": {"input": "*** Begin Patch\n*** Update File: a.py\n@@\n*** End Patch"},
    "mcp__fs__edit_file": {"path": "a.py"},
    "bash": {"command": "sed -i s/x/y/ a.py"},
    "exec_command": {"cmd": "echo x >> a.py"},
    "batch": {"calls": [{"tool": "edit", "parameters": {"filePath": "a.py"}}]},
}


@pytest.mark.parametrize("name", EDITED)
def test_changed_files_are_known_whatever_tool_changed_them(name: str) -> None:
    assert files(call(name, EDITED[name])) == {"a.py": "edited"}  # type: ignore[arg-type]


def test_a_patch_without_a_json_object_is_read_too() -> None:
    patch = "*** Begin Patch\n*** Add File: b.py\n+x\n*** Delete File: c.py\n*** End Patch"
    assert files(call("apply_patch", patch)) == {"b.py": "created", "c.py": "deleted"}


@pytest.mark.parametrize("name", ["edit_file", "Write", "apply_patch"])
@pytest.mark.parametrize("failure", ["error", "denied"])
def test_an_edit_that_failed_changed_nothing(name: str, failure: ToolFailure) -> None:
    given = EDITED.get(name, {"file_path": "a.py", "content": "x"})
    assert files(call(name, given, failure=failure)) == {}  # type: ignore[arg-type]
    assert files(call(name, given, "<tool_use_error>no</tool_use_error>")) == {}  # type: ignore[arg-type]


def test_an_edit_that_was_interrupted_may_have_changed_something() -> None:
    assert files(call("edit_file", {"path": "a.py"}, failure="interrupted")) == {"a.py": "edited"}


def test_a_file_comes_to_what_its_operations_come_to() -> None:
    read, edit = call("Read", {"file_path": "a"}), call("Edit", {"file_path": "a"})
    write = call("Write", {"file_path": "a", "content": "x"}, "File created successfully at: a")
    gone = call("bash", {"command": "rm a"})
    assert files(read) == {"a": "read"}
    assert files(read, edit, read) == {"a": "edited"}
    assert files(write, edit) == {"a": "created"}
    assert files(edit, gone) == {"a": "deleted"}
    assert files(edit, gone, write) == {"a": "edited"}
    assert files(write, edit, gone) == {"a": "deleted"}
    assert ledger(edit, gone).changed
    assert not ledger(write, edit, gone).changed
    (file,) = ledger(read, edit, read).files
    assert file.operations == ("read", "edited")


def test_what_a_failed_command_would_have_deleted_is_not_called_deleted() -> None:
    assert files(call("bash", {"command": "rm a; false"}, metadata={"exitCode": 1})) == {}
    written = call("bash", {"command": "echo > a; false"}, metadata={"exitCode": 1})
    assert files(written) == {"a": "edited"}
    assert files(call("bash", {"command": "echo > a"}, failure="denied")) == {}


def test_the_file_touched_last_stands_last() -> None:
    calls = [call("Edit", {"file_path": path}) for path in ("a", "b", "c", "a")]
    assert [file.path for file in ledger(*calls).files] == ["b", "c", "a"]


@pytest.mark.parametrize(
    ("given", "text", "lines"),
    [
        ({"path": "a", "offset": 10, "limit": 5}, "x", ((10, 14),)),
        ({"path": "a"}, "one\ntwo\nthree", ((1, 3),)),
        ({"path": "a"}, "one\ntwo\n", ((1, 2),)),
        ({"file_path": "a", "offset": 7}, "     7→x\n     8→y\n", ((7, 8),)),
        ({"path": "a", "view_range": [3, 9]}, "x", ((3, 9),)),
        ({"path": "a", "start_line": 3, "end_line": 4}, "x", ((3, 4),)),
    ],
)
def test_the_lines_that_were_read_are_known(given, text, lines) -> None:
    (file,) = ledger(call("read_file", given, text)).files
    assert file.read == lines


def test_lines_that_touch_are_joined() -> None:
    first = call("read_file", {"path": "a", "offset": 1, "limit": 5})
    second = call("read_file", {"path": "a", "offset": 6, "limit": 5})
    third = call("read_file", {"path": "a", "offset": 50, "limit": 1})
    (file,) = ledger(first, third, second).files
    assert file.read == ((1, 10), (50, 50))


@given(st.lists(st.tuples(st.integers(1, 99), st.integers(0, 9)).map(lambda t: (t[0], sum(t)))))
def test_joined_ranges_hold_the_same_lines(ranges: list[tuple[int, int]]) -> None:
    def held(spans):
        return {line for first, last in spans for line in range(first, last + 1)}

    made = joined(ranges)
    assert held(made) == held(ranges) or len(made) == 20
    assert all(a[1] + 1 < b[0] for a, b in itertools.pairwise(made))


def test_the_lines_that_an_edit_left_come_from_its_diff() -> None:
    diff = "--- a/x\n+++ b/x\n@@ -3,4 +3,6 @@\n x\n@@ -40 +42,0 @@\n"
    (file,) = ledger(call("edit_file", {"path": "x"}, metadata={"diff": diff})).files
    assert file.edited == ((3, 8), (42, 42))


def test_hashes_are_those_of_the_content_that_is_known() -> None:
    ours = {"path": "a", "hash": "sha256:1", "created": False}
    (file,) = ledger(call("write_file", {"path": "a"}, metadata=ours)).files
    assert file.hash == "sha256:1"
    written = call("Write", {"file_path": "a", "content": "text"})
    (file,) = ledger(written).files
    assert file.hash == content_hash("text")
    # What an edit leaves is not known here, and a later partial read does not tell either.
    (file,) = ledger(written, call("Edit", {"file_path": "a"})).files
    assert file.hash == ""
    (file,) = ledger(written, call("Read", {"file_path": "a", "limit": 3})).files
    assert file.hash == content_hash("text")


def test_commands_have_their_status_and_the_line_that_says_what_went_wrong() -> None:
    ok = call("shell", {"command": "ls"}, "a\nb", metadata={"exitCode": 0})
    bad = call("Bash", {"command": "make"}, "cc a.c\nError: no rule\nExit code: 2")
    unknown = call("exec_command", {"cmd": "true"}, "fine")
    told = ledger(ok, bad, unknown, ok).commands
    assert [(c.command, c.exit, c.error) for c in told] == [
        ("make", 2, "Error: no rule"),
        ("true", None, ""),
        ("ls", 0, ""),
    ]


def test_every_failed_approach_is_kept_once_with_what_was_tried() -> None:
    first = call("edit_file", {"path": "a.py"}, "`oldText` does not occur", failure="error")
    again = call("edit_file", {"path": "a.py"}, "`oldText` does not occur", failure="error")
    command = call("shell", {"command": "make"}, "Error: no rule", metadata={"exitCode": 2})
    running = call("shell", {"command": "sleep 9"}, running=True)
    told = ledger(first, again, command, running).failures
    assert [(f.tool, f.tried, f.error) for f in told] == [
        ("edit_file", "a.py", "`oldText` does not occur"),
        ("shell", "make", "Error: no rule"),
    ]
    assert told[0].part_id == again.id


def test_the_newest_list_counts_and_is_kept_apart_by_progress() -> None:
    old = call("todo", {"items": [{"content": "x", "status": "pending"}]})
    items: Json = [
        {"content": "a", "status": "completed"},
        {"content": "b", "status": "in_progress"},
        {"content": "c", "status": "pending"},
        {"content": "d", "status": "nonsense"},
    ]
    todo = ledger(old, call("todo", {"items": items})).todo
    assert (todo.planned, todo.in_progress, todo.done) == (("c",), ("b",), ("a",))
    assert ledger(call("TodoWrite", {"todos": items})).todo == todo
    steps: Json = [{"step": "a", "status": "completed"}, {"step": "b", "status": "in_progress"}]
    assert ledger(call("update_plan", {"plan": steps})).todo == replace(todo, planned=())
    assert ledger(old, call("todo", {"items": items}, failure="error")).todo.planned == ("x",)


def test_a_list_that_is_kept_by_single_calls_is_followed() -> None:
    made = [
        call("TaskCreate", {"subject": name}, f"Task #{n} created successfully: {name}")
        for n, name in enumerate(("a", "b", "c"), 1)
    ]
    moved = [
        call("TaskUpdate", {"taskId": "1", "status": "completed"}),
        call("TaskUpdate", {"taskId": "2", "status": "in_progress"}),
        call("TaskUpdate", {"taskId": "3", "status": "deleted"}),
    ]
    todo = ledger(*made, *moved).todo
    assert (todo.planned, todo.in_progress, todo.done) == ((), ("b",), ("a",))


def test_subtasks_have_what_came_of_them() -> None:
    done = call("delegate", {"task": "Look\nfor it"}, "\nFound it.\nmore")
    bad = call("Task", {"description": "Try", "prompt": "…"}, "Boom", failure="error")
    runs = call("Agent", {"prompt": "Wait"}, running=True)
    part = SubtaskPart(PartId("s1"), SessionId("child"), "Count", "Three.\nmore")
    told = read_ledger([answer(done, bad, runs, part)]).subtasks
    assert [(s.task, s.status, s.result) for s in told] == [
        ("Look for it", "done", "Found it. more"),
        ("Try", "failed", "Boom"),
        ("Wait", "running", ""),
        ("Count", "done", "Three."),
    ]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 99) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
KEYS = ["path", "file_path", "command", "cmd", "items", "todos", "plan", "calls", "content"]
INPUTS = st.dictionaries(st.sampled_from(KEYS), JSON) | JSON
NAMES = ["edit", "write", "read", "bash", "todo", "batch", "taskcreate", "taskupdate", "task"]


@given(st.lists(st.tuples(st.sampled_from(NAMES), INPUTS, st.text(max_size=40))))
def test_whatever_a_model_called_with_whatever_the_ledger_can_be_read(calls) -> None:
    messages = [answer(call(name, given, text)) for name, given, text in calls]
    assert read_ledger(messages) == read_ledger(iter(messages))
