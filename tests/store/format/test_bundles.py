"""Bundles: what is written comes back the same, and what is damaged is refused in plain words."""

import json
import random
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sidecar.core.errors import BadRequest
from sidecar.core.text.digest import digest
from sidecar.store.format.bundles import Bundle, lines_of, read_lines
from tests.examples import examples
from tests.store.contents import blob
from tests.store.samples import message, sample, session, tool


def changed(change: Callable[[list[Any]], object]) -> list[bytes]:
    """The sample's lines after a change, with a hash that fits."""
    things = [json.loads(line.decode("utf-8", "surrogatepass")) for line in lines_of(sample())]
    things.pop()
    change(things)
    lines = [
        json.dumps(thing, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
        for thing in things
    ]
    hashed = ""
    for line in lines:
        hashed = digest(line, hashed)
    end = {"end": {"lines": len(lines), "hash": hashed}}
    return [*lines, json.dumps(end).encode() + b"\n"]


def index(things: list[Any], kind: str) -> int:
    return next(n for n, thing in enumerate(things) if kind in thing)


def test_what_is_written_comes_back_the_same() -> None:
    assert read_lines(lines_of(sample())) == sample()
    assert read_lines(changed(lambda _: None)) == sample()


def test_long_outputs_are_written_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sidecar.store.format.bundles.PIECE", 8)
    lines = list(lines_of(sample()))
    assert len(lines) > 100
    assert read_lines(lines) == sample()


def test_an_empty_output_is_kept() -> None:
    part = tool("p1", "", b"")
    bundle = Bundle(session(), (replace(message(), parts=(part,)),), (), {blob(b"").hash: b""})
    assert read_lines(lines_of(bundle)) == bundle


BROKEN: dict[str, tuple[Callable[[list[Any]], object], str]] = {
    "a newer version": (lambda t: t[0].update(version=3), "update Sidecar"),
    "another file": (lambda t: t[0].update(sidecar="other"), "no bundle"),
    "no session": (lambda t: t.pop(1), "cut off"),
    "two sessions": (lambda t: t.insert(1, t[1]), "no 'session' here"),
    "a part before any message": (lambda t: t.insert(2, t[3]), "no 'part' here"),
    "a part twice": (lambda t: t.insert(4, t[3]), "two of 'part p1'"),
    "a message twice": (lambda t: t.append(t[2]), "two of 'message msg_1'"),
    "an unknown thing": (lambda t: t.append({"config": {}}), "no 'config' here"),
    "two things in a line": (lambda t: t[3].update(config={}), "expected one thing"),
    "an unknown part": (lambda t: t[3]["part"].update(type="new"), "unknown part type"),
    "a field that is none": (lambda t: t[3]["part"].update(text=3), "should be text"),
    "no object": (lambda t: t.append([1]), "expected fields"),
    "records backwards": (lambda t: t.append(t[index(t, "record")]), "does not follow"),
    "a time before 1970": (lambda t: t[2]["message"].update(created=-1), "a time is none"),
    "a time after 9999": (lambda t: t[2]["message"].update(created=10**15), "a time is none"),
    "a number too large": (lambda t: t[2]["message"].update(created=10**20), "too large"),
    "a broken number": (lambda t: t[2]["message"].update(created=float("nan")), "no number"),
    "an output of another hash": (
        lambda t: t[index(t, "output")]["output"].update(text="x"),
        "has not the hash",
    ),
    "an output that is missing": (lambda t: t.pop(index(t, "output")), "not those"),
    "an output that nobody names": (
        lambda t: t.append({"output": {"hash": blob(b"x").hash, "text": "x"}}),
        "not those",
    ),
    "an output that is no text": (lambda t: t[-1]["output"].update(base64="!"), "not base64"),
    "JSON that is none": (lambda t: t[5]["part"].update(input="{"), "should be JSON"),
    "JSON with a number that is none": (
        lambda t: t[5]["part"].update(input='{"a": [NaN]}'),
        "a number is none",
    ),
    "JSON with a number that overflows": (
        lambda t: t[5]["part"].update(input="-1e999"),
        "a number is none",
    ),
    "JSON nested too deep": (
        lambda t: t[5]["part"].update(input="[" * 101 + "]" * 101),
        "nested too deep",
    ),
    "JSON that overflows": (
        lambda t: t[5]["part"].update(input="[" * 10**6 + "]" * 10**6),
        "should be JSON",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_cannot_be_is_refused(name: str) -> None:
    change, why = BROKEN[name]
    with pytest.raises(BadRequest, match=why) as error:
        read_lines(changed(change))
    assert error.value.data["path"] == "params.path"


def test_a_line_that_is_nested_too_deep_is_refused() -> None:
    head, *rest = lines_of(sample())
    with pytest.raises(BadRequest, match="damaged"):
        read_lines([head, b"[" * 10**6 + b"]" * 10**6 + b"\n", *rest])


@pytest.mark.parametrize("where", ["line", "input"])
def test_what_would_take_the_memory_of_the_machine_is_refused_before(where: str) -> None:
    """Three letters make a list of seventy bytes: a line within its limit could take gigabytes."""
    many = "[" + "[]," * 1_000_001 + "[]]"
    if where == "line":
        head, *rest = lines_of(sample())
        lines = [head, b'{"x":' + many.encode() + b"}\n", *rest]
    else:
        lines = changed(lambda t: t[5]["part"].update(input=many))
    with pytest.raises(BadRequest, match="more than 1000000 lists and objects"):
        read_lines(lines)


def test_more_values_or_lines_than_are_taken_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    many = json.dumps([[]] * 200)
    lines = changed(lambda t: t[5]["part"].update(input=many))
    monkeypatch.setattr("sidecar.store.format.bundles.MOST_VALUES", 150)
    with pytest.raises(BadRequest, match="more values"):
        read_lines(lines)
    monkeypatch.setattr("sidecar.store.format.bundles.MOST_LINES", 5)
    with pytest.raises(BadRequest, match="more than 5 lines"):
        read_lines(lines)


def test_what_was_changed_afterwards_is_refused() -> None:
    lines = list(lines_of(sample()))
    lines[3] = lines[3].replace(b"hello", b"hullo")
    with pytest.raises(BadRequest, match="changed after it was written"):
        read_lines(lines)
    with pytest.raises(BadRequest, match="follows the end"):
        read_lines([*lines_of(sample()), b"{}\n"])


@pytest.mark.parametrize("count", range(1, 20))
def test_what_is_cut_off_is_refused(count: int) -> None:
    lines = list(lines_of(sample()))
    with pytest.raises(BadRequest):
        read_lines(lines[:-count])


@given(seed=st.integers(0, 2**32))
@settings(max_examples=examples(150), deadline=None, suppress_health_check=list(HealthCheck))
def test_no_damage_does_more_than_be_refused(seed: int) -> None:
    chance = random.Random(seed)
    data = bytearray(b"".join(lines_of(sample())))
    for _ in range(chance.randint(1, 4)):
        match chance.randrange(3):
            case 0:
                data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
            case 1:
                del data[chance.randrange(len(data)) :]
                data += b"\n"
            case _:
                at = chance.randrange(len(data))
                data[at:at] = b64encode(chance.randbytes(5))
    with pytest.raises(BadRequest):
        read_lines(bytes(data).splitlines(keepends=True))
