"""Files that variables of the daemon's name: what loads them is any program that is started."""

from dataclasses import replace
from pathlib import Path

import pytest

from sidecar.core.parts import Json
from sidecar.tools.rules.permission import Allow, Ask, Rules
from sidecar.tools.tool_contract import ToolContext
from tests.tools.rules.decisions import call


@pytest.mark.parametrize(
    ("variable", "value", "path"),
    [
        ("npm_config_userconfig", "conf/npm.js", "conf/npm.js"),
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
        ("BASH_ENV", "{root}/with space.sh", "with space.sh"),
    ],
)
def test_a_file_that_a_variable_names_takes_a_rule_of_its_own(
    variable: str, value: str, path: str, root: Path, context: ToolContext
) -> None:
    (root / "way.sh").symlink_to("x.sh")
    (root / "conf").mkdir()
    given = {"HERE": str(root), "SOURCES": "conf", "PYTHONPATH": "conf", "USER": "x"}
    named = replace(context, environment={**given, variable: value.format(root=root)})
    wanted: Json = {"path": path, "content": ""}
    wide = Rules(("edit", "write_file", "write_file:*", "shell:git rm *"))
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
