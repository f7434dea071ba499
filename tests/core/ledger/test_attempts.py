"""Failures that were overcome: the same attempt went through later."""

import pytest

from sidecar.core.ledger.attempts import attempt, attempt_of
from sidecar.core.ledger.ledger import read_ledger
from sidecar.core.ledger.units import overcome, units_of
from sidecar.core.parts import Json, ToolPart
from tests.core.ledger.test_ledger import answer, call


def shell(command: str, code: int = 0, text: str = "Error: no rule") -> ToolPart:
    return call("Bash", {"command": command}, text, metadata={"exitCode": code})


def left(*calls: ToolPart) -> list[int]:
    """Give the places of failed calls that nothing overcame, by units, and check the ledger."""
    units = [unit for part in calls for unit in units_of(answer(part), 0, 0)]
    later = overcome(units)
    found = [n for n, unit in enumerate(units) if unit.failed and unit.part_id not in later]
    ledger = read_ledger([answer(part) for part in calls])
    assert {f.part_id for f in ledger.failures} <= {units[n].part_id for n in found}
    return found


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("make test 2>&1 | tail -20", "make test"),
        ("cd /w && make test", "make test | grep -c 'a|b'"),
        ("cd /w && CI=1 timeout 60 make test; echo $?", "make test 2>/dev/null || true"),
        ("python3 - <<'PY'\nwrite(1\nPY", "python3 - <<'PY'\nwrite(1)\nPY"),
    ],
)
def test_the_same_command_without_its_pipes_overcomes(first: str, later: str) -> None:
    assert left(shell(first, 1), shell(later)) == []
    assert left(shell(first, 1), shell(later, 1)) == [1]
    assert left(shell(later), shell(first, 1)) == [1]


def test_another_command_does_not() -> None:
    assert left(shell("make test", 1), shell("make lint"), shell("make test-all")) == [0]
    assert left(shell("a && make", 1), shell("b && make")) == [0]


@pytest.mark.parametrize("name", ["Edit", "mcp__files__edit_file"])
def test_an_edit_that_went_through_later_overcomes(name: str) -> None:
    def edit(path: str, failure: bool = False) -> ToolPart:
        given: Json = {"file_path": path, "old_string": "x"}
        return call(name, given, "not found", failure="error" if failure else None)

    assert left(edit("a.py", True), edit("a.py")) == []
    assert left(edit("a.py", True), edit("b.py")) == [0]


def test_a_patch_attempts_the_files_that_it_names() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-{}\n+y\n*** End Patch"
    first, later = (call("apply_patch", patch.format(x)) for x in ("1", "2"))
    assert attempt_of(first) == attempt_of(later) == "edit a.py"


def test_what_is_broken_off_neither_fails_nor_overcomes() -> None:
    gone = call("Bash", {"command": "make"}, "no result was recorded", failure="interrupted")
    sibling = call(
        "Bash",
        {"command": "make"},
        "<tool_use_error>Sibling tool call errored</tool_use_error>",
        metadata={"isError": True},
    )
    asked = call("Bash", {"command": "make"}, "[Request interrupted by user for tool use]")
    assert left(gone, sibling, asked) == []
    assert left(shell("make", 1), gone, sibling, asked) == [0]


@pytest.mark.parametrize(
    "look",
    [
        "rg -n 'a|b' src docs 2>/dev/null",
        "ls build && for d in build/*; do n=$(grep -c x $d); echo $n; done",
        "sed -n '1,40p' gone.py",
        "cd /w && git diff main gone.py | head -5",
        "gh pr checks 7",
        "find / -iname '*.go' | grep -i x",
        "tool make --help",
        "git config --get core.hooksPath",
    ],
)
def test_a_call_that_only_looks_teaches_nothing_when_it_fails(look: str) -> None:
    assert left(shell(look, 2, "No such file or directory")) == []
    assert left(shell(f"{look} && make", 2, "No such file or directory")) == [0]


@pytest.mark.parametrize(
    "probe",
    [
        "python3 -c 'import app; print(app.port)'",
        "cd /w && npx tsx -e \"import { port } from './app.js'; console.log(port)\"",
        "uv run python - <<'PY'\n  print(1)\nPY",
        "node <<'JS'\nconsole.log(1)\nJS",
        "curl -sf http://localhost:8000/health",
    ],
)
def test_a_probe_teaches_nothing_when_it_fails_but_what_it_lacked(probe: str) -> None:
    assert left(shell(probe, 1, "Cannot find module './app.js'")) == []
    assert left(shell(probe, 1, "No module named 'tomli'")) == [0]
    assert left(shell(f"{probe}\nmake all", 1)) == [0]


