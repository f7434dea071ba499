"""What rules for linters, formatters and the like cover."""

import os
import subprocess
import sys

import pytest

from sidecar.tools.rules.permission import Allow, Ask
from sidecar.tools.rules.tables.programs import PROGRAMS
from sidecar.tools.rules.tables.programs_checking import CHECKING
from sidecar.tools.tool_contract import ToolContext
from tests.tools.rules.decisions import decided


@pytest.mark.parametrize(
    ("given", "allowed"),
    [
        ('{"no-var": "error", eqeqeq: 2}', True),
        ("no-var: error", True),
        ('{"prettier/prettier":["error",{"plugins":["/tmp/none.js"]}]}', False),
        ("prettier/prettier: (2, {plugins: [/tmp/none.js]})", False),
        ('{"no-var": 2, "header/header" : ["error","block","text"]}', False),
    ],
)
def test_a_rule_given_to_eslint_has_no_options(
    given: str, allowed: bool, plain: ToolContext
) -> None:
    """Those of some plugins load code, or put a text of their own into files."""
    for command in (f"eslint --fix --rule '{given}' src", f"eslint '--rule={given}' src"):
        found = decided(command, plain, "shell:eslint *")
        assert isinstance(found, Allow if allowed else Ask), command


READ_OTHERWISE = (
    *("..", "../x", "src/../../x", "src..", "[.][.]", ".*", "src/.*/x", "{.,x}{.,x}", "{a..z}"),
    *("~", "~/x", "/tmp/x", "a:/tmp/x", "a,/tmp/x", "a, /tmp/x", "a,../x", "!../x", "\\tmp\\x"),
    *("src\\..\\x", "http://x/y", "data:,x", "@x", "+(x)/y", "?/x", "$HOME/x", "-p..", "-p/x"),
    *("--cache=../y", "--cache=/y", "a;b", "a\nb/c", "a//b", "\u2025/x", "\uff0e\uff0e/x", ""),
)


@pytest.mark.parametrize("name", [one for names in CHECKING for one in names.split()])
def test_words_that_some_program_might_read_otherwise_are_asked_about(
    name: str, standing_plain: ToolContext
) -> None:
    rule, beginning = f"shell:{name} *", " ".join((name, *tuple(PROGRAMS[name].subcommands)[:1]))
    assert decided(f"{beginning} src", standing_plain, rule) == Allow()
    for word in READ_OTHERWISE:
        assert isinstance(decided(f"{beginning} '{word}'", standing_plain, rule), Ask), word


CHECKS = ("ruff", "mypy", "isort", "biome", "stylelint", "mix", "eslint", "black", "flake8")


@pytest.mark.parametrize("folder", ["src", ".notes", "node_modules", ".venv/lib"])
@pytest.mark.parametrize(
    "command",
    [
        "ruff check --fix src",
        "ruff check",
        "ruff check --fix --extend-exclude src",
        "eslint --fix 'src/**/*.js'",
        "mypy",
        "isort src",
        "black .",
        "flake8 --exclude src --show-source",
        "biome check --write .",
        "stylelint --fix 'src/**/*.css'",
        "mix format",
    ],
)
def test_a_checker_in_a_workspace_from_which_a_link_leads_out_is_asked_about(
    command: str, folder: str, plain: ToolContext
) -> None:
    """Whether the program goes there depends on its settings and options."""
    rules = [f"shell:{name} *" for name in CHECKS]
    within = plain.cwd / folder
    within.mkdir(parents=True, exist_ok=True)
    assert decided(command, plain, *rules) == Allow()
    out = plain.cwd.parent / "elsewhere"
    out.mkdir()
    (out / "x").write_text("")
    for target in (out, out / "x"):
        link = within / "link.py"
        link.symlink_to(target)
        found = decided(command, plain, *rules)
        assert isinstance(found, Ask)
        assert "leads out" in found.why
        link.unlink()


