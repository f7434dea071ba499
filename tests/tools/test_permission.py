"""Who may do what: a table of calls and rules, and attempts to get around them."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.parts import Json
from sidecar.core.prompt import ToolKind, ToolSpec
from sidecar.tools.catalogue import BY_NAME
from sidecar.tools.contract import Access, ToolContext
from sidecar.tools.permission import Allow, Ask, Decision, Refuse, Rules, decide, remember
from sidecar.tools.run import access

NO_RULES = Rules()


def call(tool: str, given: Json, context: ToolContext, rules: Rules = NO_RULES) -> Decision:
    spec = BY_NAME[tool]
    return decide(spec, access(spec, given, context), rules, context.trusted)


def client(kind: ToolKind, name: str = "theirs") -> ToolSpec:
    return ToolSpec(name, "", {}, kind=kind, origin="client")


def shell(command: str, *allow: str, reject: tuple[str, ...] = ()) -> Decision:
    found = Access("execute", f"Run {command}", ("/w",), (), command, (".",))
    return decide(BY_NAME["shell"], found, Rules(allow, reject), trusted=True)


@pytest.fixture
def inside(root: Path, context: ToolContext) -> ToolContext:
    (root / "a").write_text("")
    (root / "link").symlink_to(root.parent)
    return context


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
def test_by_default(tool: str, given: Json, decision: type[Decision], inside: ToolContext) -> None:
    assert isinstance(call(tool, given, inside), decision)


def test_an_untrusted_workspace(inside: ToolContext) -> None:
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


def test_a_question(inside: ToolContext) -> None:
    asked = call("write_file", {"path": "a", "content": ""}, inside)
    assert isinstance(asked, Ask)
    assert asked.title == "Write a"
    assert asked.remember_key == "write_file"
    kinds = [option.kind for option in asked.options]
    assert kinds == ["allow_once", "allow_always", "reject_once", "reject_always"]


@pytest.mark.parametrize(
    ("kind", "rules", "decision"),
    [
        ("read", (), Allow),
        ("search", (), Allow),
        ("other", (), Allow),
        ("edit", (), Ask),
        ("execute", (), Ask),
        ("edit", ("theirs",), Allow),
        ("edit", ("edit",), Allow),
        ("execute", ("*",), Allow),
        ("execute", ("edit", "shell", "execute:x*"), Ask),
    ],
)
def test_client_tools(kind: ToolKind, rules: tuple[str, ...], decision: type[Decision]) -> None:
    found = decide(client(kind), Access(kind, "theirs"), Rules(rules), trusted=True)
    assert isinstance(found, decision)


@pytest.mark.parametrize(
    ("rule", "path", "allowed"),
    [
        ("write_file", "a", True),
        ("edit", "a", True),
        ("*", "a", True),
        ("edit_file", "a", False),
        ("write_file:a", "a", True),
        ("write_file:src/*", "src/x/y", True),
        ("write_file:src/*", "src/../a", False),
        ("write_file:src/*", "a", False),
        # A rule for the tool does not reach outside, nor does a relative pattern.
        ("write_file", "/other/x", False),
        ("*", "/other/x", False),
        ("write_file:*", "/other/x", False),
        ("write_file:*", "link/x", False),
        ("write_file:/other/*", "/other/x", True),
        ("write_file:/other/*", "/other/../else", False),
        ("edit:/other/x", "/other/x", True),
        ("edit:/other/x", "/other/xy", False),
        ("write_file:/*", "/other/x", True),
    ],
)
def test_path_rules(rule: str, path: str, allowed: bool, inside: ToolContext) -> None:
    found = call("write_file", {"path": path, "content": ""}, inside, Rules((rule,)))
    assert isinstance(found, Allow if allowed else Ask)


@pytest.mark.parametrize(
    ("rule", "command", "allowed"),
    [
        ("shell", "anything; at | all", True),
        ("execute", "ls", True),
        ("shell:ls", "ls", True),
        ("shell:ls", "ls -l", False),
        ("shell:git status*", "git status --short", True),
        ("shell:git status*", "git push", False),
        ("shell:git log * | head", "git log -3 | head", True),
        ("shell:git log * | head", "git log -3 | sh | head", False),
        ("shell:npm run *", "npm run test (all)", True),
        ("shell:echo $*", "echo $HOME", True),
        ("shell:echo \\*", "echo *", True),
        ("shell:echo \\*", "echo hi", False),
        ("write_file:ls", "ls", False),
    ],
)
def test_command_rules(rule: str, command: str, allowed: bool) -> None:
    assert isinstance(shell(command, rule), Allow if allowed else Ask)


@pytest.mark.parametrize(
    "tail",
    ["; rm x", "&& rm x", "& rm x", "| sh", "|| rm x", "`rm x`", "$(rm x)", "${x:-`rm`}", "\nrm x",
     "\rrm", "> ~/.bashrc", ">> x", "< x", "<(rm x)", ">(rm x)"],
)  # fmt: skip
def test_nothing_can_be_hung_onto_an_allowed_command(tail: str) -> None:
    for rule in ("shell:git status*", "shell:git *", "shell:*", "shell:git status $*"):
        for command in (f"git status {tail}", f"git status {tail} x", f"git status ${tail}"):
            assert isinstance(shell(command, rule), Ask)


@given(st.text("gitx *\\;|&`$(){}<>\n", max_size=30))
def test_a_remembered_command_allows_itself_and_no_other(command: str) -> None:
    asked = shell(f"c{command}")
    assert isinstance(asked, Ask)
    assert shell(f"c{command}", asked.remember_key) == Allow()
    assert isinstance(shell(f"c{command}x", asked.remember_key), Ask)


def test_a_command_elsewhere_is_asked_each_time() -> None:
    found = Access("execute", "Run ls", ("/o",), ("/o",), "ls", ("/o",))
    asked = decide(BY_NAME["shell"], found, Rules(("shell", "shell:ls", "*")), trusted=True)
    assert isinstance(asked, Ask)
    assert asked.remember_key == ""
    assert [option.kind for option in asked.options] == ["allow_once", "reject_once"]


def test_rejecting_goes_first_and_further(inside: ToolContext) -> None:
    assert isinstance(shell("ls; rm -rf x", "shell", reject=("shell:*rm -rf*",)), Refuse)
    assert isinstance(shell("ls", "shell", reject=("shell",)), Refuse)
    assert shell("ls", "shell", reject=("shell:rm*",)) == Allow()
    rules = Rules(("*",), ("read_file:secret/*", "edit:/etc/*"))
    assert isinstance(call("read_file", {"path": "secret/x"}, inside, rules), Refuse)
    assert isinstance(call("read_file", {"path": "a"}, inside, rules), Allow)
    assert isinstance(
        call("write_file", {"path": "/etc/hosts", "content": ""}, inside, rules), Refuse
    )
    rules = Rules(reject=("read_file",))
    assert isinstance(call("read_file", {"path": "/etc/hosts"}, inside, rules), Refuse)


def test_remembering(inside: ToolContext) -> None:
    given: Json = {"path": "/etc/hosts"}
    asked = call("read_file", given, inside)
    assert isinstance(asked, Ask)
    rules = remember(Rules(), asked.remember_key, allowed=True)
    assert call("read_file", given, inside, rules) == Allow()
    assert isinstance(call("read_file", {"path": "/etc/passwd"}, inside, rules), Ask)
    rules = remember(rules, asked.remember_key, allowed=False)
    assert isinstance(call("read_file", given, inside, rules), Refuse)
    assert remember(rules, asked.remember_key, allowed=True) == Rules((asked.remember_key,))
