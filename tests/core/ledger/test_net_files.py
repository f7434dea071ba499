"""Files that differ in the end, and how a note says so."""

import pytest

from sidecar.core.ledger.deeds import TouchedFile
from sidecar.core.ledger.net_changes import file_lines, net_files, told_files, told_more

VERBS = {"+": "created", "~": "edited", "-": "deleted"}


def net(*calls: str, told: str = "") -> dict[str, str]:
    """Each call's deeds: `+a` created, `~a` edited, `-a` deleted."""
    deeds = (
        tuple(TouchedFile(one[1:], VERBS[one[0]]) for one in call.split())  # type: ignore[arg-type]
        for call in calls
    )
    return net_files(deeds, told.split())


def lines(*calls: str, told: str = "") -> list[str]:
    return list(file_lines(net(*calls), told_files([told])))


@pytest.mark.parametrize(
    ("calls", "left"),
    [
        (["+a", "-a"], {}),
        (["~a", "-a"], {"a": "Deleted"}),
        (["-a +b/a"], {"b/a": "Changed"}),
        (["+/w/d/a", "-/w/d"], {"/w/d": "Deleted"}),
        (["~/w/d/a", "-d/a"], {"d/a": "Deleted"}),
        (["-/w/d", "+/w/d/a"], {"/w/d/a": "Changed"}),
        (["~a", "~b", "~a"], {"b": "Changed", "a": "Changed"}),
        (["+/w/d", "+/w/d/a"], {"/w/d/a": "Changed"}),
        (["~d/a", "~d"], {"d/a": "Changed"}),
    ],
)
def test_what_differs_in_the_end(calls: list[str], left: dict[str, str]) -> None:
    assert list(net(*calls).items()) == list(left.items())


def test_what_a_note_told_is_told_when_it_is_gone() -> None:
    assert net("+a", "-a", told="a") == {"a": "Deleted"}


def test_a_folder_that_many_have_in_common_is_named_once() -> None:
    told = lines("~/home/me/w/src/a.py", "~/tmp/x", "~/home/me/w/src/b/c.py", "~/home/me/w/d.py")
    assert told == ["Changed in /home/me/w/: d.py, src/b/c.py, src/a.py", "Changed: /tmp/x"]
    assert lines("~D:\\work\\web\\a.js", "~D:\\work\\web\\b.js") == [
        "Changed in D:\\work\\web\\: b.js, a.js"
    ]
    both = lines("~/home/me/w/a", "~/home/me/w/b", "~/tmp/somewhere/x", "~/tmp/somewhere/y")
    assert both == ["Changed in /tmp/somewhere/: y, x", "Changed in /home/me/w/: b, a"]
    most = ("~/home/me/w/a", "~/home/me/w/b", "~/home/me/w/c", "~/tmp/somewhere/far/away/x")
    far = lines(*most, "~/tmp/somewhere/far/away/y")
    assert [line.partition(":")[0] for line in far] == [
        "Changed in /home/me/w/", "Changed in /tmp/somewhere/far/away/",
    ]  # fmt: skip
    assert lines("~D:\\w\\src\\a.js", "~src/a.js") == ["Changed: D:\\w\\src\\a.js"]
    assert lines(*(f"~D:\\d{n}\\a" for n in range(9)))[0].startswith("Changed in D:\\: d8\\a, ")
    assert lines("~src/a.py", "~src/b.py") == ["Changed: src/b.py, src/a.py"]


def test_files_that_are_counted_are_told_by_their_folder_alone_where_all_lie_in_one() -> None:
    named = [f"~/w/new/{n}" for n in range(40)]
    one = lines("~/w/old/a", "~/w/old/b", *named)[-1]
    assert one == "And 2 more changed in /w/old/; recall lists them"
    two = lines("~/w/old/a", "~/w/old/x/b", *named)[-1]
    assert two == "And 2 more changed in /w/old/: x (1), itself (1); recall lists them"
    assert told_more([one, two]) == 4


def test_what_was_told_is_read_from_the_same_lines_and_not_told_again() -> None:
    calls = ("~/home/me/w/a", "~/home/me/w/b", "~/tmp/x", "-/tmp/y")
    text = "\n".join(["[head]", *lines(*calls)])
    assert told_files([text]) == net(*calls)
    assert lines(*calls, told=text) == []
    assert lines(*calls, "~/tmp/y", told=text) == ["Changed: /tmp/y"]
