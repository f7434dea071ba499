"""Every setting is documented, and does what the documents say."""

import os
import re
import tomllib
from functools import partial
from pathlib import Path

import pytest

from sidecar.config import Config
from sidecar.config.document import sample
from sidecar.config.layers import Layer, merge, resolve
from sidecar.config.loading import VARIABLES, load, resolve_all
from sidecar.config.settings import SETTINGS, TABLES
from tests.settings_proved import PROVED

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/reference/settings.md"


def test_the_page_names_every_variable_of_the_environment() -> None:
    about = PAGE.read_text("utf-8").partition("<!--")[0]
    for variable in VARIABLES.values():
        assert f"`{variable}`" in about


def test_every_field_of_the_configuration_is_a_setting() -> None:
    config = Config()
    for name, setting in SETTINGS.items():
        table, _, key = name.rpartition(".")
        value = getattr(getattr(config, table) if table else config, key)
        assert value == setting.default, name
        assert not setting.meaning.endswith(".")
    assert set(TABLES) >= {"provider", "retry", "permissions"}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_test_proves_what_every_setting_does(name: str) -> None:
    """A setting that does nothing would be a promise that nobody keeps."""
    file, _, test = PROVED[name].partition("::")
    assert f"def {test}(" in (ROOT / file).read_text("utf-8")


def test_nothing_else_is_proved() -> None:
    assert list(PROVED) == list(SETTINGS)


def test_the_sample_is_all_comments_and_all_of_it_can_be_taken() -> None:
    assert tomllib.loads(sample()) == {}
    assert all(not line or line.startswith("# ") for line in sample().splitlines())
    live = "\n".join(
        line.removeprefix("# ")
        for line in sample().splitlines()
        if re.match(r"# (\w+ = |\[)", line)
    )
    resolved = resolve([Layer("sample", tomllib.loads(live))])
    assert resolved.problems == ()
    assert set(resolved.origins) == set(SETTINGS)


ODD: tuple[object, ...] = (
    "", "x" * 5000, "\ud800", "~nobody/x", "\0", 0, -1, 2**70, True, float("nan"), float("inf"),
    [], [[]], ["", 3], [None], {}, {"a": {}}, {"": ""}, {"plan": {"policy": []}},
    {"patterns": ["("]}, {"x": {"command": "\0"}}, {"x": {"url": "http://"}},
)  # fmt: skip


@pytest.mark.parametrize("name", [*SETTINGS, *TABLES, "", "a.b", "\ud800"])
@pytest.mark.parametrize("restricted", [False, True])
def test_whatever_stands_in_a_file_is_taken_or_told(name: str, restricted: bool) -> None:
    """Nothing else is raised, and what is told can be printed."""
    table, _, key = name.rpartition(".")
    for odd in ODD:
        values: dict[str, object] = {table: {key: odd}} if table else {name: odd}
        config, problems = merge([Layer("x", values, restricted)])
        assert isinstance(config, Config)
        for problem in problems:
            assert problem.message
            assert len(str(problem).encode("utf-8", "replace")) < 8000


@pytest.mark.parametrize("name", ["model", "summary_model"])
@pytest.mark.parametrize(
    ("own", "theirs", "is_taken"),
    [
        ("claude-opus-5-5", "claude-haiku-4-5", True),
        ("claude-opus-5-5", "anthropic/claude-haiku-4-5", True),
        ("claude-opus-5-5", "ollama/x", False),
        ("claude-opus-5-5", "openrouter/free", False),
        ("claude-opus-5-5", "work/x", False),
        ("work/y", "work/x", True),
        ("openai/gpt-5", "openai/gpt-5-mini", True),
        ("openai/gpt-5", "claude-haiku-4-5", False),
        ("openai/gpt-5", "work/x", False),
    ],
)
def test_a_workspace_chooses_no_provider_by_a_models_name(
    name: str, own: str, theirs: str, is_taken: bool
) -> None:
    user = {"providers": {"work": {"kind": "openai"}}}
    workspace = Layer("theirs", {name: theirs}, restricted=True)
    for layers in (
        [Layer("user", {**user, "model": own}), workspace],
        [Layer("user", user), workspace, Layer("editor", {"model": own})],
    ):
        config, problems = merge(layers)
        refused = [one for one in problems if "may not choose the provider" in one.message]
        assert len(refused) == (not is_taken)
        assert theirs not in (config.model, config.summary_model) or is_taken


