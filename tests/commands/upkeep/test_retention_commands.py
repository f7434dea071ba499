"""`sidecar prune`, `archive` and `delete` as people run them."""

import asyncio
import json
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import sidecar_client

from tests.commands.upkeep.test_moving_command import SERVE, environment, run, spoken

pytestmark = pytest.mark.long

DAY = 86_400
COMMAND = "head -c 200000 /dev/urandom | base64"


@pytest.fixture
def session(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A session with a long output, and a clock that the test can turn."""
    (tmp_path / "offset").write_text("0")
    monkeypatch.setenv("SIDECAR_CLOCK_OFFSET_FILE", str(tmp_path / "offset"))
    allowed = {"allow": ["shell"]}
    return spoken(tmp_path / "data", folder, f"run `{COMMAND}`", title="Count", permissions=allowed)


def told(data: Path, folder: Path, *arguments: str) -> Any:
    code, said = run(data, folder, *arguments, "--json")
    assert code == 0, said
    return json.loads(said)


def test_a_dry_run_says_what_the_real_one_then_does(
    tmp_path: Path, folder: Path, session: str
) -> None:
    data = tmp_path / "data"
    (tmp_path / "offset").write_text(str(9 * DAY))
    code, said = run(data, folder, "prune", "--dry-run", "--archive-days", "8")
    assert code == 0
    assert ["1", "output", session] == said.splitlines()[1].split()[:3]
    assert "Would go: 1 output and 1 session (into bundles)" in said
    before = told(data, folder, "prune", "--dry-run")
    assert (before["dryRun"], before["outputs"], before["sessions"]) == (True, 1, [])
    assert before["bytes"] > 50_000
    done = told(data, folder, "prune")
    assert {**before, "dryRun": False} | {k: done[k] for k in ("fileBytes", "freeBytes")} == {
        key: done[key] for key in before
    }
    assert done["fileBytes"] <= before["fileBytes"] - before["bytes"] * 0.8
    assert done["freeBytes"] == 0
    assert told(data, folder, "prune", "--dry-run")["bytes"] == 0


def test_archived_listed_brought_back_and_deleted(
    tmp_path: Path, folder: Path, session: str
) -> None:
    data = tmp_path / "data"
    [done] = told(data, folder, "archive", session)["sessions"]
    assert (done["sessionId"], Path(done["path"]).stat().st_size) == (session, done["size"])
    [listed] = told(data, folder, "archive")["archived"]
    assert (listed["sessionId"], listed["path"]) == (session, done["path"])
    code, said = run(data, folder, "import", done["path"])
    assert (code, said.split()[0]) == (0, session)
    code, said = run(data, folder, "doctor")
    assert (code, f"{session}, " in said.replace("\n", ""), "archive: " in said) == (0, True, True)
    (data / "damaged" / "1784030000000").mkdir(parents=True)
    code, said = run(data, folder, "delete", session, "ses_none", "--yes")
    assert (code, "There is no session" in said, "Nothing was deleted" in said) == (1, True, True)
    code, said = run(data, folder, "delete", session[:-2], "--yes")
    assert (code, f"{session} is gone" in said) == (0, True)
    assert f"may still hold it: delete {data}/damaged/1784030000000." in said
    left = [
        path for path in data.rglob("*") if path.is_file() and COMMAND.encode() in path.read_bytes()
    ]
    assert left == []


def test_the_daemon_sweeps_by_itself(
    tmp_path: Path, folder: Path, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    monkeypatch.setenv("SIDECAR_SWEEP_EVERY", "0.05")
    (tmp_path / "offset").write_text(str(9 * DAY))

    async def wait() -> Any:
        async with sidecar_client.connect(SERVE, env=environment(data)) as client:
            await client.session.list()
            end = time.monotonic() + 30
            while time.monotonic() < end:
                store = (await client.daemon.status()).store or {}
                if store["retention"].get("sweptAt"):
                    break
                await asyncio.sleep(0.05)
            await client.session.load(session)
            status = await client.daemon.status()
            return status.store

    assert asyncio.run(wait())["retention"]["sweptAt"]
    with closing(sqlite3.connect(data / "store.db")) as con:
        [(gone,)] = con.execute("SELECT gone FROM output").fetchall()
    assert gone


def test_a_clock_that_is_wrong_lets_nothing_go(tmp_path: Path, folder: Path, session: str) -> None:
    """It is set ahead by a year in a minute; what would go by its dates stays."""
    data = tmp_path / "data"
    (tmp_path / "offset").write_text(f"60 {400 * DAY}")
    code, said = run(data, folder, "prune", "--dry-run")
    assert code == 0
    assert "The clock was set 400.0 days ahead" in said.replace("\n", " ")
    assert "Would go: 0 outputs and 0 sessions" in said
    for arguments in (("prune", "--dry-run"), ("prune",)):
        plain = told(data, folder, *arguments)
        assert plain["outputs"] == 0
        assert "The clock was set 400.0 days ahead" in plain["noticed"]
    # It is right again, and the time that passes counts.
    (tmp_path / "offset").write_text(str(9 * DAY))
    plain = told(data, folder, "prune", "--dry-run")
    assert (plain["outputs"], plain["noticed"]) == (1, "")
