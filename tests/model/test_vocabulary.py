"""The packed tokenizer: the same tokens as tiktoken's, without a network."""

import socket
import subprocess
import sys
from typing import NoReturn

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.text.digest import digest
from sidecar.model.vocabulary import (
    CHARS_PER_TOKEN,
    PACKED,
    PATTERN,
    SAMPLED,
    SLICE,
    VOCABULARY,
    load_counter,
    pack,
    slices,
    unpack,
)

pytestmark = pytest.mark.long
WHOLE = "Grüße… aus Köln " * 99

# Counted with tiktoken 0.14's own cl100k_base.
KNOWN = {
    "": 0,
    "hello world": 2,
    "Hello, world": 3,
    "def greet(name):\n    return 'Hello, ' + name\n": 13,
    "Grüße aus Köln": 6,
    "漢字かな交じり文": 9,
}


@pytest.fixture(scope="module")
def count():
    return load_counter()


@pytest.mark.parametrize("text", KNOWN)
def test_known_texts_have_their_known_counts(count, text: str) -> None:
    assert count(text) == KNOWN[text]


def test_another_way_to_count_has_another_name() -> None:
    """Else counts that were kept would be believed that are those of the former way."""
    made_of = PACKED.read_bytes(), PATTERN.encode(), f"{SLICE} {SAMPLED} {CHARS_PER_TOKEN}".encode()
    assert (VOCABULARY, digest(b"".join(made_of))) == (
        "cl100k_base, 1",
        "b2:e4b0a78a18f37b9808f4903d209fcaeb19e0c585",
    )


def test_it_reaches_for_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> NoReturn:
        raise AssertionError("no test reaches the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    assert load_counter()("hello world") == 2


def test_blanks_do_not_bring_it_down(count) -> None:
    for blanks in (" " * 1_200_000, "x" + "\t" * 1_200_000 + "x", "\n" * 1_200_000):
        assert 0 < count(blanks) < 1_200_000


def test_huge_texts_are_sampled(count) -> None:
    line = "a line of some eight words or so\n"
    many = 100_000
    assert abs(count(line * many) / (count(line) * many) - 1) < 0.02


LANGUAGES = {
    "code": "def greet(name):\n    return 'Hello, ' + name\n",
    "Chinese": "今天天气很好、我们去公园散步、然后回家吃饭。\n",
    "Hindi": "आज मौसम बहुत अच्छा है, हम पार्क में टहलने जाएंगे।\n",
    "base64": "aGVsbG8gd29ybGQsIGhvdyBhcmUgeW91IHRvZGF5Pw==\n",
    "numbers": "1029384756 5647382910 0192837465\n",
}


@pytest.mark.parametrize("first", LANGUAGES)
@pytest.mark.parametrize("second", LANGUAGES)
def test_huge_texts_of_two_languages_are_sampled_throughout(count, first: str, second: str) -> None:
    halves = [LANGUAGES[name] * (1_100_000 // len(LANGUAGES[name])) for name in (first, second)]
    truth = sum(count(half) for half in halves)
    assert 0.8 <= count("".join(halves)) / truth <= 1.25
    mixed = "".join(LANGUAGES[first] * 40 + LANGUAGES[second] * 40 for _ in range(700))
    if len(mixed) > 2_000_000:
        parts = [count(LANGUAGES[name] * 40) for name in (first, second)]
        assert 0.8 <= count(mixed) / (700 * sum(parts)) <= 1.25


@given(st.text(st.sampled_from("ab \n"), max_size=300))
def test_slices_add_up(text: str) -> None:
    whole = text * (SLICE // 100)
    pieces = slices(whole)
    assert "".join(pieces) == whole
    assert all(len(piece) <= SLICE for piece in pieces)


def test_a_packed_vocabulary_is_unpacked_as_it_was() -> None:
    ranks = unpack(PACKED.read_bytes())
    assert len(ranks) == 100_256
    small = dict(list(ranks.items())[:1000])
    assert unpack(pack(small)) == small


def test_it_is_not_imported_before_it_is_needed() -> None:
    script = (
        "import sys, sidecar.daemon.serving; print([m for m in sys.modules if m == 'tiktoken'])"
    )
    shown = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert shown.stdout.strip() == "[]"


def test_a_counted_text_keeps_nothing_of_the_count(count) -> None:
    text = "".join((WHOLE, "…"))
    before = sys.getsizeof(text)
    assert count(text) > 0
    assert sys.getsizeof(text) == before