@pytest.mark.parametrize(
    "more",
    [
        'python3 -c \'open("a.py", "w").write("")\'',
        "python3 - <<'PY'\nassert s.count(old) == 1\nPY",
        "python3 app.py",
        "python3 -m pytest",
        "bash -c 'make all'",
        "curl -X POST http://localhost:8000/jobs",
        "curl -fsSLO http://localhost/a.tar",
    ],
)
def test_a_script_or_request_that_does_more_than_look_is_no_probe(more: str) -> None:
    assert left(shell(more, 1)) == [0]


@pytest.mark.parametrize("name", ["Read", "Grep", "mcp__x__search", "WebFetch"])
def test_nor_does_a_tool_that_reads_or_searches(name: str) -> None:
    assert left(call(name, {"path": "gone.py"}, "File does not exist.", failure="error")) == []
    assert left(call("Skill", {"skill": "commit"}, "Unknown skill", failure="error")) == [0]


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("cd wrong && workmux add x --base main", "workmux add x"),
        ("bun apps/cli.ts run", "bun ./apps/cli.ts eval"),
        ("git merge main", "git add a.py && git commit -m 'Merge'"),
        (". groups.sh\nfor g in $G; do git cherry-pick $g; done", "git commit -m x"),
        ("git -C /w push fork", "git pull && GIT_EDITOR=true git push origin main"),
        ("uv run pytest tests/a.py", "timeout 60 uv run pytest tests/b.py"),
        ("rm old.txt", "rm -f other.txt"),
    ],
)
def test_a_later_way_of_the_same_program_overcomes(first: str, later: str) -> None:
    assert left(shell(first, 1), shell(later)) == []
    assert left(shell(f"{first} && deploy all", 1), shell(later)) == [0]
    assert left(shell(f"{first} && deploy all", 1), shell(later), shell("deploy all x")) == []


@pytest.mark.parametrize(
    ("first", "later"),
    [
        ("npm run build", "npm run test"),
        ("python a.py", "python b.py"),
        ("git push", "git commit -m x"),
        ("gh pr merge 7", "gh pr comment 7"),
        ("make docs", "make --version"),
    ],
)
def test_another_thing_that_the_program_does_overcomes_nothing(first: str, later: str) -> None:
    assert left(shell(first, 1), shell(later)) == [0]


def test_a_mistyped_folder_is_overcome_by_the_right_one() -> None:
    wrong = call("Edit", {"file_path": "/x/plan.md"}, "File does not exist.", failure="error")
    assert left(wrong, call("Edit", {"file_path": "/y/plan.md"})) == []
    assert left(wrong, shell("sed -i s/a/b/ y/plan.md")) == []
    assert left(wrong, call("Read", {"file_path": "/y/plan.md"})) == [0]


def test_a_plan_that_was_refused_is_overcome_by_a_later_one_that_was_accepted() -> None:
    refused = "The user doesn't want to proceed with this tool use. the user said: smaller"
    first = call("ExitPlanMode", {"plan": "# All of it"}, refused, failure="denied")
    second = call("ExitPlanMode", {"plan": "# Half of it"}, "User has approved your plan.")
    assert left(first, second) == []
    assert left(second, first) == [1]
    assert left(first, call("Bash", {"command": "ls"}, "a")) == [0]


def test_only_the_same_attempt_overcomes_a_refusal() -> None:
    refused = "The user doesn't want to proceed with this tool use. the user said: not yet"
    no = call("Bash", {"command": "git commit -m x"}, refused, failure="denied")
    look = call("Bash", {"command": "git log"}, refused, failure="denied")
    denied = call("Bash", {"command": "git log"}, "not allowed", failure="denied")
    assert left(no, look, denied, shell("git commit -m y"), shell("git diff")) == [0, 1, 2]
    assert left(no, shell("git commit -m x")) == []
    assert left(no, shell("git commit -m x", 1)) == [0, 1]


def test_of_equal_attempts_the_newest_failure_is_told() -> None:
    assert left(shell("make", 1, "Error: one"), shell("make", 1, "Error: two")) == [1]


def test_another_tool_is_overcome_by_itself_with_the_same_word() -> None:
    def computer(action: str, failure: bool = False) -> ToolPart:
        return call("computer", {"action": action}, "x", failure="error" if failure else None)

    assert left(computer("screenshot", True), computer("click")) == [0]
    assert left(computer("screenshot", True), computer("screenshot")) == []
    query = call("find", {"query": "a link"}, "call read_page first", failure="error")
    assert left(query, call("find", {"query": "another link"})) == []


