"""What is undone and what is not, path by path, when an agent and a user worked side by side."""

import pytest

from sidecar.core.files.changeset import ChangeSet, ToolWrite, attribute
from sidecar.core.files.reconcile import OnConflict
from sidecar.core.files.tree import SnapshotId, TreeEntry
from tests.core.folders import desk, fates, is_nothing, lines, reason
from tests.core.trees import compare

EVERY: tuple[OnConflict, ...] = ("refuse", "keep", "overwrite", "merge")


def test_what_tools_and_commands_did_is_undone() -> None:
    d = desk("a", "src/b")
    before = dict(d.tree)
    d.file("a", "tool\n")
    d.by_tool()
    d.remove("src/b")
    d.file("src/c", "shell\n")
    d.by_shell()
    plan = d.plan()
    assert fates(plan) == {"a": "restored", "src/b": "restored", "src/c": "restored"}
    assert reason(plan, "a") == "Again as it was before the agent changed it."
    assert reason(plan, "src/b") == "Brought back as it was before the agent changed or removed it."
    assert reason(plan, "src/c") == "Removed: the agent had made it."
    d.carry_out(plan)
    assert d.tree == before


@pytest.mark.parametrize("on_conflict", EVERY)
def test_the_users_own_files_are_left_alone(on_conflict: OnConflict) -> None:
    d = desk("a", "u", "v")
    d.file("a", "agent\n")
    d.by_tool()
    d.file("u", "user\n")
    d.remove("v")
    d.file("w", "user\n")
    d.by_user()
    plan = d.plan(on_conflict)
    assert fates(plan) == {"a": "restored", "u": "skipped", "v": "skipped", "w": "skipped"}
    assert reason(plan, "w") == "Only you or another program changed it."
    d.carry_out(plan)
    assert d.text("a") == lines("a")
    assert d.text("u") == d.text("w") == "user\n"
    assert d.text("v") is None


def test_only_what_the_agent_did_in_all_is_undone() -> None:
    d = desk("a")
    for content in ("1\n", "2\n", lines("a")):
        d.file("a", content)
        d.by_tool()
    d.file("b", "made\n")
    d.by_tool()
    d.remove("b")
    d.by_shell()
    plan = d.plan()
    assert fates(plan) == {"a": "skipped", "b": "skipped"}
    assert "taken back already" in reason(plan, "a")
    assert is_nothing(plan)


def test_what_a_tool_brought_back_within_a_step_is_known_with_its_size() -> None:
    d = desk("a")
    first = d.tree[b"a"]
    second = d.file("a", "two\n")
    d.by_tool()
    before = dict(d.tree)
    d.file("a", "three\n")
    found = attribute(
        compare(before, d.tree),
        tools=[ToolWrite(b"a", second, first)],
        shell=True,
        saved=(),
        between_steps=False,
    )
    d.sets.append(ChangeSet(SnapshotId(1), SnapshotId(2), found))
    (action,) = d.plan().actions
    assert action.entry == first


def test_what_the_user_did_before_the_agent_stays() -> None:
    d = desk("a")
    d.file("a", "user\n")
    d.by_user()
    d.file("a", "agent\n")
    d.by_tool()
    plan = d.plan()
    assert fates(plan) == {"a": "restored"}
    d.carry_out(plan)
    assert d.text("a") == "user\n"


def test_what_the_agent_threw_away_of_the_users_comes_back() -> None:
    d = desk("a")
    d.file("a", "user\n")
    d.by_user()
    d.file("a", lines("a"))
    d.by_shell()
    d.carry_out(d.plan())
    assert d.text("a") == "user\n"


@pytest.mark.parametrize(
    ("on_conflict", "fate", "left"),
    [
        ("refuse", "conflict", "user\n"),
        ("keep", "skipped", "user\n"),
        ("overwrite", "restored", None),
        ("merge", "conflict", "user\n"),
    ],
)
def test_a_file_that_the_agent_made_and_the_user_edited(
    on_conflict: OnConflict, fate: str, left: str | None
) -> None:
    d = desk()
    d.file("a", "agent\n")
    d.by_tool()
    d.file("a", "user\n")
    d.by_user()
    plan = d.plan(on_conflict)
    assert fates(plan) == {"a": fate}
    d.carry_out(plan)
    assert d.text("a") == left
    if fate == "conflict":
        (conflict,) = plan.conflicts
        assert conflict.theirs is None
        assert conflict.base is not None
        assert d.blobs[conflict.base.hash] == b"agent\n"
        assert conflict.mine == d.tree[b"a"]


