"""What is imported late has every name that it would have at once, and takes less."""

import importlib
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from sidecar.model.late_names import late_names

FILES = {
    "__init__.py": "from . import kinds, own\nfrom .own import one, two as deux\n"
    "from .odd import *\nfrom .kinds import (\n    Red as Red,\n    Blue,\n)\nhere = one + 1\n",
    "own.py": "one, two = 1, 2\n",
    "odd.py": "from .kinds import Red\nfrom .kinds.blue import *\nodd = Red\n",
    "unnamed.py": "far = 3\n",
    "kinds/__init__.py": "from .red import Red as Red\nfrom .blue import Blue\n",
    "kinds/red.py": "class Red: ...\n",
    "kinds/blue.py": "from ..kinds import Red\nclass Blue(Red): ...\n",
}
USED = """
import asyncio, sys
from sidecar.model.messages.anthropic_model import AnthropicModel
from sidecar.model.endpoint import Endpoint
endpoint = Endpoint(sys.argv[1], "http://127.0.0.1:9", "none")
model = AnthropicModel(endpoint, now=lambda: 0, random=lambda: 0.0)
asyncio.run(model.warm_up())
print(sum(name.partition(".")[0] == "anthropic" for name in sys.modules))
"""


@pytest.fixture
def late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], ModuleType]]:
    """Import `shades` late; of its `__init__` files nothing is remembered afterwards."""
    (tmp_path / "shades" / "kinds").mkdir(parents=True)
    for name, text in FILES.items():
        (tmp_path / "shades" / name).write_text(text, "utf-8")
    monkeypatch.syspath_prepend(tmp_path)

    def begin() -> ModuleType:
        return importlib.import_module("shades")

    with late_names("shades", within="kinds"):
        yield begin
    for name in _loaded():
        del sys.modules[name]


def _loaded() -> list[str]:
    return sorted(name for name in sys.modules if name.partition(".")[0] == "shades")


def test_a_name_brings_its_own_module_alone(late: Callable[[], ModuleType]) -> None:
    shades = late()
    assert _loaded() == ["shades"]
    assert (shades.one, shades.deux) == (1, 2)
    assert _loaded() == ["shades", "shades.own"]
    red = shades.Red
    assert _loaded() == ["shades", "shades.kinds", "shades.kinds.red", "shades.own"]
    assert red is shades.kinds.red.Red is shades.kinds.Red
    assert issubclass(shades.Blue, red)
    exec("from shades import unnamed")
    assert "shades.odd" not in _loaded()


def test_what_is_not_imported_by_name_runs_the_package(late: Callable[[], ModuleType]) -> None:
    shades = late()
    assert (shades.here, shades.odd is shades.Red) == (2, True)


def test_a_name_that_is_not_there_is_missed_as_ever(late: Callable[[], ModuleType]) -> None:
    shades = late()
    assert not hasattr(shades, "green")
    assert not hasattr(shades, "__wrapped__")
    with pytest.raises(ImportError):
        exec("from shades import green")


def test_all_names_at_once_are_all(late: Callable[[], ModuleType]) -> None:
    late()
    found: dict[str, object] = {}
    exec("from shades.kinds import *", found)
    assert {"Red", "Blue", "red", "blue"} <= found.keys()


OTHER = """
import asyncio, sys
from sidecar.model.chat.chat_model import ChatModel
from sidecar.model.chat.dialects import DIALECTS
from tests.model.hosted_answers import GIVEN, at
model = ChatModel(at("http://127.0.0.1:9"), DIALECTS[sys.argv[1]], **GIVEN)
asyncio.run(model.warm_up())
print(sum(name.partition(".")[0] == "openai" for name in sys.modules))
"""


@pytest.mark.parametrize("dialect", ["openai", "azure"])
def test_a_client_of_openais_sdk_takes_a_fifth_of_its_modules(dialect: str) -> None:
    command = [sys.executable, "-c", OTHER, dialect]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert 50 < int(done.stdout or 0) < 130, done.stderr


@pytest.mark.parametrize(("provider", "most"), [("anthropic", 1_300), ("foundry", 2_600)])
def test_a_client_of_the_sdk_takes_a_part_of_its_modules(provider: str, most: int) -> None:
    command = [sys.executable, "-c", USED, provider]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert 100 < int(done.stdout or 0) < most, done.stderr
