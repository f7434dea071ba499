"""What a rule that rejects hits of tools and paths, and which rules are told as vain."""

from dataclasses import replace
from pathlib import Path

import pytest

from sidecar.config import Layer, merge
from sidecar.core.prompt.prompt import ToolSpec
from sidecar.tools.builtin_tools import BY_NAME
from sidecar.tools.mcp_names import tool_name
from sidecar.tools.rules.permission import Allow, Refuse, Rules, decide
from sidecar.tools.rules.rules_as_called import as_called
from sidecar.tools.tool_contract import Access, ToolContext
from tests.tools.rules.decisions import call

PUSH = ToolSpec("mcp__github__push", "", {}, kind="execute", origin="mcp")


@pytest.mark.parametrize(
    ("rule", "hit"),
    [
        ("mcp__github__*", True),
        ("mcp__github", True),
        ("MCP__GitHub__Push", True),
        ("mcp__*__push", True),
        ("mcp__git", False),
        ("mcp__gitlab__*", False),
    ],
)
def test_tools_of_a_server_are_rejected_together(rule: str, hit: bool) -> None:
    found = decide(PUSH, Access("execute", "Push", ()), Rules(("*",), (rule,)), trusted=True)
    assert isinstance(found, Refuse if hit else Allow)


@pytest.mark.parametrize(
    ("server", "tool", "rule", "hit"),
    [
        ("my.notes", "look up", "mcp__my.notes", True),
        ("my.notes", "look up", "MCP__my.notes__*", True),
        ("my.notes", "look up", "mcp__my.notes__look up", True),
        ("my.notes", "look up", "mcp__*__look up", True),
        ("my.notes", "look", "mcp__my.notes__look", True),
        ("a__b", "c", "mcp__a__b", True),
        ("a__b", "c__d", "mcp__a__b__c__d", True),
        ("@me/notes", "_x", "mcp__@me/notes___x", True),
        ("s" * 60, "t" * 60, f"mcp__{'s' * 60}__{'t' * 60}", True),
        ("plugin:notes", "look", "mcp__plugin:notes", True),
        ("plugin:notes", "look", "mcp__plugin:notes__look", True),
        ("plugin:notes", "look", "mcp__plugin", False),
        ("my.notes", "look", "mcp__my_notes", False),
        ("my.notes", "look", "mcp__my.notes__loo", False),
    ],
)
def test_a_tool_of_a_server_is_rejected_by_the_name_that_its_server_gives(
    server: str, tool: str, rule: str, hit: bool, root: Path
) -> None:
    spec = replace(PUSH, name=tool_name(server, tool))
    rules = as_called(Rules(("*",), (rule,)), root)
    found = decide(spec, Access("execute", "Look", ()), rules, trusted=True)
    assert isinstance(found, Refuse if hit else Allow)
    told = merge([Layer("here", {"permissions": {"reject": [rule]}})])[1]
    # What stands behind a colon is a path to most who write one.
    assert all(":" in rule and "nothing but what is called so" in one.message for one in told)


@pytest.mark.parametrize(
    ("rule", "hit"),
    [
        ("write_file:src/", True),
        ("write_file:src", True),
        ("write_file:./src/*", True),
        ("Write_File: src//a.py", True),
        ("edit:lib/../src", True),
        ("edit:.", True),
        ("write_file:", True),
        ("write_file:sr", False),
        ("write_file:src/a", False),
        ("write_file:lib/", False),
    ],
)
def test_a_folder_is_rejected_with_what_lies_in_it(
    rule: str, hit: bool, context: ToolContext
) -> None:
    given = {"path": "src/a.py", "content": ""}
    found = call("write_file", given, context, Rules(("write_file",), (rule,)))
    assert isinstance(found, Refuse if hit else Allow)


