"""Settings of a real daemon: read from its files, and again when those change."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.plain import PlainClient

pytestmark = pytest.mark.long


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The user's file of settings."""
    folder = tmp_path / "config/sidecar"
    folder.mkdir(parents=True)
    return folder / "config.toml"


@pytest.fixture
def client(start: Callable[..., PlainClient], tmp_path: Path, file: Path) -> PlainClient:
    file.write_text("max_steps = 5\n")
    return start(env={"XDG_CONFIG_HOME": str(tmp_path / "config")})


def notice(client: PlainClient, words: str) -> dict[str, Any]:
    """Wait for a notice with these words in it."""

    def found(sent: dict[str, Any]) -> bool:
        update = sent["params"].get("update", {})
        return update.get("sessionUpdate") == "notice" and words in update["message"]

    return client.wait_for(found)["params"]["update"]


def opened(client: PlainClient, folder: Path, **options: Any) -> None:
    """Open a window on a folder; unless by `options` nothing is said of its trust."""
    params = {
        "capabilities": client.capabilities(),
        "workspaceFolders": [{"uri": folder.as_uri(), "name": "work"}],
        "initializationOptions": {"model": "offline", **options},
    }
    client.request("initialize", params)
    client.notify("initialized")


def test_a_file_that_changes_is_taken_over_or_refused_and_told(
    client: PlainClient, file: Path, workspace: Path
) -> None:
    client.start()
    client.request("session/new", {"cwd": str(workspace)})
    file.write_text('max_steps = 7\n[provider]\nbase_url = "http://proxy.test"\n')
    told = notice(client, "read again")
    assert told["level"] == "info"
    assert "From the next turn: max_steps = 7." in told["message"]
    assert (
        "Only after a restart of Sidecar: provider.base_url = http://proxy.test" in told["message"]
    )
    settings = client.request("daemon/status")["settings"]
    assert settings["max_steps"] == {
        "value": 7,
        "origin": [{"layer": "user", "at": f"{file}:1"}],
    }
    assert settings["provider.base_url"]["value"] == ""
    assert settings["provider.base_url"]["pending"] == "http://proxy.test"
    assert settings["data_dir"]["origin"] == [{"layer": "environment", "at": "SIDECAR_DATA_DIR"}]
    assert settings["workspace_trusted"]["origin"] == [
        {"layer": "client", "at": "initializationOptions.workspaceTrusted"}
    ]
    file.write_text("max_steps = 9\n\nkeep_alive = 3\n")
    told = notice(client, "stay as they were")
    assert told["level"] == "warning"
    assert f"{file}:3: keep_alive: must be true or false, not a number." in told["message"]


def test_what_is_wrong_from_the_start_is_told_in_the_session(
    client: PlainClient, file: Path, workspace: Path
) -> None:
    file.write_text("max_stepps = 5\n")
    client.start()
    client.request("session/new", {"cwd": str(workspace)})
    assert f"{file}:1: max_stepps: is not a setting." in notice(client, "Settings")["message"]
    assert client.stop() == 0
    assert "configuration" in client.stderr


def test_the_log_is_as_quiet_as_the_file_says(
    client: PlainClient, file: Path, workspace: Path
) -> None:
    """What was wrong is a warning, and the file asks for errors only."""
    file.write_text("log = 'error'\nunknown_word = 1\n")
    client.start()
    client.request("session/new", {"cwd": str(workspace)})
    notice(client, "unknown_word")
    file.write_text("log = 'debug'\nunknown_word = 1\n")
    notice(client, "log = debug")
    assert client.stop() == 0
    assert "configuration" not in client.stderr


