"""The offline model: rules, steps, and that it says what it is."""

import re
from typing import Any

import pytest

from sidecar.core.parts import TextPart, ToolPart
from sidecar.core.prompt.prompt import ModelRequest, Prompt, ToolSpec
from sidecar.model.offline.offline_model import HELP, OfflineModel
from sidecar.model.offline.offline_rules import Call, plan
from tests.core.prompts import answering, calling, user
from tests.core.prompts import model as said
from tests.model.answers import answer

TOOLS = ("read_file", "list_files", "search", "write_file", "edit_file", "shell", "todo", "look")


def check(text: str, *steps: list[tuple[str, Any]]) -> None:
    assert [[(c.name, c.input) for c in step] for step in plan(text, TOOLS)] == list(steps)


def test_words_of_a_prompt_become_calls_of_tools() -> None:
    check("read README.md", [("read_file", {"path": "README.md"})])
    check("read @a.py and b.py", [("read_file", {"path": "a.py"}), ("read_file", {"path": "b.py"})])
    check('read @"a b.py"', [("read_file", {"path": "a b.py"})])
    edit = {"path": "c.py", "oldText": "a", "newText": "b"}
    check("replace `a` with `b` in @c.py", [("edit_file", edit)])
    check("read a.py and b.py", [("read_file", {"path": "a.py"}), ("read_file", {"path": "b.py"})])
    check("show me the file `odd name.txt`", [("read_file", {"path": "odd name.txt"})])
    check("list files", [("list_files", {})])
    check("list files in src", [("list_files", {"path": "src"})])
    check("search for TODO in src", [("search", {"pattern": "TODO", "path": "src"})])
    check("find `two words`", [("search", {"pattern": "two words"})])
    check("create a.txt with `hi`", [("write_file", {"path": "a.txt", "content": "hi\n"})])
    change = {"path": "m.py", "oldText": "a b", "newText": "c"}
    check("replace `a b` with `c` in m.py", [("edit_file", change)])
    check("in m.py change `a b` to `c`", [("edit_file", change)])
    check("run `ls | wc -l`", [("shell", {"command": "ls | wc -l"})])
    items = [{"content": "one", "status": "pending"}, {"content": "two", "status": "pending"}]
    check("todo: one; two", [("todo", {"items": items})])
    check('call look {"a": [1]} and look', [("look", {"a": [1]}), ("look", {})])
    check(
        "read a.py then run `make`",
        [("read_file", {"path": "a.py"})],
        [("shell", {"command": "make"})],
    )
    check("repeat 2 times: run `x`", [("shell", {"command": "x"})], [("shell", {"command": "x"})])
    check("call nothing {}")
    check("what is the meaning of life?")


@pytest.mark.parametrize("example", re.findall(r'"([^"]+ [^"]+)"', HELP))
def test_what_the_help_shows_works(example: str) -> None:
    assert plan(example, TOOLS), example


def prompt(*messages: Any) -> ModelRequest:
    tools = tuple(ToolSpec(name, name, {"type": "object"}) for name in TOOLS)
    return ModelRequest("offline", Prompt(tools, (), messages), 100)


async def test_it_acts_step_by_step_and_says_what_it_is() -> None:
    model = OfflineModel(len)
    start = user("read a.py then run `make`")
    first = await answer(model, prompt(start))
    (call,) = [p for p in first.parts if isinstance(p, ToolPart)]
    assert (first.stop, call.name, call.input) == ("tool_use", "read_file", {"path": "a.py"})
    assert any("not a language model" in p.text for p in first.parts if isinstance(p, TextPart))
    made = said(calling(call.call_id, call.name, call.input))
    result = user(answering(call.call_id, "x = 1"))
    second = await answer(model, prompt(start, made, result))
    (other,) = [p for p in second.parts if isinstance(p, ToolPart)]
    assert (other.name, other.call_id != call.call_id) == ("shell", True)
    assert second.usage.cache_read > 0
    made_too = said(calling(other.call_id, "shell", other.input))
    failed = user(answering(other.call_id, "boom", failed=True))
    last = await answer(model, prompt(start, made, result, made_too, failed))
    (text,) = [p.text for p in last.parts if isinstance(p, TextPart)]
    assert last.stop == "end_turn"
    assert "x = 1" in text
    assert "failed: boom" in text


async def test_it_is_deterministic_and_helps() -> None:
    request = prompt(user("sing me a song"))
    one, two = await answer(OfflineModel(len), request), await answer(OfflineModel(len), request)
    assert one == two
    assert "not a language model" in one.parts[0].text  # type: ignore[union-attr]


def test_a_call_is_a_value() -> None:
    assert Call("a", {"b": 1}) == Call("a", {"b": 1})
