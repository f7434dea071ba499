"""JSON as everybody reads it: what Python alone would take or give is kept out."""

import json
import math

import pytest

from sidecar.core.parts import Json
from sidecar.core.text.json_text import (
    TooMuch,
    is_deep,
    legible_numbers,
    plain,
    read,
    read_all,
    strings,
)

DEEPEST, MOST_INNER = 100, 1_000_000
"""What the figures are that bundles and messages were made within."""


@pytest.mark.parametrize("text", ["NaN", "[Infinity]", '{"a": -Infinity}', "1e999", "[-1e400]"])
def test_numbers_that_json_cannot_say(text: str) -> None:
    with pytest.raises(ValueError, match="number"):
        read(text)
    assert read_all(text) in (None, [None], {"a": None})


@pytest.mark.parametrize("text", ["", "{", "[" * 100_000, "9" * 5_000, "nan", b"\xff\xfe"])
def test_what_is_no_json_is_refused_in_a_short_sentence(text: str) -> None:
    for reader in (read, read_all):
        with pytest.raises(ValueError, match=r"\w") as error:
            reader(text)
        assert len(str(error.value)) < 200


def test_what_is_json_is_kept() -> None:
    text = '{"big": 123456789012345678901234567890, "small": 1e-320, "half": 0.5, "far": 1e308}'
    assert (
        read(text)
        == read_all(text)
        == {"big": int("1234567890" * 3), "small": 1e-320}
        | {
            "half": 0.5,
            "far": 1e308,
        }
    )


@pytest.mark.parametrize("inner", ["[],", "{},"])
def test_more_lists_and_objects_than_are_taken(inner: str) -> None:
    text = "[" + inner * MOST_INNER + "0]"
    for given in (text, text.encode()):
        for reader in (read, read_all):
            with pytest.raises(TooMuch, match="lists and objects"):
                reader(given)


def test_brackets_in_strings_are_no_lists() -> None:
    printed = r"[\"[{\\" * (MOST_INNER // 2)
    assert read(json.dumps({"out": printed})) == {"out": printed}
    assert read(json.dumps({"out": printed}).encode()) == {"out": printed}


def test_deep_is_more_than_what_is_taken() -> None:
    assert not is_deep(read("[" * DEEPEST + "]" * DEEPEST))
    assert is_deep(read("[" * (DEEPEST + 1) + "]" * (DEEPEST + 1)))
    assert is_deep({"a": read('{"a":' * DEEPEST + "1" + "}" * DEEPEST)})
    assert not is_deep("x")


def test_plain_says_null_for_what_json_cannot_say() -> None:
    value = {"a": [1, math.nan, {"b": math.inf}], "c": True, "d": "NaN", "e": 0.5}
    assert plain(value) == {"a": [1, None, {"b": None}], "c": True, "d": "NaN", "e": 0.5}


def test_the_text_in_an_input_is_found_at_any_depth_in_its_order() -> None:
    given: Json = {"a": "one", "b": [1, "two", {"c": "three", "d": None}], "e": True, "f": "four"}
    assert list(strings(given)) == ["one", "two", "three", "four"]
    assert list(strings("raw")) == ["raw"]
    assert list(strings(None)) == []


def test_numbers_that_editors_read_as_others_are_shown_as_text() -> None:
    given: Json = {"id": 1234567890123456789, "of": [-(10**14), 10**13, 1.5, 0.1, True, "1" * 20]}
    assert legible_numbers(given) == {
        "id": "1234567890123456789",
        "of": ["-100000000000000", 10**13, 1.5, 0.1, True, "1" * 20],
    }
    assert legible_numbers(0.1234567890123456) == "0.1234567890123456"
    assert legible_numbers(1e300) == 1e300
