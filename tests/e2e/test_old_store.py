"""Stores that earlier versions wrote are read as those versions read them."""

import json
from pathlib import Path

import pytest

from tests.e2e.old_store import STORES, seen, unpacked
from tests.e2e.plain import PlainClient, Spawn

NAMES = sorted(path.name.removesuffix(".json") for path in STORES.glob("*.json"))


def test_there_is_a_store() -> None:
    assert NAMES


@pytest.mark.parametrize("name", NAMES)
def test_what_an_earlier_version_wrote_is_shown_as_it_was(
    name: str, tmp_path: Path, spawn: Spawn | None
) -> None:
    client = PlainClient(unpacked(name, tmp_path / "data"), spawn=spawn)
    client.start()
    found = seen(client)
    assert found == json.loads((STORES / f"{name}.json").read_text("utf-8"))
    status = client.request("daemon/status")
    assert client.stop() == 0
    assert status