@pytest.mark.parametrize("given", ["~/keys/own", "{home}/keys/own", "../h*me/keys/own"])
@pytest.mark.parametrize("rule", ["read_file:~/keys", "*: ~/keys/", "read:~"])
def test_a_path_in_the_home_is_rejected_however_it_is_given(
    rule: str, given: str, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = context.cwd.parent / "h*me"
    (home / "keys").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    rules = {"allow": ["read:~/keys/own"], "reject": [rule]}
    config = merge([Layer("here", {"permissions": rules})])[0].permissions
    wanted = {"path": given.format(home=home)}
    found = call("read_file", wanted, context, Rules(config.allow, config.reject))
    assert isinstance(found, Refuse)
    assert isinstance(call("read_file", wanted, context, Rules(config.allow)), Allow)


@pytest.mark.parametrize(
    ("rule", "hit"), [("read:.env", True), ("read_file:.*", True), ("read:src", False)]
)
def test_a_search_of_a_file_that_may_not_be_read_is_rejected(
    rule: str, hit: bool, context: ToolContext
) -> None:
    (context.cwd / ".env").write_text("A=secret")
    found = call("search", {"pattern": ".", "path": ".env"}, context, Rules((), (rule,)))
    assert isinstance(found, Refuse if hit else Allow)


@pytest.mark.parametrize("tool", ["search", "list_files"])
@pytest.mark.parametrize(
    ("rule", "path", "hit"),
    [
        ("read:secrets/**", "secrets", True),
        ("read:secrets/*", "./secrets/", True),
        ("search:secrets/**", "sub/../secrets", True),
        ("read:**/secrets/**", "secrets", True),
        ("read:**/secrets/**", "sub/secrets", True),
        ("read:s*/secrets/**", "sub/secrets", True),
        ("read:secr*/**", "secrets", True),
        ("read:{root}/secrets/*", "secrets", True),
        ("read:secrets/sub/*", "secrets", False),
        ("read:secrets/**", "secret", False),
    ],
)
def test_who_looks_through_a_folder_reads_all_in_it(
    tool: str, rule: str, path: str, hit: bool, context: ToolContext
) -> None:
    for name in ("secrets", "secret", "sub"):
        (context.cwd / name).mkdir()
    rules = Rules((), (rule.format(root=context.cwd),))
    found = call(tool, {"pattern": ".", "path": path}, context, rules)
    assert isinstance(found, Refuse if hit else Allow)


@pytest.mark.parametrize(
    ("rule", "tool", "hit"),
    [
        ("read:conf/*", "edit_file", True),
        ("read_file:conf", "edit_file", True),
        ("read:conf/*", "write_file", False),
        ("read:src/*", "edit_file", False),
    ],
)
def test_an_edit_which_shows_lines_where_it_fails_is_rejected_as_reading_is(
    rule: str, tool: str, hit: bool, context: ToolContext
) -> None:
    given = {"path": "conf/prod.txt", "oldText": "password =", "newText": "x", "content": "x"}
    given = {name: given[name] for name in BY_NAME[tool].input_schema["required"]}
    found = call(tool, given, context, Rules(("edit",), (rule,)))
    assert isinstance(found, Refuse if hit else Allow)


@pytest.mark.parametrize("given", ["{}", "./{}", "{root}/{}", "src/../{}"])
@pytest.mark.parametrize(
    ("rule", "path", "hit"),
    [
        ("read:**/.env", ".env", True),
        ("read:*/.env*", ".env", True),
        ("read:{root}/**/.env", ".env", True),
        ("read:/**/.env", "app/.env", True),
        ("read:**/secrets/**", "secrets/k.txt", True),
        ("read:/.env", ".env", False),
        ("read:/secrets/*", "secrets/k.txt", False),
    ],
)
def test_a_link_in_the_root_is_rejected_by_its_name(
    rule: str, path: str, hit: bool, given: str, context: ToolContext
) -> None:
    root = context.cwd
    for folder in ("config", "vault", "app"):
        (root / folder).mkdir()
    for file in ("config/dev", "vault/k.txt"):
        (root / file).write_text("")
    for name in (".env", "app/.env"):
        (root / name).symlink_to(root / "config/dev")
    (root / "secrets").symlink_to("vault")
    wanted = {"path": given.format(path, root=root)}
    rules = as_called(Rules((), (rule.format(root=root),)), root)
    found = call("read_file", wanted, context, rules)
    assert isinstance(found, Refuse if hit else Allow)


@pytest.mark.parametrize("given", ["cur/../.env", "{root}/cur/../.env", "./up/../cur/../.env"])
@pytest.mark.parametrize("rule", ["read:**/pkg/.env", "read:*pkg/.env", "read:*vault/dev"])
def test_a_link_is_rejected_that_dots_lead_to(rule: str, given: str, context: ToolContext) -> None:
    root = context.cwd
    for folder in ("pkg/dist", "vault"):
        (root / folder).mkdir(parents=True)
    (root / "vault/dev").write_text("")
    (root / "pkg/.env").symlink_to("../vault/dev")
    (root / "cur").symlink_to("./pkg//dist/")
    (root / "up").symlink_to(root / "pkg")
    wanted = {"path": given.format(root=root)}
    found = call("read_file", wanted, context, as_called(Rules((), (rule,)), root))
    assert isinstance(found, Refuse)


def test_a_command_keeps_its_home() -> None:
    rules = ["shell:~/run *", "execute:ls ~"]
    assert merge([Layer("here", {"permissions": {"reject": rules}})])[0].permissions.reject == (
        *rules,
    )


@pytest.mark.parametrize("rule", ["Shell:rm *", "shell: rm *", "SHELL", "shell:", "Execute:rm *"])
def test_a_command_is_rejected_however_its_tool_is_written(rule: str, context: ToolContext) -> None:
    given = {"command": "rm x"}
    assert isinstance(call("shell", given, context, Rules(("shell",), (rule,))), Refuse)


@pytest.mark.parametrize(
    ("rule", "hit"),
    [
        ("write_file:src/**/*.py", True),
        ("write_file:**/*.py", True),
        ("write_file:src/**/a/*.py", False),
    ],
)
def test_two_stars_between_folders_stand_for_none_too(
    rule: str, hit: bool, context: ToolContext
) -> None:
    for path, found in (("src/a.py", hit), ("src/x/y/a.py", hit), ("src/x/a/b.py", True)):
        given = {"path": path, "content": ""}
        decision = call("write_file", given, context, Rules(("write_file",), (rule,)))
        assert isinstance(decision, Refuse if found else Allow), path


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("bash:rm *", "Did you mean 'shell:rm *'?"),
        ("Bash(rm:*)", "Did you mean 'shell:rm *'?"),
        ("write_fil:src/*", "Did you mean 'write_file:src/*'?"),
        ("deploy", "no tool of Sidecar's and no kind is called 'deploy'."),
        ("mcp__github__push:main", "Did you mean 'mcp__github__push'?"),
        ("todo:x", "Did you mean 'todo'?"),
        ("mcp__my.*", "has `*` and what no name of a tool has: my.*"),
        ("read:file:///x/y", "with file: in them: a rule knows `*` and `~/` alone."),
        ("shell:rm", "but `rm` without words behind it. Did you mean 'shell:rm *'?"),
        (
            "shell:git push",
            "but `git push` without words behind it. Did you mean 'shell:git push *'?",
        ),
        ("read:*.{pem,key}", "{pem,key} in them: a rule knows `*` and `~/` alone."),
        ("read_file:$HOME/.ssh/*", "$HOME in them: a rule knows `*` and `~/` alone."),
        ("shell:git push:*", "Did you mean 'shell:git push *'?"),
        ("shell:git {push,pull} *", "with {push,pull} in them: a rule knows `*` alone."),
        ("shell:^git push", "with ^ in them: a rule knows `*` alone."),
        ("shell:`git push` *", "with ` in them: a rule knows `*` alone."),
        ("shell:git push.*", "with .* in them: a rule knows `*` alone."),
        ("shell:/git push/", "with /git push/ in them: a rule knows `*` alone."),
        ("shell:git [p]ush *", "with [p] in them: a rule knows `*` alone."),
        (r"shell:git\ push *", "with \\ in them: a rule knows `*` alone."),
        ("shell:sudo:", "Did you mean 'shell:sudo *'?"),
        ("shell:!git push *", "with ! in them: a rule knows `*` alone."),
        ("shell:curl http?://*", "with p?: in them: a rule knows `*` alone."),
        ("shell:chmod 777", "Did you mean 'shell:chmod 777 *'?"),
        ('shell:"git push" *', "Did you mean 'shell:git push *'?"),
        ("shell:'git push *'", "Did you mean 'shell:git push *'?"),
        ("read:[Ss]ecret*", "with [Ss] in them: a rule knows `*` and `~/` alone."),
        ("read:!secret.txt", "with ! in them: a rule knows `*` and `~/` alone."),
        (r"read:secret\.txt", "with \\ in them: a rule knows `*` and `~/` alone."),
        ("read:.*/secret.txt", "with .*/ in them: a rule knows `*` and `~/` alone."),
        ("shell@*:git push *", "a folder behind `@` has no `*`."),
        ("write_file@src", "a folder behind `@` counts for commands alone."),
    ],
)
def test_a_rule_that_hits_nothing_is_told_and_keeps_the_others(rule: str, told: str) -> None:
    config, problems = merge([Layer("here", {"permissions": {"reject": [rule, "shell:dd *"]}})])
    assert config.permissions.reject == (rule, "shell:dd *")
    (problem,) = problems
    assert str(problem).startswith(f"here: permissions.reject: {rule!r} rejects nothing")
    assert str(problem).endswith(told)
    assert problem.unknown


