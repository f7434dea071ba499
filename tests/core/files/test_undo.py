"""What cannot be undone because content is not stored, and how that is told."""

from sidecar.core.files.reconcile import Choices, Sizes
from sidecar.core.files.restore_plan import plan_restore
from sidecar.core.files.tree import Loss, TreeEntry
from tests.core.folders import FILE, Desk, desk, fates, is_nothing, reason

LIMITS = Sizes(2 << 20, 16 << 20, 64 << 20, 1 << 30)


def test_what_was_too_large_to_be_stored_is_skipped_with_its_size_and_the_limit() -> None:
    d = desk()
    d.lost("a", 5 << 20, 1)
    d.begin()
    d.file("a", "small\n")
    d.by_tool()
    plan = plan_restore(d.sets, d.tree, Choices(d.blobs.get, "overwrite", limits=LIMITS))
    assert fates(plan) == {"a": "skipped"}
    assert reason(plan, "a") == (
        "What it held before is not stored: it has 5 MiB, and at most 2 MiB of a file, "
        "or 16 MiB where git tracks it, are."
    )
    assert reason(d.plan(), "a") == "What it held before is not stored: it has 5 MiB."


def test_each_loss_is_told() -> None:
    told: dict[Loss, str] = {
        "full": "there was no room left for its 1,000 bytes (64 MiB for one snapshot, 1024 MiB for "
        "the workspace)",
        "unreadable": "there was no right to read it",
        "unstable": "it changed whenever it was read",
        "unread": "it changed before it was first read",
    }
    for loss, words in told.items():
        d = desk()
        d.tree[b"a"] = TreeEntry(FILE, "", 1000, loss, 1)
        d.begin()
        d.file("a", "small\n")
        d.by_tool()
        plan = plan_restore(d.sets, d.tree, Choices(d.blobs.get, limits=LIMITS))
        assert reason(plan, "a") == f"What it held before is not stored: {words}."


def large_one() -> Desk:
    d = desk("a")
    d.lost("a", 3 << 20, 1)
    d.lost("new", 3 << 20, 1)
    d.by_shell()
    return d


def test_what_could_not_be_brought_back_goes_only_where_that_was_chosen() -> None:
    d = large_one()
    for on_conflict in ("refuse", "keep", "merge"):
        plan = d.plan(on_conflict)
        assert fates(plan) == {"a": "skipped", "new": "skipped"}
        assert "could not be brought back; choose to overwrite" in reason(plan, "new")
        assert is_nothing(plan)
    plan = d.plan("overwrite")
    assert fates(plan) == {"a": "restored", "new": "restored"}
    d.carry_out(plan)
    assert set(d.tree) == {b"a"}


def test_what_the_user_made_of_it_and_is_not_stored_is_never_overwritten() -> None:
    d = desk("a")
    d.file("a", "agent\n")
    d.by_tool()
    d.lost("a", 3 << 20, 1)
    d.by_user()
    assert fates(d.plan("overwrite")) == {"a": "conflict"}
    assert fates(d.plan()) == {"a": "conflict"}
    assert fates(d.plan("keep")) == {"a": "skipped"}


def test_a_mode_can_be_undone_without_the_content() -> None:
    d = desk()
    d.lost("a", 5 << 20, 1)
    d.begin()
    before = dict(d.tree)
    d.mode("a", 0o755)
    d.by_shell()
    plan = d.plan()
    assert fates(plan) == {"a": "restored"}
    d.carry_out(plan)
    assert d.tree == before


def test_a_name_that_is_no_utf_8_is_shown_escaped() -> None:
    d = desk("a")
    d.move("a", "b")
    d.move(b"b", b"\xff")
    d.by_shell()
    assert reason(d.plan(), "a") == "Moved back from \\xff."
