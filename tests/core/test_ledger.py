"""The note that outlives a rewrite: failures, changes, commands, the thread, names."""

from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.ledger import EDITS, SHELLS, Room, ledger
from sidecar.core.plan import tokens_of
from sidecar.core.units import Unit
from tests.core.policies.situations import history

HEAD = "[head]"
ROOM = Room()
LONG = "I looked at all of it and this is what I found. "


def units(notation: str, **texts: str) -> list[Unit]:
    """Give the units of a situation, some with other texts, by part."""
    listed = [item.unit for item in history(notation)]
    return [replace(u, text=texts.get(u.part_id, u.text)) for u in listed]


def lines(gone: Iterable[Unit], names: Iterable[str] = (), room: Room = ROOM) -> list[str]:
    text = ledger(list(gone), list(names), room, HEAD)
    assert text.startswith(HEAD)
    return text.splitlines()[1:]


def test_nothing_to_tell_leaves_the_head_alone() -> None:
    assert ledger([], [], ROOM, HEAD) == HEAD
    assert lines(units("U10 X10 C10:read A3 R10", p3="short")) == []


def test_every_failed_call_is_there_with_its_error_line_once() -> None:
    gone = units(
        "C9!:bash(make) C9!:edit(a.py) C9:bash(ls) C9!:bash(make) C9!:bash(make)",
        p0="cc a.c\nError: no rule\nbye",
        p1="<tool_use_error>File does not exist.</tool_use_error>",
        p3="Error: no rule",
        p4="Error: another",
    )
    assert lines(gone)[:4] == [
        "Failed, do not repeat:",
        "- bash make → Error: no rule",
        "- edit a.py → File does not exist.",
        "- bash make → Error: another",
    ]


def test_failures_have_no_limit() -> None:
    gone = units(" ".join(f"C9!:bash(command-{number})" for number in range(900)))
    assert len(lines(gone)) == 901


def test_changed_files_are_told_newest_first_and_once() -> None:
    gone = units("C9:Edit(a.py) C9:write(b.py) C9:edit(a.py) C9!:edit(x.py) C9:read(c.py)")
    assert "Changed: a.py, b.py" in lines(gone)


@pytest.mark.parametrize("tool", sorted(EDITS))
def test_tools_that_change_files_are_known_in_any_case(tool: str) -> None:
    (unit,) = units("C9(a.py)")
    assert lines([replace(unit, tool=tool.upper())]) == ["Changed: a.py"]


@pytest.mark.parametrize("tool", sorted(SHELLS))
def test_commands_that_worked_are_told_newest_first_and_once(tool: str) -> None:
    gone = [replace(u, tool=tool) for u in units("C9(make) C9(ls) C9(make) C9!(no)")]
    told = lines(gone)
    assert told[told.index("Worked:") :] == ["Worked:", "- make", "- ls"]


def test_the_thread_of_what_was_said_is_told_in_its_order() -> None:
    gone = units("A9 A9 U9 R9 A9", p0=f"\n {LONG}\nmore", p1="too short", p4=f"{LONG * 3}")
    one = LONG * 3
    assert lines(gone) == ["Said:", f"- {LONG.strip()}", f"- {one[:99]}…"]


def test_a_text_of_fewer_than_40_letters_says_too_little() -> None:
    (unit,) = units("A9")
    assert lines([replace(unit, text="x" * 39)]) == []
    assert lines([replace(unit, text="x" * 40)]) == ["Said:", "- " + "x" * 40]


def test_the_likeliest_names_come_first_and_as_many_as_there_is_room_for() -> None:
    names = [f"name_{number:03}" for number in range(100)]
    assert lines([], names[:3]) == ["Seen: name_000 · name_001 · name_002"]
    # 8 characters are 3 tokens, and 2 for what stands between.
    assert lines([], names, Room(names=50)) == ["Seen: " + " · ".join(names[:10])]
    assert lines([], names, Room(names=49)) == ["Seen: " + " · ".join(names[:9])]


def test_sections_come_in_the_order_of_their_weight() -> None:
    gone = units("A9 C9:bash(ls) C9:edit(a.py) C9!:bash(no)", p0=LONG)
    titles = [line.partition(":")[0] for line in lines(gone, ["some_name"]) if line[0] != "-"]
    assert titles == ["Failed, do not repeat", "Changed", "Worked", "Said", "Seen"]


def test_the_newest_that_fit_are_told() -> None:
    edits = units(" ".join(f"C9:edit(file-{number:03}.py)" for number in range(100)))
    told = lines(edits, room=Room(files=60))
    assert told == ["Changed: " + ", ".join(f"file-{99 - n:03}.py" for n in range(10))]
    commands = units(" ".join(f"C9:bash(command-{number:02})" for number in range(99)))
    told = lines(commands, room=Room(commands=18))
    assert told == ["Worked:", "- command-98", "- command-97", "- command-96"]
    said = units("A9 " * 9, **{f"p{n}": f"{n} {LONG}" for n in range(9)})
    told = lines(said, room=Room(prose=59))
    assert told == ["Said:", *(f"- {n} {LONG}".rstrip() for n in (6, 7, 8))]


WORDS = st.text(alphabet="abcdefgh_/. ", min_size=1, max_size=100)


@given(
    st.lists(st.tuples(st.sampled_from(["edit", "bash", "read"]), WORDS, st.booleans())),
    st.lists(WORDS),
    st.integers(0, 60),
)
def test_each_section_but_failures_holds_to_its_room(
    calls: list[tuple[str, str, bool]], names: list[str], most: int
) -> None:
    (unit,) = units("C9")
    gone = [
        replace(unit, tool=tool, argument=argument, failed=bad, text=f"Error: {argument}")
        for tool, argument, bad in calls
    ]
    room = Room(files=most, commands=most, names=most, prose=most)
    sections = ledger(gone, names, room, HEAD).split("\n")
    for line in sections:
        if line.startswith(("Changed: ", "Seen: ")):
            told = line.partition(": ")[2]
            assert tokens_of(told) - 8 <= most + 1
    for tool, argument, bad in calls:
        if bad:
            assert f"- {tool} {argument} → " in "\n".join(sections)
    failing = sum(line.startswith("- ") and " → " in line for line in sections)
    assert failing == len({(tool, argument) for tool, argument, bad in calls if bad})