@pytest.mark.parametrize(
    ("on_conflict", "fate"),
    [("refuse", "conflict"), ("keep", "skipped"), ("overwrite", "restored"), ("merge", "conflict")],
)
def test_a_file_that_the_agent_removed_and_the_user_made_anew(
    on_conflict: OnConflict, fate: str
) -> None:
    d = desk("a")
    d.remove("a")
    d.by_tool("a")
    d.file("a", "user\n")
    d.by_user()
    plan = d.plan(on_conflict)
    assert fates(plan) == {"a": fate}
    assert "made it anew" in reason(plan, "a") or fate == "restored" or on_conflict == "merge"
    d.carry_out(plan)
    assert d.text("a") == (lines("a") if fate == "restored" else "user\n")


@pytest.mark.parametrize(
    ("on_conflict", "fate"),
    [("refuse", "conflict"), ("keep", "skipped"), ("overwrite", "restored"), ("merge", "conflict")],
)
def test_a_file_that_the_agent_edited_and_the_user_removed(
    on_conflict: OnConflict, fate: str
) -> None:
    d = desk("a")
    d.file("a", "agent\n")
    d.by_tool()
    d.remove("a")
    d.by_user()
    plan = d.plan(on_conflict)
    assert fates(plan) == {"a": fate}
    d.carry_out(plan)
    assert d.text("a") == (lines("a") if fate == "restored" else None)


def test_a_file_of_the_users_where_one_of_the_agents_was_is_never_deleted() -> None:
    for on_conflict in EVERY:
        d = desk()
        d.file("a", "agent\n")
        d.by_tool()
        d.remove("a")
        d.by_user()
        d.file("a", "user\n")
        d.by_user()
        plan = d.plan(on_conflict)
        assert fates(plan) == {"a": "skipped"}
        assert not plan.actions


def test_what_the_user_undid_by_hand_is_no_conflict() -> None:
    d = desk("a", "b")
    d.file("a", "agent\n")
    d.remove("b")
    d.by_shell()
    d.file("a", lines("a"))
    d.file("b", lines("b"))
    d.by_user()
    assert fates(d.plan()) == {"a": "skipped", "b": "skipped"}
    d.file("a", "agent again\n")
    d.by_tool()
    assert fates(d.plan()) == {"a": "restored", "b": "skipped"}


def test_what_no_change_set_tells_counts_as_the_users() -> None:
    d = desk("a", "b")
    d.file("a", "agent\n")
    d.file("b", "agent\n")
    d.by_tool()
    d.file("a", "unseen\n")
    d.remove("b")
    plan = d.plan()
    assert fates(plan) == {"a": "conflict", "b": "conflict"}


def test_refusing_leaves_everything_as_it_is_and_tells_what_would_be() -> None:
    d = desk("a", "b")
    d.file("a", "agent\n")
    d.file("b", "agent\n")
    d.by_tool()
    d.file("a", "user\n")
    d.by_user()
    plan = d.plan()
    assert fates(plan) == {"a": "conflict", "b": "restored"}
    assert not plan.actions
    assert not is_nothing(plan)
    assert d.plan() == plan
    kept = d.plan("keep")
    assert fates(kept) == {"a": "skipped", "b": "restored"}
    assert reason(kept, "a") == (
        "Left as it is. The agent changed it, and you or another program changed it since."
    )
    assert [action.path for action in kept.actions] == [b"b"]
    over = d.plan("overwrite")
    assert "overwritten, as asked" in reason(over, "a")
    assert "overwritten" not in reason(over, "b")


def test_modes_and_links_are_undone() -> None:
    d = desk("a", "b", "c")
    d.link("l", "a")
    d.begin()
    before = dict(d.tree)
    d.mode("a", 0o755)
    d.link("l", "b")
    d.remove("c")
    d.link("c", "a")
    d.by_shell()
    plan = d.plan()
    assert fates(plan) == {"a": "restored", "c": "restored", "l": "restored"}
    assert reason(plan, "a") == "Its mode is again what it was before the agent changed it."
    d.carry_out(plan)
    assert d.tree == before


