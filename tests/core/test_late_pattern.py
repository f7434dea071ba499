"""Regular expressions compiled when first used."""

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from sidecar.core.late_pattern import late_pattern

ROOT = Path(__file__).parents[2]
CORE = [
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in sorted((ROOT / "sidecar/core").rglob("*.py"))
    if "late_pattern(" in path.read_text("utf-8") and path.stem != "late_pattern"
]


def test_a_pattern_is_compiled_once_and_when_it_is_first_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compiled: list[str] = []
    compiling = re.compile

    def compile_seen(text: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(text)
        return compiling(text, flags)

    monkeypatch.setattr(re, "compile", compile_seen)
    pattern = late_pattern("a+", re.I)
    assert compiled == []
    assert [bool(pattern.match(text)) for text in ("AA", "b", "a")] == [True, False, True]
    assert compiled == ["a+"]
    assert (pattern.pattern, pattern.sub("-", "bAAb")) == ("a+", "b-b")


@pytest.mark.parametrize("name", CORE)
def test_what_is_compiled_late_can_be_compiled(name: str) -> None:
    found = [*late_in(tuple(vars(import_module(name)).values()))]
    assert all(isinstance(pattern.pattern, str) for pattern in found)


def late_in(value: object) -> Iterator[re.Pattern[str]]:
    """Give what `late_pattern` made, in collections and fields too."""
    if isinstance(value, type(late_pattern(""))):
        yield value
    elif isinstance(value, tuple | list):
        for one in value:
            yield from late_in(one)
    elif isinstance(value, dict):
        yield from late_in(tuple(value.values()))
    elif hasattr(type(value), "__dataclass_fields__"):
        yield from late_in(tuple(getattr(value, field) for field in value.__dataclass_fields__))
