"""A restore is undone like anything else: done again, with the user's part still the user's."""

from tests.core.folders import desk, fates, lines, reason


def test_a_restore_is_undone_and_done_again() -> None:
    d = desk("a", "b")
    before = dict(d.tree)
    d.file("a", "agent\n")
    d.file("new", "agent\n")
    d.move("b", "c")
    d.by_both()
    after = dict(d.tree)
    restore = d.carry_out(d.plan())
    assert d.tree == before
    plan = d.redo(restore)
    assert set(fates(plan).values()) == {"restored"}
    assert reason(plan, "a") == "Again as it was before the restore changed it."
    redone = d.carry_out(plan)
    assert d.tree == after
    d.carry_out(d.redo(redone))
    assert d.tree == before


def test_a_restore_is_undone_whoever_is_named_as_its_author() -> None:
    d = desk("a")
    d.file("a", "agent\n")
    d.by_tool()
    for action in d.plan().actions:
        assert action.entry is not None
        d.tree[action.path] = action.entry
    restore = d.by_user()
    assert fates(d.redo(restore)) == {"a": "restored"}


def test_what_the_user_did_after_a_restore_is_in_the_way_of_its_redo() -> None:
    d = desk("a", "b")
    d.file("a", "agent\n")
    d.file("b", "agent\n")
    d.by_tool()
    restore = d.carry_out(d.plan())
    d.file("a", "user\n")
    d.by_user()
    plan = d.redo(restore)
    assert fates(plan) == {"a": "conflict", "b": "restored"}
    assert reason(plan, "a").startswith("The restore changed it, and you")
    d.carry_out(d.redo(restore, "keep"))
    assert (d.text("a"), d.text("b")) == ("user\n", "agent\n")


def test_a_redo_brings_back_what_a_restore_overwrote() -> None:
    d = desk("a")
    d.file("a", "agent\n")
    d.by_tool()
    d.file("a", "user\n")
    d.by_user()
    restore = d.carry_out(d.plan("overwrite"))
    assert d.text("a") == lines("a")
    d.carry_out(d.redo(restore))
    assert d.text("a") == "user\n"
    # The user's part is still the user's, though a restore wrote it last.
    assert fates(d.plan()) == {"a": "conflict"}