def test_a_mode_that_the_user_changed_since_is_a_conflict_that_merges() -> None:
    d = desk("a")
    d.file("a", "agent\n")
    d.by_tool()
    d.mode("a", 0o755)
    d.by_user()
    plan = d.plan()
    assert fates(plan) == {"a": "conflict"}
    assert reason(plan, "a").endswith("changed its mode since.")
    merged = d.plan("merge")
    assert fates(merged) == {"a": "merged"}
    d.carry_out(merged)
    assert d.text("a") == lines("a")
    assert d.tree[b"a"].mode == 0o100755


def test_only_the_named_paths_are_restored() -> None:
    d = desk("a", "src/b", "src/deep/c")
    d.file("a", "x\n")
    d.file("src/b", "x\n")
    d.file("src/deep/c", "x\n")
    d.file("other", "x\n")
    d.by_tool()
    d.file("a", "user\n")
    d.by_user()
    assert fates(d.plan(paths=["src"])) == {"src/b": "restored", "src/deep/c": "restored"}
    assert fates(d.plan(paths=["src/b"])) == {"src/b": "restored"}
    assert fates(d.plan(paths=["a"])) == {"a": "conflict"}
    plan = d.plan(paths=["nowhere", "src/b"])
    assert fates(plan) == {"src/b": "restored", "nowhere": "skipped"}
    assert reason(plan, "nowhere") == "Nothing was changed here since then."
    assert is_nothing(d.plan(paths=["nowhere"]))
    assert fates(d.plan(paths=[""])) == fates(d.plan())
    assert d.plan(paths=[]).fates == ()


def test_a_dirty_buffer_in_the_way_is_a_conflict() -> None:
    d = desk("a", "b")
    d.file("a", "agent\n")
    d.by_tool()
    for on_conflict in ("refuse", "overwrite", "merge"):
        plan = d.plan(on_conflict, dirty={"a": "typed\n", "b": "typed\n"})
        assert fates(plan) == {"a": "conflict"}
        assert "not saved" in reason(plan, "a")
        assert not plan.actions
    assert fates(d.plan("keep", dirty={"a": "typed\n"})) == {"a": "skipped"}


def test_a_buffer_that_shows_what_is_to_be_written_is_in_nobodys_way() -> None:
    d = desk("a", "b")
    d.file("a", "agent\n")
    d.remove("b")
    d.file("made", "agent\n")
    d.by_tool()
    shown = {"a": lines("a"), "b": lines("b"), "made": "agent\n"}
    d.remove("made")
    d.by_user()
    plan = d.plan(dirty=shown)
    assert fates(plan) == {"a": "restored", "b": "restored", "made": "skipped"}
    # What others changed on disk is told as ever, and a merge is not what is shown.
    d.file("a", lines("a", {3: "user"}.get))
    d.by_user()
    assert reason(d.plan(dirty=shown), "a").startswith("The agent changed it, and you")
    assert "not saved" in reason(d.plan("merge", dirty=shown), "a")
    assert fates(d.plan("overwrite", dirty=shown))["a"] == "restored"


def test_an_unsaved_buffer_of_a_file_that_is_to_go_is_in_the_way() -> None:
    d = desk()
    d.file("made", "agent\n")
    d.by_tool()
    assert fates(d.plan(dirty={"made": ""})) == {"made": "conflict"}


def test_nothing_to_do_is_an_empty_plan() -> None:
    d = desk("a")
    assert d.plan().fates == ()
    assert is_nothing(d.plan())


def test_another_sessions_agent_is_the_user_to_this_one() -> None:
    d = desk("a")
    d.file("a", "this session\n")
    d.by_tool()
    ours = d.sets[:]
    d.file("a", "the other session\n")
    theirs = d.by_tool()
    d.sets[:] = [*ours, ChangeSet(SnapshotId(1), SnapshotId(2), ())]
    assert fates(d.plan()) == {"a": "conflict"}
    assert theirs.changes


def test_a_path_that_rules_ignore_now_is_not_touched() -> None:
    d = desk("build/a")
    d.file("build/a", "agent\n")
    d.by_shell()
    d.tree[b"build/a"] = TreeEntry(0o100644, size=6, lost="ignored")
    plan = d.plan("overwrite")
    assert fates(plan) == {"build/a": "skipped"}
    assert "ignore rules" in reason(plan, "build/a")
