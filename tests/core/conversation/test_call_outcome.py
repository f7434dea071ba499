"""What came of a call: its argument, whether it failed, and the one line that says so."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.conversation.call_outcome import (
    LONGEST,
    argument,
    error_line,
    failed,
    finding,
    one_line,
    placeholder,
    result_text,
    status,
    text_failed,
)
from sidecar.core.parts import (
    Json,
    JsonObject,
    Output,
    PartId,
    ToolCompleted,
    ToolError,
    ToolPart,
    ToolPending,
    ToolRunning,
    ToolState,
)

TRACEBACK = """Traceback (most recent call last):
  File "/app/run.py", line 3, in <module>
    main()
app.errors.ConfigError: no file 'settings.toml'
"""
PYTEST = """tests/test_add.py F                                   [100%]
E       assert 3 == 4
tests/test_add.py:3: AssertionError
=========================== short test summary info ===========================
FAILED tests/test_add.py::test_add - assert 3 == 4
============================== 1 failed in 0.03s ==============================
"""
GO = """=== RUN   TestAdd
    add_test.go:8: got 3, want 4
--- FAIL: TestAdd (0.00s)
FAIL
exit status 1
FAIL\texample.com/add\t0.003s
FAIL"""
NPM = """npm error code E404
npm error 404 Not Found - GET https://registry.npmjs.org/nopkg
npm error 404 Note that you can also install from a tarball or a folder.
npm error A complete log of this run can be found in: /root/.npm/_logs/debug-0.log
"""
OLD_NPM = """npm ERR! code ELIFECYCLE
npm ERR! Exit status 1
npm ERR!     /root/.npm/_logs/2026-11-21T10_00_00_000Z-debug.log
"""
TSC = """src/one.ts(3,5): error TS2322: Type 'string' is not assignable to type 'number'.
src/two.ts(9,1): error TS1005: ';' expected.
"""
LINT = "src/hooks.go:488:15: nil value after check (nilnesserr)"
SWE = "<returncode>{code}</returncode>\n<output>\n{said}</output>"
CODEX = """Chunk ID: c833a9
Wall time: 0.0039 seconds
Process exited with code {code}
Original token count: 0
Output:
{said}"""


def call(
    state: ToolState | str = "", given: Json = None, name: str = "bash", **metadata: Json
) -> ToolPart:
    if isinstance(state, str):
        state = ToolCompleted(Output(state), 0, 1, metadata=dict(metadata))
    return ToolPart(PartId("part1"), "call1", name, given, state)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"content": "x = 1", "file_path": "src/a.py"}, "src/a.py"),
        ({"pattern": "TODO", "path": "src"}, "src"),
        ({"path": "  ", "pattern": "TODO"}, "TODO"),
        ({"description": "Run tests", "command": "pytest -q\n  tests"}, "pytest -q tests"),
        ({"command": ["bash", "-lc", "ls"], "workdir": "/app"}, "bash -lc ls"),
        ({"command": [], "workdir": "/app"}, "/app"),
        ({"command": "cd src && make"}, "cd src && make"),
        ({"command": f"cd /w/{'long/' * 9}cli && go test"}, "cd …/cli && go test"),
        (
            {"command": f'OUT="/w/{"x" * 99}"; set -e\ncd "/w/{"y" * 30}/a b"\nmake'},
            "cd …/a b; make",
        ),
        ({"command": "CI=1 make"}, "CI=1 make"),
        ({"command": "cd /w"}, "cd /w"),
        ({"n": 3, "other": "that", "more": "this"}, "that"),
        ({"n": 3}, ""),
        ("*** Begin Patch\n*** Update File: a.py", "*** Begin Patch *** Update File: a.py"),
        (["a", "b"], ""),
        (None, ""),
        ({"path": "x" * 200}, "x" * 119 + "…"),
    ],
)
def test_the_argument_that_tells_a_call_from_others(given: Json, expected: str) -> None:
    assert argument(given) == expected


@pytest.mark.parametrize(
    "key",
    [
        "file_path", "path", "filePath", "notebook_path", "command", "cmd", "pattern", "query",
        "url", "id", "description", "task", "prompt",
    ],
)  # fmt: skip
def test_some_arguments_say_more_than_others(key: str) -> None:
    assert argument({"old_string": "this", key: "that", "new_string": "other"}) == "that"


UNLIKE = """apply_patch verification failed: Failed to find expected lines in /w/a.ts:
  throw new Error: x
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Exit code 1\nmore", True),
        ("Exit code 0\nmore", False),
        ("ok\nexit status 2", True),
        ("ok\nexit status: 130\n", True),
        ("Command exited with code 127", True),
        ("exited with 3", True),
        ("[exit 1]", True),
        ("make failed, exit: 2", True),
        ("status exit=1", True),
        (SWE.format(code=1, said=""), True),
        (SWE.format(code=0, said="all fine\n"), False),
        (CODEX.format(code=1, said=""), True),
        (CODEX.format(code=0, said="fine"), False),
        ('{"output": "no", "metadata": {"exit_code": 1, "duration": 0.1}}', True),
        ('{"output": "yes", "metadata": {"exit_code": 0, "duration": 0.1}}', False),
        (TRACEBACK, True),
        ("x\n" * 1_900 + TRACEBACK, True),
        (GO, True),
        ("all 3 tests passed", False),
        ("no exits here 1, code 5", False),
        (UNLIKE, True),
        (f"cat log\n{UNLIKE}", False),
        ("if [ -z $1 ]; then\n  exit 1\nfi\n", False),
        ("import sys\nsys.exit(1)\n", False),
        ("", False),
    ],
)
def test_an_output_says_by_itself_that_its_command_failed(text: str, expected: bool) -> None:
    assert text_failed(text) is expected


