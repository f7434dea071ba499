"""What people asked to keep."""

from dataclasses import replace

import pytest

from sidecar.core.conversation.wishes import ANY_AGENT, Preserve, for_agent
from sidecar.core.ledger.replacements import Replacement
from sidecar.core.plans.preserve import preserved
from tests.core.plans.test_note import did, touched
from tests.core.policies.situations import history, saying


@pytest.mark.parametrize(
    ("argument", "kept"),
    [
        ("src/plan.py", True),
        ("./src/plan.py", True),
        ("/home/me/project/src/plan.py", True),
        ("other-src/plan.py", False),
        ("src/plan.pyc", False),
        ("plan.py", False),
    ],
)
def test_calls_about_what_the_user_named_are_kept(argument: str, kept: bool) -> None:
    items = history(f"U10 C100:Read({argument}); A10 U10")
    items[3] = saying(items[3], "please keep src/plan.py")
    assert preserved(items) == ({"p1"} if kept else set())


def test_the_newest_looks_at_what_the_user_named_are_kept_as_far_as_there_is_room() -> None:
    about = "(src/plan.py)"
    items = history(f"U10 C90{about}; C500*{about}; C60{about}; C70; C80{about}; C40{about}")
    items[0] = saying(items[0], "keep src/plan.py in mind")
    assert preserved(items) == {"p1", "p2", "p3", "p5", "p6"}
    # What is pinned takes no room, and what does not fit hides nothing that does.
    assert preserved(items, None, 180) == {"p2", "p3", "p5", "p6"}
    assert preserved(items, None, 179) == {"p2", "p5", "p6"}
    assert preserved(items, None, 100) == {"p2", "p3", "p6"}


def test_a_look_that_a_later_change_or_look_supersedes_gives_way() -> None:
    about = "(src/plan.py)"
    items = history(
        f"U10 C90{about}; C9:edit{about}; C8:edit{about}; C7{about}; C6{about}; C5{about}"
    )
    items[0] = saying(items[0], "keep src/plan.py in mind")
    edited = touched("src/plan.py")
    part, whole = (touched("src/plan.py", "read", lines) for lines in (((1, 9),), ()))
    for number, deeds in enumerate((whole, edited, edited, part, whole, part), 1):
        items[number] = did(items[number], *deeds)
    assert preserved(items) == {"p2", "p3", "p5", "p6"}


@pytest.mark.parametrize(
    ("last", "kept"),
    [
        (Replacement("src/plan.py", None, "all = 1\n"), {"p3"}),
        (Replacement("src/plan.py", "a = 2", "a = 3"), {"p1", "p2", "p3"}),
        (Replacement("src/plan.py"), {"p1", "p2", "p3"}),
        (Replacement("other.py", None, "all = 1\n"), {"p1", "p2", "p3"}),
    ],
)
def test_edits_of_a_file_that_was_written_whole_afterwards_give_way(
    last: Replacement, kept: set[str]
) -> None:
    items = history("U10 C90:edit(src/plan.py); C90:edit(src/plan.py); C90:write(src/plan.py)")
    items[0] = saying(items[0], "keep src/plan.py in mind")
    made = (Replacement("src/plan.py", "a = 1", "a = 2"),) * 2
    for number, one in enumerate((*made, last), 1):
        edited = replace(items[number].unit, replaced=(one,), deeds=touched(one.path))
        items[number] = replace(items[number], unit=edited)
    assert preserved(items) == kept


def test_edits_of_a_file_that_was_deleted_afterwards_give_way() -> None:
    items = history("U10 C90:edit(src/plan.py); C9:bash(rm)")
    items[0] = saying(items[0], "keep src/plan.py in mind")
    made = (Replacement("src/plan.py", "a = 1", "a = 2"),)
    items[1] = did(items[1], *touched("src/plan.py"))
    items[1] = replace(items[1], unit=replace(items[1].unit, replaced=made))
    items[2] = did(items[2], *touched("src/plan.py", "deleted"))
    assert preserved(items) == set()


def test_a_look_that_is_stale_gives_way_unless_settings_or_a_pin_keep_it() -> None:
    items = history("U10 C90(src/plan.py); C90*(src/plan.py); C90:Shell(src/plan.py)")
    items[0] = saying(items[0], "keep src/plan.py in mind")
    settings = Preserve(tools=frozenset({"shell"}))
    assert preserved(items, settings, stale=lambda _: True) == {"p2", "p3"}


def test_a_path_is_the_same_with_and_without_a_leading_dot() -> None:
    items = history("U10 C100:Read(src/plan.py); A10 U10")
    items[3] = saying(items[3], "please keep `./src/plan.py`")
    assert preserved(items) == {"p1"}


def test_what_the_model_says_to_keep_is_no_wish() -> None:
    items = history("U10 C100:Read(src/plan.py); A10")
    items[2] = saying(items[2], "I keep src/plan.py in mind")
    assert preserved(items) == set()


def test_pinned_parts_are_kept() -> None:
    assert preserved(history("U10 C100*; C100")) == {"p1"}


@pytest.mark.parametrize(
    ("settings", "kept"),
    [
        (Preserve(), set()),
        (Preserve(tools=frozenset({"Todo"})), {"p1"}),
        (Preserve(patterns=(r"^schema\.sql$",)), {"p2"}),
        (Preserve(patterns=(r"(?i)create TABLE \w+",)), {"p2"}),
        (Preserve(texts=("create table (",)), set()),
        (Preserve(texts=("create table",), tools=frozenset({"todo"})), {"p1", "p2"}),
        (Preserve(texts=("",)), set()),
    ],
)
def test_settings_keep_by_tool_by_pattern_and_by_text(settings: Preserve, kept: set[str]) -> None:
    items = history("U10 C100:todo(list); C100:Read(schema.sql); C100:Read(other)")
    items[2] = saying(items[2], "create table users (id int)", call="schema.sql")
    assert preserved(items, settings) == kept


def test_an_agent_has_its_own_settings_and_those_of_all() -> None:
    settings = {
        ANY_AGENT: Preserve(patterns=("a",), tools=frozenset({"todo"})),
        "plan": Preserve(patterns=("a", "b"), texts=("t",)),
    }
    everyone = for_agent(settings, "build")
    assert everyone == settings[ANY_AGENT]
    planner = for_agent(settings, "plan")
    assert planner == Preserve(("a", "b"), frozenset({"todo"}), ("t",))
    assert not for_agent({}, "build")


def test_a_pattern_that_is_none_says_so() -> None:
    with pytest.raises(ValueError, match=r"preserve: '\(' is not a regular expression"):
        Preserve(patterns=("(",))
