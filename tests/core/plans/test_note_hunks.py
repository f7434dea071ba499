"""What edits out of view came to, as a note tells them: hunks whole or counted, none twice."""

from dataclasses import replace

from sidecar.core.ledger.replacements import Replacement
from sidecar.core.ledger.units import Item
from sidecar.core.parts import PartId
from sidecar.core.plans.note import write_note
from sidecar.core.plans.plan import Change, Room
from sidecar.core.prompt.visibility import Dropped
from tests.core.plans.test_note import HEAD, items, left_by, lines


def replacing(item: Item, path: str, old: str, new: str) -> Item:
    replaced = (Replacement(path, old, new),)
    unit = replace(item.unit, held="edited", call=f"{path} {old} {new}", replaced=replaced)
    return replace(item, unit=unit)


HUNKS = Room(hunks=500, commands=0, prose=0)


def test_what_edits_came_to_is_told_though_the_newest_of_them_stands_below() -> None:
    listed = items("C9:tool C9:tool")
    listed[0] = replacing(listed[0], "a.py", "x = 1", "x = 2\nkept = 3")
    listed[1] = replacing(listed[1], "a.py", "x = 2", "x = 4")
    title = "What edits came to, newest first, as it stands unless a command changed it:"
    assert lines(listed, ["p0"], HUNKS) == [title, "a.py:", "-x = 1", "+x = 4", "+kept = 3"]
    assert lines(listed, [], HUNKS) == []


def test_edits_that_stand_below_are_told_of_no_more_and_those_without_room_are_counted() -> None:
    listed = items("C9:tool C9:tool C9:tool X9")
    listed[0] = replacing(listed[0], "a.py", "one", "first = 1")
    listed[1] = replacing(listed[1], "a.py", "two", "second = " + "2" * 4_000)
    listed[2] = replacing(listed[2], "a.py", "six", "sixth = 6")
    gone = ["p0", "p1", "p2"]
    more = "⋯ 1 more edit, +1 -1 lines; recall p1"
    told = lines(listed, gone, HUNKS)[1:]
    assert told == ["a.py:", "-six", "+sixth = 6", "@@", "-one", "+first = 1", more]
    changes = [Change(PartId(part), Dropped(), "old", 0, 0) for part in gone]
    after = left_by(listed, changes)
    text = write_note(after, head=HEAD, room=HUNKS, files="  7→sixth = 6")
    assert text.splitlines()[2:] == ["a.py:", "-one", "+first = 1", more]


def test_hunks_stand_under_the_file_s_name_in_the_workspace() -> None:
    listed = items("C9:tool C9:tool")
    listed[0] = replacing(listed[0], "/w/src/a.py", "x = 1", "x = 2")
    after = left_by(listed, [Change(PartId("p0"), Dropped(), "old", 0, 0)])
    for root, name in (("/w", "src/a.py"), ("", "/w/src/a.py"), ("/x", "/w/src/a.py")):
        text = write_note(after, head=HEAD, room=HUNKS, root=root)
        assert text.splitlines()[2:] == [f"{name}:", "-x = 1", "+x = 2"]


def test_a_hunk_is_told_whole_or_counted() -> None:
    listed = items("C9:tool C9:tool C9:tool X9")
    long = [f"row_{n} = {n}" for n in range(59)]
    listed[0] = replacing(listed[0], "a.py", "end", "\n".join(long))
    listed[1] = replacing(listed[1], "a.py", "next", "following = 1")
    listed[2] = replacing(listed[2], "b.py", "tail", "\n".join(long[:30]))
    told = lines(listed, ["p0", "p1", "p2"], replace(HUNKS, hunks=2_000))[1:]
    assert told == [
        "b.py:", "-tail", *(f"+{line}" for line in long[:30]),
        "a.py:", "-next", "+following = 1", "⋯ 1 more edit, +59 -1 lines; recall p0",
    ]  # fmt: skip


def test_a_file_whose_only_hunk_is_too_large_is_named_with_its_lines() -> None:
    listed = items(" ".join(["C9:tool"] * 6) + " X9")
    for n in range(6):
        new = "\n".join(f"row_{n}_{line} = {line}" for line in range(70))
        listed[n] = replacing(listed[n], f"/w/src/a{n}.py", "end\nlast", new)
    told = lines(listed, [f"p{n}" for n in range(6)], HUNKS)[1:]
    assert told == [
        f"⋯ src/a{n}.py: 1 edit, +70 -2 lines; recall p{n}" for n in (5, 4, 3, 2)
    ]  # fmt: skip


def test_edits_of_a_file_that_cannot_be_told_apart_are_told_once() -> None:
    listed = items("C9:tool C9:tool X9")
    place = "  'timeout_seconds',"
    for n in range(2):
        listed[n] = replacing(listed[n], "a.py", f"{place}\n# {n}", f"{place}\n  'more',\n# {n}")
    assert lines(listed, ["p0", "p1"], HUNKS)[1:] == ["a.py:", f"@@ {place}", "+  'more',"]


def test_a_hunk_that_another_file_has_too_is_told_once() -> None:
    listed = items("C9:tool C9:tool X9")
    place, new = (
        "def parsed(text):",
        "    return parsed(text) or fallback(text)  # as the old one did",
    )
    for n, path in enumerate(("a.py", "b.py")):
        listed[n] = replacing(listed[n], path, f"{place}\n    pass", f"{place}\n{new}")
    told = lines(listed, ["p0", "p1"], HUNKS)[1:]
    assert told == [
        "b.py:", f"@@ {place}", "-    pass", f"+{new}",
        "a.py:", f"@@ {place}", f"= as in b.py @@ {place}",
    ]  # fmt: skip