@pytest.mark.parametrize("answer", ["trust_always", "trust_once"])
def test_a_folder_that_the_user_trusts_rejects_the_very_call_asked_about(
    start: Callable[..., PlainClient], tmp_path: Path, file: Path, workspace: Path, answer: str
) -> None:
    """Another window of that folder hears of it where the answer was for good."""
    file.write_text("permissions.allow = ['write_file']\n")
    (workspace / ".sidecar").mkdir()
    (workspace / ".sidecar/config.toml").write_text("permissions.reject = ['write_file']\n")
    chosen = {"outcome": {"outcome": "selected", "optionId": answer}}
    answers = {"session/request_permission": lambda _: chosen}
    env = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    client, other = (start(answers=answers, env=env) for _ in range(2))
    sessions = []
    for window in (client, other):
        opened(window, workspace)
        sessions.append(window.request("session/new", {"cwd": str(workspace)})["sessionId"])
    prompt = [{"type": "text", "text": "create new.txt with `first`"}]
    client.request("session/prompt", {"sessionId": sessions[0], "prompt": prompt})
    asked = [r["params"]["toolCall"]["_meta"]["sidecar"]["question"] for r in client.requests]
    assert asked == ["trust"]
    assert "A rule of the user rejects this call." in json.dumps(client.updates("tool_call_update"))
    assert not (workspace / "new.txt").exists()
    if answer == "trust_always":
        assert 'permissions.reject = ["write_file"]' in notice(other, "read again")["message"]


def test_a_file_of_another_folder_than_the_windows_is_told(
    start: Callable[..., PlainClient], tmp_path: Path, workspace: Path
) -> None:
    """A file of the window's own folder counts, also by a link, and is no news."""
    (tmp_path / "link").symlink_to(workspace)
    (tmp_path / "other/.sidecar").mkdir(parents=True)
    (workspace / ".sidecar").mkdir()
    for folder in (workspace, tmp_path / "other"):
        (folder / ".sidecar/config.toml").write_text("permissions.reject = ['todo']\n")
    client = start()
    opened(client, tmp_path / "link", workspaceTrusted=True)
    client.request("session/new", {"cwd": str(workspace)})
    other = client.request("session/new", {"cwd": str(tmp_path / "other")})["sessionId"]
    told = notice(client, "does not count in this session")["message"]
    assert told.startswith(f"{tmp_path / 'other/.sidecar/config.toml'} does not count")
    assert str(tmp_path / "link") in told
    assert sum("does not count" in one["message"] for one in client.updates("notice")) == 1
    for method in ("session/load", "session/fork"):
        again = start()
        opened(again, workspace, workspaceTrusted=True)
        again.request(method, {"sessionId": other, "cwd": str(tmp_path / "other"), "replay": False})
        assert str(workspace) in notice(again, "does not count in this session")["message"]


@pytest.mark.parametrize(
    ("first", "then"), [("", "workspace_trusted = false\n"), ("workspace_trusted = true\n", "")]
)
def test_what_a_trusted_folder_forbids_holds_as_long_as_the_trust(
    start: Callable[..., PlainClient],
    tmp_path: Path,
    file: Path,
    workspace: Path,
    first: str,
    then: str,
) -> None:
    """Which ends by a restart."""
    allowed = "permissions.allow = ['write_file']\n"
    file.write_text(f"{first}{allowed}")
    (workspace / ".sidecar").mkdir()
    (workspace / ".sidecar/config.toml").write_text("permissions.reject = ['write_file']\n")
    chosen = {"outcome": {"outcome": "selected", "optionId": "trust_always"}}
    env = {"XDG_CONFIG_HOME": str(tmp_path / "config")}
    client = start(answers={"session/request_permission": lambda _: chosen}, env=env)
    opened(client, workspace)
    session = client.request("session/new", {"cwd": str(workspace)})["sessionId"]
    for name in ("one", "two"):
        prompt = [{"type": "text", "text": f"create {name}.txt with `first`"}]
        client.request("session/prompt", {"sessionId": session, "prompt": prompt})
        if name == "one":
            file.write_text(f"{then}{allowed}")
            notice(client, "Only after a restart of Sidecar: workspace_trusted")
    said = json.dumps(client.updates("tool_call_update"))
    assert said.count("A rule of the user rejects this call.") >= 2
    assert not [name for name in ("one", "two") if (workspace / f"{name}.txt").exists()]
