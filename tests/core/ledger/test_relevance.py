"""Which files bear on a goal: named ones, changed ones, those in use."""

import pytest

from sidecar.core.ledger.ledger import read_ledger
from sidecar.core.ledger.relevance import ranked
from sidecar.core.parts import Message
from tests.core.ledger.test_ledger import answer, call, typed


def read(path: str, text: str = "x") -> Message:
    return answer(call("read_file", {"path": path}, text))


def edit(path: str) -> Message:
    return answer(call("edit_file", {"path": path, "oldText": "a"}, metadata={"created": False}))


def order(messages: list[Message], goal: str) -> list[str]:
    return list(ranked(read_ledger(messages), messages, goal))


MESSAGES = [
    typed("begin"),
    read("src/parser.py"),
    read("src/lexer.py", "def next_token(): ..."),
    edit("src/writer.py"),
    read("docs/guide.md"),
    read("docs/guide.md"),
    read("tests/test_parser.py"),
]


@pytest.mark.parametrize(
    ("goal", "first"),
    [
        ("Go on.", "src/writer.py"),
        ("Change src/lexer.py so that it is faster", "src/lexer.py"),
        ("guide.md is out of date", "docs/guide.md"),
        ("Rename next_token everywhere", "src/lexer.py"),
        ("Teach the Lexer about comments", "src/lexer.py"),
        ("./src/parser.py must not call exit", "src/parser.py"),
    ],
)
def test_what_the_goal_speaks_of_comes_first(goal: str, first: str) -> None:
    assert order(MESSAGES, goal)[0] == first


def test_what_several_files_share_says_less() -> None:
    found = order(MESSAGES, "Teach the parser about the guide")
    assert found[0] == "docs/guide.md"
    assert set(found[1:4]) == {"src/parser.py", "tests/test_parser.py", "src/writer.py"}


def test_use_decides_where_nothing_else_does() -> None:
    messages = [typed("x"), read("one.py"), read("two.py"), read("three.py"), read("one.py")]
    assert order(messages, "Go on.") == ["one.py", "three.py", "two.py"]


def test_absolute_paths_are_known_by_their_end() -> None:
    messages = [typed("x"), read("/home/a/src/one.py"), read("/home/a/lib/one.py")]
    assert order(messages, "Fix src/one.py.")[0] == "/home/a/src/one.py"


def test_deleted_files_are_left_out() -> None:
    gone = answer(call("shell", {"command": "rm src/parser.py"}, metadata={"exitCode": 0}))
    assert "src/parser.py" not in order([*MESSAGES, gone], "parser")
