"""Every golden message means the same to the generated types as to whoever wrote it."""

import json
from typing import Any, get_args

import msgspec
import pytest
from sidecar_client import messages as client_messages

from protocol import sample_updates, samples
from protocol.generate import ROOT
from sidecar.wire import messages

GOLDENS = sorted((ROOT / "protocol/golden").glob("*.json"))
TYPED = [path for path in GOLDENS if not path.name.startswith("error")]


def load(path: Any) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("types", [messages, client_messages], ids=["daemon", "client"])
@pytest.mark.parametrize("path", TYPED, ids=lambda path: path.stem)
def test_golden_parses_and_dumps_to_the_same(path: Any, types: Any) -> None:
    golden = load(path)
    struct = getattr(types, golden["type"])
    value = golden["message"][golden["part"]]
    parsed = msgspec.convert(value, struct)
    assert isinstance(parsed, struct)
    assert json.loads(msgspec.json.encode(parsed)) == value
    assert msgspec.json.decode(msgspec.json.encode(value), type=struct) == parsed


@pytest.mark.parametrize("path", GOLDENS, ids=lambda path: path.stem)
def test_golden_has_the_type_that_the_table_says(path: Any) -> None:
    golden = load(path)
    message = golden["message"]
    assert message["jsonrpc"] == "2.0"
    if golden["part"] == "error":
        error = messages.ERRORS[message["error"]["code"]]
        assert set(message["error"]["data"]) == {"kind", *error.data}
        assert message["error"]["data"]["kind"] in error.kinds
        return
    method = messages.METHODS[golden["method"]]
    expected = method.params if golden["part"] == "params" else method.result
    assert expected is not None
    assert golden["type"] == expected.__name__
    assert ("id" in message) == (method.kind == "request")


def test_there_is_a_golden_of_everything_that_is_built() -> None:
    found = {(g["method"], g["part"]) for g in map(load, GOLDENS) if g["part"] != "error"}
    wanted = {(name, "params") for name, m in messages.METHODS.items() if m.available}
    wanted |= {(name, "result") for name, m in messages.METHODS.items() if m.available and m.result}
    assert found == wanted
    kinds = {type(update).__name__ for update in sample_updates.UPDATES}
    assert kinds == {variant.__name__ for variant in get_args(messages.SessionUpdate)}
    codes = {g["message"]["error"]["code"] for g in map(load, GOLDENS) if g["part"] == "error"}
    assert codes == set(messages.ERRORS)


def test_opaque_json_keeps_its_keys() -> None:
    golden = load(ROOT / "protocol/golden/tool-call.params.json")["message"]["params"]
    parsed = msgspec.convert(golden, messages.ToolCallParams)
    assert parsed.input == samples.ODD_INPUT
    assert list(parsed.input) == list(samples.ODD_INPUT)


def test_null_and_absent_are_told_apart() -> None:
    call = {"toolCallId": "t", "sessionUpdate": "tool_call_update"}
    absent = msgspec.convert(call, messages.ToolCallChanged)
    null = msgspec.convert({**call, "rawOutput": None}, messages.ToolCallChanged)
    assert absent.raw_output is msgspec.UNSET
    assert null.raw_output is None
    assert msgspec.to_builtins(absent) == call
    assert msgspec.to_builtins(null) == {**call, "rawOutput": None}


def test_unknown_fields_and_open_values_are_taken() -> None:
    golden = load(ROOT / "protocol/golden/session-prompt.result.json")["message"]["result"]
    later = {**golden, "stopReason": "asked_back", "mood": "good"}
    assert msgspec.convert(later, messages.SessionPromptResult).stop_reason == "asked_back"


def test_a_wrong_field_is_named() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"\$\.tools\[0\]\.kind"):
        msgspec.convert(
            {
                "cwd": "/",
                "tools": [{"name": "a", "description": "", "inputSchema": {}, "kind": "magic"}],
            },
            messages.SessionNewParams,
        )