def test_only_the_ends_of_an_output_are_looked_at() -> None:
    for said, depth in (("Exit code 1", 300), ("Traceback (most recent call last)", 4_000)):
        far, near = "x" * 9_000, depth - len(said)
        assert text_failed(far[:near] + said + far)
        assert not text_failed(far[: near + 1] + said + far)
        assert text_failed(far + said + far[:near])
        assert not text_failed(far + said + far[: near + 1])


@pytest.mark.parametrize(
    ("part", "expected", "said"),
    [
        (call("fine"), False, "ok"),
        (call("fine", exitCode=0), False, "ok"),
        (call(TRACEBACK, exitCode=0), False, "ok"),
        (call("fine", exitCode=2), True, "exit 2"),
        (call("fine", exitCode=True), False, "ok"),
        (call("no", isError=True), True, "failed"),
        (call("Exit code 1\nno", isError=False), True, "failed"),
        (call(ToolError("no", "error", 0, 1)), True, "failed"),
        (call(ToolError("no", "denied", 0, 1, metadata={"exitCode": 9})), True, "exit 9"),
        (call(ToolError("no", "error", 0, 1, metadata={"exitCode": 0})), True, "failed"),
        (call(ToolPending('{"a')), False, "running"),
        (call(ToolRunning(0)), False, "running"),
    ],
)
def test_a_call_has_failed_by_its_state_and_its_result(
    part: ToolPart, expected: bool, said: str
) -> None:
    assert failed(part) is expected
    assert status(part) == said


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (TRACEBACK, "app.errors.ConfigError: no file 'settings.toml'"),
        (PYTEST, "FAILED tests/test_add.py::test_add - assert 3 == 4"),
        (GO, "--- FAIL: TestAdd (0.00s)"),
        ("FAIL\t./session [setup failed]\nFAIL", "FAIL ./session [setup failed]"),
        (NPM, "npm error code E404"),
        (OLD_NPM, "npm ERR! code ELIFECYCLE"),
        (TSC, "src/two.ts(9,1): error TS1005: ';' expected."),
        ("bash: foo: command not found\nbye", "bash: foo: command not found"),
        ("cat: x.py: No such file or directory\n", "cat: x.py: No such file or directory"),
        ("error[E0308]: mismatched types\n --> src/a.rs:3:5", "error[E0308]: mismatched types"),
        ("fatal: not a git repository\n\n", "fatal: not a git repository"),
        ("panic: boom\n\ngoroutine 1 [running]:", "panic: boom"),
        ("Exit code 1\nM  src/a.py\nnothing to commit", "exit 1, last line: nothing to commit"),
        ("said first\nExit code 1", "exit 1, last line: said first"),
        ("patch: bad\nExit code 2\nfirst: bad", "first: bad"),
        ("Exit code 143\nCommand timed out after 2m 0s\ng5 done", "Command timed out after 2m 0s"),
        (f"Exit code 1\n{LINT}\n\t\t^\n1 issues:\n[lint] ERROR task failed", LINT),
        (f"# app [app.test]\n{LINT}\nFAIL\tapp [build failed]\nFAIL", LINT),
        (f"Exit code 1\n{LINT}\nDropped refs/stash@{{0}}", f"exit 1: {LINT}"),
        (
            "Exit code 2\nflag provided but not defined: -e\nusage: go run\n---",
            "exit 2: flag provided but not defined: -e",
        ),
        (
            "Exit code 1\nCONFLICT (content): Merge conflict in a.go\nAutomatic merge failed",
            "exit 1: CONFLICT (content): Merge conflict in a.go",
        ),
        (UNLIKE, "apply_patch verification failed: Failed to find expected lines in /w/a.ts:"),
        ("Exit code 1", "exit 1, no output"),
        ("Exit code 1\nno themes\nexit code: 1", "exit 1, last line: no themes"),
        ("Exit code 154\nexit=154 size=", "exit 154, no output"),
        (SWE.format(code=1, said=""), "exit 1, no output"),
        (SWE.format(code=2, said="no match\n"), "exit 2, last line: no match"),
        (CODEX.format(code=1, said=""), "exit 1, no output"),
        ("<output>\n</output>", "</output>"),
        ("", ""),
        (" \n\n", ""),
    ],
)
def test_the_line_that_says_most_about_a_failure(text: str, line: str) -> None:
    assert error_line(text) == line