def test_ctrl_c_breaks_off() -> None:
    assert left(shell("serve", 130)) == []


def test_a_command_that_was_cut_is_not_compared() -> None:
    assert attempt("Bash", "make " + "x" * 200 + "…") == ""


def test_a_check_is_overcome_by_a_change_of_what_it_complained_of_and_any_check_that_passes() -> (
    None
):
    lint = shell("make fmt && make lint", 1, "src/a.go:3:7: unused x\nERROR task failed")
    mended = call("Edit", {"file_path": "/w/src/a.go", "old_string": "x"})
    other = call("Edit", {"file_path": "/w/src/b.go", "old_string": "x"})
    passes = shell("task lint", text="0 issues.")
    assert left(lint, mended, passes) == []
    assert left(lint, mended, shell("task lint", text="done")) == [0]
    assert left(lint, mended, shell("task all", text="3 passed\nFAIL b")) == [0]
    assert left(lint, other, passes) == [0]
    assert left(lint, passes) == [0]


def test_what_a_command_lacked_and_was_installed_is_overcome() -> None:
    lacks = shell("python try.py", 1, "ModuleNotFoundError: No module named 'pytz'")
    assert left(lacks, shell("uv pip install -q pytz tzdata")) == []
    assert left(lacks, shell("pip install pytz", 1), shell("pip install tzdata")) == [0]
    tool = shell("jake build", 127, "bash: jake: command not found")
    assert left(tool, shell("npm i jake")) == []


def test_a_script_that_is_deleted_cannot_fail_again() -> None:
    trial = shell("python trial.py 2>&1", 1, "Traceback (most recent call last)\nKeyError: 1")
    assert left(trial, shell("rm trial.py other.py")) == []
    assert left(trial, shell("rm other.py")) == [0]


@pytest.mark.parametrize(
    "error",
    [
        "<tool_use_error>String to replace not found in file.\nString: x</tool_use_error>",
        "<tool_use_error>File has not been read yet. Read it first.</tool_use_error>",
        "Found 2 matches of the string to replace",
        "apply_patch verification failed: Failed to find expected lines in a.py",
    ],
)
def test_an_edit_of_a_file_that_was_other_than_thought_is_overcome_by_a_look(error: str) -> None:
    edit = call("Edit", {"file_path": "/x/plan.md"}, error, failure="error")
    assert left(edit, call("Read", {"file_path": "/x/plan.md"})) == []
    assert left(edit, call("Read", {"file_path": "/x/other.md"})) == [0]
    closed = call("Edit", {"file_path": "/x/plan.md"}, "permission denied", failure="error")
    assert left(closed, call("Read", {"file_path": "/x/plan.md"})) == [0]


def test_of_a_trial_build_between_stashes_the_build_is_what_failed() -> None:
    trial = "git stash push -k && go build ./...; git stash pop"
    said = "strategy.go:9:2: declared and not used"
    failed = shell(trial, 1, said)
    assert left(failed, shell("git reset HEAD; go build ./... && go test ./x", 0, "ok")) == []
    assert left(failed, shell("go vet ./...", 0, "ok")) == [0]
    # Where git itself complains, git has to go through.
    assert left(shell(trial, 1, "error: no stash"), shell("go build ./...", 0, "ok")) == [0]
    assert left(shell("git stash", 1, said), shell("go build ./...", 0, "ok")) == [0]


@pytest.mark.parametrize(
    ("command", "said", "places"),
    [
        (
            "$env:BIN = 'x'; node a.mjs; \"exit code: $LASTEXITCODE\"",
            "Check the failure output",
            [],
        ),
        ("make bad; echo $?", "Verify that a bad flag is rejected", []),
        ("# it should fail\nmake bad; echo $?", "Run make", []),
        ("make bad", "Verify that a bad flag is rejected", [0]),
        ("make bad; echo $?", "Check for failures", [0]),
        ("make bad; echo $?", "Check why the build fails", [0]),
        ("make bad; echo $?", "Verify that no errors are left", [0]),
    ],
)
def test_a_failure_that_a_command_was_to_prove_is_no_lesson(
    command: str, said: str, places: list[int]
) -> None:
    given: Json = {"command": command, "description": said}
    assert left(call("Bash", given, "Error: no", metadata={"exitCode": 1})) == places
