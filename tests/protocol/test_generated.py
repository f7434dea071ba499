"""What is generated is what the source says, and says the same in every form."""

import ast
import importlib.util
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from protocol import generate, shapes
from protocol.errors import ERRORS
from protocol.methods import COMMON_ERRORS, METHODS

pytestmark = pytest.mark.long

ROOT = generate.ROOT
OUTPUTS = generate.outputs()


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", OUTPUTS)
def test_generated_files_are_current(name: str) -> None:
    written = (ROOT / name).read_bytes()
    assert written == OUTPUTS[name].encode(), "run: python -m protocol.generate"


def test_every_golden_file_is_generated() -> None:
    there = {f"protocol/golden/{path.name}" for path in (ROOT / "protocol/golden").iterdir()}
    assert there == {name for name in OUTPUTS if name.startswith("protocol/golden/")}


def test_messages_import_nothing_of_ours() -> None:
    tree = ast.parse(read("sidecar/wire/messages.py"))
    imported = {
        node.module if isinstance(node, ast.ImportFrom) else node.names[0].name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert imported == {"dataclasses", "typing", "msgspec"}


def test_messages_have_the_same_table() -> None:
    messages = load_messages()
    assert list(messages.METHODS) == list(METHODS)
    for name, method in METHODS.items():
        generated = messages.METHODS[name]
        assert generated.params.__name__ == method.params.__name__
        assert generated.available == method.available
    assert list(messages.ERRORS) == list(ERRORS)


def load_messages() -> Any:
    spec = importlib.util.spec_from_file_location("messages", ROOT / "sidecar/wire/messages.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", METHODS)
def test_every_method_is_in_every_form(name: str) -> None:
    method = METHODS[name]
    table = {entry["name"]: entry for entry in json.loads(read("protocol/methods.json"))["methods"]}
    defined = json.loads(read("protocol/schema.json"))["$defs"]
    assert f"| `{name}` |" in read("protocol/PROTOCOL.md")
    assert f'  "{name}": {{ params: {method.params.__name__}' in read(
        "clients/typescript/src/protocol.ts"
    )
    assert table[name]["params"] == {"$ref": f"schema.json#/$defs/{method.params.__name__}"}
    assert method.params.__name__ in defined
    assert (method.result is None) == (method.kind == "notification")
    if method.result is not None:
        assert method.result.__name__ in defined
    assert set(method.errors) <= set(ERRORS)
    assert not set(method.errors) & set(COMMON_ERRORS)


def test_every_type_is_in_every_form() -> None:
    names = {struct.__name__ for struct in shapes.structs()}
    aliases = {
        declared.name
        for family in shapes.FAMILIES
        for declared in shapes.declarations(family)
        if isinstance(declared, shapes.Alias)
    }
    typescript = read("clients/typescript/src/protocol.ts")
    assert names == set(json.loads(read("protocol/schema.json"))["$defs"])
    exported = set(re.findall(r"^export (?:interface|type) (\w+)", typescript, re.MULTILINE))
    assert names | aliases <= exported
    headings = set(re.findall(r"^#### (\w+)$", read("protocol/PROTOCOL.md"), re.MULTILINE))
    assert headings == names | aliases


def test_links_of_the_page_lead_somewhere() -> None:
    page = read("protocol/PROTOCOL.md")
    headings = {heading.lower() for heading in re.findall(r"^#### (\w+)$", page, re.MULTILINE)}
    assert set(re.findall(r"\]\(#(\w+)\)", page)) <= headings


def test_wire_names_are_camel_case() -> None:
    allowed = re.compile(r"_meta|[a-z][a-zA-Z0-9]*")
    for family in shapes.FAMILIES:
        for declared in shapes.declarations(family):
            if isinstance(declared, shapes.Type):
                assert all(allowed.fullmatch(field.name) for field in declared.fields), declared


def test_the_generated_typescript_compiles(tmp_path: Path) -> None:
    compiler = shutil.which("tsc") or shutil.which(
        "tsc", path=str(ROOT / "clients/typescript/node_modules/.bin")
    )
    if compiler is None:
        pytest.skip("tsc is neither on PATH nor in clients/typescript/node_modules")
    use = tmp_path / "use.ts"
    use.write_text(USE % json.dumps(str(ROOT / "clients/typescript/src/protocol")))
    command = [compiler, "--strict", "--noEmit", "--target", "es2022", str(use)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout


USE = """
import type { DaemonRequests, Meter, SessionUpdate } from %s;
type Params<M extends keyof DaemonRequests> = DaemonRequests[M]["params"];
export const params: Params<"session/prompt"> = { sessionId: "s", prompt: [] };
export const largest = (meter: Meter): number => Math.max(...Object.values(meter.toolsByServer));
// @ts-expect-error: a prompt needs its session
export const wrong: Params<"session/prompt"> = { prompt: [] };
export function title(update: SessionUpdate): string {
  switch (update.sessionUpdate) {
    case "tool_call": return update.title;
    case "notice": return update.message;
    default: return "";
  }
}
"""
