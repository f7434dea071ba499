"""Renames in a rollback: undone as what they were."""

from tests.core.folders import desk, fates, reason


def test_a_rename_is_undone_as_one() -> None:
    d = desk("Readme")
    before = dict(d.tree)
    d.move("Readme", "README")
    d.by_shell()
    d.file("README", "edited\n")
    d.by_tool()
    plan = d.plan()
    assert fates(plan) == {"README": "restored", "Readme": "restored"}
    assert reason(plan, "README") == "Moved back to Readme."
    assert reason(plan, "Readme") == "Moved back from README."
    assert d.plan("overwrite") == plan
    # Where case makes no difference, both are one file: it has to go before it comes.
    assert [action.path for action in plan.actions] == [b"README", b"Readme"]
    d.carry_out(plan)
    assert d.tree == before


def test_a_file_that_was_moved_twice_goes_back_to_where_it_was_first() -> None:
    d = desk("a")
    before = dict(d.tree)
    d.move("a", "b")
    d.by_shell()
    d.move("b", "c")
    d.by_shell()
    plan = d.plan(paths=["c"])
    assert fates(plan) == {"a": "restored", "c": "restored"}
    assert reason(plan, "a") == "Moved back from c."
    whole = d.plan()
    assert fates(whole) == {"a": "restored", "b": "skipped", "c": "restored"}
    d.carry_out(whole)
    assert d.tree == before


def test_what_the_agent_made_and_moved_is_removed_not_moved_back() -> None:
    d = desk()
    d.file("a", "first\n")
    d.by_tool()
    d.move("a", "b")
    d.by_shell()
    d.file("a", "second\n")
    d.by_tool()
    plan = d.plan()
    assert fates(plan) == {"a": "restored", "b": "restored"}
    assert reason(plan, "a") == reason(plan, "b") == "Removed: the agent had made it."
