"""Lines of keys in TOML, whatever stands between them."""

import tomllib

import pytest

from sidecar.config.toml_lines import LONGEST, line_of, lines_of

FILE = '''\
# model = "commented"
model = "m"  # a comment
retry.attempts = 3

texts = """
model = "not a key"
"""
allow = [
  "a", # [not.a.table]
  "b",
]
[provider]
base_url = "http://x"
[preserve."my agent"]
tools = ["x"]
patterns = { deep = { er = 1 } }
'''


def test_every_key_has_its_line() -> None:
    assert lines_of(FILE) == {
        "model": 2,
        "retry": 3,
        "retry.attempts": 3,
        "texts": 5,
        "allow": 8,
        "provider": 12,
        "provider.base_url": 13,
        "preserve": 14,
        "preserve.my agent": 14,
        "preserve.my agent.tools": 15,
        "preserve.my agent.patterns": 16,
        "preserve.my agent.patterns.deep": 16,
        "preserve.my agent.patterns.deep.er": 16,
    }


def test_what_a_key_does_not_say_its_table_says() -> None:
    assert line_of(FILE, "provider.api_key") == 12
    assert line_of(FILE, "nothing.here") is None
    assert line_of("", "model") is None


@pytest.mark.parametrize(
    "text", ["a = [\n" + "1,\n" * (LONGEST + 5) + "]\nb = 1", "a = [[[[" * 900]
)
def test_a_file_made_to_hurt_costs_only_its_lines(text: str) -> None:
    assert lines_of(text) == {}


def test_the_sample_parses_as_itself() -> None:
    assert set(tomllib.loads(FILE)) == {k for k in lines_of(FILE) if "." not in k}
