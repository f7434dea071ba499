"""What a rule keeps from the model: by a search, a link, and what an editor sends along."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.plain import PlainClient
from tests.e2e.test_hostile import opened, results, say
from tests.fakes.messages_api import FakeMessagesApi, text, tools

pytestmark = pytest.mark.long

Start = Callable[..., PlainClient]


@pytest.mark.parametrize("path", [".", "app"])
def test_a_search_of_a_folder_above_leaves_out_what_a_rule_keeps(
    start: Start, workspace: Path, path: str
) -> None:
    """What is saved, and what an editor has open."""
    for name in ("app/secrets/key.txt", "app/secrets/open.txt", "app/plain.txt"):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text(f"TOP of {Path(name).stem}\n")
    (workspace / "app/led").symlink_to(workspace / "app/secrets")
    uri = (workspace / "app/secrets/open.txt").as_uri()
    document = {"uri": uri, "languageId": "", "version": 1, "text": "TOP of all\n"}
    with FakeMessagesApi() as api:
        client = start()
        session = opened(client, api, workspace, permissions={"reject": ["read:**/secrets/**"]})
        client.notify("textDocument/didOpen", {"textDocument": document})
        api.script(tools(("s", "search", {"pattern": "TOP", "path": path})), text("Done."))
        say(client, session)
        (found,) = results(api)
    assert str(found["content"]).count("TOP") == str(found["content"]).count("of plain") == 1


def test_a_search_through_a_link_leaves_out_what_a_rule_keeps_by_the_links_name(
    start: Start, workspace: Path
) -> None:
    (workspace / "lib/a/secrets").mkdir(parents=True)
    (workspace / "lib/a/secrets/key.txt").write_text("TOP of key\n")
    (workspace / "lib/a/plain.txt").write_text("TOP of plain\n")
    (workspace / "pkg-a").symlink_to("lib/a")
    with FakeMessagesApi() as api:
        client = start()
        rules = {"reject": ["read:pkg-*/secrets/**"]}
        session = opened(client, api, workspace, permissions=rules)
        api.script(tools(("s", "search", {"pattern": "TOP", "path": "pkg-a"})), text("Done."))
        say(client, session)
        (found,) = results(api)
    assert str(found["content"]).count("TOP") == str(found["content"]).count("of plain") == 1


def test_what_an_editor_says_of_a_file_that_a_rule_keeps_stays_here(
    start: Start, workspace: Path
) -> None:
    """What is selected there, and what a linter said of a line; of other files both are told."""
    (workspace / "secrets").mkdir()
    given: dict[str, Any] = {"diagnostics": []}
    with FakeMessagesApi() as api:
        client = start()
        session = opened(client, api, workspace, permissions={"reject": ["read:secrets/**"]})
        index = "fugitive://" + str(workspace / ".git//0/secrets/prod.env")
        for name, uri in (
            ("secrets/prod.env", (workspace / "secrets/prod.env").as_uri()),
            ("secrets in the index", index),
            ("secrets in a command", "minigit://3/git show HEAD secrets/prod.env"),
            ("secrets in signs", f"gitsigns://{workspace}/.git//:0:secrets/prod.env"),
            ("secrets in a query", f"git:{workspace}/x?{{'path':'secrets/prod.env'}}"),
            ("main.py", (workspace / "main.py").as_uri()),
        ):
            where = {"start": {"line": 0, "character": 0}}
            message = f"unknown word in {name}: tip of {name}"
            told = {"uri": uri, "range": where, "severity": 2, "message": message}
            given["diagnostics"].append(told)
            given["selection"] = {"path": uri, "range": where, "text": f"text of {name}"}
            api.script(text("Done."))
            words = [{"type": "text", "text": "Why?"}]
            params = {"sessionId": session, "prompt": words, "context": given}
            client.request("session/prompt", params)
        sent = str(api.requests[-1].body["messages"])
    assert "text of secrets" not in sent
    assert "tip of secrets" not in sent
    assert "a rule of the user's keeps this file from you" in sent
    assert "text of main.py" in sent
    assert "tip of main.py" in sent


def test_a_folders_rules_hold_in_sessions_of_folders_below(start: Start, workspace: Path) -> None:
    """Their paths count from that folder, whose settings the window has."""
    (workspace / ".sidecar").mkdir()
    rules = ["write_file:app/infra/**", "read:app/secrets/**", "shell@app:make *"]
    (workspace / ".sidecar/config.toml").write_text(f"[permissions]\nreject = {rules}\n")
    (workspace / "app/secrets").mkdir(parents=True)
    (workspace / "app/secrets/key.txt").write_text("TOP\n")
    made = [
        tools(("w", "write_file", {"path": "infra/x.py", "content": "1\n"})),
        tools(("r", "read_file", {"path": "secrets/key.txt"})),
        tools(("s", "search", {"pattern": "TOP"})),
        tools(("m", "shell", {"command": "make all"})),
    ]
    with FakeMessagesApi() as api:
        client = start()
        opened(client, api, workspace, permissions={"allow": ["write_file", "shell"]})
        below = client.request("session/new", {"cwd": str(workspace / "app")})["sessionId"]
        api.script(*made, text("Done."))
        say(client, below)
        found = {one["tool_use_id"]: str(one["content"]) for one in results(api)}
    for name in ("w", "r", "m"):
        assert "A rule of the user rejects this call" in found[name], found
    assert "key.txt" not in found["s"]
    assert not (workspace / "app/infra").exists()


@pytest.mark.parametrize(("name", "to"), [("AGENTS.md", "own.md"), ("CLAUDE.md", "secrets/key.md")])
def test_instructions_that_lead_to_what_a_rule_keeps_stay_here(
    start: Start, workspace: Path, name: str, to: str
) -> None:
    """Links of a repository; a rule for the tool as a whole says nothing of a file."""
    (workspace / to).parent.mkdir(exist_ok=True)
    (workspace / to).write_text("TOP\n")
    (workspace / name).symlink_to(to)
    (workspace / "sub/.sidecar/learned").mkdir(parents=True)
    (workspace / "sub/AGENTS.md").write_text("Use tabs.\n")
    (workspace / "sub/.sidecar/learned/decisions.md").write_text("- TOP\n")
    (workspace / "sub/.sidecar/learned/errors.md").write_text("- Start redis.\n")
    with FakeMessagesApi() as api:
        client = start()
        rules = {"reject": ["read:own.md", "read:secrets/**", "read:**/decisions.md", "read_file"]}
        opened(client, api, workspace, permissions=rules)
        below = client.request("session/new", {"cwd": str(workspace / "sub")})["sessionId"]
        api.script(text("Done."))
        say(client, below)
        sent = str(api.requests[-1].body)
    assert "Use tabs." in sent
    assert "Start redis." in sent
    assert "TOP" not in sent


def test_a_windows_folder_keeps_its_rules_where_a_link_to_it_moves(
    start: Start, tmp_path: Path, workspace: Path
) -> None:
    (workspace / ".sidecar").mkdir()
    rules = '[permissions]\nreject = ["write_file:infra/**"]\n'
    (workspace / ".sidecar/config.toml").write_text(rules)
    link, other = tmp_path / "project", tmp_path / "other"
    link.symlink_to(workspace)
    other.mkdir()
    file = tmp_path / "config/sidecar/config.toml"
    file.parent.mkdir(parents=True)
    with FakeMessagesApi() as api:
        client = start(env={"XDG_CONFIG_HOME": str(tmp_path / "config")})
        session = opened(client, api, link, permissions={"allow": ["write_file"]})
        link.unlink()
        link.symlink_to(other)
        # The settings are read again.
        file.write_text("max_steps = 3\n")
        client.wait_for(lambda n: "The settings were read again" in str(n["params"]))
        given = {"path": "infra/x.py", "content": "1\n"}
        api.script(tools(("w", "write_file", given)), text("Done."))
        say(client, session)
        (found,) = results(api)
    assert "A rule of the user rejects this call" in str(found["content"])
