"""Rules of the repository that no linter knows."""

import ast
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MOST_LINES = 400
VAGUE_FILES = {"utils", "util", "helpers", "helper", "common", "misc", "base", "manager"}
VAGUE_CLASS = re.compile(
    r"^class \w*(Manager|Engine|Handler|Helper|Util|Processor|Service)\b", re.M
)


def sources() -> list[Path]:
    folders = ("sidecar", "clients/python", "protocol", "tests")
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*.py"))


def written() -> list[Path]:
    return [p for p in sources() if not p.read_text("utf-8").startswith("# GENERATED")]


def test_there_are_sources() -> None:
    assert len(sources()) > 50


@pytest.mark.parametrize("path", written(), ids=lambda p: str(p.relative_to(ROOT)))
def test_a_file_is_small_named_after_something_and_says_what_it_is_for(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.count("\n") <= MOST_LINES
    assert path.stem not in VAGUE_FILES
    assert not VAGUE_CLASS.search(text)
    assert not text or text.startswith(('"""', 'r"""')), "a module begins with its docstring"


MOST_MODULES = 15
"""Modules of one folder, its `__init__` not counted."""


def test_no_folder_of_the_product_holds_more_modules_than_one_can_look_over() -> None:
    modules = [path for path in (ROOT / "sidecar").rglob("*.py") if path.stem != "__init__"]
    rooms = Counter(path.parent.relative_to(ROOT) for path in modules)
    assert {room: count for room, count in rooms.items() if count > MOST_MODULES} == {}
    silent = [room for room in rooms if not (ROOT / room / "__init__.py").read_text("utf-8")]
    assert silent == []


def test_a_module_name_means_one_thing_in_the_product() -> None:
    modules = [path for path in (ROOT / "sidecar").rglob("*.py") if path.stem != "__init__"]
    names = Counter(path.stem for path in modules)
    assert [name for name, count in names.items() if count > 1] == []


def test_a_public_type_name_means_one_thing_in_the_product() -> None:
    """The protocol's own types are called as the protocol calls them."""
    places: dict[str, list[str]] = {}
    for path in (ROOT / "sidecar").rglob("*.py"):
        if path.name == "messages.py":
            continue
        for name in types_in(path):
            places.setdefault(name, []).append(path.relative_to(ROOT).as_posix())
    assert {name: found for name, found in places.items() if len(found) > 1} == {}


def types_in(path: Path) -> Iterator[str]:
    """Give the public classes and aliases of a module."""
    for node in ast.parse(path.read_bytes()).body:
        match node:
            case ast.ClassDef(name=name):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias")):
                pass
            case _:
                continue
        if not name.startswith("_"):
            yield name


MOST_METHODS = 15
"""Public methods of one class, properties counted, those of its bases not."""


def test_no_class_of_the_product_has_more_public_methods_than_one_can_look_over() -> None:
    wide = {
        f"{path.relative_to(ROOT)}: {node.name} has {len(names)}"
        for path in sources()
        if not path.is_relative_to(ROOT / "tests")
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.ClassDef)
        if len(names := public_methods(node)) > MOST_METHODS
    }
    assert wide == set()


def public_methods(of: ast.ClassDef) -> set[str]:
    functions = (n for n in of.body if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    return {function.name for function in functions if not function.name.startswith("_")}


def test_ci_runs_the_command_of_the_readme() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    command = next(line.strip() for line in readme.splitlines() if line.endswith("uv run pytest"))
    assert command in (ROOT / ".ci/run").read_text("utf-8")


def test_the_wheel_has_the_vocabulary() -> None:
    listed = subprocess.run(
        ["git", "ls-files", "sidecar/model/data"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    ).stdout
    assert "cl100k_base.xz" in listed


PURE = {
    *("ast", "base64", "binascii", "bisect", "collections", "dataclasses", "decimal", "fnmatch"),
    *("functools", "hashlib", "heapq", "html", "importlib", "itertools", "json", "math"),
    *("operator", "pkgutil", "re", "sidecar", "sys", "types", "typing", "unicodedata"),
}
"""What core may import: of a module that stands in no list nobody knows whether it is pure."""
DOORS = {"open", "print", "input", "exec", "eval", "__import__", "breakpoint"}


def test_core_imports_nothing_but_what_is_known_to_be_pure_and_opens_nothing() -> None:
    found: set[str] = set()
    for path in (ROOT / "sidecar/core").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_bytes())):
            match node:
                case ast.Import(names=names):
                    called = {name.name.partition(".")[0] for name in names} - PURE
                case ast.ImportFrom(module=str() as module):
                    called = {module.partition(".")[0]} - PURE
                case ast.Call(func=ast.Name(id=name)):
                    called = {name} & DOORS
                case ast.Attribute(value=ast.Name(id="sys"), attr=name) if name != "intern":
                    called = {f"sys.{name}"}
                case _:
                    continue
            found |= {f"{path.relative_to(ROOT)}: {name}" for name in called}
    assert found == set()


GROWING = {
    "core/policies/__init__.py: cache": "gives one value",
    "core/policies/economic.py: cache": "lives as long as one plan",
    "observe/observer.py: deque": "taken out four times a second",
    "replay/importers/__init__.py: cache": "gives one value",
    "replay/importers/own_store.py: deque": "the rewrites of one session, which is read whole",
    "session/log/log_slices.py: deque": "a slice of a log, by `store/content/slices`",
    "session/log/past.py: cache": "gives one value",
    "session/rollback/file_restore.py: cache": "lives as long as one plan",
    "session/turn/prompt_line.py: Queue": "as many as `MOST_WAITING`",
    "session/turn/prompt_line.py: deque": "as many as `MOST_WAITING`",
    "store/connection/writer.py: deque": "as many bytes as `QUEUE_BYTES`",
    "tools/output_ends.py: deque": "as many bytes as `MAX_KEPT`",
    "tools/rules/shell_words.py: cache": "gives one value",
    "wire/outbox.py: deque": "as many as `MAX_UPDATES` and bytes as `MAX_ANSWER_BYTES`",
    "wire/streams.py: SimpleQueue": "one: who writes waits for it",
    "workspace/paths.py: deque": "as many names as `MAX_LOOKED`",
    "workspace/restore/moves.py: cache": "gives one value",
    "workspace/restore/staging.py: cache": "gives one value",
    "workspace/unlinked_open.py: cache": "gives one value",
}
"""Queues and caches that have no limit of their own, and what limits them."""


def test_every_queue_and_cache_has_a_limit_or_says_what_limits_it() -> None:
    found: set[str] = set()
    for path in (ROOT / "sidecar").rglob("*.py"):
        place = path.relative_to(ROOT / "sidecar").as_posix()
        for node in ast.walk(ast.parse(path.read_bytes())):
            match node:
                case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
                    unlimited = name in QUEUES and not is_limited(node, name)
                    found |= {f"{place}: {name}"} if unlimited else set()
                case ast.FunctionDef(decorator_list=decorators):
                    written = {ast.unparse(one).removeprefix("functools.") for one in decorators}
                    endless = written & {"cache", "lru_cache(None)", "lru_cache(maxsize=None)"}
                    found |= {f"{place}: cache"} if endless else set()
    assert found == set(GROWING)


QUEUES = {"Queue": 1, "LifoQueue": 1, "PriorityQueue": 1, "SimpleQueue": 9, "deque": 2}
"""Makers of queues, by how many arguments they have when the last one is a limit."""


def is_limited(call: ast.Call, name: str) -> bool:
    named = {keyword.arg for keyword in call.keywords}
    return len(call.args) >= QUEUES[name] or bool(named & {"maxlen", "maxsize"})
