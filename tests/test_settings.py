"""Every setting is documented, and that is so; run as a module this writes the table."""

import re
import tomllib
from pathlib import Path

import pytest

from sidecar.config import Config
from sidecar.config.document import sample, told
from sidecar.config.layers import Layer, camel, merge, resolve
from sidecar.config.loading import VARIABLES
from sidecar.config.setting import Setting
from sidecar.config.settings import SETTINGS, TABLES
from tests.settings_proved import PROVED

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs/reference/settings.md"
TABLE = re.compile(r"(?<=test_settings`. -->\n\n).*?(?=\n*<!-- end of the table -->)", re.S)
WHEN = {"turn": "next turn", "session": "new sessions", "restart": "after a restart"}
"""When a changed value takes hold, in the words of the table."""
USUAL = "(this system's folder)"
"""Stands for a default that is another on each machine."""


def markdown() -> str:
    """Give the table of all settings, for a page: one row each, under a heading."""
    head = (
        "| setting | what it may be | default | a change holds | meaning |",
        "|---|---|---|---|---|",
    )
    return "\n".join((*head, *(_row(one) for one in SETTINGS.values()))) + "\n"


def _row(one: Setting) -> str:
    own = "; not for a workspace to set" if one.own else ""
    default = f"`{_default(one)}`" if _default(one) else ""
    kind, when = one.reader.kind, WHEN[one.applies]
    return f"| `{camel(one.name)}` | {kind} | {default} | {when} | {one.meaning}{own} |"


def _default(one: Setting) -> str:
    if isinstance(one.default, Path):
        return USUAL
    return "" if one.default in (None, "", (), {}) else str(told(one.default)).lower()


def test_the_page_has_the_table_of_all_settings() -> None:
    written = TABLE.search(PAGE.read_text("utf-8"))
    assert written is not None
    assert written[0] + "\n" == markdown(), "run `python -m tests.test_settings`"


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


if __name__ == "__main__":
    PAGE.write_text(TABLE.sub(lambda _: markdown().rstrip("\n"), PAGE.read_text("utf-8")))