@pytest.mark.parametrize("target", ["../elsewhere", "../nothing/here", ".git/hooks/pre-commit"])
def test_what_writes_a_file_by_a_name_of_its_own_asks_where_a_link_may_lead_it_astray(
    target: str, plain: ToolContext
) -> None:
    """Where folders are a group's, go writes its program through a link of that name."""
    (plain.cwd.parent / "elsewhere").mkdir()
    for command in ("go build", "go build main.go", "cargo fmt"):
        rules = f"shell:{command} *", f"shell:{command.split()[0]} *"
        assert decided(command, plain, *rules) == Allow()
        (plain.cwd / "tool").symlink_to(target)
        assert isinstance(decided(command, plain, *rules), Ask)
        assert decided("git switch main", plain, "shell:git switch *") == Allow()
        (plain.cwd / "tool").unlink()


def test_a_virtual_environment_is_no_way_out(plain: ToolContext) -> None:
    tools = plain.cwd / ".venv" / "bin"
    tools.mkdir(parents=True)
    (tools / "python3.11").symlink_to(sys.executable)
    (tools / "python").symlink_to("python3.11")
    assert decided("ruff check", plain, "shell:ruff *") == Allow()
    secret = plain.cwd.parent / "id_rsa"
    secret.write_text("")
    (tools / "python3").symlink_to(secret)
    assert isinstance(decided("ruff check", plain, "shell:ruff *"), Ask)


