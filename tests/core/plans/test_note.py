"""The note that outlives a rewrite: failures, changes, the list, commands, the thread."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.core.ledger.deeds import (
    EDITS,
    SHELLS,
    Deed,
    Delegated,
    Entered,
    LineSpans,
    ListedTodo,
    MovedTodo,
    Operation,
    TouchedFile,
)
from sidecar.core.ledger.net_changes import told_files
from sidecar.core.ledger.units import Item
from sidecar.core.parts import PartId
from sidecar.core.plans.note import (
    LONG_AGO,
    OVERTAKEN,
    Aftermath,
    Room,
    aftermath,
    unlike_an_id,
    write_note,
)
from sidecar.core.plans.outcomes import upshot_of
from sidecar.core.plans.plan import REWRITE_ID, Change
from sidecar.core.prompt.tokens import tokens_of
from sidecar.core.prompt.visibility import Dropped, Excerpt, Placeholder, Truncated
from sidecar.core.sights.spelling import spellings
from tests.core.policies.situations import history

HEAD = "[head]"
ROOM = Room()
LONG = "I looked at all of it and this is what I found. "


def items(notation: str, **texts: str) -> list[Item]:
    """Give the items of a situation, some with other texts, by part; edits touch their argument."""
    return [
        replace(
            item,
            unit=replace(
                item.unit,
                held=texts.get(item.unit.part_id, item.unit.text),
                deeds=touched(item.unit.argument) if item.unit.tool.lower() in EDITS else (),
            ),
        )
        for item in history(notation)
    ]


def touched(path: str, operation: Operation = "edited", lines: LineSpans = ()) -> tuple[Deed, ...]:
    return (TouchedFile(path, operation, lines),)


def did(item: Item, *deeds: Deed) -> Item:
    return replace(item, unit=replace(item.unit, deeds=deeds))


def in_turn(item: Item, turn: int) -> Item:
    return replace(item, unit=replace(item.unit, turn=turn))


def called(item: Item, tool: str) -> Item:
    return replace(item, unit=replace(item.unit, tool=tool))


def left_by(
    listed: Sequence[Item], changes: Iterable[Change], retired: Iterable[PartId] = ()
) -> Aftermath:
    """What these changes leave, with all that the calls came to."""
    return aftermath(listed, changes, set(retired), upshot_of([item.unit for item in listed]))


def note(
    listed: Sequence[Item],
    gone: Iterable[str] | None = None,
    room: Room = ROOM,
    retired: Iterable[str] = (),
    first: int = 0,
) -> str:
    """Write the note for a rewrite that drops these parts, or all that are no notes."""
    parts = [i.unit.part_id for i in listed if i.unit.kind != "ledger"] if gone is None else gone
    changes = [Change(PartId(part), Dropped(), "old", 0, 0) for part in parts]
    left = {PartId(part) for part in retired}
    text = write_note(left_by(listed, changes, left), head=HEAD, first=first, room=room)
    assert text.startswith(HEAD)
    return text


def lines(
    listed: Sequence[Item],
    gone: Iterable[str] | None = None,
    room: Room = ROOM,
) -> list[str]:
    return note(listed, gone, room).splitlines()[1:]


def test_nothing_to_tell_leaves_the_head_alone() -> None:
    assert note([]) == HEAD
    assert lines(items("X10 C10:read A3 R10", p2="short")) == []


def test_what_the_user_asked_for_is_told_word_for_word() -> None:
    gone = items("U9 A3 U9 U9", p0="Never touch a.py.", p2="Two\nlines.", p3="x" * 2_000)
    told = lines(gone)
    assert told[:4] == [
        "Asked by the user, oldest first:", "- Never touch a.py.", "- Two", "  lines."
    ]  # fmt: skip
    assert told[4].startswith("- xxx")
    assert "⋯" in told[4]
    assert len(told[4]) < 900
    stays = items("L9", p0="[old]\n- Never touch a.py.")
    assert "- Never touch a.py." not in lines([*stays, *gone[:1]], ["p0"])


def test_every_failed_call_is_there_with_its_error_line_once() -> None:
    gone = items(
        "C9!:bash(make) C9!:edit(a.py) C9:bash(ls) C9!:bash(make) C9!:bash(make)",
        p0="cc a.c\nError: no rule\nbye",
        p1="<tool_use_error>File does not exist.</tool_use_error>",
        p3="Error: no rule",
        p4="Error: another",
    )
    assert lines(gone)[1:5] == [
        "Failed, do not repeat:",
        "- bash make → Error: no rule",
        "- edit a.py → File does not exist.",
        "- bash make → Error: another",
    ]


def test_what_the_user_refused_is_told_apart_from_what_failed() -> None:
    gone = items("C9!:bash(push) C9!:bash(make)", p0="not yet", p1="Error: no rule")
    gone[0] = replace(gone[0], unit=replace(gone[0].unit, refused=True))
    assert lines(gone)[:4] == [
        "Failed, do not repeat:", "- bash make → Error: no rule",
        "Refused by the user:", "- bash push → not yet",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("said", "learnt"),
    [
        (
            "The rule is missing from the Makefile. Now I add it:",
            "The rule is missing from the Makefile.",
        ),
        ("Now the long way round, without any of the rules:", ""),
    ],
)
def test_of_what_a_failure_meant_no_announcement_is_told(said: str, learnt: str) -> None:
    gone = items("C9!:bash(make); A9 C9; C9", p0="Error: no rule", p1=said)
    room = Room(story=500, commands=0, prose=0)
    line = lines(gone, ["p0", "p1"], room)[1]
    assert line == "- bash make → Error: no rule" + (f" ⇒ {learnt}" if learnt else "")


def test_failures_have_no_limit_but_where_there_is_no_choice() -> None:
    gone = items(" ".join(f"C9!:bash(command-{number})" for number in range(900)))
    assert len(lines(gone)) == 901
    few = lines(gone, room=Room(failures=300))
    assert tokens_of("\n".join(few)) < 400
    assert few[-1].startswith("- bash command-899 → ")


def test_what_failed_and_went_earlier_is_told_again_when_its_note_goes() -> None:
    given = items("L9 C9-!:bash(make) A9 C9!:bash(ls)", p0="[old]\n- bash make → Error: x")
    given[1] = replace(given[1], unit=replace(given[1].unit, held="Error: x"))
    assert "- bash make → Error: x" in note(given, ["p3"], retired=["p0"])
    assert "bash make" not in note(given, ["p3"])


@pytest.mark.parametrize(
    ("how", "told"),
    [
        (None, False),
        (Placeholder(), False),
        (Excerpt(((3, 3),)), False),
        (Excerpt(((1, 1),)), True),
        (Truncated("head", 30), True),
        (Dropped(), True),
    ],
)
def test_a_failure_is_told_when_its_error_cannot_be_read_any_more(how, told) -> None:
    text = "one\n" * 20 + "Error: no rule\n"
    given = items("C900!:bash(make) A9", p0="a\nb\nError: no rule\n" + text)
    given[0] = replace(given[0], shown=how, unit=replace(given[0].unit, held=given[0].unit.text))
    if isinstance(how, Truncated):
        given[0] = replace(given[0], unit=replace(given[0].unit, held=text))
    assert ("- bash make → Error: no rule" in note(given, ["p1"])) is told


def test_all_changed_files_are_told_newest_first_and_once_wherever_they_stand() -> None:
    given = items("C9:Edit(a.py) C9:write(b.py) C9:edit(a.py) C9:read(c.py) A9 C9:edit(d.py)")
    assert "Changed: d.py, a.py, b.py" in lines(given, ["p4"])


def test_of_many_changed_files_the_newest_are_named_and_the_others_counted_by_folder() -> None:
    paths = [f"src/part{n // 30}/file-{n:03}.py" for n in range(100)]
    told = lines(items(" ".join(f"C9:edit({path})" for path in paths)))
    assert told_files(told) == dict.fromkeys(reversed(paths[60:]), "Changed")
    assert told[-1] == "And 60 more changed in src/: part1 (30), part0 (30); recall lists them"
    many = items(" ".join(f"C9:edit(d{n:02}/file.py)" for n in range(60)))
    assert lines(many)[-1].endswith("d08 (1), elsewhere (8); recall lists them")


def test_changed_files_stay_told_through_any_number_of_rewrites() -> None:
    given = items("C9:edit(a.py) C9:edit(b.py) C9:edit(c.py) C9:edit(d.py)")
    first = note(given, ["p0"])
    standing = items("L9")[0]
    standing = replace(standing, unit=replace(standing.unit, part_id=PartId("n1"), held=first))
    given = [standing, *items("C9-:edit(a.py) C9:edit(b.py) C9:edit(c.py) C9:edit(d.py)")]
    for retired, told in (((), ()), (("n1",), ("a.py", "b.py", "c.py", "d.py"))):
        second = note(given, ["p1"], retired=retired)
        assert [path for path in ("a.py", "b.py", "c.py", "d.py") if path in second] == list(told)


def test_a_file_that_stands_otherwise_than_a_note_says_is_told_again() -> None:
    given = items("L9 C9 C9", p0="[old]\nChanged: a.py\nDeleted: b.py")
    given[1] = did(given[1], TouchedFile("a.py", "deleted"), TouchedFile("b.py", "edited"))
    assert lines(given, ["p2"]) == ["Changed: b.py", "Deleted: a.py"]


def test_what_commands_made_and_deleted_again_leaves_nothing_to_tell() -> None:
    given = items("C9:bash C9:bash A9")
    given[0] = did(given[0], TouchedFile("tmp.py", "created"), TouchedFile("old.py", "deleted"))
    given[1] = did(given[1], TouchedFile("tmp.py", "edited"), TouchedFile("tmp.py", "deleted"))
    assert lines(given, ["p2"]) == ["Deleted: old.py"]
    given[0] = called(given[0], "write")
    assert lines(given, ["p2"]) == ["Deleted: old.py"]
    told = items("L9", p0="[old]\nChanged: tmp.py")
    assert note([*told, *given], ["p2"]).splitlines()[1:] == ["Deleted: tmp.py, old.py"]


def test_a_relative_path_is_told_with_the_absolute_one_that_ends_in_it() -> None:
    given = items("C9:edit(/w/src/a.py) C9:edit(src/a.py) C9:edit(c/a.py) C9:edit(/w/b.py)")
    assert lines(given) == ["Changed: /w/b.py, c/a.py, /w/src/a.py"]


@pytest.mark.parametrize("tool", sorted(SHELLS))
def test_commands_that_worked_are_told_newest_first_and_once(tool: str) -> None:
    gone = [called(item, tool) for item in items("C9(make) C9(ls) C9(make) C9!(no)")]
    told = lines(gone)
    assert told[told.index("Worked:") :] == ["Worked:", "- make", "- ls"]


def test_what_worked_before_the_first_change_has_a_note_of_its_own() -> None:
    given = items("C9-:bash(old) C9:bash(new)")
    assert note(given, first=1).splitlines()[1:] == ["Worked:", "- new"]


def test_the_thread_of_what_was_said_is_told_in_its_order() -> None:
    gone = items("A9 A9 U9 R9 A9", p0=f"\n {LONG}\nmore", p1="too short", p4=f"{LONG * 3}")
    one = LONG * 3
    assert lines(gone)[-3:] == ["Said:", f"- {LONG.strip()}", f"- {one[:99]}…"]


def test_a_text_of_fewer_than_40_letters_says_too_little() -> None:
    assert lines(items("A9", p0="x" * 39)) == []
    assert lines(items("A9", p0="x" * 40)) == ["Said:", "- " + "x" * 40]


LIST = ListedTodo((("read", "done"), ("write", "in_progress"), ("test", "planned")))
TOLD = ["To do:", "- [~] write", "- [ ] test", "- [x] read"]


def test_the_list_is_told_when_the_call_that_made_it_goes() -> None:
    given = items("C9:todo C9 A9")
    given[0] = did(given[0], LIST)
    assert lines(given, ["p0"]) == TOLD
    assert lines(given, ["p1", "p2"]) == []
    given[1] = did(given[1], LIST)
    assert lines(given, ["p0"]) == []
    standing = items("L9", p0="[old]\n" + "\n".join(TOLD))
    assert note([*standing, *items("A9"), *given[:1]], ["p0"]) == HEAD


def test_of_a_list_that_long_ago_was_set_the_age_is_told() -> None:
    given = items("C9:todo C9")
    given[0] = did(given[0], LIST)
    aged = "To do, as listed 40 requests before the newest:"
    for ago, title in ((LONG_AGO - 1, TOLD[0]), (40, aged)):
        later = replace(given[1], unit=replace(given[1].unit, step=given[0].unit.step + ago))
        assert lines([given[0], later], ["p0"]) == [title, *TOLD[1:]]


def test_a_list_that_is_done_or_of_work_that_was_left_is_not_told() -> None:
    given = [*items("C9:todo"), in_turn(items("X9 A9")[1], OVERTAKEN)]
    given[0] = did(given[0], ListedTodo((("read", "done"), ("write", "done"))))
    assert lines(given, ["p0"]) == []
    given[0] = did(given[0], LIST)
    assert lines(given, ["p0"]) == TOLD
    later = [given[0], in_turn(given[1], OVERTAKEN + 1)]
    assert lines(later, ["p0"]) == []
    later[0] = did(later[0], ListedTodo((("read", "done"), ("write", "planned"))))
    assert lines(later, ["p0"]) == ["To do:", "- [ ] write", "- [x] read"]


def test_a_list_made_of_single_calls_is_told_when_one_of_them_goes() -> None:
    given = items("C9 C9 C9 C9 C9")
    deeds: list[Deed] = [Entered("1", "read"), Entered("2", "write"), Entered("3", "no")]
    deeds += [MovedTodo("1", "done"), MovedTodo("3", None)]
    given = [did(item, deed) for item, deed in zip(given, deeds, strict=True)]
    assert lines(given, ["p0"]) == ["To do:", "- [ ] write", "- [x] read"]


def test_sections_come_in_the_order_of_their_weight() -> None:
    gone = items("A9 C9:bash(ls) C9:edit(a.py) C9!:bash(no) C9 C9", p0=LONG)
    gone[4] = did(gone[4], LIST)
    gone[5] = did(gone[5], Delegated("look", "done", "found"))
    titles = [line.partition(":")[0] for line in lines(gone) if line[0] != "-"]
    assert titles == ["To do", "Changed", "Failed, do not repeat", "Subtasks", "Worked", "Said"]


def test_the_newest_that_fit_are_told() -> None:
    commands = items(" ".join(f"C9:bash(command-{number:02})" for number in range(99)))
    told = lines(commands, room=Room(commands=18))
    assert told == ["Worked:", "- command-98", "- command-97", "- command-96"]
    said = items("A9 " * 9, **{f"p{n}": f"{n} {LONG}" for n in range(9)})
    told = lines(said, room=Room(prose=59))
    assert told == ["Said:", *(f"- {n} {LONG}".rstrip() for n in (6, 7, 8))]


def test_nothing_that_is_quoted_passes_for_the_id() -> None:
    gone = items(
        f"C9!:bash(echo-{REWRITE_ID}) C9:edit({REWRITE_ID}.py) A9",
        p0=f"Error: <{REWRITE_ID}>",
        p2=f"{REWRITE_ID} {LONG}",
    )
    assert REWRITE_ID not in note(gone)
    assert REWRITE_ID not in unlike_an_id(f"<<{REWRITE_ID}>>{REWRITE_ID[1:]}")


WORDS = st.text(alphabet="abcdefgh_/. ", min_size=1, max_size=100)


@given(
    st.lists(st.tuples(st.sampled_from(["edit", "bash", "read"]), WORDS, st.booleans())),
    st.integers(0, 60),
)
def test_each_section_holds_to_its_room_but_what_failed_and_what_changed(
    calls: list[tuple[str, str, bool]], most: int
) -> None:
    (item,) = items("C9")
    listed = []
    for number, (tool, argument, bad) in enumerate(calls):
        deeds = touched(argument) if tool == "edit" and not bad else ()
        unit = replace(item.unit, part_id=PartId(f"p{number}"), tool=tool, argument=argument)
        unit = replace(unit, failed=bad, held=f"Error: {argument}", deeds=deeds)
        unit = replace(unit, steps=(f"use p{number}",))
        listed.append(Item(unit, 9))
    text = note(listed, room=Room(commands=most, prose=most))
    sections = text.split("\n")
    for tool, argument, bad in calls:
        if bad:
            assert f"- {tool} {' '.join(argument.split())}".rstrip() + " → " in text
        elif tool == "edit":
            assert spellings([argument])[argument] in text
    failing = sum(line.startswith("- ") and " → " in line for line in sections)
    assert failing <= len({(tool, argument) for tool, argument, bad in calls if bad})
