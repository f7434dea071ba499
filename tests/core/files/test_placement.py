"""Folders in a rollback: they come before what they hold, and go only when they are empty."""

from sidecar.core.files.reconcile import Choices
from sidecar.core.files.restore_plan import plan_restore
from sidecar.core.files.tree import TreeEntry
from tests.core.folders import Desk, desk, fates, reason


def actions(d: Desk) -> list[str]:
    return [action.path.decode() for action in d.plan().actions]


def test_folders_that_the_agent_made_go_once_they_are_empty() -> None:
    d = desk("a")
    d.folder("d")
    d.folder("d/e")
    d.file("d/e/x", "agent\n")
    d.file("d/y", "agent\n")
    d.by_tool()
    plan = d.plan()
    assert fates(plan) == dict.fromkeys(("d", "d/e", "d/e/x", "d/y"), "restored")
    assert reason(plan, "d") == "Removed: the agent had made it, and it is empty now."
    assert actions(d) == ["d/e/x", "d/y", "d/e", "d"]


def test_a_folder_of_the_agents_with_something_of_the_users_in_it_stays() -> None:
    d = desk()
    d.folder("d")
    d.folder("d/e")
    d.file("d/e/x", "agent\n")
    d.by_tool()
    d.file("d/mine", "user\n")
    d.by_user()
    plan = d.plan()
    assert fates(plan) == {
        "d": "skipped",
        "d/e": "restored",
        "d/e/x": "restored",
        "d/mine": "skipped",
    }
    assert reason(plan, "d") == "Left where it is. It is not empty: mine."
    d.carry_out(plan)
    assert set(d.tree) == {b"d", b"d/mine"}


def test_an_empty_folder_of_the_agents_goes_whatever_mode_it_has() -> None:
    d = desk()
    d.folder("d")
    d.by_shell()
    d.folder("d", 0o700)
    d.by_user()
    assert fates(d.plan()) == {"d": "restored"}


def test_ignored_files_keep_a_folder() -> None:
    d = desk()
    d.folder("d")
    d.file("d/x", "agent\n")
    d.by_tool()
    inside = {b"d": [b"d/x", b"d/__pycache__"]}
    plan = plan_restore(
        d.sets, d.tree, Choices(d.blobs.get), inside=lambda folder: inside.get(folder, ())
    )
    assert fates(plan) == {"d": "skipped", "d/x": "restored"}
    assert reason(plan, "d").endswith("not empty: __pycache__.")


def test_folders_that_the_agent_removed_come_back_with_their_modes_empty_ones_too() -> None:
    d = desk("d/e/x")
    d.folder("d/empty", 0o700)
    d.begin()
    before = dict(d.tree)
    d.remove("d")
    d.by_shell()
    assert actions(d) == ["d", "d/e", "d/empty", "d/e/x"]
    d.carry_out(d.plan())
    assert d.tree == before


def test_a_folder_that_the_user_made_anew_is_there_already() -> None:
    d = desk("d/x")
    d.remove("d")
    d.by_shell()
    d.folder("d")
    d.by_user()
    assert fates(d.plan()) == {"d": "skipped", "d/x": "restored"}


def test_a_file_that_became_a_folder_and_a_folder_that_became_a_file() -> None:
    d = desk("a", "d/e/x")
    before = dict(d.tree)
    d.remove("a")
    d.folder("a")
    d.folder("a/b")
    d.file("a/b/y", "agent\n")
    d.remove("d")
    d.file("d", "agent\n")
    d.by_shell()
    assert actions(d) == ["a/b/y", "a/b", "d", "d/e", "a", "d/e/x"]
    d.carry_out(d.plan())
    assert d.tree == before


def test_a_file_does_not_come_back_over_what_others_put_where_it_was() -> None:
    d = desk("a", "d/x")
    d.remove("a")
    d.folder("a")
    d.remove("d/x")
    d.by_shell()
    d.file("a/mine", "user\n")
    d.remove("d")
    d.file("d", "user\n")
    d.by_user()
    plan = d.plan("overwrite")
    assert fates(plan) == {"a": "conflict", "a/mine": "skipped", "d": "skipped", "d/x": "conflict"}
    assert reason(plan, "a") == "It is not empty: mine."
    assert reason(plan, "d/x") == "Its folder d is a file now."
    assert not plan.actions
    assert fates(d.plan("keep"))["a"] == "skipped"


def test_a_folder_that_others_removed_comes_back_for_what_is_restored_in_it() -> None:
    d = desk("d/x")
    d.remove("d/x")
    d.by_shell()
    d.remove("d")
    d.by_user()
    plan = d.plan(paths=["d/x"])
    assert fates(plan) == {"d": "restored", "d/x": "restored"}
    assert reason(plan, "d").startswith("Made again for what comes back in it")
    d.carry_out(plan)
    assert set(d.tree) == {b"d", b"d/x"}


def test_a_folder_that_some_paths_empty_goes_with_them() -> None:
    d = desk()
    d.folder("d")
    d.file("d/x", "agent\n")
    d.folder("f")
    d.file("f/x", "agent\n")
    d.file("f/y", "agent\n")
    d.by_tool()
    assert fates(d.plan(paths=["d/x"])) == {"d": "restored", "d/x": "restored"}
    assert fates(d.plan(paths=["f/x"])) == {"f/x": "restored"}


def test_a_rename_is_undone_only_where_both_paths_can_be() -> None:
    d = desk("d/x")
    d.move("d/x", "y")
    d.by_shell()
    d.remove("d")
    d.file("d", "user\n")
    d.by_user()
    plan = d.plan("overwrite")
    assert fates(plan) == {"d": "skipped", "d/x": "conflict", "y": "conflict"}
    assert reason(plan, "y").startswith("It was renamed together with d/x")


def test_folders_are_opened_first_and_closed_last() -> None:
    d = desk("closed/x", "open/x")
    d.folder("closed", 0o555)
    d.begin()
    before = dict(d.tree)
    d.folder("closed", 0o755)
    d.file("closed/x", "agent\n")
    d.file("open/x", "agent\n")
    d.folder("open", 0o555)
    d.by_shell()
    assert actions(d) == ["open", "closed/x", "open/x", "closed"]
    d.carry_out(d.plan())
    assert d.tree == before


def test_modes_of_folders_merge_and_clash_as_those_of_files() -> None:
    d = desk("d/x")
    d.folder("d", 0o700)
    d.by_shell()
    d.folder("d", 0o711)
    d.by_user()
    assert fates(d.plan()) == {"d": "conflict"}
    plan = d.plan("merge")
    assert fates(plan) == {"d": "merged"}
    assert plan.actions[0].entry == TreeEntry(0o040755)
    assert plan.actions[0].content is None
