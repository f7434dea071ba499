"""Sessions that lie encrypted on a git remote, through real daemons and the real age."""

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.plain import Refused, Spawn
from tests.e2e.sync_users import User, git, refs, users

pyrage = pytest.importorskip("pyrage", reason="the extra `encrypted` is not installed")

Make = Callable[..., User]
WORDS = "the marmot sleeps till spring"


@pytest.fixture
def make(tmp_path: Path, spawn: Spawn | None) -> Iterator[Make]:
    yield from users(tmp_path, spawn)


@pytest.fixture
def keys(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Make the options of somebody with a key of their own, who sends for `others`, too."""
    made: dict[str, Any] = {}

    def options(name: str, *others: str) -> dict[str, Any]:
        for one in (name, *others):
            if one not in made:
                made[one] = pyrage.x25519.Identity.generate()
                (tmp_path / f"{one}.key").write_text(f"# of {one}\n{made[one]}\n")
        recipients = [str(made[one].to_public()) for one in (name, *others)]
        return {"sync": {"recipients": recipients, "identity": str(tmp_path / f"{name}.key")}}

    return options


def piece_of(remote: Path, session: str) -> bytes:
    """Give a session's first piece as it lies there."""
    command = ("git", f"--git-dir={remote}", "cat-file", "blob")
    path = f"refs/sidecar/{session}:000001.00.sidecar"
    return subprocess.run((*command, path), check=True, capture_output=True, timeout=60).stdout


def test_who_has_a_key_reads_and_who_has_none_does_not(
    make: Make, keys: Callable[..., dict[str, Any]]
) -> None:
    ada = make("ada", options=keys("ada", "bob"))
    session = ada.new("About marmots")
    ada.say(session, WORDS)
    done = ada.sync()
    assert (done["recipients"], len(done["sent"])) == (2, 1)
    raw = git("log", "--format=%B", f"refs/sidecar/{session}", cwd=ada.remote)
    assert "marmots" not in raw
    assert "project" not in raw
    assert piece_of(ada.remote, session).startswith(b"age-encryption.org/v1\n")
    bob = make("bob", options=keys("bob", "ada"))
    (line,) = bob.there()
    assert (line["title"], line["turns"]) == ("About marmots", 1)
    (came,) = bob.sync(open=[session])["received"]
    bob.say(came["sessionId"], "and in summer?")
    bob.sync()
    assert len(ada.sync()["received"]) == 1
    assert ada.texts(session) == [WORDS, "and in summer?"]
    for name, options, why in (
        ("eve", keys("eve"), "not for the key in sync.identity"),
        ("mallory", {}, "set sync.identity"),
    ):
        other = make(name, options=options)
        assert [one["title"] for one in other.there()] == ["(encrypted)"]
        done = other.sync(open=[session])
        assert done["received"] == []
        assert any(why in note for note in done["notes"]), done["notes"]


def test_nothing_legible_follows_what_is_encrypted(
    make: Make, keys: Callable[..., dict[str, Any]]
) -> None:
    ada = make("ada", options=keys("ada", "bob"))
    session = ada.new()
    ada.say(session, "hello")
    ada.sync()
    options = keys("bob")
    bob = make("bob", options={"sync": {"identity": options["sync"]["identity"]}})
    (came,) = bob.sync(open=[session])["received"]
    bob.say(came["sessionId"], WORDS)
    before = refs(ada.remote)
    done = bob.sync()
    assert done["sent"] == []
    assert any("sync.recipients is empty here" in note for note in done["notes"])
    # Nor where both went on, and what is here would be a fork with a ref of its own.
    ada.say(session, "and on")
    ada.sync()
    moved = refs(ada.remote)
    assert moved.keys() == before.keys()
    assert bob.sync()["forked"] == []
    assert refs(ada.remote) == moved


def test_who_agreed_to_send_encrypted_is_asked_before_it_is_sent_legibly(
    make: Make, keys: Callable[..., dict[str, Any]]
) -> None:
    ada = make("ada", options=keys("ada"))
    session = ada.new()
    ada.say(session, "hello")
    ada.sync()
    ada.leave()
    ada.options = {}
    other = ada.new("Other")
    ada.say(other, WORDS)
    done = ada.sync(agree="")
    assert (done["agreed"], done["recipients"]) == (False, 0)
    assert refs(ada.remote).keys() == {session}
    assert ada.sync()["agreed"]
    assert refs(ada.remote).keys() == {session, other}


@pytest.mark.parametrize("legible_before", [True, False])
def test_files_that_may_go_encrypted_do_not_go_legibly(
    make: Make, keys: Callable[..., dict[str, Any]], legible_before: bool
) -> None:
    ada = make("ada")
    if legible_before:
        ada.say(ada.new(), "hello")
        ada.sync()
        ada.leave()
    ada.options = keys("ada")
    ada.say(ada.new(), "create made.txt with `one`")
    assert ada.sync(snapshots=True)["sent"][-1]["files"] == 1
    ada.leave()
    ada.options = {}
    ada.say(ada.new(), "create made.txt with `two`")
    assert not ada.sync(agree="")["agreed"]
    # Who agrees without a word of files agrees to none.
    done = ada.sync()
    assert [one["files"] for one in done["sent"]] == [0]
    ada.leave()
    ada.options = keys("ada")
    ada.say(ada.new(), "create made.txt with `three`")
    assert ada.sync(agree="")["sent"][-1]["files"] > 0


def test_keys_that_cannot_be_used_are_told_of_before_anything_is_sent(
    make: Make, keys: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    whole = keys("ada")["sync"]
    (tmp_path / "empty.key").write_text("# nothing\n")
    for n, (options, why) in enumerate(
        (
            ({"recipients": whole["recipients"]}, "not sync.identity"),
            ({**whole, "recipients": ["age1x"]}, "'age1x' is none"),
            ({**whole, "identity": str(tmp_path / "none.key")}, "cannot be read"),
            ({**whole, "identity": str(tmp_path / "empty.key")}, "holds no key"),
        )
    ):
        ada = make(f"ada{n}", options={"sync": options})
        ada.say(ada.new(), "hello")
        with pytest.raises(Refused, match=why):
            ada.sync()
        assert refs(ada.remote) == {}