@pytest.mark.parametrize(
    ("rule", "told"),
    [
        ("shell:curl * | sh", "without `|`. Did you mean 'shell:curl *'?"),
        ("shell@docs:git push && *", "without `&&`. Did you mean 'shell@docs:git push *'?"),
        ("execute:* > /etc/*", "without `>`."),
    ],
)
def test_a_rule_of_more_than_one_command_is_told(rule: str, told: str) -> None:
    (problem,) = merge([Layer("here", {"permissions": {"reject": [rule]}})])[1]
    assert f"{rule!r} rejects next to nothing" in str(problem)
    assert str(problem).endswith(told)


@pytest.mark.parametrize("command", ["./x.sh", "bash x.sh", "sudo ./x.sh"])
def test_a_script_is_rejected_by_its_folder_that_a_call_names(
    command: str, context: ToolContext
) -> None:
    (context.cwd / "scripts").mkdir()
    (context.cwd / "docs").mkdir()
    given = {"command": command, "cwd": "scripts"}
    rules = Rules(("shell", "shell@scripts", "shell@docs"), ("shell:./scripts/*",))
    assert not isinstance(call("shell", given, context, rules), Allow)
    assert isinstance(call("shell", {**given, "cwd": "docs"}, context, rules), Allow)


def test_rules_that_can_hit_are_not_told() -> None:
    rules = [*BY_NAME, "*", "edit", "Shell: rm *", "shell@docs:make *", "*@docs", "mcp__github"]
    rules += ["shell:git commit -m 'a & b' *", r"shell:find * -exec rm {} \;"]
    rules += [r"shell:grep 'a\\*' *", "shell:./x.sh *", "shell:curl 'http://x/?a=*'", "shell:git *"]
    rules += ["*:secrets", "read:../other/x", "mcp__my.notes__*"]
    rules += ["read:~/x", "*:secrets/*", "*_file:secrets/*", "execute:rm *", "edit:app/[id]/x.ts"]
    assert merge([Layer("here", {"permissions": {"reject": rules}})])[1] == ()
    paths = ("edit_file", "list_files", "read_file", "search", "write_file")
    assert not merge([Layer("here", {"permissions": {"reject": [f"{p}:x" for p in paths]}})])[1]


@pytest.mark.parametrize(
    ("rule", "tool"), [("write_file", "edit_file"), ("edit_file", "write_file")]
)
def test_who_may_not_edit_a_file_may_not_replace_it(
    rule: str, tool: str, plain: ToolContext
) -> None:
    (plain.cwd / "src").mkdir(exist_ok=True)
    (plain.cwd / "src" / "k.txt").write_text("a\n")
    change = {"content": ""} if tool == "write_file" else {"oldText": "a", "newText": "b"}
    found = call(tool, {"path": "src/k.txt", **change}, plain, Rules(("*",), (f"{rule}:src/*",)))
    assert isinstance(found, Refuse)
    others = call(tool, {"path": "src/k.txt", **change}, plain, Rules(("*",), (f"{rule}:lib/*",)))
    assert others == Allow()
