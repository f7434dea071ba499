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


def test_a_file_is_small_named_after_something_and_says_what_it_is_for() -> None:
    found = {f"{path.relative_to(ROOT)}: {fault}" for path in written() for fault in faults(path)}
    assert found == set()


def faults(path: Path) -> Iterator[str]:
    text = path.read_text("utf-8")
    if text.count("\n") > MOST_LINES:
        yield f"more than {MOST_LINES} lines"
    if path.stem in VAGUE_FILES:
        yield "a vague name"
    if VAGUE_CLASS.search(text):
        yield "a class with a vague name"
    if text and not text.startswith(('"""', 'r"""')):
        yield "a module begins with its docstring"


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("long", '"""Long."""\n' * 401, "more than 400 lines"),
        ("utils", "", "a vague name"),
        ("one", '"""One."""\n\nclass UserManager: ...\n', "a class with a vague name"),
        ("one", "import os\n", "a module begins with its docstring"),
        ("one", 'r"""One."""\n', None),
    ],
)
def test_a_fault_of_a_file_is_found(
    name: str, text: str, fault: str | None, tmp_path: Path
) -> None:
    module = tmp_path / f"{name}.py"
    module.write_text(text, "utf-8")
    assert [*faults(module)] == ([] if fault is None else [fault])


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
    """Give the public classes, aliases and type variables of a module, not its constants."""
    for node in ast.parse(path.read_bytes()).body:
        match node:
            case ast.ClassDef(name=name):
                pass
            case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id="TypeAlias")):
                pass
            case ast.Assign(targets=[ast.Name(id=name)]) if not name.isupper():
                pass
            case _:
                continue
        if name[0].isupper():
            yield name


def test_a_type_is_found_however_it_is_written(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        "class One: ...\nTwo: TypeAlias = int\nThree = dict[str, int]\n"
        "_Own = int\nMOST = 3\nname = 4\nT = TypeVar('T')\n"
    )
    assert [*types_in(module)] == ["One", "Two", "Three"]


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
    assert "cl100k_base.zz" in listed


PURE = {
    *(
        "array",
        "ast",
        "base64",
        "binascii",
        "bisect",
        "collections",
        "dataclasses",
        "decimal",
        "fnmatch",
    ),
    *("functools", "hashlib", "heapq", "html", "importlib", "itertools", "json", "math"),
    *(
        "operator",
        "pkgutil",
        "re",
        "reprlib",
        "sidecar",
        "sys",
        "types",
        "typing",
        "unicodedata",
        "zlib",
    ),
}
"""What core may import: of a module that stands in no list nobody knows whether it is pure."""
DOORS = {"open", "print", "input", "exec", "eval", "__import__", "breakpoint"}
COMPILES = "sidecar/core/dataclass.py: exec"
"""Of names alone, as the library does."""


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
    assert found == {COMPILES}


MOST_TESTS = 6
"""Files of tests that import one module: as many break where it moves or changes its names."""
FACES = {
    "sidecar.config": "what the settings came to, and how layers of them are merged",
    "sidecar.config.retention": "the rules of what is kept, and their units",
    "sidecar.core.conversation.fact": "what is worth knowing later, as it is kept",
    "sidecar.core.conversation.stream": "what a model streams: scripts of tests are made of it",
    "sidecar.core.errors": "whose fault a failure is",
    "sidecar.core.files.restore_plan": "what a restore will do, before it does it",
    "sidecar.core.files.tree": "states of a folder and what leads from one to another",
    "sidecar.core.ledger.ledger": "what a log came to",
    "sidecar.core.ledger.units": "a part of the log as policies see it",
    "sidecar.core.parts": "what a conversation is made of",
    "sidecar.core.plans.plan": "the question that a policy is asked, and its answer",
    "sidecar.core.policies": "the policies by their names",
    "sidecar.core.prompt.cache_rules": "how a provider caches prompts",
    "sidecar.core.prompt.prompt": "what a model is asked",
    "sidecar.core.prompt.tokens": "how large a text is, by estimate",
    "sidecar.core.prompt.visibility": "how a part is shown, and what a rewrite is made of",
    "sidecar.core.summaries.model_summary": "what a model is asked that summarises, and its answer",
    "sidecar.core.text.digest": "the name of a content",
    "sidecar.core.text.identifiers": "the names that texts have in common",
    "sidecar.model.catalogue": "what is known of a model",
    "sidecar.model.messages.encode": "a prompt as a provider takes it, a yardstick of what is sent",
    "sidecar.replay.compare": "policies beside one another, over recordings",
    "sidecar.replay.conversation": "a recording as policies hear it, request by request",
    "sidecar.replay.importers.recognition": "recordings of other agents, opened",
    "sidecar.replay.simulate": "a policy played over a recording",
    "sidecar.replay.transcript": "what a recording is read as",
    "sidecar.session.interface": "what clients ask of sessions, and are answered",
    "sidecar.session.lifecycle.session": "a session as its clients have it",
    "sidecar.session.log.events": "what clients are told",
    "sidecar.session.transfer.archive": "sessions put away, and taken back",
    "sidecar.store.content.blobs": "what a store makes of a content",
    "sidecar.store.format.log_records": "the records of a session's log",
    "sidecar.store.format.values": "what a store is given to write, and gives",
    "sidecar.store.journal": "the store",
    "sidecar.tools.rules.permission": "what is decided of a call",
    "sidecar.tools.tool_contract": "what a tool is given, and answers",
    "sidecar.wire.framing": "messages on a pipe",
    "sidecar.workspace.restore.restore_outcome": "how a restore ended",
    "sidecar.workspace.snapshots.snapshots": "the snapshots of a folder",
}
"""The modules that tests may import wherever they stand, and what each is."""


