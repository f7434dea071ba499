"""Sessions that follow their users over a git remote, through real daemons."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.plain import Spawn
from tests.e2e.sync_users import User, git, refs, users
from tests.e2e.test_fork_and_handoff import problems
from tests.polling import until

Make = Callable[..., User]


def came_true(reached: Callable[[], object]) -> None:
    asyncio.run(until(reached))


@pytest.fixture
def make(tmp_path: Path, spawn: Spawn | None) -> Iterator[Make]:
    yield from users(tmp_path, spawn)


def test_a_session_wanders_to_another_machine_and_back(make: Make) -> None:
    ada, bob = make("ada"), make("bob")
    session = ada.new("Look around")
    ada.say(session, "read notes.txt")
    (sent,) = ada.sync()["sent"]
    assert sent["sessionId"] == sent["name"] == session
    assert refs(ada.remote).keys() == {session}
    (line,) = bob.there()
    assert (line["title"], line["turns"], "sessionId" in line) == ("Look around", 1, False)
    (came,) = bob.sync(open=[session])["received"]
    here = came["sessionId"]
    assert bob.asked(here) == ada.asked(session)
    bob.say(here, "read notes.txt again")
    assert [one["sessionId"] for one in bob.sync()["sent"]] == [here]
    (came,) = ada.sync()["received"]
    assert came["sessionId"] == session
    assert ada.asked(session) == bob.asked(here)
    assert ada.sync()["sent"] == bob.sync()["sent"] == []
    assert ada.texts(session) == bob.texts(here) == ["read notes.txt", "read notes.txt again"]
    assert problems(ada.data) == problems(bob.data) == ()


def test_a_session_wanders_through_three_users_with_all_that_happens_to_one(make: Make) -> None:
    everyone = ada, bob, eve = make("ada"), make("bob"), make("eve")
    name = ada.new("Long way")
    ada.say(name, "read notes.txt")
    ada.say(name, 'write "one" to made.txt')
    ada.sync()
    ids = {ada.home: name}
    for user in (bob, eve):
        (came,) = user.sync(open=[name])["received"]
        ids[user.home] = came["sessionId"]

    def same() -> None:
        for user in everyone:
            user.sync()
        first = ada.asked(name)
        for user in everyone:
            assert user.asked(ids[user.home]) == first
            assert user.texts(ids[user.home]) == ada.texts(name)

    same()
    for number in range(3):
        bob.say(ids[bob.home], f"read long{number}.txt")
    bob.sync()
    same()
    eve.client.request("context/compact", {"sessionId": ids[eve.home], "strategy": "economic"})
    eve.say(ids[eve.home], "read notes.txt after that")
    eve.sync()
    same()
    listed = ada.client.request("checkpoint/list", {"sessionId": name})["checkpoints"]
    back = {"sessionId": name, "scope": "conversation", "checkpointId": listed[-1]["checkpointId"]}
    ada.client.request("checkpoint/restore", back)
    ada.say(name, "read notes.txt instead")
    ada.sync()
    same()
    assert "read notes.txt after that" not in str(eve.asked(ids[eve.home]))
    fork = bob.client.request("session/fork", {"sessionId": ids[bob.home]})["sessionId"]
    bob.say(fork, "read notes.txt in a fork")
    bob.say(ids[bob.home], "read notes.txt beside the fork")
    assert {one["name"] for one in bob.sync()["sent"]} == {name, fork}
    same()
    (came,) = eve.sync(open=[fork])["received"]
    assert eve.asked(came["sessionId"]) == bob.asked(fork)
    eve.say(came["sessionId"], "read notes.txt once more")
    eve.sync()
    assert len(bob.sync()["received"]) == 1
    assert eve.asked(came["sessionId"]) == bob.asked(fork)
    assert [problems(user.data) for user in everyone] == [(), (), ()]


def test_who_comes_second_becomes_a_fork_that_says_so(make: Make) -> None:
    ada, bob = make("ada"), make("bob")
    session = ada.new("Both")
    ada.say(session, "read notes.txt")
    ada.sync()
    (came,) = bob.sync(open=[session])["received"]
    here = came["sessionId"]
    ada.say(session, "read a.txt")
    bob.say(here, "read b.txt")
    ada.sync()
    done = bob.sync()
    (fork,) = done["forked"]
    assert (fork["sessionId"], fork["title"]) == (here, "Both (fork)")
    assert any("Another machine went on with this session first" in note for note in done["notes"])
    assert bob.texts(here) == ["read notes.txt", "read b.txt"]
    assert bob.texts(fork["forkOf"]) == ["read notes.txt", "read a.txt"]
    assert refs(ada.remote).keys() == {session, fork["name"]}
    bob.say(fork["forkOf"], "read c.txt")
    bob.say(here, "read d.txt")
    bob.sync()
    (fork_there,) = ada.sync(open=[fork["name"]])["received"][:1]
    assert ada.texts(session) == ["read notes.txt", "read a.txt", "read c.txt"]
    assert sorted(ada.sessions().values()) == ["Both", "Both (fork)"]
    assert fork_there["title"] in {"Both", "Both (fork)"}
    assert bob.sessions()[here] == "Both (fork)"
    assert problems(ada.data) == problems(bob.data) == ()


def test_nothing_leaves_before_somebody_has_seen_what_and_agreed(make: Make) -> None:
    ada = make("ada")
    session = ada.new("Secret plans")
    key = "sk-ant-api03-" + "aB3dE5fG7hJ9" * 4
    ada.say(session, f"remember the key {key}")
    plan = ada.sync(agree="elsewhere")
    assert (plan["agreed"], plan["remote"]) == (False, str(ada.remote))
    (would,) = plan["sent"]
    assert (would["title"], would["redacted"] > 0, would["size"] > 100) == (
        "Secret plans", True, True,
    )  # fmt: skip
    assert refs(ada.remote) == {}
    assert ada.sync(dryRun=True)["sent"][0]["name"] == session
    assert refs(ada.remote) == {}
    ada.sync()
    assert refs(ada.remote).keys() == {session}
    # It is agreed to for this folder and remote from now on.
    ada.say(session, "read notes.txt")
    assert len(ada.sync(agree="")["sent"]) == 1
    assert problems(ada.data) == ()
    bob = make("bob")
    (came,) = bob.sync(open=[session])["received"]
    assert key not in str(bob.asked(came["sessionId"]))
    assert "[redacted]" in str(bob.asked(came["sessionId"]))


def test_refs_of_deleted_and_archived_sessions_go(make: Make) -> None:
    ada, bob = make("ada"), make("bob")
    deleted, archived, followed = (ada.new(title) for title in ("One", "Two", "Three"))
    for session in (deleted, archived, followed):
        ada.say(session, "read notes.txt")
    ada.sync()
    (came,) = bob.sync(open=[followed])["received"]
    bob.say(came["sessionId"], "read notes.txt again")
    bob.sync()
    for session in (deleted, followed):
        ada.client.request("session/delete", {"sessionId": session})
    path = ada.client.request("session/archive", {"sessionId": archived})["sessions"][0]["path"]
    done = ada.sync()
    # With the one that somebody went on with, the ref is theirs.
    assert set(done["removed"]) == {deleted, archived}
    assert refs(ada.remote).keys() == {followed}
    again = ada.sync()
    assert (again["removed"], again["received"], again["elsewhere"]) == ([], [], 1)
    ada.client.request("session/import", {"path": path, "cwd": str(ada.folder)})
    assert [one["name"] for one in ada.sync()["sent"]] == [archived]
    assert len(ada.sessions()) == 1


def test_a_window_sees_what_comes_from_elsewhere(make: Make) -> None:
    ada, bob = make("ada"), make("bob")
    session = ada.new()
    ada.say(session, "read notes.txt")
    ada.sync()
    (came,) = bob.sync(open=[session])["received"]
    bob.say(came["sessionId"], "read notes.txt from afar")
    bob.sync()
    ada.sync()
    ada.client.wait_for(
        lambda n: n["method"] == "session/update" and "from afar" in str(n["params"])
    )
    ada.say(session, "read notes.txt and go on")
    assert len(ada.texts(session)) == 3


def after_turns(tmp_path: Path) -> dict[str, Any]:
    """The options of a user who named the remote."""
    return {"sync": {"after_turns": True, "remote": str(tmp_path / "remote.git")}}


def test_turns_are_synced_as_they_end_where_that_is_wished_and_agreed_to(
    make: Make, tmp_path: Path
) -> None:
    wished = after_turns(tmp_path)
    ada, bob = make("ada", options=wished), make("bob", options=wished)
    session = ada.new("Follows")
    ada.say(session, "hello")
    assert refs(ada.remote) == {}
    ada.sync()
    first = refs(ada.remote)[session]
    ada.say(session, "read notes.txt")
    came_true(lambda: refs(ada.remote)[session] != first)
    (came,) = bob.sync(open=[session])["received"]
    here = came["sessionId"]
    assert bob.asked(here) == ada.asked(session)
    bob.say(here, "read a.txt")
    came_true(lambda: len(ada.there()) == 1 and ada.there()[0]["turns"] == 3)
    ada.say(session, "read b.txt")
    came_true(lambda: len(refs(ada.remote)) == 2)
    ada.client.wait_for(
        lambda n: "Another machine went on with this session first" in str(n["params"])
    )
    ada.client.wait_for(lambda n: "Follows (fork)" in str(n["params"]))
    assert ada.sessions()[session] == "Follows (fork)"
    ada.remote.rename(ada.remote.with_name("away.git"))
    ada.say(session, "read c.txt")
    ada.client.wait_for(lambda n: "was not synced after the turn" in str(n["params"]))


def test_a_daemon_that_ends_a_turn_says_nothing_of_syncing(make: Make, tmp_path: Path) -> None:
    allowed = {"workspaceTrusted": True, "permissions": {"allow": ["shell"]}}
    ada = make("ada", options={**after_turns(tmp_path), **allowed})
    session = ada.new()
    ada.say(session, "hello")
    ada.sync()
    prompt = [{"type": "text", "text": "run `sleep 60`"}]
    ada.client.send("session/prompt", {"sessionId": session, "prompt": prompt})
    ada.client.wait_for(lambda n: "in_progress" in str(n["params"]))
    ada.leave()
    assert ada.texts(session) == ["hello", "run `sleep 60`"]
    assert "was not synced" not in str(ada.client.notifications)
    assert len(ada.sync(agree="")["sent"]) == 1


def test_a_rewrite_between_turns_is_synced_as_a_turn_is(make: Make, tmp_path: Path) -> None:
    ada = make("ada", options=after_turns(tmp_path))
    session = ada.new()
    for number in range(3):
        ada.say(session, f"read long{number}.txt")
    ada.sync()
    came_true(lambda: ada.sync(agree="")["sent"] == [])
    first = refs(ada.remote)[session]
    ada.client.request("context/compact", {"sessionId": session, "strategy": "economic"})
    came_true(lambda: refs(ada.remote)[session] != first)


def test_the_remote_that_is_set_is_used(make: Make, tmp_path: Path) -> None:
    ada = make("ada", options={"sync": {"remote": str(tmp_path / "mine.git")}})
    git("init", "--quiet", "--bare", str(tmp_path / "mine.git"), cwd=tmp_path)
    session = ada.new()
    ada.say(session, "hello")
    about = {"cwd": str(ada.folder), "agree": str(tmp_path / "mine.git")}
    assert len(ada.client.request("session/sync", about)["sent"]) == 1
    assert refs(tmp_path / "mine.git").keys() == {session}
    assert refs(ada.remote) == {}


def test_clones_of_a_project_know_each_others_sessions_by_whichever_address(
    make: Make, tmp_path: Path
) -> None:
    ada, bob, eve = make("ada"), make("bob"), make("eve")
    mine = str(tmp_path / "mine.git")
    git("init", "--quiet", "--bare", mine, cwd=tmp_path)
    for one, url in (
        (ada, "git@Example.org:ada/engine.git"),
        (bob, "https://bob:secret@example.org/ada/engine"),
        (eve, "ssh://git@example.org:2222/eve/engine.git"),
    ):
        git("remote", "set-url", "origin", url, cwd=one.folder)
    session, other = ada.new("Look around"), eve.new("Elsewhere")
    ada.say(session, "hello")
    ada.sync(mine, agree=mine)
    eve.say(other, "hello")
    eve.sync(mine, agree=mine)
    about = {"cwd": str(bob.folder), "remote": mine}
    listed = bob.client.request("session/listRemote", about)["sessions"]
    # The newest is another project's.
    assert [(one["name"], one["project"], one["sameProject"]) for one in listed] == [
        (session, "example.org/ada/engine", True),
        (other, "example.org/eve/engine", False),
    ]
    done = bob.sync(mine, agree=mine, open=["ses_"])
    assert (done["received"], len(done["notes"])) == ([], 1)
    (came,) = bob.sync(mine, open=[session[:-3]])["received"]
    bob.say(came["sessionId"], "and on")
    bob.sync(mine)
    assert "secret" not in git("log", "--format=%B", f"refs/sidecar/{session}", cwd=Path(mine))
    (came,) = ada.sync(mine)["received"]
    assert came["sessionId"] == session


def test_what_a_machine_notes_for_itself_parts_nobody(make: Make) -> None:
    ada, bob = make("ada"), make("bob", options={"sync": {"after_turns": True}})
    session = ada.new()
    ada.say(session, "hello")
    ada.sync()
    (came,) = bob.sync(open=[session])["received"]
    here = came["sessionId"]
    assert bob.texts(here) == ["hello"]
    away = ada.remote.with_name("away.git")
    ada.remote.rename(away)
    bob.say(here, "read notes.txt")
    bob.client.wait_for(lambda n: "was not synced after the turn" in str(n["params"]))
    away.rename(ada.remote)
    # The notice is written as the session closes, with nothing said after it.
    bob.sync()
    bob.client.request("session/close", {"sessionId": here})
    ada.sync()
    ada.say(session, "read a.txt")
    ada.sync()
    done = bob.sync()
    assert (len(done["received"]), done["forked"]) == (1, [])
    assert bob.texts(here) == ada.texts(session) == ["hello", "read notes.txt", "read a.txt"]


@pytest.mark.parametrize("what", ["head", "ref", "config"])
def test_a_damaged_copy_is_fetched_anew(make: Make, what: str) -> None:
    ada, bob = make("ada"), make("bob")
    session = ada.new()
    ada.say(session, "hello")
    ada.sync()
    here = bob.sync(open=[session])["received"][0]["sessionId"]
    copy = bob.data / "sync/sessions.git"
    spoiled = {
        "head": [copy / "HEAD"],
        "ref": [one for one in (copy / "refs").rglob("*") if one.is_file()],
        "config": [copy / "config"],
    }[what]
    bob.say(here, "more")
    for path in spoiled:
        path.chmod(0o600)
        path.write_text("[" if what == "config" else "")
    assert len(bob.sync()["sent"]) == 1
    assert ada.sync()["received"][0]["messages"] == 2
