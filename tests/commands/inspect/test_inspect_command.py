"""`sidecar inspect` as people run it, beside a daemon that has the session open."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sidecar.commands.inspect import inspect_command
from sidecar.config import Config
from tests.commands.upkeep.test_moving_command import run
from tests.e2e.desk import Desk
from tests.fakes.messages_api import text
from tests.session.conftest import World

pytestmark = pytest.mark.long

KEY = "sk-ant-api03-" + "a1B2c3D4e5F6g7H8" * 4
PHRASE = "correct horse battery"


Inspect = Callable[..., tuple[int, str]]


@pytest.fixture
def inspect(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Inspect:
    """Run the command here: to start Python for each would take longer than all else."""
    monkeypatch.setenv("SIDECAR_DATA_DIR", str(data))
    monkeypatch.setenv("COLUMNS", "200")

    def run(session: str | None = None, *, last: bool = False, as_json: bool = False) -> Any:
        capsys.readouterr()
        code = inspect_command.inspect(session, last=last, json_wanted=as_json)
        said = capsys.readouterr()
        return code, said.out + said.err

    return run


def recorded(data: Path, folder: Path) -> tuple[str, str]:
    """Make two sessions in a store, and close it."""
    folder.mkdir(exist_ok=True)
    config = Config(model="scripted", workspace_trusted=True, data_dir=data)

    async def make() -> tuple[str, str]:
        async with World(data, folder, config=config).daemon() as desk:
            return (await desk.open()).id, (await desk.open()).id

    return asyncio.run(make())


def inspected(inspect: Inspect, session: str | None, **given: Any) -> Any:
    code, said = inspect(session, as_json=True, **given)
    assert code == 0, said
    return json.loads(said)


def agrees(told: Any, desk: Desk) -> None:
    """The daemon's meter, as far as it does not depend on what time it is."""
    meter = desk("context/meter")
    same = ("window", "used", "percent", "zone", "accuracy", "reservedOutput", "compactAt")
    assert {name: told["meter"][name] for name in same} == {name: meter[name] for name in same}
    regions = {name: tokens for name, tokens in told["meter"]["regions"].items() if tokens}
    assert regions == {name: tokens for name, tokens in meter["regions"].items() if tokens}
    assert told["meter"]["cost"]["session"] == meter["cost"]["session"]
    assert sum(piece["tokens"] for piece in told["pieces"]) == meter["used"]


def test_the_numbers_are_those_of_the_daemon_that_has_it_open(desk: Desk, inspect: Inspect) -> None:
    desk.open()
    lines = "line " * 2000
    desk.look = lambda given: f"{given['path']}\x1b[31m {KEY} [bold]{lines}"
    desk.work(3, 3)
    agrees(inspected(inspect, desk.session), desk)
    done = desk("context/compact", strategy="economic")
    told = inspected(inspect, desk.session)
    agrees(told, desk)
    [change] = told["changes"]
    assert change["id"] == done["compactionId"]
    assert (change["before"], change["afterwards"]) == (done["tokensBefore"], done["tokensAfter"])
    assert sum(change["leftOut"].values()) > 0
    assert {note["region"] for note in told["notes"]} == {"ledger"}
    desk.work(1, 1)
    told = inspected(inspect, desk.session)
    agrees(told, desk)
    assert [turn["requests"] for turn in told["turns"]] == [4, 4, 4, 2]
    code, said = inspect(desk.session)
    assert code == 0
    for words in (
        "Context by region", "tool results", "dropped", "Changes of the context",
        "rewrite (user)", "Summaries and notes in the context", "ledger", "4 user complete",
        "look", "Look at the next files.", "tokens, green",
    ):  # fmt: skip
        assert words in said, words
    assert "\x1b" not in said
    assert KEY[:20] not in said
    assert KEY[:20] not in json.dumps(told)
    # It takes no lease, and can look while a turn runs.
    midway: list[Any] = []
    ended = desk.during(lambda: midway.append(inspected(inspect, desk.session)), text("Done."))
    assert ended["stopReason"] == "end_turn"
    assert [turn["stop"] for turn in midway[0]["turns"]] == [*["end_turn"] * 4, ""]
    assert midway[0]["meter"]["used"] > told["meter"]["used"]
    agrees(inspected(inspect, desk.session), desk)


def sent_texts(body: Any) -> list[str]:
    """All texts of a request's messages, in order; of a call its input as JSON."""
    texts = []
    for message in body["messages"]:
        for block in message["content"]:
            match block["type"]:
                case "text":
                    texts.append(block["text"])
                case "tool_use":
                    texts.append(json.dumps(block["input"]))
                case "tool_result":
                    texts.append(block["content"])
    return texts


def test_what_is_sent_is_shown_as_text(
    desk: Desk,
    capsys: pytest.CaptureFixture[str],
    data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without what looks like a key, and without those of the user's settings."""
    (tmp_path / "sidecar").mkdir()
    (tmp_path / "sidecar/config.toml").write_text(
        "[providers]\nwork = {kind = 'openai', api_key = 'env:PHRASE'}\n"
    )
    given = {"SIDECAR_DATA_DIR": str(data), "XDG_CONFIG_HOME": str(tmp_path), "PHRASE": PHRASE}
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    desk.open()
    desk.look = lambda given: f"{given['path']} \x1b[31m {KEY} {PHRASE} {'line ' * 900}"
    desk.work(2, 3)
    desk("context/compact", strategy="economic")
    desk.work(1, 1)
    capsys.readouterr()
    assert inspect_command.show_sent(desk.session, last=False) == 0
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert KEY[:20] not in shown
    assert PHRASE not in shown
    at = 0
    for sent in sent_texts(desk.api.requests[-1].body):
        line = max(sent.splitlines(), key=len)[:60].split("\x1b")[0]
        at = shown.index(line, at)
    assert "── user, ledger ─" in shown


def test_the_session_can_be_named_in_several_ways(
    data: Path, inspect: Inspect, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "work"
    first, second = recorded(data, folder)

    def named(session: str | None, **given: Any) -> str:
        return str(inspected(inspect, session, **given)["about"]["id"])

    for name in (second, second[4:], str(folder)):
        assert named(name) == second
    assert named(None, last=True) == second
    assert named(first) == first
    code, said = inspect(second[:-1])
    assert (code, first in said, second in said) == (1, True, True)
    code, said = inspect("nonesuch")
    assert code == 1
    assert "There is no session whose id is, or begins with, “nonesuch”. `sidecar sessions`" in said
    monkeypatch.chdir(tmp_path)
    code, said = inspect()
    assert (code, f"There is no session in {tmp_path}." in said) == (1, True)
    monkeypatch.chdir(folder)
    assert named(None) == named(".") == second


def test_where_nothing_is_recorded_nothing_is_made(data: Path, inspect: Inspect) -> None:
    code, said = inspect(last=True)
    assert (code, "`sidecar demo` plays one" in said) == (1, True)
    assert not data.exists()


def test_it_is_a_command_of_the_command_line(tmp_path: Path) -> None:
    code, said = run(tmp_path / "data", tmp_path, "inspect", "ses_none", "--json")
    assert (code, "There are no sessions in" in said) == (1, True)