def test_one_command_looks_at_so_many_names(
    plain: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A workspace without end would hold the session up."""
    assert decided("eslint src", plain, "shell:eslint *") == Allow()
    monkeypatch.setattr("sidecar.tools.rules.leading_out.MOST_NAMES", 10)
    for number in range(11):
        (plain.cwd / "src" / f"{number}.js").write_text("")
    assert isinstance(decided("eslint src", plain, "shell:eslint *"), Ask)


def test_options_within_options_end(plain: ToolContext) -> None:
    assert isinstance(decided(f"eslint {'--fix=' * 1_500}/x", plain, "shell:eslint *"), Ask)


@pytest.mark.parametrize("folder", ["modules", "objects"])
def test_a_link_out_of_a_history_is_a_way_out(folder: str, plain: ToolContext) -> None:
    """A program's own pattern, `.git/*`, may lead through."""
    (plain.cwd / ".git" / folder).mkdir(parents=True, exist_ok=True)
    assert decided("eslint src", plain, "shell:eslint *") == Allow()
    (plain.cwd / ".git" / folder / "x").symlink_to(plain.cwd.parent)
    assert isinstance(decided("eslint src", plain, "shell:eslint *"), Ask)


@pytest.mark.parametrize("command", ["mypy a.py", "pylint a.py", "mypy-3.11 a.py"])
@pytest.mark.parametrize("mark", ["__init__.py", "__init__.pyi", "../__init__.py"])
def test_a_checker_that_imports_from_above_is_asked_about(
    command: str, mark: str, plain: ToolContext
) -> None:
    """Of a folder in a package they take what lies beside it for modules."""
    rule = f"shell:{command.partition(' ')[0]} *"
    assert decided(command, plain, rule) == Allow()
    (plain.cwd / mark).write_text("")
    assert isinstance(decided(command, plain, rule), Ask)
    assert decided("ruff check a.py", plain, "shell:ruff check *") == Allow()


@pytest.mark.parametrize("word", ["link.js", "link.js:12", "link.js:12:3"])
def test_a_test_by_its_line_in_a_file_outside_is_asked_about(word: str, plain: ToolContext) -> None:
    assert decided(f"npm test {word}", plain, "shell:npm test *") == Allow()
    (plain.cwd.parent / "out.js").write_text("")
    (plain.cwd / "link.js").symlink_to(plain.cwd.parent / "out.js")
    assert isinstance(decided(f"npm test {word}", plain, "shell:npm test *"), Ask)


def test_what_lies_too_deep_to_be_looked_at_leads_out(plain: ToolContext) -> None:
    """A program opens a path from its folder that is too long from the disk's root."""
    here, at = os.open(plain.cwd, os.O_RDONLY), "d" * 200
    deep = "/".join([at] * 20)
    last = os.dup(here)
    try:
        for step in deep.split("/"):
            os.mkdir(step, dir_fd=last)
            inner = os.open(step, os.O_RDONLY, dir_fd=last)
            os.close(last)
            last = inner
        os.symlink(plain.cwd.parent, "o" * 70, dir_fd=last)
        assert len(f"{deep}/{'o' * 70}") < 4096 <= len(f"{plain.cwd}/{deep}/{'o' * 70}")
        for command in (f"cat {deep}/{'o' * 70}/x", "black ."):
            found = decided(command, plain, "shell:cat *", "shell:black *")
            assert isinstance(found, Ask), command[:20]
    finally:
        os.close(last)
        subprocess.run(["rm", "-rf", at], cwd=plain.cwd, check=True)
        os.close(here)


@pytest.mark.parametrize(
    ("command", "rule", "mark", "joins"),
    [
        ("npm test a.js", "npm test *", "package.json", False),
        ("jest", "jest *", "package.json", False),
        ("pyright", "pyright *", "pyrightconfig.json", False),
        ("pyright .", "pyright *", "pyproject.toml", False),
        ("mypy .", "mypy *", "mypy.ini", False), ("mypy a.py", "mypy *", "pyproject.toml", False),
        ("cargo fmt --all", "cargo fmt *", "Cargo.toml", True),
        ("cargo test -p bar", "cargo *", "Cargo.toml", True),
        ("go test all", "go test *", "go.mod", False),
        ("go vet ./...", "go vet *", "go.work", True),
        ("staticcheck ./...", "staticcheck *", "go.work", True),
    ],
)  # fmt: skip
def test_a_package_that_begins_above_the_workspace_is_asked_about(
    command: str, rule: str, mark: str, joins: bool, plain: ToolContext
) -> None:
    rules = f"shell:{rule}", f"shell:{command} --verbose"
    assert decided(command, plain, *rules) == Allow()
    (plain.cwd.parent / mark).write_text("{}")
    assert isinstance(decided(command, plain, *rules), Ask)
    assert decided(command, plain, f"shell:{command}") == Allow()
    # What joins several packages is obeyed from a package's own folder, too.
    (plain.cwd / mark).write_text("{}")
    assert isinstance(decided(command, plain, *rules), Ask if joins else Allow)


def test_words_of_a_script_count_from_the_package_that_is_found(plain: ToolContext) -> None:
    (plain.cwd / "package.json").write_text("{}")
    (plain.cwd / "inner").mkdir()
    (plain.cwd.parent / "out").mkdir()
    assert decided("npm test out/a.js", plain, "shell@inner:npm test *", cwd="inner") == Allow()
    (plain.cwd / "out").symlink_to(plain.cwd.parent / "out")
    found = decided("npm test out/a.js", plain, "shell@inner:npm test *", cwd="inner")
    assert isinstance(found, Ask)


@pytest.mark.parametrize(
    ("command", "made"),
    [
        ("isort src/a.py", "src/a.py.isorted"), ("isort src", "src/a.py.isorted"),
        ("isort .", "src/a.py.isorted"), ("eslint --cache src", ".eslintcache"),
    ],
)  # fmt: skip
def test_no_star_lets_a_checker_write_through_a_link(
    command: str, made: str, plain: ToolContext
) -> None:
    rule, at = f"shell:{command.partition(' ')[0]} *", plain.cwd / made
    (plain.cwd / ".husky").mkdir(exist_ok=True)
    at.write_text("")
    assert decided(command, plain, rule) == Allow()
    at.unlink()
    at.symlink_to(os.path.relpath(plain.cwd / ".husky/pre-commit", at.parent))
    assert isinstance(decided(command, plain, rule), Ask)


def test_no_star_covers_tsc_which_writes_where_its_settings_say(plain: ToolContext) -> None:
    """`tsBuildInfoFile` of whatever file `-p` names, or `extends` in one."""
    for command in ("tsc --noEmit", "tsc -p .", "vue-tsc --noEmit", "tsgo --noEmit"):
        assert isinstance(decided(command, plain, f"shell:{command.split()[0]} *"), Ask)
        assert decided(command, plain, f"shell:{command}") == Allow()


def test_no_star_covers_what_takes_in_a_folder_that_is_left_out_else(plain: ToolContext) -> None:
    for word in ("'!.git'", "'!node_modules'", "'!**/.git/'", "'!*'", "'!*git'", "'!{a,b}'"):
        for option in (f"--ignore-pattern {word}", f"--ignore-pattern={word}"):
            assert isinstance(decided(f"eslint --fix {option} .", plain, "shell:eslint *"), Ask)
