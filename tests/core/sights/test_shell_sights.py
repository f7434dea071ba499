"""What commands of a shell showed of files: ranges that were printed, stretches that were found."""

import pytest

from tests.core.sights.calls import PATH, ended, heard, known


def shown(command: str, text: str) -> dict[str, dict[int, str]]:
    """Lines by path and number."""
    files = heard(ended("bash", {"command": command}, text)).files
    return {path: known(file) for path, file in files.items()}


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("sed -n '2,3p;7p' a.py", "b\nc\ng\n"),
        ("sed -n -e 2,3p -e '7p' a.py", "b\nc\ng\n"),
        ("sed -n '2,3p\n7p' a.py 2>/dev/null || true", "b\nc\ng\n"),
        ("nl -ba a.py | sed -n '2,3p;7,9p'", "     2\tb\n     3\tc\n     7\tg\n"),
        ("nl -ba a.py | sed -n 2,3p; cat -n a.py | sed -n 7p", "     2\tb\n     3\tc\n     7\tg\n"),
        ("sed -n 2,3p a.py && echo '== more' && sed -n 7,9p a.py", "b\nc\n== more\ng\n"),
        ("sed -n 2,5p a.py; printf '\\n-- b --\\n'; sed -n 7,9p a.py", "b\nc\n\n-- b --\ng\n"),
        ("test -f a.py && sed -n 2,3p a.py; sed -n 7,9p a.py", "b\nc\ng\n"),
    ],
)
def test_ranges_printed_by_one_command_are_told_apart(command: str, text: str) -> None:
    assert shown(command, text) == {"a.py": {2: "b", 3: "c", 7: "g"}}


@pytest.mark.parametrize(
    ("command", "first"),
    [
        ("head -2 a.py", 1),
        ("cat a.py | head -n 2", 1),
        ("cd /w; cd ..; cat w/a.py | head -n 6 | tail -n 2", 5),
        ("head -n 9 a.py | sed -n 4,5p", 4),
        ("sed -n 10,20p a.py | head -2", 10),
        ("tail -n +30 a.py", 30),
    ],
)
def test_the_head_and_the_tail_of_a_file_are_seen_in_their_places(command: str, first: int) -> None:
    (lines,) = shown(command, "a\nb\n").values()
    assert lines == {first: "a", first + 1: "b"}


def test_files_printed_by_one_command_are_told_apart_where_all_lines_came() -> None:
    command = "sed -n '1,2p' a.py; sed -n '7,9p' b.py"
    assert shown(command, "a\nb\nc\nd\ne\n") == {
        "a.py": {1: "a", 2: "b"},
        "b.py": {7: "c", 8: "d", 9: "e"},
    }
    # Either of them may be shorter than was thought.
    assert shown(command, "a\nb\nc\n") == {}


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (f"sed -n '5,6p' {PATH} | grep a", "a\n"),
        (f"cat {PATH} && ls", "a\nb\n"),
        (f"cat {PATH} > /tmp/b", ""),
        (f"sed -n '5,6p' {PATH}", "a\n… 120 tokens truncated …\nb"),
        (f"sed -n '5,6p' {PATH}", "a\nb\nand more"),
        (f"sed -n '5,9p;7,8p' {PATH}", "a\nb\nc\nc\nd\nd"),
        (f"sed -n '5,9p;s/a/b/' {PATH}", "a\nb\n"),
        (f"tail -n 2 {PATH}", "a\nb\n"),
        (f"git show HEAD:{PATH} | sed -n 5,6p", "a\nb\n"),
        (f"sed -n 1,9p {PATH}; echo ---; sed -n 1,9p {PATH}", "a\n---\nb\n---\nc\n"),
        (f"sed -n 1,9p {PATH}; echo $PWD; sed -n 1,9p {PATH}", "a\n/w\nb\n"),
        (f"sed -n 5,6p {PATH} | nl -ba", "     1\ta\n     2\tb\n"),
        (f"grep -no 'a.*' {PATH}", "5:a\n6:a\n7:a\n8:a\n"),
        (f"grep -n a {PATH} | sort", "5:a\n6:a\n7:a\n8:a\n"),
        (f"grep -A3 a {PATH}", "a\nb\nc\nd\n"),
        (f"rg -n --replace x a {PATH}", "5:a\n6:a\n7:a\n8:a\n"),
        (f"grep -n a {PATH}", "5:a\n6:a\n9:a\n"),
    ],
)
def test_a_command_that_prints_something_else_shows_no_lines(command: str, text: str) -> None:
    assert PATH not in shown(command, text)


FOUND = "8:def f():\n9-    a: 1\n10-    b\n11-    c\n--\n40:f()\n"


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("grep -n 'def f' /w/a.py -A 3", FOUND),
        ("cd /w && rg -n -C3 -e f a.py", FOUND),
        ("cat /w/a.py | grep -n 'f' -A 3 | head -80", FOUND),
        ("grep -rn -A3 f /w", "".join(
            f"/w/a.py{'-' if '-' in line else ':'}{line}\n" if line[0] != "-" else "--\n"
            for line in FOUND.splitlines()
        )),
    ],
)  # fmt: skip
def test_a_search_shows_stretches_of_lines(command: str, text: str) -> None:
    assert shown(command, text) == {
        "/w/a.py": {8: "def f():", 9: "    a: 1", 10: "    b", 11: "    c"}
    }


def test_the_answer_of_a_search_is_no_mere_view_of_files() -> None:
    # More than the files of which stretches are seen may be among what was found.
    assert heard(ended("bash", {"command": "grep -n f /w/a.py -A 3"}, FOUND)).reads == {}