def test_a_module_that_is_no_face_is_imported_by_a_handful_of_tests() -> None:
    """Many need a helper among the tests, which then alone knows where the thing lies."""
    tests: dict[str, set[Path]] = {}
    for path in (ROOT / "tests").rglob("*.py"):
        for module in modules_of_the_product(path):
            tests.setdefault(module, set()).add(path)
    crowded = {module for module, files in tests.items() if len(files) > MOST_TESTS}
    assert crowded == set(FACES)
    assert list(FACES) == sorted(FACES)


def modules_of_the_product(path: Path) -> Iterator[str]:
    """Give the modules that a file imports, or imports something of."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        match node:
            case ast.ImportFrom(module=str() as module, names=names, level=0):
                inner = {f"{module}.{name.name}" for name in names}
                found = {one if is_module(one) else module for one in inner}
            case ast.Import(names=names):
                found = {name.name for name in names}
            case _:
                continue
        yield from (one for one in found if one.partition(".")[0] == "sidecar")


def is_module(name: str) -> bool:
    return (ROOT / name.replace(".", "/")).with_suffix(".py").is_file()


GROWING = {
    "core/policies/__init__.py: cache": "gives one value",
    "core/policies/economic.py: cache": "lives as long as one plan",
    "core/policies/policy_plugins.py: cache": "as many as there are plug-ins",
    "observe/observer.py: deque": "taken out four times a second",
    "replay/importers/recognition.py: cache": "gives one value",
    "replay/importers/own_store.py: deque": "the rewrites of one session, which is read whole",
    "session/changes/permissions.py: cache": "goes with its message",
    "session/log/log_slices.py: deque": "a slice of a log, by `store/content/slices`",
    "session/log/log_fold.py: cache": "gives one value",
    "session/rollback/file_restore.py: cache": "lives as long as one plan",
    "session/turn/prompt_line.py: Queue": "as many as `MOST_WAITING`",
    "session/turn/prompt_line.py: deque": "as many as `MOST_WAITING`",
    "store/connection/writer.py: deque": "as many bytes as `QUEUE_BYTES`",
    "tools/command_watch.py: cache": "gives one value",
    "tools/files/find.py: cache": "goes with its search",
    "tools/output_ends.py: deque": "as many bytes as `MAX_KEPT`",
    "tools/rules/shell_words.py: cache": "gives one value",
    "wire/outbox.py: deque": "as many as `MAX_UPDATES` and bytes as `MAX_ANSWER_BYTES`",
    "wire/streams.py: SimpleQueue": "one: who writes waits for it",
    "workspace/paths.py: deque": "as many names as `MAX_LOOKED`",
    "workspace/restore/moves.py: cache": "gives one value",
    "workspace/restore/staging.py: cache": "gives one value",
    "workspace/unlinked_open.py: cache": "gives one value",
    "wrap/recorder_link.py: deque": "as many bytes as `MOST_WAITING`, and the prompts that wait",
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
