"""Sessions that follow their users with what files held, through real daemons."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.plain import Refused, Spawn
from tests.e2e.sync_users import User, refs, users
from tests.e2e.test_fork_and_handoff import problems

Make = Callable[..., User]


@pytest.fixture
def make(tmp_path: Path, spawn: Spawn | None) -> Iterator[Make]:
    yield from users(tmp_path, spawn)


def turn(user: User, session: str, title: str) -> str:
    """Give the checkpoint at the beginning of a turn."""
    user.client.request("session/load", {"sessionId": session})
    listed = user.client.request("checkpoint/list", {"sessionId": session})["checkpoints"]
    return next(one["checkpointId"] for one in listed if one["title"] == title)


def restore(user: User, session: str, title: str) -> Any:
    about = {"sessionId": session, "checkpointId": turn(user, session, title), "scope": "files"}
    return user.client.request("checkpoint/restore", about)


def copied(one: User, other: User) -> None:
    """Bring a file over, as git would."""
    (other.folder / "made.txt").write_bytes((one.folder / "made.txt").read_bytes())


def test_files_go_back_on_the_other_machine(make: Make) -> None:
    ada, bob = make("ada"), make("bob")
    session = ada.new()
    ada.say(session, "create made.txt with `one`")
    ada.say(session, "create made.txt with `two`")
    plan = ada.sync(agree="", snapshots=True)
    assert not plan["agreed"]
    assert plan["sent"][0]["files"] == 2
    assert refs(ada.remote) == {}
    assert ada.sync(snapshots=True)["sent"][0]["files"] == 2
    copied(ada, bob)
    (came,) = bob.sync(open=[session], snapshots=True)["received"]
    here = came["sessionId"]
    restore(bob, here, "create made.txt with `two`")
    assert (bob.folder / "made.txt").read_text().strip() == "one"
    # From now on, what is new goes along as well, without a word.
    bob.say(here, "create made.txt with `three`")
    (sent,) = bob.sync()["sent"]
    assert sent["files"] == 1
    copied(bob, ada)
    ada.sync()
    restore(ada, session, "create made.txt with `three`")
    assert (ada.folder / "made.txt").read_text().strip() == "one"
    assert problems(ada.data) == problems(bob.data) == ()


def test_it_is_asked_about_by_itself_and_can_be_ended(make: Make) -> None:
    ada = make("ada")
    session = ada.new()
    ada.say(session, "create made.txt with `one`")
    (sent,) = ada.sync()["sent"]
    assert sent["files"] == 0
    before = refs(ada.remote)
    ada.say(session, "create made.txt with `two`")
    done = ada.sync(agree="", snapshots=True)
    assert not done["agreed"]
    assert any("without what files held before" in note for note in done["notes"])
    assert refs(ada.remote) == before
    # Until it is agreed to, it goes on as it was.
    (sent,) = ada.sync(agree="")["sent"]
    assert sent["files"] == 0
    ada.say(session, "create made.txt with `three`")
    (sent,) = ada.sync(snapshots=True)["sent"]
    # What it held before that turn, and after.
    assert sent["files"] == 2
    ada.say(session, "create made.txt with `four`")
    (sent,) = ada.sync(agree="", snapshots=False)["sent"]
    assert sent["files"] == 0
    ada.say(session, "create made.txt with `five`")
    assert ada.sync(agree="")["sent"][0]["files"] == 0


def test_who_did_not_ask_for_them_takes_no_files(make: Make) -> None:
    ada, bob = make("ada"), make("bob")
    session = ada.new()
    ada.say(session, "create made.txt with `one`")
    ada.say(session, "create made.txt with `two`")
    ada.sync(snapshots=True)
    copied(ada, bob)
    (came,) = bob.sync(open=[session])["received"]
    with pytest.raises(Refused, match="this session was imported"):
        restore(bob, came["sessionId"], "create made.txt with `two`")
    # Nor are a part of its turns gone back over as if they were all.
    ada.say(session, "create made.txt with `three`")
    ada.sync()
    copied(ada, bob)
    bob.sync(snapshots=True)
    with pytest.raises(Refused, match="this session was imported"):
        restore(bob, came["sessionId"], "create made.txt with `two`")
    restore(bob, came["sessionId"], "create made.txt with `three`")
    assert (bob.folder / "made.txt").read_text().strip() == "two"
    assert problems(bob.data) == ()
