"""Workspaces whose root lies in a hidden folder, or in one whose files run later."""

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from sidecar.core.parts import Json
from sidecar.tools.rules.permission import Allow, Ask, PermissionDecision, Rules
from sidecar.tools.tool_contract import ToolContext
from sidecar.workspace import paths
from tests.tools.rules.decisions import call, wanted
from tests.tools.rules.ways import ordinary

WIDE = ("*", "edit", "write_file", "write_file:*", "write_file:s*", "edit:*.json")


@pytest.fixture
def home(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a home folder that is hidden itself, below another, in place of the root's."""
    home = tmp_path / ".homes" / "me"
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    return home


def opened(root: Path, context: ToolContext) -> ToolContext:
    root.mkdir(parents=True, exist_ok=True)
    return replace(context, cwd=root)


def decided(tool: str, given: Json, context: ToolContext, *allow: str) -> PermissionDecision:
    return call(tool, given, context, Rules(allow))


@pytest.mark.parametrize(
    ("root", "path", "held"),
    [
        (".claude", "settings.json", ".claude"),
        ("proj/.github", "workflows/ci.yml", ".github"),
        ("proj/.github/workflows", "ci.py", ".github"),
        (".config/nvim", "init.lua", ".config"),
        ("proj/.VSCode", "tasks.json", ".VSCode"),
        ("proj/.vs\u200bcode", "settings.json", ".vs\u200bcode"),
        (".dotfiles", "src/a.py", ".dotfiles"),
        ("Library/Application Support/Code/User", "settings.json", "Library/Application Support"),
        ("proj/node_modules/x", "index.js", "node_modules"),
        ("proj/env/bin", "a.py", "env/bin"),
        # The root's name and the path's first make the name together.
        ("proj/gradle", "wrapper/a.properties", "gradle/wrapper"),
        ("proj/buildkite", "pipeline.json", "buildkite/pipeline.json"),
        ("proj/env", "bin/a.py", "env/bin"),
        # A project in a folder for whole projects may have such folders of its own.
        ("proj/.claude/worktrees/one/.claude", "settings.json", ".claude"),
    ],
)
def test_a_root_that_runs_later_asks_for_each_path(
    root: str, path: str, held: str, home: Path, context: ToolContext
) -> None:
    inside = opened(home / root, context)
    wanted: Json = {"path": path, "content": ""}
    for name in (path, str(home / root / path)):
        asked = decided("write_file", {**wanted, "path": name}, inside, *WIDE)
        assert isinstance(asked, Ask)
        assert f"lies in {held}, which is hidden or has files that run later" in asked.title
        assert asked.rules["allow_always"] == f"write_file:{path}"
    assert decided("write_file", wanted, inside, f"write_file:{path}") == Allow()
    edit: Json = {"path": path, "oldText": "a", "newText": "b"}
    assert isinstance(decided("edit_file", edit, inside, *WIDE), Ask)
    assert decided("read_file", {"path": path}, inside) == Allow()


@pytest.mark.parametrize(
    "root",
    ["", "proj", "work/build/out", "dist/x", "src/mise", "taskcluster", "config/nvim",
     "src/githooks/lib", "Library/Mobile Documents/com~apple~CloudDocs/proj", "head",
     "proj/.worktrees/one", "proj/.claude/worktrees/one", "AppData/x", "claude", "gradle",
     "docs.github", "a~1", "proj/devenv.nix", "my.config"],
)  # fmt: skip
def test_ordinary_roots_are_not_asked_about(root: str, home: Path, context: ToolContext) -> None:
    inside = opened(home / root, context)
    for path in ("a.py", "src/main.rs", "package.json", "docs/data.yml"):
        wanted: Json = {"path": path, "content": ""}
        assert decided("write_file", wanted, inside, "write_file") == Allow(), path


def test_roots_outside_of_the_home_folder_count_as_a_whole(
    tmp_path: Path, home: Path, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted: Json = {"path": "a.py", "content": ""}
    hidden, plain = tmp_path / ".vscode", tmp_path / "other"
    assert not hidden.is_relative_to(home)
    assert isinstance(decided("write_file", wanted, opened(hidden, context), *WIDE), Ask)
    assert decided("write_file", wanted, opened(plain, context), "write_file") == Allow()
    # Wherever temporary files lie: what is above says nothing.
    monkeypatch.setattr(tempfile, "tempdir", str(hidden))
    assert decided("write_file", wanted, opened(hidden / "x", context), "write_file") == Allow()


def test_rules_for_commands_write_nothing_there(home: Path, context: ToolContext) -> None:
    held, plain = opened(home / ".claude", context), opened(home / "proj", context)
    for rule, command in (
        ("shell:touch *", "touch a.py"),
        ("shell:mkdir *", "mkdir -p hooks"),
        ("shell:git switch *", "git switch main"),
        ("shell:git reset *", "git reset --hard HEAD~1"),
        ("shell:git stash *", "git stash -q"),
        ("shell:git stash pop *", "git stash pop"),
        ("shell:ruff *", "ruff format a.py"),
        ("shell:mix *", "mix format"),
        ("shell:cargo *", "cargo fmt"),
        ("shell:go *", "go build"),
        ("shell:cargo *", "cargo build"),
        ("shell:npm run *", "npm run test"),
        ("shell:pytest *", "pytest"),
    ):
        given: Json = {"command": command}
        assert decided("shell", given, plain, rule) == Allow()
        asked = decided("shell", given, held, rule)
        assert isinstance(asked, Ask)
        assert "it may write what lies in .claude" in asked.why
        assert decided("shell", given, held, f"shell:{command}") == Allow()
    assert decided("shell", {"command": "git status"}, held, "shell:git status *") == Allow()
    assert decided("shell", {"command": "git stash list"}, held, "shell:git stash *") == Allow()


def test_ordinary_work_is_done_in_an_ordinary_root(home: Path, context: ToolContext) -> None:
    inside = opened(home / "proj", context)
    for rule, folder, command in ordinary():
        (inside.cwd / folder).mkdir(exist_ok=True)
        given: Json = {"command": command, "cwd": folder}
        found = wanted("shell", given, inside)
        assert found.held == "", (rule, command)


def test_a_workspace_that_is_the_home_folder_is_looked_at_as_others(
    home: Path, context: ToolContext
) -> None:
    inside = opened(home, context)
    for path in (".vscode/tasks.json", "AGENTS.md", "venv/bin/x.py", "pre-commit", ".envrc"):
        given: Json = {"path": path, "content": ""}
        assert isinstance(decided("write_file", given, inside, "write_file"), Ask), path
    given = {"path": "notes/a.md", "content": ""}
    assert isinstance(decided("write_file", given, inside, "write_file"), Allow)


def test_a_link_in_a_folder_that_is_half_of_a_name_is_another_name(
    tmp_path: Path, context: ToolContext
) -> None:
    inside = opened(tmp_path / "proj", context)
    for folder in ("conf", "renv"):
        (inside.cwd / folder).mkdir()
    given: Json = {"path": "conf/a.R", "content": ""}
    assert isinstance(decided("write_file", given, inside, "write_file"), Allow)
    (inside.cwd / "renv" / "activate.R").symlink_to("../conf/a.R")
    assert isinstance(decided("write_file", given, inside, "write_file"), Ask)


@pytest.mark.parametrize(
    ("link", "target", "root", "path"),
    [
        ("~/.config/nvim", "dot/nvim", "dot/nvim", "init.lua"),
        ("~/.config", "cfg", "cfg/nvim", "init.lua"),
        ("~/.zsh", "dot/zsh", "dot/zsh", "aliases.zsh"),
        ("~/proj/.github", "proj/ci/github", "proj/ci/github", "workflows/a.sh"),
        ("~/proj/.claude", "proj", "proj", "commands/x.md"),
        ("~/proj/.vscode", "proj", "proj", "a.js"),
    ],
)
def test_a_workspace_to_which_a_link_leads_has_names_of_that(
    link: str, target: str, root: str, path: str, home: Path, context: ToolContext
) -> None:
    inside = opened(home / root, context)
    given: Json = {"path": path, "content": ""}
    at = home / link.removeprefix("~/")
    at.parent.mkdir(parents=True, exist_ok=True)
    assert isinstance(decided("write_file", given, inside, "write_file"), Allow)
    (home / "work").symlink_to(home / target)
    assert isinstance(decided("write_file", given, inside, "write_file"), Allow)
    for command in ("git switch old", "git reset --hard", "cargo fmt", "go build"):
        assert decided("shell", {"command": command}, inside, f"shell:{command} *") == Allow()
    at.symlink_to(home / target)
    assert isinstance(decided("write_file", given, inside, "write_file"), Ask)
    for command in ("git switch old", "git reset --hard", "cargo fmt", "go build"):
        asked = decided("shell", {"command": command}, inside, f"shell:{command} *")
        # A link within the workspace to all of it is no way that such commands go.
        assert isinstance(asked, Ask) or at.is_relative_to(home / root), command


def test_a_variable_that_names_a_workspace_counts(home: Path, context: ToolContext) -> None:
    inside = opened(home / "cfg" / "nvim", context)
    given: Json = {"path": "init.lua", "content": ""}
    assert isinstance(decided("write_file", given, inside, "write_file"), Allow)
    variables = {**inside.environment, "XDG_CONFIG_HOME": str(home / "cfg")}
    inside = replace(inside, environment=variables)
    assert isinstance(decided("write_file", given, inside, "write_file"), Ask)


def test_settings_of_ones_own_are_asked_about_however_many_names_lie_around(
    home: Path, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    inside = opened(home / "dot", context)
    (home / ".config" / "sidecar").mkdir(parents=True)
    (home / ".config" / "sidecar" / "config.toml").symlink_to(home / "dot" / "config.toml")
    monkeypatch.setattr(paths, "MAX_LOOKED", 0)
    given: Json = {"path": "config.toml", "content": ""}
    assert isinstance(decided("write_file", given, inside, "write_file"), Ask)
    given = {"path": "other.toml", "content": ""}
    assert isinstance(decided("write_file", given, inside, "write_file:other.toml"), Allow)


@pytest.mark.parametrize("folder", ["conf", "conf/sidecar"])
def test_a_link_to_ones_own_settings_is_held_as_they_are(
    folder: str, home: Path, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As nix and stow make them; also where the command's own folder is that repository."""
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    repository, other = opened(home / "dot", context), opened(home / "proj", context)
    (home / "dot/.git").mkdir()
    (home / "store/sidecar").mkdir(parents=True)
    (home / "store/sidecar/config.toml").write_text("")
    (home / "dot" / folder).mkdir(parents=True)
    (home / ".config").symlink_to(home / "dot/conf")
    if folder == "conf":
        (home / "dot/conf/sidecar").symlink_to(home / "store/sidecar")
    else:
        (home / "dot/conf/sidecar/config.toml").symlink_to(home / "store/sidecar/config.toml")
    stash: Json = {"command": "git stash"}
    assert isinstance(decided("shell", stash, repository, "shell:git stash *"), Ask)
    there: Json = {"command": "git stash", "cwd": str(home / "dot")}
    assert isinstance(decided("shell", there, other, f"shell@{home}/dot:git stash *"), Ask)
    assert decided("shell", stash, other, "shell:git stash *") == Allow()


@pytest.mark.parametrize("workspace", ["dot", "dot/nvim", "other"])
def test_commands_that_would_change_ones_own_settings_among_other_files_are_asked_about(
    workspace: str, home: Path, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repository of settings, and a folder of it: git's commands reach all of a repository."""
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    inside = opened(home / workspace, context)
    (home / "dot/.git").mkdir(parents=True)
    (home / "dot/conf").mkdir()
    (home / ".config").symlink_to(home / "dot/conf")
    rules = ("shell:git stash *", "shell:git checkout *", "shell:rm *", "shell:git status *")
    for command in ("git stash", "git checkout -- .", "git checkout other", "rm -r x"):
        asked = decided("shell", {"command": command}, inside, *rules)
        assert (asked == Allow()) is (workspace == "other"), asked
    assert decided("shell", {"command": "git status"}, inside, *rules) == Allow()
