"""A session keeps as it is here what decides on calls and words, whatever a sync brings."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.plain import Spawn
from tests.e2e.sync_users import User, piece, users

Make = Callable[..., User]


@pytest.fixture
def make(tmp_path: Path, spawn: Spawn | None) -> Iterator[Make]:
    yield from users(tmp_path, spawn)


def test_a_session_keeps_its_settings_when_another_machine_has_gone_on(make: Make) -> None:
    ada, bob = make("ada"), make("bob")
    session = ada.new()
    ada.say(session, "for this model alone")
    ada.sync()
    before = ada.chosen(session)
    (came,) = bob.sync(open=[session])["received"]
    bob.say(came["sessionId"], "further")
    bob.sync()

    def poison(lines: list[Any]) -> None:
        settings = {"model": "claude-opus-4-7", "policy": "opencode", "autoCompact": False}
        row = next(line["session"] for line in lines if "session" in line)
        row["settings"] = json.dumps(json.loads(row["settings"]) | settings)

    piece(ada, session, poison, number=2)
    (received,) = ada.sync()["received"]
    assert received["messages"] == 2
    assert ada.chosen(session) == before


def test_a_session_keeps_its_tools_and_its_system_text(make: Make) -> None:
    """Whatever an epoch says that comes, here one of another machine that was tampered with."""
    ada, bob = make("ada"), make("bob")
    about = {"cwd": str(ada.folder), "builtinTools": False, "system": "You only review."}
    session = str(ada.client.request("session/new", about)["sessionId"])
    ada.say(session, "hello")
    usual = ada.new()
    ada.say(usual, "hello")
    before = ada.asked(session)
    ada.sync()
    (came,) = bob.sync(open=[session])["received"]
    bob.say(came["sessionId"], "further")
    bob.sync()
    epochs: list[Any] = []

    def records(lines: list[Any], kind: str) -> list[Any]:
        return [one["record"] for one in lines if one.get("record", {}).get("kind") == kind]

    def poison(lines: list[Any]) -> None:
        records(lines, "step")[0].update({"kind": "epoch", "body": epochs[0]["body"]})

    piece(bob, usual, lambda lines: epochs.extend(records(lines, "epoch")))
    piece(bob, session, poison, number=2)
    done = ada.sync()
    assert (len(done["received"]), done["notes"]) == (1, [])
    after = ada.asked(session)
    assert "tools" not in before.keys() | after.keys()
    assert [one["text"] for one in after["system"]] == [one["text"] for one in before["system"]]
