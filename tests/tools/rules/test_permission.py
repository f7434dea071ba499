"""Who may do what: a table of calls and rules, and attempts to get around them."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.parts import Json, ToolKind
from sidecar.core.prompt.prompt import ToolSpec
from sidecar.tools.access import access
from sidecar.tools.builtin_tools import BY_NAME
from sidecar.tools.rules.permission import (
    Allow,
    Ask,
    PermissionDecision,
    Refuse,
    Rules,
    decide,
    remember,
)
from sidecar.tools.rules.shell_words import plain_words
from sidecar.tools.tool_contract import Access, ToolContext
from tests.tools.rules.decisions import call, functions_entered


def client(kind: ToolKind, name: str = "theirs") -> ToolSpec:
    return ToolSpec(name, "", {}, kind=kind, origin="client")


def shell(command: str, *allow: str, reject: tuple[str, ...] = ()) -> PermissionDecision:
    words = plain_words(command)
    found = Access("execute", f"Run {command}", ("/w",), (), command, words, shown=(".",))
    return decide(BY_NAME["shell"], found, Rules(allow, reject), trusted=True)


@pytest.mark.parametrize(
    ("tool", "given", "decision"),
    [
        ("read_file", {"path": "a"}, Allow),
        ("list_files", {}, Allow),
        ("search", {"pattern": "x"}, Allow),
        ("todo", {"items": []}, Allow),
        ("recall", {"id": "part_1"}, Allow),
        ("write_file", {"path": "a", "content": ""}, Ask),
        ("edit_file", {"path": "a", "oldText": "a", "newText": "b"}, Ask),
        ("shell", {"command": "ls"}, Ask),
        ("read_file", {"path": "/etc/hosts"}, Ask),
        ("read_file", {"path": "link/x"}, Ask),
        ("list_files", {"path": ".."}, Ask),
        ("search", {"pattern": "x", "path": "link"}, Ask),
        # What is malformed only answers an error, so nobody is asked.
        ("write_file", {"path": "a"}, Allow),
        ("shell", {"command": ""}, Allow),
        ("read_file", {"path": "\0"}, Allow),
    ],
)
def test_reading_within_the_workspace_is_allowed_and_the_rest_is_asked_about(
    tool: str, given: Json, decision: type[PermissionDecision], inside: ToolContext
) -> None:
    assert isinstance(call(tool, given, inside), decision)


def test_nothing_is_written_or_run_in_an_untrusted_workspace(inside: ToolContext) -> None:
    untrusted = replace(inside, trusted=False)
    everything = Rules(allow=("*", "shell", "write_file", "edit"))
    for tool, asked in (
        ("write_file", {"path": "a", "content": ""}),
        ("shell", {"command": "ls"}),
    ):
        refused = call(tool, asked, untrusted, everything)
        assert isinstance(refused, Refuse)
        assert "workspaceTrusted" in refused.reason
    assert call("read_file", {"path": "a"}, untrusted) == Allow()
    assert isinstance(call("read_file", {"path": "/etc/hosts"}, untrusted), Ask)
    theirs = decide(client("execute"), Access("execute", "theirs"), Rules(), trusted=False)
    assert isinstance(theirs, Ask)


def test_a_question_names_the_rules_that_its_answers_make(inside: ToolContext) -> None:
    asked = call("write_file", {"path": "a.py", "content": ""}, inside)
    assert isinstance(asked, Ask)
    assert asked.title == "Write a.py"
    assert asked.rules == {"allow_always": "write_file", "reject_always": "write_file"}
    kinds = [option.kind for option in asked.options]
    assert kinds == ["allow_once", "allow_always", "reject_once", "reject_always"]


def test_a_tool_named_as_a_kind_is_never_always_allowed(inside: ToolContext) -> None:
    named = client("execute", "execute")
    asked = decide(named, access(named, {}, inside), Rules(), trusted=True)
    assert isinstance(asked, Ask)
    # The rule would allow every command.
    assert [option.option_id for option in asked.options] == ["allow_once", "reject_once"]
    other = client("execute")
    offered = decide(other, access(other, {}, inside), Rules(), trusted=True)
    assert isinstance(offered, Ask)
    assert offered.rules == {"allow_always": "theirs", "reject_always": "theirs"}


@pytest.mark.parametrize(
    ("kind", "rules", "decision"),
    [
        ("read", (), Allow),
        ("search", (), Allow),
        ("other", (), Allow),
        ("edit", (), Ask),
        ("execute", (), Ask),
        ("edit", ("theirs",), Allow),
        ("edit", ("edit",), Ask),
        ("execute", ("*",), Allow),
        ("execute", ("edit", "shell", "execute:x*"), Ask),
    ],
)
def test_a_clients_tool_is_asked_about_by_its_kind(
    kind: ToolKind, rules: tuple[str, ...], decision: type[PermissionDecision]
) -> None:
    found = decide(client(kind), Access(kind, "theirs"), Rules(rules), trusted=True)
    assert isinstance(found, decision)


@pytest.mark.parametrize(
    ("name", "rule", "decision"),
    [
        ("edit", "edit", Ask),
        ("execute", "execute", Ask),
        ("read", "read", Ask),
        ("mcp__notes__add", "mcp__notes__add", Ask),
        ("edit", "*", Allow),
        ("deploy", "deploy", Allow),
        ("shell", "shell", Allow),
    ],
)
def test_a_clients_tool_is_not_what_rules_call_by_its_name(
    name: str, rule: str, decision: type[PermissionDecision]
) -> None:
    given = Access("execute", name)
    assert isinstance(
        decide(client("execute", name), given, Rules((rule,)), trusted=True), decision
    )
    theirs = replace(client("execute", "mcp__notes__add"), origin="mcp")
    assert decide(theirs, given, Rules(("mcp__notes__add",)), trusted=True) == Allow()


@pytest.mark.parametrize(
    ("rule", "path", "allowed"),
    [
        ("write_file", "a.py", True),
        ("edit", "a.py", True),
        ("*", "a.py", True),
        ("edit_file", "a.py", False),
        ("write_file:a.py", "a.py", True),
        ("write_file:src/*", "src/x/y.py", True),
        ("write_file:src/*", "src/../a.py", False),
        ("write_file:src/*", "a.py", False),
        ("write_file:*/src/*", "src/a.py", True),
        ("write_file:**/src/**", "b/src/c/a.py", True),
        ("write_file:**/{above}/**", "a.py", False),
        # A rule for the tool does not reach outside, nor does a relative pattern.
        ("write_file", "/other/x.py", False),
        ("*", "/other/x.py", False),
        ("write_file:*", "/other/x.py", False),
        ("write_file:*", "link/x.py", False),
        ("write_file:/other/*", "/other/x.py", True),
        ("write_file:/other/*", "/other/../else.py", False),
        ("edit:/other/x.py", "/other/x.py", True),
        ("edit:/other/x.py", "/other/x.pyi", False),
        ("write_file:/*", "/other/x.py", True),
    ],
)
def test_a_rule_covers_a_file_by_its_path(
    rule: str, path: str, allowed: bool, inside: ToolContext
) -> None:
    rule = rule.replace("{above}", inside.cwd.parent.name)
    found = call("write_file", {"path": path, "content": ""}, inside, Rules((rule,)))
    assert isinstance(found, Allow if allowed else Ask)


@given(st.text("gitx *\\;|&`$(){}<>\n", max_size=30))
def test_a_remembered_command_allows_itself_and_no_other(command: str) -> None:
    asked = shell(f"c{command}")
    assert isinstance(asked, Ask)
    rule = asked.rules["allow_always"]
    assert shell(f"c{command}", rule) == Allow()
    assert isinstance(shell(f"c{command}x", rule), Ask)


def test_a_folder_that_no_rule_can_name_is_asked_about_each_time() -> None:
    for folder in ("/o:x", "a*", "\\xff"):
        found = Access("execute", "Run ls", (folder,), (), "ls", ("ls",), shown=(folder,))
        asked = decide(BY_NAME["shell"], found, Rules(("shell:ls", "shell@*:ls")), trusted=True)
        assert isinstance(asked, Ask)
        assert asked.rules == {}
        assert [option.kind for option in asked.options] == ["allow_once", "reject_once"]


def test_rejecting_goes_first_and_further(inside: ToolContext) -> None:
    assert isinstance(shell("ls; rm -rf x", "shell", reject=("shell:*rm -rf*",)), Refuse)
    assert isinstance(shell("ls", "shell", reject=("shell",)), Refuse)
    assert shell("ls", "shell", reject=("shell:rm*",)) == Allow()
    assert isinstance(shell("'r'm x", "shell", reject=("shell:rm*",)), Refuse)
    assert isinstance(shell("ls; rm x", "shell", reject=("shell:*rm*",)), Refuse)
    for command in (
        "git push",
        "git push origin",
        "cd x && git push",
        "ls;git  push",
        "X=1 git 'push' | cat",
        "if ls; then git push; fi",
        "echo $(git push)",
        "(git push >x) &",
        "git push origin $BRANCH",
        "ls\ngit push",
    ):
        assert isinstance(shell(command, "shell", reject=("shell:git push *",)), Refuse), command
        assert shell(command, "shell", reject=("shell:git pull *",)) == Allow()
    assert shell("echo 'git push'", "shell", reject=("shell:git push *",)) == Allow()
    assert isinstance(shell("a rm b", "shell", reject=("shell:a*rm*rm b",)), Allow)
    rules = Rules(("*",), ("read_file:secret/*", "edit:/etc/*"))
    assert isinstance(call("read_file", {"path": "secret/x"}, inside, rules), Refuse)
    assert isinstance(call("read_file", {"path": "a"}, inside, rules), Allow)
    assert isinstance(
        call("write_file", {"path": "/etc/hosts", "content": ""}, inside, rules), Refuse
    )
    rules = Rules(reject=("read_file",))
    assert isinstance(call("read_file", {"path": "/etc/hosts"}, inside, rules), Refuse)


@pytest.mark.parametrize("times", [10_000, pytest.param(50_000, marks=pytest.mark.long)])
def test_what_is_long_takes_no_time_of_its_own_and_hides_nothing_that_is_rejected(
    times: int,
) -> None:
    assert isinstance(shell(f"ls{' ' * times * 10}b", "shell:ls *", "shell:make"), Ask)
    for long in ("rm " * times, "a|" * times):
        assert isinstance(shell(long, "shell", reject=("shell:*rm*-rf*",)), Ask)
    assert isinstance(shell(f"{long}\ngit  push", "shell", reject=("shell:git push *",)), Refuse)
    assert isinstance(shell(f"{long}rm -rf x", "shell", reject=("shell:*rm*-rf*",)), Refuse)


@pytest.mark.parametrize(
    "command", ["<<EOF\n \\; " + "ssh timeout " * 80, "sh <(sh a) " * 90, 'ssh h "sudo x" ' * 70]
)
@pytest.mark.parametrize("rule", ["shell:* --force", "shell:git push *"])
def test_what_runs_others_in_turn_takes_little_work_to_decide(command: str, rule: str) -> None:
    """Runners of runners are looked at together, so that few words could make millions."""
    entered = functions_entered(lambda: shell(command, "shell", reject=(rule,)))
    assert entered < 300_000


def test_a_name_with_a_blank_at_an_end_is_asked_about_each_time(inside: ToolContext) -> None:
    """A rule's text is read without such blanks, so that another file would be rejected."""
    for path in (" x.md", "x.md ", "docs/../ x.md"):
        asked = call("write_file", {"path": path, "content": ""}, inside)
        assert isinstance(asked, Ask)
        assert asked.rules == {}


def test_an_answer_is_remembered_for_the_same_call_alone(inside: ToolContext) -> None:
    given: Json = {"path": "/etc/hosts"}
    asked = call("read_file", given, inside)
    assert isinstance(asked, Ask)
    rule = asked.rules["allow_always"]
    rules = remember(Rules(), rule, allowed=True)
    assert call("read_file", given, inside, rules) == Allow()
    assert isinstance(call("read_file", {"path": "/etc/passwd"}, inside, rules), Ask)
    rules = remember(rules, rule, allowed=False)
    assert isinstance(call("read_file", given, inside, rules), Refuse)
    assert remember(rules, rule, allowed=True) == Rules((rule,))
