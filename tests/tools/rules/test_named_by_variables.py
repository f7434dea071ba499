"""Files that variables of the daemon's name: what loads them is any program that is started."""

from dataclasses import replace
from pathlib import Path

import pytest

from sidecar.core.parts import Json
from sidecar.tools.rules.permission import Allow, Ask, Rules
from sidecar.tools.tool_contract import ToolContext
from tests.tools.rules.decisions import call, functions_entered


@pytest.mark.parametrize(
    ("variable", "value", "path"),
    [
        ("NODE_OPTIONS", "--trace-gc --require ./conf/x", "conf/x.js"),
        ("RUBYOPT", "-w -r./x.rb", "x.rb"),
        ("JAVA_TOOL_OPTIONS", "-javaagent:{root}/x.py=1", "x.py"),
        ("KUBECONFIG", "/etc/kube:{root}/conf/x.yaml", "conf/x.yaml"),
        ("KUBECONFIG", "/etc/kube:{root}/conf/x.yaml", "CONF/X.yaml"),
        ("GIT_CONFIG_SYSTEM", "$PWD/conf/x.cfg", "conf/x.cfg"),
        ("GIT_EDITOR", "'{root}/x.sh' --wait", "x.sh"),
        ("GIT_EDITOR", "./way.sh --wait", "x.sh"),
        ("UV_CONFIG_FILE", "file://{root}/conf/x.toml", "conf/x.toml"),
        ("TOOL_CONFIG_DIR", "conf", "conf/any/x.toml"),
        ("ENV", "{root}/with space.sh", "with space.sh"),
        ("NODE_OPTIONS", '-r "./with space/x.js"', "with space/x.js"),
        ("NODE_OPTIONS", "-r ./with\\ space/x.js", "with space/x.js"),
        ("NODE_OPTIONS", "--import=file://{root}/with%20space/x.mjs", "with space/x.mjs"),
        ("NODE_OPTIONS", "--import=file://localhost{root}/conf/x.mjs", "conf/x.mjs"),
        ("PROMPT_COMMAND", '. "$PWD"/x.sh', "x.sh"),
        ("MAKEFLAGS", "-fx.mk", "x.mk"),
    ],
)
def test_a_file_that_a_variable_names_takes_a_rule_of_its_own(
    variable: str, value: str, path: str, root: Path, context: ToolContext
) -> None:
    (root / "way.sh").symlink_to("x.sh")
    (root / "conf").mkdir()
    (root / "with space").mkdir()
    given = {"HERE": str(root), "SOURCES": "conf", "PYTHONPATH": "conf", "USER": "x"}
    named = replace(context, environment={**given, variable: value.format(root=root)})
    wanted: Json = {"path": path, "content": ""}
    kinds = (f"write_file:*.{one}" for one in ("yaml", "cfg", "toml"))
    wide = Rules(("edit", "write_file", *kinds, "shell:git rm *"))
    if " " not in path:
        assert call("write_file", wanted, replace(context, environment=given), wide) == Allow()
    asked = call("write_file", wanted, named, wide)
    assert isinstance(asked, Ask)
    assert asked.title == f"Write {path} (is named by the variable {variable})"
    assert call("write_file", wanted, named, Rules((asked.rules["allow_always"],))) == Allow()
    assert call("write_file", {**wanted, "path": "b/b.py"}, named, wide) == Allow()
    if " " not in path:
        command: Json = {"command": f"git rm src {path}"}
        assert call("shell", command, replace(context, environment=given), wide) == Allow()
        asked = call("shell", command, named, wide)
        assert isinstance(asked, Ask)
        assert f"it may write what is named by the variable {variable}" in asked.why


@pytest.mark.parametrize(
    ("variable", "path", "place"),
    [
        ("npm_config_userconfig", "conf/npm.js", ".npmrc"),
        ("BASH_ENV", "with space.sh", ".bashrc"),
        ("ZDOTDIR", "aliases.zsh", ".zsh/aliases.zsh"),
        ("CARGO_HOME", "config.toml", ".cargo/config.toml"),
    ],
)
def test_a_place_that_a_window_has_instead_of_its_homes_counts_as_that(
    variable: str, path: str, place: str, root: Path, context: ToolContext
) -> None:
    """The window's variables, not the daemon's."""
    value = root / path if place[0] == "." and "/" not in place else root
    window = replace(context, environment={variable: str(value)})
    wanted: Json = {"path": path, "content": ""}
    asked = call("write_file", wanted, window, Rules(("write_file", f"write_file:{path}")))
    assert isinstance(asked, Ask)
    assert f"/{place}, " in asked.title


@pytest.mark.parametrize("variable", ["HOSTNAME", "USER", "LOGNAME", "TERM_PROGRAM", "LC_ALL"])
def test_what_a_machine_a_user_or_a_language_is_called_names_no_file(
    variable: str, root: Path, context: ToolContext
) -> None:
    command: Json = {"command": "make server"}
    called = replace(context, environment={variable: "server"})
    assert call("shell", command, called, Rules(("shell:make *",))) == Allow()
    led = replace(context, environment={variable: "./server"})
    assert isinstance(call("shell", command, led, Rules(("shell:make *",))), Ask)


def test_a_file_is_named_by_its_other_names_too(root: Path, context: ToolContext) -> None:
    (root / "named.js").write_text("")
    (root / "a.js").hardlink_to(root / "named.js")
    wide = Rules(("edit", "shell:rm *"))
    wanted: Json = {"path": "a.js", "content": ""}
    assert call("write_file", wanted, context, wide) == Allow()
    named = replace(context, environment={"NODE_OPTIONS": "-r ./named.js", "FOLDER": "/usr"})
    assert isinstance(call("write_file", wanted, named, wide), Ask)
    # The root of all has no name at all.
    assert isinstance(call("shell", {"command": "rm -rf /"}, named, wide), Ask)


@pytest.mark.parametrize(
    ("variable", "held"),
    [
        ("APP_CONFIG_DIR", True), ("XDG_CONFIG_HOME", True), ("RUN_CONF", True),
        ("npm_config_cache", True), ("CONFLUENCE_SPACE", False), ("CONFIRMED", False),
        ("npm_config_local_prefix", False), ("FOLDER", False),
    ],
)  # fmt: skip
def test_a_folder_holds_what_runs_where_its_variable_is_called_after_a_configuration(
    root: Path, context: ToolContext, variable: str, held: bool
) -> None:
    (root / "packages/a").mkdir(parents=True)
    wanted: Json = {"path": "packages/a/a.py", "content": ""}
    for folder in (root / "packages", root):
        named = replace(context, environment={variable: str(folder)})
        assert isinstance(call("write_file", wanted, named, Rules(("edit",))), Ask) is held, folder


def test_each_variable_more_takes_few_calls(context: ToolContext) -> None:
    """Every edit asks of every word, twice."""
    wanted: Json = {"path": "a.py", "content": ""}

    def taken(variables: int) -> tuple[int, int]:
        given = {f"TOOL_{number}": f"/opt/tool_{number}" for number in range(variables)}
        among = replace(context, environment=given)
        first, again = (functions_entered(lambda: call("write_file", wanted, among)) for _ in "ab")
        return first, again

    (first, again), (alone, alone_again) = taken(101), taken(1)
    assert (first - alone) / 100 < 20
    assert (again - alone_again) / 100 < 3
