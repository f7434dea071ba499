"""Facts in a reply: where they stand, and what is repaired of their JSON."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.conversation.fact import KINDS
from sidecar.core.ledger.claims import Claim, claims_in

ONE = '{"kind": "decision", "content": "Use msgpack", "source": "msgpack it is"}'
CLAIM = Claim("decision", "Use msgpack", "msgpack it is")


@pytest.mark.parametrize(
    "written",
    [
        f"<facts>\n{ONE}\n</facts>",
        f"<facts>{ONE}",
        f'<FACTS kind="all">\n- {ONE},\n</FACTS>',
        f"```facts\n{ONE}\n```",
        f"```json\n[\n{ONE},\n]\n```",
        f'```json\n{{"facts": [{ONE}]}}\n```',
        f'```json\n{{"facts": [{ONE},]}}\n```',
        f"```jsonl\n{ONE}",
        f"## Facts\n\n{ONE}",
        f"**Facts:**\n- {ONE}",
        ONE,
        f"<facts>\n{json.dumps(json.loads(ONE), indent=2)}\n</facts>",
    ],
)
def test_facts_are_found_wherever_they_stand(written: str) -> None:
    found = claims_in(f"## Goal\nTo save.\n\n{written}\n")
    assert found.claims == (CLAIM,)
    assert found.rest == "## Goal\nTo save."
    assert found.problems == ()


@pytest.mark.parametrize(
    "line",
    [
        '{"kind": "decision", "content": "Use msgpack", "source": "msgpack it is",}',
        "{'kind': 'decision', 'content': 'Use msgpack', 'source': 'msgpack it is'}",
        "{kind: 'decision', content: 'Use msgpack', source: 'msgpack it is'}",
        "{“kind”: “decision”, “content”: “Use msgpack”, “source”: “msgpack it is”}",
        '{"kind": "decision", "content": "Use msgpack", "source": "msgpack it is"',
        '{"kind": "decision", "content": "Use msgpack", "source": "msgpack it is',
        '{"Kind": "Decision", "content": "Use\n msgpack", "quote": "msgpack it is"}',
    ],
)
def test_usual_faults_are_repaired(line: str) -> None:
    found = claims_in(f"text\n<facts>\n{ONE}\n{line}")
    assert found.claims == (CLAIM, CLAIM)
    assert found.rest == "text"
    assert found.problems == ()


@pytest.mark.parametrize("quote", ['"', "'"])
def test_backslashes_that_escape_nothing_are_taken_as_they_are(quote: str) -> None:
    line = '{"kind": "error", "content": "no \\d+\\.py in C:\\\\x", }'.replace('"', quote)
    assert claims_in(line).claims == (Claim("error", "no \\d+\\.py in C:\\x"),)


def test_what_cannot_be_read_is_told_and_the_rest_is_taken() -> None:
    found = claims_in(
        f'<facts>\n{{"kind": "opinion", "content": "x"}}\n{ONE}\n{{"kind": "error"}}\n'
        '{"what \n{"kind": "file state", "content": "a.py is new", "source": 7}\n</facts>'
    )
    assert found.claims == (CLAIM, Claim("file_state", "a.py is new"))
    assert found.problems == (
        "no such kind of fact: 'opinion'",
        "a fact of kind error without content",
        'not a fact: {"what',
    )


def test_code_in_the_text_stays_in_it() -> None:
    text = 'It said:\n```json\n{"a": 1}\n```\nand\n```python\nfacts = {}\n```'
    assert claims_in(text) == claims_in(text.strip())
    assert claims_in(text).rest == text
    assert claims_in("Facts matter.\n\n## Facts").rest == "Facts matter.\n\n## Facts"


def test_no_more_than_some_and_none_too_long() -> None:
    found = claims_in("\n".join([ONE] * 53))
    assert len(found.claims) == 50
    assert found.problems == ("3 facts more than the 50 that are taken",)
    (long,) = claims_in(json.dumps({"kind": "error", "content": "x" * 999})).claims
    assert len(long.content) == 400


def test_after_so_many_faults_nothing_more_is_expected() -> None:
    for wrong, found in ((99, (CLAIM,)), (100, ())):
        lines = "\n".join(["{x}"] * wrong)
        assert claims_in(f"<facts>\n{lines}\n{ONE}\n</facts>").claims == found


def test_a_line_that_is_too_long_is_not_repaired() -> None:
    for length, found in ((4_000, (CLAIM,)), (4_001, ())):
        spaces = " " * (length - len(ONE) - 1)
        assert claims_in(f"<facts>\n{ONE[:-1]},{spaces}}}\n</facts>").claims == found


def test_a_heap_of_braces_takes_no_time() -> None:
    assert claims_in("<facts>" + "{" * 200_000).claims == ()
    assert claims_in("<facts>" + "{'" * 100_000).claims == ()


def test_what_cannot_be_stored_is_replaced() -> None:
    (claim,) = claims_in('{"kind": "error", "content": "a \\ud800 b"}').claims
    assert claim.content == "a ? b"


TEXT = st.text(st.characters(exclude_categories=()), max_size=60)
PIECES = st.sampled_from(
    ["{", "}", "[", "]", '"', "'", ",", "\n", "<facts>", "</facts>", "```json\n", "```", ONE[:40]]
)


@given(st.lists(st.one_of(TEXT, PIECES), max_size=12).map("".join))
def test_no_reply_is_too_strange(reply: str) -> None:
    claims_in(reply)


@given(st.lists(st.tuples(st.sampled_from(KINDS), TEXT, TEXT), max_size=5))
def test_what_is_well_formed_is_read_as_it_is(given: list[tuple[str, str, str]]) -> None:
    lines = [json.dumps({"kind": k, "content": f"c{c}", "source": q}) for k, c, q in given]
    found = claims_in("text\n<facts>\n" + "\n".join(lines) + "\n</facts>")
    assert [claim.kind for claim in found.claims] == [kind for kind, _, _ in given]
    assert found.rest == "text"