def test_a_workspace_does_not_silence_the_users_instructions() -> None:
    config, (problem,) = merge([Layer("theirs", {"instructions": False}, restricted=True)])
    assert config.instructions
    assert "a workspace may not set this" in problem.message


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("[permissions]\nallow = ['shell']\nreject = 'shell:rm *'\n", ":3: permissions.reject: "),
        ("[permissions]\nallow = ['shell']\nreject = ['shell:rm *', '']\n", "permissions.reject: "),
        ("permissions = ['shell']\n", "permissions: must be a table"),
        ("[permissions]\nreject = ['shell:rm *'\n", "cannot be read"),
        ("[Permissions]\nReject = 1\n", ":2: Permissions.Reject: "),
        ("[permissions]\nallow = ['shell']\ndeny = ['shell:rm *']\n", "permissions.deny: "),
        ("[permissions]\nshell = 'allow'\n'shell:rm *' = 'deny'\n", "permissions.shell:rm *: "),
        ("[permission]\nreject = ['shell:rm *']\n", "permission: is not a setting"),
        ("[provider]\npermissions = {reject = ['edit']}\n", "provider.permissions: is not a"),
        ("[sidecar.permissions]\nreject = ['edit']\n", "sidecar: is not a setting"),
        ("'shell:rm *' = 'reject'\n", "shell:rm *: is not a setting"),
    ],
)
def test_where_a_rejecting_rule_may_be_missing_no_other_allows(
    tmp_path: Path, text: str, where: str
) -> None:
    """What the editor's settings allow neither; the file of a workspace takes nothing away."""
    file = tmp_path / "config.toml"
    file.write_text(text)
    (tmp_path / "work/.sidecar").mkdir(parents=True)
    (tmp_path / "work/.sidecar/config.toml").write_text("permissions.reject = 1\n")
    options = {"permissions": {"allow": ["write_file"]}, "workspaceTrusted": True}
    read = partial(load, workspace=tmp_path / "work", environment={}, options=options)
    config, problems = read(user=file)
    assert config.permissions.allow == ()
    (told,) = [str(problem) for problem in problems if "has no rule that allows" in str(problem)]
    assert where in told
    config, problems = read(user=tmp_path / "none.toml")
    assert config.permissions.allow == ("write_file",)
    assert len(problems) == 1


@pytest.mark.parametrize("path", ["away/config.toml", "folder", "round", "link"])
def test_a_file_of_settings_that_is_none_is_told(tmp_path: Path, path: str) -> None:
    """As where the disk of a link's target is not mounted: what it forbids is not known."""
    (tmp_path / "away").symlink_to(tmp_path / "gone")
    (tmp_path / "folder").mkdir()
    (tmp_path / "round").symlink_to(tmp_path / "round")
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    options = {"permissions": {"allow": ["write_file"]}}
    read = partial(load, workspace=None, environment={}, options=options)
    config, (problem,) = read(user=tmp_path / path)
    assert config.permissions.allow == ()
    assert "cannot be read" in problem.message
    (tmp_path / "none").symlink_to(os.devnull)
    for none in ("gone/config.toml", "none"):
        config, problems = read(user=tmp_path / none)
        assert (config.permissions.allow, problems) == (("write_file",), ())


@pytest.mark.parametrize("name", ["version", "projects", "session", "select", "object", "direct"])
def test_an_unknown_setting_of_another_name_forbids_nothing(name: str) -> None:
    options = {name: 1, "permissions": {"allow": ["write_file"]}}
    config = resolve_all(workspace=None, environment={}, options=options, user=Path(os.devnull))
    assert config.config.permissions.allow == ("write_file",)


def test_a_list_of_rules_that_is_none_is_told() -> None:
    problem = merge([Layer("here", {"permissions": {"allow": "shell rm"}})])[1][0]
    assert "permissions.allow: must be a list of rules" in str(problem)
