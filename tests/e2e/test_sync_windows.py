"""Windows of one daemon that sync: none keeps the others from syncing, or gives them its rules."""

import json
import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Open
from tests.e2e.plain import PlainClient, Refused, Spawn
from tests.e2e.sync_users import User, git, piece, refs, users

Make = Callable[..., User]
CANCELLED = 60


@pytest.fixture
def make(tmp_path: Path, spawn: Spawn | None) -> Iterator[Make]:
    yield from users(tmp_path, spawn)


def test_a_sync_that_is_cancelled_as_it_begins_keeps_no_other_waiting(make: Make) -> None:
    ada, dice = make("ada"), random.Random(1)
    session = ada.new()
    ada.say(session, "hello")
    about = {"cwd": str(ada.folder), "remote": str(ada.remote), "agree": str(ada.remote)}
    ada.client.request("session/sync", about)
    for _ in range(CANCELLED):
        asked = ada.client.send("session/sync", about)
        time.sleep(dice.uniform(0, 0.006))
        ada.client.notify("$/cancelRequest", {"id": asked})
        with suppress(Refused):
            ada.client.result(asked, 30)
    begun = time.monotonic()
    ada.client.request("session/sync", about)
    assert time.monotonic() - begun < 30


def begin(client: PlainClient, folder: Path, **options: Any) -> None:
    about = {
        "processId": os.getpid(),
        "rootUri": folder.as_uri(),
        "capabilities": client.capabilities(),
        "initializationOptions": {"model": "offline", **options},
    }
    client.request("initialize", about)
    client.notify("initialized")


def careful_and_bold(window: Open, folder: Path) -> tuple[PlainClient, PlainClient]:
    """One never lets `touch` run, the other always does; nobody answers a question of theirs."""
    refusing = {"session/request_permission": lambda _: {"outcome": {"outcome": "cancelled"}}}
    careful, bold = window(begun=False, **refusing), window(begun=False, **refusing)
    rule = ["shell:touch *"]
    begin(careful, folder, workspaceTrusted=False, permissions={"reject": rule})
    begin(bold, folder, workspaceTrusted=True, permissions={"allow": rule})
    return careful, bold


def test_a_window_that_syncs_gives_others_sessions_no_rules_of_its_own(
    window: Open, make: Make, tmp_path: Path
) -> None:
    ada = make("ada")
    name, folder = ada.new(), tmp_path / "bobs"
    ada.say(name, "hello")
    ada.sync()
    git("clone", "--quiet", str(ada.remote), str(folder), cwd=tmp_path)
    careful, bold = careful_and_bold(window, folder)
    about = {"cwd": str(folder), "remote": str(ada.remote), "agree": str(ada.remote)}
    (came,) = careful.request("session/sync", {**about, "open": [name]})["received"]
    here = {"sessionId": came["sessionId"], "replay": False}
    for client in (careful, bold):
        client.request("session/load", here)
    ada.say(name, "more")
    ada.sync()
    assert len(bold.request("session/sync", about)["received"]) == 1
    prompt = [{"type": "text", "text": "run `touch made`"}]
    careful.request("session/prompt", {"sessionId": came["sessionId"], "prompt": prompt})
    assert not (folder / "made").exists()


@pytest.mark.parametrize("syncs", ["careful", "bold"])
def test_who_loads_a_session_amid_a_sync_brings_no_rules_of_its_own(
    window: Open, make: Make, syncs: str
) -> None:
    ada, folder = make("ada"), make("bob").folder
    name = ada.new()
    ada.say(name, "hello")
    ada.sync()
    careful, bold = careful_and_bold(window, folder)
    about = {"cwd": str(folder), "remote": str(ada.remote), "agree": str(ada.remote)}
    (came,) = careful.request("session/sync", {**about, "open": [name]})["received"]
    here = {"sessionId": came["sessionId"], "replay": False}
    careful.request("session/load", here)
    ada.say(name, "more")
    ada.sync()
    piece(ada, name, with_records(15_000), number=2)
    syncing = careful if syncs == "careful" else bold
    sync = syncing.send("session/sync", about)
    looking = window(begun=False)
    begin(looking, folder)
    end = time.monotonic() + 60
    while looking.request("daemon/status", {})["sessions"]:
        assert time.monotonic() < end
        time.sleep(0.002)
    bold.request("session/load", here)
    assert len(syncing.result(sync, 60)["received"]) == 1
    prompt = [{"type": "text", "text": "run `touch made`"}]
    careful.request("session/prompt", {"sessionId": came["sessionId"], "prompt": prompt})
    assert not (folder / "made").exists()


def test_a_window_takes_others_secrets_out_of_what_it_sends(
    window: Open, make: Make, tmp_path: Path
) -> None:
    user = make("ada")
    key, token = "zebra-crossing-nine-lights", "correct horse9battery staple"
    theirs, other = window({"BILLING_API_TOKEN": token}, begun=False), window(begun=False)
    begin(theirs, user.folder, provider={"apiKey": key})
    begin(other, user.folder)
    session = theirs.request("session/new", {"cwd": str(user.folder)})["sessionId"]
    prompt = [{"type": "text", "text": f"The proxy said {key}, and billing {token}."}]
    theirs.request("session/prompt", {"sessionId": session, "prompt": prompt})
    about = {"cwd": str(user.folder), "remote": str(user.remote), "agree": str(user.remote)}
    (sent,) = other.request("session/sync", about)["sent"]
    given = {"sessionId": session, "path": str(tmp_path / "out.sidecar")}
    exported = other.request("session/export", given)
    assert sent["redacted"] >= 2
    assert exported["redacted"] >= 2


def with_records(number: int) -> Callable[[list[Any]], None]:
    """Adds so many that a sync is some time in storing them."""

    def add(lines: list[Any]) -> None:
        last = max(one["record"]["revision"] for one in lines if "record" in one)
        body = json.dumps({"turnId": "turn_01m8ksr3vy690ffgcmas8bhwzd", "stopReason": "end_turn"})
        lines += (
            {"record": {"revision": last + more, "kind": "turn_ended", "at": more, "body": body}}
            for more in range(1, number + 1)
        )

    return add


def test_nothing_is_sent_where_a_remote_leads_elsewhere(make: Make) -> None:
    heard: list[str] = []

    class Leading(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.path)
            self.send_response(302)
            self.send_header("location", f"http://localhost:{elsewhere.server_port}{self.path}")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nobody reads along."""

    class Elsewhere(Leading):
        def do_GET(self) -> None:
            heard.append("elsewhere")
            self.send_error(404)

    servers = [ThreadingHTTPServer(("127.0.0.1", 0), one) for one in (Leading, Elsewhere)]
    elsewhere = servers[1]
    for server in servers:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    ada = make("ada")
    ada.say(ada.new(), "hello")
    remote = f"http://127.0.0.1:{servers[0].server_port}/r.git"
    try:
        with pytest.raises(Refused, match="cannot be reached"):
            ada.sync(remote, agree=remote)
    finally:
        for server in servers:
            server.shutdown()
            server.server_close()
    assert heard
    assert "elsewhere" not in heard
    assert refs(ada.remote) == {}
