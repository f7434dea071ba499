"""Undoing the agent's part of a file that others changed since, by a three-way merge."""

from sidecar.core.files.reconcile import Choices
from sidecar.core.files.restore_plan import plan_restore
from tests.core.folders import desk, fates, is_nothing, lines, reason


def test_edits_apart_from_each_other_are_told_apart() -> None:
    d = desk("a")
    d.file("a", lines("a", {2: "agent"}.get))
    d.by_tool()
    d.file("a", lines("a", {2: "agent", 8: "user"}.get))
    d.by_user()
    plan = d.plan("merge")
    assert fates(plan) == {"a": "merged"}
    assert reason(plan, "a") == "Undone beside the changes made since, which stay."
    assert d.plan("merge") == plan
    restore = d.carry_out(plan)
    assert d.text("a") == lines("a", {8: "user"}.get)
    d.carry_out(d.redo(restore))
    assert d.text("a") == lines("a", {2: "agent", 8: "user"}.get)


def test_turn_about_each_edit_of_the_agent_is_taken_out() -> None:
    d = desk("a")
    d.file("a", lines("a", {1: "agent"}.get))
    d.by_tool()
    d.file("a", lines("a", {1: "agent", 5: "user"}.get))
    d.by_user()
    d.file("a", lines("a", {1: "agent", 5: "user", 9: "agent"}.get))
    d.by_tool()
    d.file("a", lines("a", {1: "agent", 3: "user", 5: "user", 9: "agent"}.get))
    d.by_user()
    d.carry_out(d.plan("merge"))
    assert d.text("a") == lines("a", {3: "user", 5: "user"}.get)


def test_edits_of_the_same_lines_are_a_conflict_unless_markers_are_asked_for() -> None:
    d = desk("a")
    d.file("a", lines("a", {4: "agent", 9: "agent"}.get))
    d.by_tool()
    d.file("a", lines("a", {4: "user", 9: "agent"}.get))
    d.by_user()
    plan = d.plan("merge")
    assert fates(plan) == {"a": "conflict"}
    assert reason(plan, "a").endswith("changed the same lines since.")
    (conflict,) = plan.conflicts
    held = [conflict.theirs, conflict.base, conflict.mine]
    assert [None if e is None else d.blobs[e.hash].splitlines()[4] for e in held] == [
        b"a 4",
        b"agent",
        b"user",
    ]
    marked = d.plan("merge", markers=True)
    assert fates(marked) == {"a": "merged"}
    assert "1 place marked" in reason(marked, "a")
    d.carry_out(marked)
    text = d.text("a") or ""
    assert "<<<<<<< as it is now\nuser\n=======\na 4\n>>>>>>> as it was before\n" in text
    assert text.endswith("a 9\n")


def test_what_is_no_text_does_not_merge_but_a_mode_beside_it_does() -> None:
    d = desk()
    for path in ("a", "b"):
        d.file(path, b"\0old")
    d.begin()
    d.file("a", b"\0agent")
    d.file("b", b"\0agent")
    d.by_tool()
    d.file("a", b"\0user")
    d.mode("b", 0o600)
    d.by_user()
    plan = d.plan("merge", markers=True)
    assert fates(plan) == {"a": "conflict", "b": "merged"}
    assert "no text" in reason(plan, "a")
    d.carry_out(plan)
    assert d.text("b") == "\0old"
    assert d.tree[b"b"].mode == 0o100600


def test_a_file_too_large_to_merge_is_a_conflict() -> None:
    d = desk()
    d.file("a", "x\n" * 50_000)
    d.begin()
    d.file("a", "agent\n" + "x\n" * 50_000)
    d.by_tool()
    d.file("a", "agent\n" + "x\n" * 50_000 + "user\n")
    d.by_user()
    assert "too large" in reason(d.plan("merge"), "a")


def test_links_and_other_kinds_do_not_merge() -> None:
    d = desk("b")
    d.link("l", "one")
    d.begin()
    d.link("l", "two")
    d.file("b", "agent\n")
    d.by_shell()
    d.link("l", "three")
    d.link("b", "l")
    d.by_user()
    plan = d.plan("merge", markers=True)
    assert fates(plan) == {"b": "conflict", "l": "conflict"}
    assert reason(plan, "l") == "You or another program let the link point elsewhere since."
    assert reason(plan, "b") == "It was a file before and is a link now: that cannot be merged."


def test_content_that_is_not_stored_cannot_be_told_apart() -> None:
    d = desk("a")
    d.file("a", lines("a", {2: "agent"}.get))
    d.by_tool()
    left = d.tree[b"a"].hash
    d.file("a", lines("a", {2: "agent", 8: "user"}.get))
    d.by_user()
    stored = {name: data for name, data in d.blobs.items() if name != left}
    plan = plan_restore(d.sets, d.tree, Choices(stored.get, "merge"))
    assert fates(plan) == {"a": "conflict"}
    assert "not all that it held is stored" in reason(plan, "a")


def test_where_the_user_took_the_agents_part_out_there_is_nothing_to_do() -> None:
    d = desk("a")
    d.file("a", lines("a", {2: "agent"}.get))
    d.by_tool()
    d.file("a", lines("a", {8: "user"}.get))
    d.by_user()
    plan = d.plan("merge")
    assert fates(plan) == {"a": "skipped"}
    assert reason(plan, "a") == "Nothing of what was changed here is left in it."
    assert is_nothing(plan)


