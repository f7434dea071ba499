"""Files that run later by another name, by where they lie, or by what lies beside them."""

import errno
import os
from pathlib import Path
from time import sleep

import pytest

from sidecar.core.parts import Json
from sidecar.tools.rules.leading_out import leading_out
from sidecar.tools.rules.permission import Allow, Ask, Refuse, Rules
from sidecar.tools.tool_contract import ToolContext
from sidecar.workspace import paths
from sidecar.workspace.snapshots.time_stamps import FINE_NS
from tests.tools.rules.decisions import call, decided, functions_entered


@pytest.fixture
def inside(root: Path, context: ToolContext) -> ToolContext:
    (root / "a").write_text("")
    return context


@pytest.mark.parametrize(
    ("link", "target", "path"),
    [
        (".envrc", "env.sh", ".envrc"),
        (".envrc", "env.sh", "env.sh"),
        (".vscode", "conf", "conf/x.js"),
        (".vscode/tasks.json", "../conf/x.js", "conf/x.js"),
        (".github/workflows/ci.yml", "../../conf/x.js", "conf/x.js"),
        # To some disks that is the same name.
        (".vscode", "conf", "Conf/x.js"),
        (".envrc", "env.sh", "ENV.sh"),
        (".git/hooks/pre-commit", "../../conf/x.js", "conf/x.js"),
        ("githooks/post-merge", "../conf/x.js", "conf/x.js"),
        ("conf/.vscode/tasks.json", "../in/x.js", "conf/in/x.js"),
        ("{home}/../.git/hooks/pre-push", "{root}/conf/x.js", "conf/x.js"),
        ("{home}/.zshrc", "{root}/zshrc", "zshrc"),
        ("{home}/.config/tool", "{root}/conf", "conf/x.js"),
    ],
)
def test_what_runs_later_by_a_link_is_asked_about(
    link: str, target: str, path: str, inside: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = inside.cwd.parent / "home"
    monkeypatch.setenv("HOME", str(home))
    (inside.cwd / "conf/in").mkdir(parents=True)
    named = {"home": home, "root": inside.cwd}
    made = Path(os.path.normpath(inside.cwd / link.format(**named)))
    made.parent.mkdir(parents=True, exist_ok=True)
    made.symlink_to(target.format(**named))
    for name, found in ((path, Ask), ("b.py", Allow)):
        wanted: Json = {"path": name, "content": ""}
        assert isinstance(call("write_file", wanted, inside, Rules(("*", "edit"))), found)


@pytest.mark.parametrize("kind", ["a submodule", "a worktree"])
def test_a_link_in_the_hooks_that_a_git_file_names_is_asked_about(
    kind: str, inside: ToolContext
) -> None:
    history = inside.cwd.parent / "history"
    own = history / ("modules/w" if kind == "a submodule" else "worktrees/w")
    own.mkdir(parents=True)
    (inside.cwd / ".git").write_text(f"gitdir: {os.path.relpath(own, inside.cwd)}\n")
    hooks = own / "hooks"
    if kind == "a worktree":
        (own / "commondir").write_text("../..\n")
        hooks = history / "hooks"
    hooks.mkdir()
    (hooks / "pre-commit").symlink_to(inside.cwd / "lint.py")
    for path, found in (("lint.py", Ask), ("b.py", Allow)):
        wanted: Json = {"path": path, "content": ""}
        assert isinstance(call("write_file", wanted, inside, Rules(("*", "edit"))), found)


def test_what_runs_later_by_a_hard_link_is_asked_about(
    inside: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An editor may write into the file, which has both names."""
    home = inside.cwd.parent / "home"
    monkeypatch.setenv("HOME", str(home))
    (inside.cwd / ".github").mkdir()
    home.mkdir()
    for name, also in (
        ("env.sh", inside.cwd / ".envrc"), ("x.sh", inside.cwd / ".github/x.sh"),
        ("zshrc.sh", home / ".zshrc"), ("a.py", inside.cwd / "b.py"),
    ):  # fmt: skip
        (inside.cwd / name).write_text("")
        also.hardlink_to(inside.cwd / name)
        (inside.cwd / f"way-{name}").symlink_to(name)
        for spelt in (name, f"way-{name}"):
            wanted: Json = {"path": spelt, "content": ""}
            asked = call("write_file", wanted, inside, Rules(("*", "edit")))
            assert isinstance(asked, Allow if also.name == "b.py" else Ask), spelt


def test_a_repository_within_the_workspace_has_a_root_of_its_own(inside: ToolContext) -> None:
    for folder in ("one/.git", "packages/two", "sub/lib", "three/.jj", "four/.hg"):
        (inside.cwd / folder).mkdir(parents=True)
    (inside.cwd / "sub/lib/.git").write_text("gitdir: elsewhere")
    rules = Rules(("*", "edit", *(f"write_file:*.{one}" for one in ("toml", "yml", "json"))))
    for path, found in (
        ("one/tool.toml", Ask), ("sub/lib/tool.yml", Ask), ("one/package.json", Allow),
        ("three/tool.toml", Ask), ("four/in/a.py", Allow), ("four/tool.json", Ask),
        ("one/in/tool.toml", Allow), ("packages/two/tool.toml", Allow), ("sub/tool.yml", Allow),
    ):  # fmt: skip
        wanted: Json = {"path": path, "content": ""}
        assert isinstance(call("write_file", wanted, inside, rules), found), path
    wanted = {"path": "one/tool.toml", "content": ""}
    assert call("write_file", wanted, inside, Rules(("write_file:one/tool.toml",))) == Allow()


def test_a_repository_outside_that_a_rule_names_has_a_root_too(inside: ToolContext) -> None:
    other = inside.cwd.parent / "other"
    for name in ("deep/.git/x", "venv/pyvenv.cfg"):
        (other / name).parent.mkdir(parents=True)
        (other / name).write_text("")
    for path, found in (
        ("deep/tool.toml", Ask), ("deep/in/tool.toml", Allow),
        ("tool.yml", Ask), ("venv/lib/os.py", Ask), ("a.py", Allow), ("in/tool.toml", Allow),
    ):  # fmt: skip
        wanted: Json = {"path": str(other / path), "content": ""}
        rules = Rules((f"write_file:{other}/*", f"write_file:{other}/*.toml"))
        assert isinstance(call("write_file", wanted, inside, rules), found), path
    wanted = {"path": str(other / "tool.toml"), "content": ""}
    assert call("write_file", wanted, inside, Rules((f"write_file:{other}/tool.toml",))) == Allow()


@pytest.mark.parametrize("mark", ["pyvenv.cfg", "conda-meta/history"])
def test_an_environment_of_any_name_is_asked_about(mark: str, inside: ToolContext) -> None:
    made = inside.cwd / "tools" / "py311" / mark
    made.parent.mkdir(parents=True)
    made.write_text("")
    for path, found in (
        ("tools/py311/lib/python3.11/json/__init__.py", Ask), ("tools/a.py", Allow),
        ("tools/py311/share/jupyter/kernels/x/kernel.json", Ask), ("tools/py311/a.py", Ask),
    ):  # fmt: skip
        wanted: Json = {"path": path, "content": ""}
        asked = call("write_file", wanted, inside, Rules(("*", "edit", "write_file:*")))
        assert isinstance(asked, found), path
        assert found is Allow or "lies in tools/py311" in asked.title
        assert call("write_file", wanted, inside, Rules((f"write_file:{path}",))) == Allow()
    for place, found in (("tools/py311", Ask), ("tools/py311/", Ask), ("tools", Allow)):
        command: Json = {"command": f"black src {place}"}
        assert isinstance(call("shell", command, inside, Rules(("shell:black *",))), found), place


@pytest.mark.parametrize(
    "path", ["src/app/m/1.py", "src/m/1.py", "src/m/old/1.py", "src/a/b/m/c/d/1.py"]
)
def test_any_of_several_folders_may_be_none(path: str, inside: ToolContext) -> None:
    given: Json = {"path": path, "content": ""}
    for rule in ("edit:src/**/m/**/*.py", "edit:src/**/**/m/***/**/1.py"):
        assert isinstance(call("write_file", given, inside, Rules(("*",), (rule,))), Refuse)
        other = rule.replace("/m/", "/n/")
        assert call("write_file", given, inside, Rules(("*",), (other,))) == Allow()


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        ("*:keys/*", "keys/a.pem"),
        ("*:keys/*", "KEYS/A.PEM"),
        ("*:keys/*", "k\u200beys/a.pem"),
        ("*:keys/*", "plain/a.pem"),
        ("*:Keys/A.*", "keys/../keys/a.pem."),
        ("*:private/*.pem", "keys/a.pem"),
        ("*:private/*.pem", "Private/a.PEM"),
    ],
)
@pytest.mark.parametrize("tool", ["read_file", "search", "write_file"])
def test_a_path_is_rejected_in_any_spelling(
    rule: str, path: str, tool: str, inside: ToolContext
) -> None:
    (inside.cwd / "private").mkdir()
    (inside.cwd / "keys").symlink_to("private")
    (inside.cwd / "plain").symlink_to("keys")
    given: Json = {"path": path, "content": "", "pattern": "x"}
    assert isinstance(call(tool, given, inside, Rules(("*",), (rule,))), Refuse)
    others = Rules(("*",), ("*:keyrings/*", "*:*/a.pe"))
    assert not isinstance(call(tool, given, inside, others), Refuse)


def test_a_chain_of_links_is_followed(inside: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    # However many names there are, those of the folders above are looked at.
    monkeypatch.setattr(paths, "MAX_LOOKED", 0)
    for name, target in (
        ("up", "AGENTS.md"), ("AGENTS.md", "guide.txt"), ("way", "up"), ("plain.md", "b.py"),
    ):  # fmt: skip
        (inside.cwd / name).symlink_to(target)
    for name, found in (("way", Ask), ("up", Ask), ("guide.txt", Ask), ("plain.md", Allow)):
        wanted: Json = {"path": name, "content": ""}
        assert isinstance(call("write_file", wanted, inside, Rules(("*", "edit"))), found)


def test_no_large_folder_hides_a_link_in_another(
    inside: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "MAX_LOOKED", 100)
    # Whichever is come by first: each holds a link, two folders deep.
    for holding in (".vscode", "node_modules", ".idea"):
        for at in range(20):
            (inside.cwd / holding / f"{at}").mkdir(parents=True)
            for name in range(10):
                (inside.cwd / holding / f"{at}" / f"{name}").write_text("")
    for holding in (".github", ".circleci", "githooks"):
        (inside.cwd / holding / "in").mkdir(parents=True)
        (inside.cwd / holding / "in" / "way").symlink_to(f"../../conf/{holding.strip('.')}.js")
        wanted: Json = {"path": f"conf/{holding.strip('.')}.js", "content": ""}
        assert isinstance(call("write_file", wanted, inside, Rules(("*",))), Ask)


def test_each_folder_beside_the_workspace_takes_few_calls(inside: ToolContext) -> None:
    """Every edit asks of every name in the folders above whether what lies there runs later."""
    wanted: Json = {"path": "a.py", "content": ""}
    before = functions_entered(lambda: call("write_file", wanted, inside))
    for number in range(100):
        (inside.cwd.parent / f"project_{number}").mkdir()
    after = functions_entered(lambda: call("write_file", wanted, inside))
    assert (after - before) / 100 < 15
    # A change is looked at twice, and the names stay.
    again = functions_entered(lambda: call("write_file", wanted, inside))
    assert (again - before) / 100 < 1


def test_each_link_beside_the_workspace_takes_few_calls(inside: ToolContext) -> None:
    wanted: Json = {"path": "a.py", "content": ""}
    (inside.cwd.parent / "elsewhere").mkdir()
    before = functions_entered(lambda: call("write_file", wanted, inside))
    for number in range(100):
        (inside.cwd.parent / f"link_{number}").symlink_to("elsewhere")
    after = functions_entered(lambda: call("write_file", wanted, inside))
    assert (after - before) / 100 < 35


def test_links_that_stay_are_followed_once(inside: ToolContext) -> None:
    """A change is looked at twice, and a home folder may have dozens of links."""
    wanted: Json = {"path": "a.py", "content": ""}

    def looked() -> int:
        sleep(FINE_NS / 1e9)
        call("write_file", wanted, inside)
        return functions_entered(lambda: call("write_file", wanted, inside))

    (inside.cwd.parent / "elsewhere").mkdir()
    before = looked()
    for number in range(100):
        (inside.cwd.parent / f"link_{number}").symlink_to("elsewhere")
    assert (looked() - before) / 100 < 12


def test_folders_that_stay_are_listed_once(
    inside: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A home folder has dozens that may hold a link, and each change is looked at twice."""
    listed: list[str] = []
    scandir = os.scandir
    monkeypatch.setattr(os, "scandir", lambda folder: (listed.append(folder), scandir(folder))[1])
    home = inside.cwd.parent / "home"
    monkeypatch.setenv("HOME", str(home))
    tool = home / ".config" / "tool"
    tool.mkdir(parents=True)
    wanted: Json = {"path": "conf/x.js", "content": ""}

    def asked() -> bool:
        listed.clear()
        return isinstance(call("write_file", wanted, inside, Rules(("*", "edit"))), Ask)

    # Fresh time stamps prove nothing: another name may come within the same tick of a clock.
    assert not asked()
    assert not asked()
    assert str(tool) in listed
    sleep(FINE_NS / 1e9)
    assert not asked()
    assert not asked()
    assert not any(Path(folder).is_relative_to(home) for folder in listed)
    before = tool.stat().st_mtime_ns
    (tool / "settings").symlink_to(inside.cwd / "conf")
    os.utime(tool, ns=(before, before))
    assert asked()
    (tool / "settings").unlink()
    assert not asked()


@pytest.mark.parametrize("mark", ["pyvenv.cfg", "conda-meta/history"])
def test_a_command_writes_no_file_of_an_environment_unasked(mark: str, inside: ToolContext) -> None:
    rule = "shell:ruff check *"
    command = "ruff check --fix own/lib/os.py"
    (inside.cwd / "own" / "lib").mkdir(parents=True)
    assert isinstance(decided(command, inside, rule), Allow)
    (inside.cwd / "own" / mark).parent.mkdir(exist_ok=True)
    (inside.cwd / "own" / mark).write_text("")
    found = decided(command, inside, rule)
    assert isinstance(found, Ask)
    assert "lies in own" in found.why
    (inside.cwd / mark).parent.mkdir(exist_ok=True)
    (inside.cwd / mark).write_text("")
    (inside.cwd / "bin").mkdir()
    assert isinstance(decided("touch bin/a.md", inside, "shell:touch *"), Ask)
    assert isinstance(decided("touch a.md", inside, "shell:touch *"), Allow)


def test_a_files_name_counts_from_the_root_where_a_rule_is_for_a_folder(
    inside: ToolContext,
) -> None:
    (inside.cwd / ".vscode").mkdir()
    made = decided("touch a.md", inside, "shell@.vscode:touch *", cwd=".vscode")
    assert isinstance(made, Ask)


def test_a_command_changes_no_history_by_another_name_unasked(inside: ToolContext) -> None:
    store = inside.cwd / "store"
    for folder in ("objects", "refs"):
        (store / folder).mkdir(parents=True)
    assert isinstance(decided("rm store/refs/x", inside, "shell:rm *"), Allow)
    (store / "HEAD").write_text("ref: refs/heads/main\n")
    for command in ("rm store/refs/x", "rm -r store", "touch store/refs/x.md"):
        found = decided(command, inside, "shell:rm *", "shell:touch *")
        assert isinstance(found, Ask), command
        assert "belongs to git" in found.why


def test_a_package_of_the_workspace_is_edited_as_other_code(inside: ToolContext) -> None:
    """Npm and yarn link the packages of a workspace into `node_modules`."""
    (inside.cwd / "packages" / "b").mkdir(parents=True)
    (inside.cwd / "node_modules" / "@our").mkdir(parents=True)
    (inside.cwd / "node_modules" / "b").symlink_to("../packages/b")
    (inside.cwd / "node_modules" / "@our" / "b").symlink_to("../../packages/b")
    given: Json = {"path": "packages/b/i.ts", "content": ""}
    assert isinstance(call("write_file", given, inside, Rules(("write_file",))), Allow)
    (inside.cwd / "node_modules" / "c").mkdir()
    given = {"path": "node_modules/c/i.ts", "content": ""}
    assert isinstance(call("write_file", given, inside, Rules(("write_file",))), Ask)
    (inside.cwd / "node_modules" / ".bin").mkdir()
    (inside.cwd / "node_modules" / ".bin" / "tool").symlink_to("../../packages/b/t.js")
    given = {"path": "packages/b/t.js", "content": ""}
    assert isinstance(call("write_file", given, inside, Rules(("write_file",))), Ask)


@pytest.mark.parametrize("among", [".claude", "sub/.vscode", "{home}/.config/coc"])
def test_a_package_of_an_editor_or_agent_is_asked_about(
    among: str, inside: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = inside.cwd.parent / "home"
    monkeypatch.setenv("HOME", str(home))
    packages = inside.cwd / among.format(home=home) / "node_modules"
    packages.mkdir(parents=True)
    given: Json = {"path": "sub/i.ts", "content": ""}
    assert isinstance(call("write_file", given, inside, Rules(("write_file",))), Allow)
    (inside.cwd / "sub").mkdir(exist_ok=True)
    (packages / "own").symlink_to(inside.cwd / "sub")
    assert isinstance(call("write_file", given, inside, Rules(("write_file",))), Ask)


def test_a_link_outside_that_leads_back_in_is_outside(work: ToolContext, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/tool").symlink_to(work.cwd / "f")
    (work.cwd / "installed").symlink_to(tmp_path / "bin")
    assert isinstance(decided("rm installed/tool", work, "shell:rm *"), Ask)
    assert decided("rm ./f", work, "shell:rm *") == Allow()


@pytest.mark.parametrize(
    "command", ["npm test {}", "npm run fmt {}", "pnpm run fmt {}", "yarn run fmt {}"]
)
def test_a_script_is_given_no_other_name_of_what_runs_later(
    command: str, work: ToolContext
) -> None:
    (work.cwd / ".github").mkdir()
    (work.cwd / ".github/x.ts").write_text("")
    (work.cwd / "a.ts").write_text("")
    (work.cwd / "link.ts").symlink_to(".github/x.ts")
    (work.cwd / "hard.ts").hardlink_to(work.cwd / ".github/x.ts")
    rule = f"shell:{command.format('*')}"
    assert decided(command.format("a.ts"), work, rule) == Allow()
    for name in ("link.ts", "hard.ts", "link.ts:1"):
        assert isinstance(decided(command.format(name), work, rule), Ask)


@pytest.mark.parametrize("number", [errno.EMFILE, errno.ENFILE, errno.EACCES])
def test_where_too_many_files_are_open_a_link_may_lead_out(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What may not be looked at is none of the program's either."""

    def scan(_: object) -> None:
        raise OSError(number, "")

    monkeypatch.setattr(os, "scandir", scan)
    found = leading_out(("ruff", "src"), tmp_path, tmp_path, walks=True)
    assert found == (() if number == errno.EACCES else ("ruff",))
