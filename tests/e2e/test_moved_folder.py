"""A session's folder that becomes a link, as after a checkout: nothing is done where it leads."""

import os
from pathlib import Path

import pytest

from tests.e2e.conftest import Open
from tests.e2e.plain import PlainClient, Refused

pytestmark = pytest.mark.long
RULES = {"allow": ["write_file", "shell:make *", "shell:sh move.sh", "shell:rm *"]}


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A session's folder, and one that nobody gave to anybody."""
    app, secrets = tmp_path / "repo/app", tmp_path / "secrets"
    for folder in (app, secrets):
        folder.mkdir(parents=True)
    (secrets / "id.txt").write_text("TOPSECRET\n")
    return app, secrets


def opened(window: Open, root: Path) -> PlainClient:
    refusing = {"session/request_permission": lambda _: {"outcome": {"outcome": "cancelled"}}}
    options = {"workspaceTrusted": True, "permissions": RULES}
    return window(options=options, **refusing)


def say(client: PlainClient, session: str, words: str) -> None:
    prompt = [{"type": "text", "text": words}]
    client.request("session/prompt", {"sessionId": session, "prompt": prompt})


def lead(app: Path, secrets: Path) -> None:
    app.rename(app.with_name("before"))
    app.symlink_to(secrets)


def test_no_prompt_and_no_going_back_follows_it(window: Open, folders: tuple[Path, Path]) -> None:
    app, secrets = folders
    client = opened(window, app)
    session = client.request("session/new", {"cwd": str(app)})["sessionId"]
    say(client, session, "create made.py with `one`")
    say(client, session, "run `rm made.py`")
    lead(app, secrets)
    with pytest.raises(Refused, match="has become a link and leads to"):
        say(client, session, "read id.txt")
    client.request("session/close", {"sessionId": session})
    client.request("session/load", {"sessionId": session, "replay": False})
    listed = client.request("checkpoint/list", {"sessionId": session})["checkpoints"]
    for one in listed:
        about = {"sessionId": session, "checkpointId": one["checkpointId"], "scope": "files"}
        with pytest.raises(Refused, match="has become a link and leads to"):
            client.request("checkpoint/restore", {**about, "onConflict": "overwrite"})
    assert [path.name for path in secrets.iterdir()] == ["id.txt"]
    app.unlink()
    app.with_name("before").rename(app)
    say(client, session, "create made.py with `two`")
    assert (app / "made.py").read_text().strip() == "two"


@pytest.mark.parametrize("trusted", [True, False])
def test_no_new_session_follows_it(window: Open, folders: tuple[Path, Path], trusted: bool) -> None:
    app, secrets = folders
    client = window(begun=False)
    about = {
        "processId": os.getpid(),
        "rootUri": app.as_uri(),
        "capabilities": client.capabilities(),
        "initializationOptions": {"model": "offline", "workspaceTrusted": trusted},
    }
    client.request("initialize", about)
    client.notify("initialized")
    session = client.request("session/new", {"cwd": str(app)})["sessionId"]
    lead(app, secrets)
    for cwd in (f"{app}", f"{app}/"):
        with pytest.raises(Refused, match="out of the window's folder"):
            client.request("session/new", {"cwd": cwd})
    # The folder itself may be given, and is asked about by its name.
    assert client.request("session/new", {"cwd": str(secrets)})["sessionId"] != session


@pytest.mark.parametrize(
    "words", ["read id.txt", "create new.py with `x`", "run `make all`", "search for TOP", "list ."]
)
def test_no_call_of_a_turn_follows_it(window: Open, folders: tuple[Path, Path], words: str) -> None:
    """It becomes one amid a turn, by another session's command."""
    app, secrets = folders
    (secrets / "Makefile").write_text("all:\n\ttouch ran\n")
    client = opened(window, app)
    session = client.request("session/new", {"cwd": str(app)})["sessionId"]
    moved = f"cd .. && mv {app} {app}-before && ln -s {secrets} {app}"
    (app / "move.sh").write_text(moved)
    say(client, session, f"run `sh move.sh` then {words}")
    assert app.is_symlink()
    assert "has become a link" in str(client.notifications)
    assert sorted(path.name for path in secrets.iterdir()) == ["Makefile", "id.txt"]
    assert "TOPSECRET" not in str(client.notifications)