@pytest.mark.parametrize(
    ("inner", "line"),
    [
        ("File does not exist.", "File does not exist."),
        ("Error: No such tool available: X", "Error: No such tool available: X"),
        ("String to replace not found.\nString: error = 1", "String to replace not found."),
        ("\nInputValidationError: Edit failed:\n- path", "InputValidationError: Edit failed:"),
    ],
)
def test_a_refusal_of_claude_code_is_its_first_line(inner: str, line: str) -> None:
    assert error_line(f"<tool_use_error>{inner}</tool_use_error>") == line


def test_a_long_output_is_searched_at_both_ends() -> None:
    middle = "fine\n" * 5_000
    assert error_line(f"Error: first\n{middle}") == "Error: first"
    assert error_line(f"{middle}Error: last\n") == "Error: last"
    assert error_line(f"{middle}Error: hidden\n{middle}") == "fine"
    for far, said in ((7_990, "Error: it"), (8_000, "fine")):
        assert error_line("x\n" * (far // 2) + f"Error: it\n{middle}") == said
        assert error_line(f"{middle}Error: it" + "\nfine\n" * (far // 6)) == said


@pytest.mark.parametrize("text", ["\n" * 16_000, " " * 16_000, ("\n" * 7_990 + "x\n") * 2])
def test_blank_lines_do_not_slow_the_search(text: str) -> None:
    assert error_line(text) in ("", "x")


@given(st.text(max_size=300))
def test_any_text_has_one_short_line_of_error(text: str) -> None:
    line = error_line(text)
    assert "\n" not in line
    assert len(line) <= LONGEST
    assert text_failed(text) in (True, False)


def test_the_text_that_the_model_sees_of_a_result() -> None:
    assert result_text(call("out")) == "out"
    assert result_text(call(ToolError("no", "error", 0, 1))) == "no"
    assert result_text(call(ToolError("no", "error", 0, 1, output=Output("out")))) == "out\nno"
    assert result_text(call(ToolRunning(0))) == ""


def test_one_line_stands_for_a_result() -> None:
    assert finding(call("\n  first\nsecond")) == "first"
    assert finding(call(ToolCompleted(Output("first"), 0, 1, title="3 files"))) == "3 files"
    assert finding(call(ToolCompleted(Output(TRACEBACK), 0, 1, title="run"))).startswith("app.err")
    assert finding(call("")) == ""


@pytest.mark.parametrize(
    ("part", "line"),
    [
        (
            call("1 passed\n\n", {"command": "pytest -q"}),
            "[evicted: bash pytest -q · ok · 2 lines, 10 characters · 1 passed · recall part1]",
        ),
        (
            call("one\ntwo", {"path": "a.py"}, "read"),
            "[evicted: read a.py · ok · 2 lines, 7 characters · one · recall part1]",
        ),
        (
            call(TRACEBACK, {"command": "run"}, exitCode=1),
            "[evicted: bash run · exit 1 · 4 lines, 136 characters · "
            "app.errors.ConfigError: no file 'settings.toml' · recall part1]",
        ),
        (call("", {}), "[evicted: bash  · ok · 0 lines, 0 characters · recall part1]"),
    ],
)
def test_a_placeholder_names_the_call_and_what_came_of_it(part: ToolPart, line: str) -> None:
    assert placeholder(part) == line


@given(st.text(max_size=400), st.dictionaries(st.sampled_from(["path", "x"]), st.text()))
def test_a_placeholder_is_one_short_line(text: str, given_: JsonObject) -> None:
    line = placeholder(call(text, given_))
    assert "\n" not in line
    assert len(line) < 2 * LONGEST + 100
    assert line.endswith("recall part1]")


@pytest.mark.parametrize(
    ("text", "most", "line"),
    [
        (" a\n\tb  c ", 10, "a b c"),
        ("abcde", 5, "abcde"),
        ("abcdef", 5, "abcd…"),
        (" " * 900 + "far", 5, "far"),
    ],
)
def test_lines_are_joined_and_cut(text: str, most: int, line: str) -> None:
    assert one_line(text, most) == line
