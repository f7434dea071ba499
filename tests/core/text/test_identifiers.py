"""Which words of a text are identifiers, and what the index remembers of each."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.text.identifiers import LEAST, LONGEST, Name, NameIndex, asked_to_keep, names_in


def check(text: str, *names: str) -> None:
    assert sorted(names_in(text)) == sorted(names)


def test_paths_are_names() -> None:
    check("see src/app/main.py, ./a/b.py: /etc/hosts", "src/app/main.py", "./a/b.py", "/etc/hosts")
    check("look into /tmp or a/b")
    check("https://example.com/docs/a?q=1", "/example.com/docs/a")
    check("@scope/pkg-name is a package", "@scope/pkg-name")


def test_file_names_are_names() -> None:
    check(
        "README.md, pyproject.toml; main.test.tsx", "README.md", "pyproject.toml", "main.test.tsx"
    )
    check("a.py is too short, 3.14159 is a number, the.longsuffix is none")


def test_code_names_are_names() -> None:
    check(
        "getUserName(parse_config, sha256) __init__ obj.methodName",
        "getUserName", "parse_config", "sha256", "__init__", "obj.methodName",
    )  # fmt: skip
    check("größe_x and naïveName", "größe_x", "naïveName")


def test_plain_words_and_numbers_are_no_names() -> None:
    check("The quick brown fox, HTTP and Server; 123456 of 7890 utf-8")


def test_quoted_spans_are_names_whatever_they_hold() -> None:
    check("run `git commit -m x` or `uv run`", "git commit -m x", "uv run")
    check("`ab` `two\nlines` `" + "q" * 81 + "`")


def test_what_ends_a_sentence_is_not_part_of_a_name() -> None:
    check("Edit src/main.py. Then setup.cfg-", "src/main.py", "setup.cfg")


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("ab_cd", False),
        ("abc_de", True),
        ("a_" + "x" * (LONGEST - 2), True),
        ("a_" + "x" * (LONGEST - 1), False),
    ],
)
def test_names_have_6_to_160_letters(name: str, found: bool) -> None:
    assert (LEAST, LONGEST) == (6, 160)
    assert (names_in(name) == {name}) is found


def test_a_megabyte_without_a_blank_is_no_burden() -> None:
    for text in ("a/" * 500_000, "`" * 500_000, "a_" * 500_000, "/" * 500_000, "." * 500_000):
        assert len(names_in(text)) <= 1


@given(st.text(alphabet="ab_/.`A1 \n", max_size=80), st.text(alphabet="ab_/.A1 \n", max_size=80))
def test_lines_are_read_by_themselves(first: str, second: str) -> None:
    unquoted = first.replace("`", "")
    assert names_in(f"{unquoted}\n{second}") == names_in(unquoted) | names_in(second)
    assert all(3 <= len(name) <= LONGEST for name in names_in(first))


def test_a_name_counts_as_used_only_by_a_later_step() -> None:
    index = NameIndex()
    index.see(["some_name"], 3)
    index.use(["some_name", "other_name"], 3)
    assert index["some_name"] == Name(3, 3, "result", used=-1, uses=0)
    assert index["other_name"] == Name(3, 3, "prose", used=-1, uses=0)
    index.use(["some_name", "other_name"], 5, "call")
    assert index["some_name"] == Name(3, 5, "result", used=5, uses=1)
    assert index["other_name"] == Name(3, 5, "prose", used=5, uses=1)


def test_seeing_is_not_using_and_the_first_source_stays() -> None:
    index = NameIndex()
    index.see(["some_name"], 1, "typed")
    index.see(["some_name"], 7, "result")
    assert index["some_name"] == Name(1, 7, "typed", used=-1, uses=0)
    index.use(["some_name"], 9)
    index.see(["some_name"], 11)
    assert index["some_name"] == Name(1, 11, "typed", used=9, uses=1)


def test_the_index_knows_what_it_holds() -> None:
    index = NameIndex()
    assert len(index) == 0
    index.see(["some_name", "other_name"], 0)
    assert len(index) == 2
    assert "some_name" in index
    assert "third_name" not in index
    with pytest.raises(KeyError):
        index["third_name"]


def test_a_copy_learns_by_itself() -> None:
    index = NameIndex()
    index.see(["some_name"], 1)
    other = index.copy()
    other.use(["some_name", "other_name"], 5)
    assert index["some_name"] == Name(1, 1)
    assert other["some_name"] == Name(1, 5, "result", used=5, uses=1)
    assert "other_name" not in index


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("keep src/plan.py in mind", {"src/plan.py"}),
        ("Remember `make check`.", {"make check"}),
        ("don't forget a.py", {"a.py"}),
        ("Don\u2019t forget docs/api.md!", {"docs/api.md"}),
        ("do not forget `x`", {"x"}),
        ("Preserve src/a.py and src/b.py", {"src/a.py", "src/b.py"}),
        ("Fix src/one.py. Keep src/two.py.", {"src/two.py"}),
        ("keep it short\nsrc/one.py is broken", set()),
        ("don't keep src/plan.py", set()),
        ("never remember src/plan.py", set()),
        ("forget src/plan.py", set()),
        ("the keeper of src/plan.py", set()),
        ("", set()),
        ('keep "src/a.py", ' + '{"src/b.py": 1}, ' * 200, set()),
    ],
)
def test_a_sentence_that_asks_to_keep_names_what(text: str, names: set[str]) -> None:
    assert asked_to_keep(text) == names


@pytest.mark.parametrize(
    "amount",
    [
        "550.47ms", "1m30.5s", "18:31:10",
        "2026-06-24T07:12:13.123Z", "12.5kB", "1100x44", "0.15em",
        "10243c", "6a0f1380", "0x7ffee3a0",
        "550e8400-e29b-41d4-a716-446655440000", "127.0.0.1:8080",
        "28/1170", "1337ms/op",
    ],
)  # fmt: skip
def test_amounts_times_hashes_and_addresses_are_no_names(amount: str) -> None:
    assert names_in(f"took {amount} here, `{amount}` there") == frozenset()
    assert names_in("slot_003 3d_model sha256 v2.11.0") == {
        "slot_003", "3d_model", "sha256", "v2.11.0",
    }  # fmt: skip
