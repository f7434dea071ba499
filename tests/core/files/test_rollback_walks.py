"""Long random histories of an agent and a user: undo, redo and undo again, and what stays."""

import random
from collections.abc import Callable

import pytest

from sidecar.core.files.reconcile import OnConflict
from sidecar.core.files.restore_plan import RestorePlan
from sidecar.core.files.tree import TreeEntry
from tests.core.folders import FOLDER, Desk, fates, is_nothing

pytestmark = pytest.mark.long

NAMES = (b"a", b"b", b"\xc3\xa4", b"\xff")


def place(desk: Desk, dice: random.Random) -> bytes:
    folders = [b"", *(p for p, e in desk.tree.items() if e.is_folder and p.count(b"/") < 2)]
    folder = dice.choice(folders)
    return folder + b"/" * bool(folder) + dice.choice(NAMES)


def act(desk: Desk, dice: random.Random) -> None:
    """Do one thing that a program may do to a folder."""
    path = place(desk, dice)
    there = desk.tree.get(path)
    match dice.randrange(8):
        case 0 | 1 | 2:
            texts = [f"{n}\n" for n in range(12)]
            texts[dice.randrange(12)] = f"{dice.randrange(4)}\n"
            if there is not None and there.kind != "file":
                desk.remove(path)
            desk.file(path, "".join(texts))
        case 3:
            desk.remove(path)
        case 4 if there is None:
            desk.tree[path] = TreeEntry(FOLDER)
        case 5 if there is not None and there.kind != "link":
            modes = (FOLDER, 0o040700, 0o040555) if there.is_folder else (0o100644, 0o100755)
            desk.tree[path] = there._replace(mode=dice.choice(modes))
        case 6 if there is not None:
            other = place(desk, dice)
            if not (other + b"/").startswith(path + b"/"):
                desk.remove(other)
                if path in desk.tree:
                    desk.move(path, other)
        case 7:
            desk.remove(path)
            desk.link(path, str(dice.randrange(3)))


def begun(dice: random.Random) -> Desk:
    desk = Desk()
    for _ in range(6):
        act(desk, dice)
    desk.begin()
    return desk


def stretch(desk: Desk, dice: random.Random, end: Callable[[], object]) -> None:
    for _ in range(dice.randrange(1, 6)):
        act(desk, dice)
    end()


def paths(desk: Desk) -> set[bytes]:
    changes = [change for one in desk.sets for change in one.changes]
    return {c.path for c in changes} | {c.source for c in changes if c.source is not None}


def told(plan: RestorePlan) -> set[bytes]:
    fates(plan)
    return {fate.path for fate in plan.fates}


@pytest.mark.parametrize("seed", range(12))
def test_what_only_the_agent_did_is_undone_redone_and_undone_exactly(seed: int) -> None:
    dice = random.Random(seed)
    for _ in range(150):
        desk = begun(dice)
        before = dict(desk.tree)
        for _ in range(dice.randrange(1, 5)):
            stretch(desk, dice, dice.choice((desk.by_both, desk.by_shell)))
        after = dict(desk.tree)
        plan = desk.plan()
        assert not plan.conflicts
        assert told(plan) == paths(desk)
        assert is_nothing(plan) == (before == after)
        restore = desk.carry_out(plan)
        assert desk.tree == before
        assert is_nothing(desk.plan())
        redone = desk.carry_out(desk.redo(restore))
        assert desk.tree == after
        again = desk.carry_out(desk.redo(redone))
        assert desk.tree == before
        desk.carry_out(desk.redo(again))
        assert desk.tree == after
        desk.carry_out(desk.plan())
        assert desk.tree == before


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("on_conflict", ["refuse", "keep", "overwrite", "merge"])
def test_what_the_user_did_in_other_paths_stays(seed: int, on_conflict: OnConflict) -> None:
    dice = random.Random(1000 + seed)
    conflicts = clean = 0
    for _ in range(60):
        desk = begun(dice)
        for _ in range(dice.randrange(2, 6)):
            stretch(
                desk, dice, dice.choice((desk.by_both, desk.by_tool, desk.by_shell, desk.by_user))
            )
        before = dict(desk.tree)
        agents = {
            path
            for one in desk.sets
            for change in one.changes
            if change.author != "user"
            for path in (change.path, change.source)
        }
        plan = desk.plan(on_conflict)
        assert told(plan) == paths(desk)
        conflicts += bool(plan.conflicts)
        if on_conflict == "refuse" and plan.conflicts:
            assert not plan.actions
            continue
        clean += 1
        restore = desk.carry_out(plan)
        acted = {action.path for action in plan.actions}
        for path in before.keys() | desk.tree.keys():
            if path not in acted:
                assert desk.tree.get(path) == before.get(path)
        for action in plan.actions:
            # A folder may have to come back for the agent's file in it.
            assert action.path in agents or (action.entry is not None and action.entry.is_folder)
        desk.carry_out(desk.redo(restore))
        assert desk.tree == before
    assert clean > 5
    assert conflicts > 5 or on_conflict in ("keep", "overwrite")