def test_an_edit_of_the_user_follows_a_file_back_to_its_old_name() -> None:
    d = desk("a")
    d.move("a", "b")
    d.by_shell()
    d.file("b", lines("a", {2: "agent"}.get))
    d.by_tool()
    d.file("b", lines("a", {2: "agent", 8: "user"}.get))
    d.by_user()
    assert fates(d.plan()) == {"a": "conflict", "b": "conflict"}
    assert "renamed together with b" in reason(d.plan(), "a")
    assert fates(d.plan("keep")) == {"a": "skipped", "b": "skipped"}
    assert fates(d.plan("overwrite")) == {"a": "restored", "b": "restored"}
    assert "overwritten, as asked" in reason(d.plan("overwrite"), "b")
    plan = d.plan("merge")
    assert fates(plan) == {"a": "merged", "b": "restored"}
    d.carry_out(plan)
    assert d.text("a") == lines("a", {8: "user"}.get)
    assert d.text("b") is None


def test_a_renamed_file_that_cannot_merge_stays_where_it_is() -> None:
    d = desk("a")
    d.move("a", "b")
    d.by_shell()
    d.file("b", lines("a", {2: "agent"}.get))
    d.by_tool()
    d.file("b", lines("a", {2: "user"}.get))
    d.by_user()
    plan = d.plan("merge")
    assert fates(plan) == {"a": "conflict", "b": "conflict"}
    assert reason(plan, "b").endswith("changed the same lines since.")
    assert not plan.actions


def test_a_rename_stays_where_the_user_made_the_old_path_anew() -> None:
    d = desk("a")
    d.move("a", "b")
    d.by_shell()
    d.file("a", "user\n")
    d.by_user()
    assert fates(d.plan()) == {"a": "conflict", "b": "conflict"}
    kept = d.plan("keep")
    assert fates(kept) == {"a": "skipped", "b": "skipped"}
    assert reason(kept, "b") == "It was renamed together with a, which has to stay as it is."


def test_a_rename_onto_a_file_of_before_brings_both_back() -> None:
    d = desk("a", "b")
    before = dict(d.tree)
    d.remove("b")
    d.by_shell()
    d.move("a", "b")
    d.by_shell()
    plan = d.plan()
    assert fates(plan) == {"a": "restored", "b": "restored"}
    assert reason(plan, "b").endswith("What came there is moved back to a.")
    d.carry_out(plan)
    assert d.tree == before


def test_an_edit_of_the_user_leaves_a_path_that_held_another_file_before() -> None:
    d = desk("a", "b")
    d.remove("b")
    d.by_shell()
    d.move("a", "b")
    d.by_shell()
    d.file("b", lines("a", {8: "user"}.get))
    d.by_user()
    plan = d.plan("merge")
    assert fates(plan) == {"a": "merged", "b": "restored"}
    d.carry_out(plan)
    assert (d.text("a"), d.text("b")) == (lines("a", {8: "user"}.get), lines("b"))


def test_a_renamed_file_with_unsaved_text_stays_where_it_is() -> None:
    d = desk("a")
    d.move("a", "b")
    d.by_shell()
    d.file("b", lines("a", {8: "user"}.get))
    d.by_user()
    plan = d.plan("merge", dirty={"b": "typed\n"})
    assert fates(plan) == {"a": "conflict", "b": "conflict"}
    assert "not saved" in reason(plan, "b")


def test_a_file_that_was_moved_and_is_open_as_it_was_is_merged_with_nothing() -> None:
    d = desk("a")
    d.move("a", "b")
    d.by_shell()
    d.file("b", lines("a", {8: "user"}.get))
    d.by_user()
    plan = d.plan("merge", dirty={"a": lines("a")})
    assert "merged" not in fates(plan).values()
    assert fates(d.plan("overwrite", dirty={"a": lines("a")})) == {"a": "restored", "b": "restored"}


def test_places_of_several_merges_are_counted_together() -> None:
    d = desk("a")
    for who, line in (("tool", 1), ("user", 1), ("tool", 6), ("user", 6)):
        text = (d.text("a") or "").splitlines()
        text[line] = f"{who} {line}"
        d.file("a", "\n".join(text) + "\n")
        end = d.by_tool if who == "tool" else d.by_user
        end()
    plan = d.plan("merge", markers=True)
    assert "2 places marked" in reason(plan, "a")


def test_what_was_not_stored_in_between_cannot_be_brought_back() -> None:
    d = desk("a")
    d.mode("a", 0o755)
    d.by_shell()
    d.lost("a", 3 << 20, 1)
    d.by_user()
    d.file("a", "agent\n")
    d.by_tool()
    plan = d.plan("merge")
    assert fates(plan) == {"a": "conflict"}
    assert reason(plan, "a").startswith("What it held before is not stored")


def test_what_the_agent_made_of_another_kind_is_no_base_for_a_merge() -> None:
    d = desk("a")
    d.remove("a")
    d.link("a", "b")
    d.by_shell()
    d.remove("a")
    d.file("a", "user\n", 0o755)
    d.by_user()
    plan = d.plan("merge", markers=True)
    d.carry_out(plan)
    assert d.tree[b"a"].mode == 0o100755
    assert (d.text("a") or "").startswith("<<<<<<< as it is now\nuser\n=======\na 0\n")
