"""`sidecar replay` as people run it: what it prints, how it ends, and that it never lets go."""

import errno
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from sidecar.core.parts import Message, MessageId, PartId, SessionId, TextPart, TurnId
from sidecar.core.policies import policies
from sidecar.replay.page import MOST_CHARTS
from sidecar.store.format.values import PutMessage, PutPart, PutSession, SessionRow, StoreChange
from sidecar.store.journal import Store
from tests.faults.forked import sidecar
from tests.replay.neutral_files import line, long_recording, recording, text, write

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
RECORDED = ROOT.parent / "shared/sessions/normalised"

ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "COLUMNS"}


def run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run it to its end; it must never show a traceback."""
    done = sidecar("replay", *arguments, env={**ENVIRONMENT, **environment}, timeout=120)
    assert "Traceback" not in done.stderr + done.stdout, done.stderr
    return done


def printed(*arguments: str | Path, **environment: str) -> dict[str, Any]:
    done = run(*arguments, "--json", **environment)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def refused(code: int, *arguments: str | Path) -> str:
    """Give the one line that says why it would not."""
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (code, ""), done.stderr
    assert done.stderr.startswith("sidecar replay: "), done.stderr
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_json_has_the_sums_of_the_policy_and_each_session(tmp_path: Path) -> None:
    found = printed(long_recording(tmp_path / "one.jsonl"), "--window", "20000")
    [policy] = found["policies"]
    assert policy["policy"] == "economic"
    assert list(policy["recall"]) == ["inView", "withLedger", "reachable", "wholeParts"]
    recall = policy["recall"]
    shares = [*recall.values(), policy["failedKept"], policy["proseKept"], policy["cacheHit"]]
    assert policy["constraintsKept"] == 1
    assert all(isinstance(share, float) and 0 <= share <= 1 for share in shares)
    assert recall["wholeParts"] <= recall["inView"] <= recall["withLedger"] <= recall["reachable"]
    assert policy["cost"] > 0
    assert policy["rewrites"] > 0
    assert 5_000 < policy["peak"] <= 20_000
    assert policy["requests"] == 61
    assert (found["window"], found["prices"]) == (20_000, "recorded")
    [session] = found["sessions"]
    assert (session["session"], session["format"], session["requests"]) == ("one", "neutral", 61)
    assert session["costs"] == {"economic": policy["cost"]}
    assert session["recordedCost"] > 0
    assert len(session["rewrites"]) == policy["rewrites"]
    assert session["rewrites"][0].keys() == {"step", "cause", "reason", "before", "after"}
    assert session["damaged"] == []
    assert found["validation"]["neutral"]["requests"] == 60


def test_compare_plays_every_policy_the_chosen_one_first(tmp_path: Path) -> None:
    path = long_recording(tmp_path / "one.jsonl")
    found = printed(path, "--compare", "--policy", "gemini", "--window", "20000")
    names = [one["policy"] for one in found["policies"]]
    assert names[0] == "gemini"
    assert sorted(names) == sorted(policies())
    costs = {one["policy"]: one["cost"] for one in found["policies"]}
    assert found["sessions"][0]["costs"] == costs
    assert costs["economic"] < costs["manual"]


def test_prices_come_from_a_card_or_a_file(tmp_path: Path) -> None:
    path = recording(tmp_path / "one.jsonl")
    card = tmp_path / "card.json"
    card.write_text('{"input": 6, "output": 30, "write": 7.5, "read": 0.6}')
    once = printed(path, "--policy", "manual")["policies"][0]
    twice = printed(path, "--policy", "manual", "--prices", card)["policies"][0]
    never = printed(path, "--policy", "manual", "--prices", "nocache")["policies"][0]
    assert twice["cost"] == pytest.approx(2 * once["cost"], rel=1e-3)
    assert (never["cacheHit"], never["cost"] > once["cost"]) == (0.0, True)


def test_the_same_bytes_come_whatever_the_hash_seed_and_however_many_processes(
    tmp_path: Path,
) -> None:
    # Two folders have a file of the same name; the larger one is done last.
    for folder, answers in (("a", 61), ("b", 5), ("c", 30)):
        (tmp_path / folder).mkdir()
        long_recording(tmp_path / folder / "same.jsonl", answers)
    (tmp_path / "c" / "broken.jsonl").write_text("{")
    common = (tmp_path, "--compare", "--window", "20000", "--json")
    # A fork would have the seed of the process that it comes from.
    runs = [
        subprocess.run(
            [sys.executable, "-m", "sidecar", "replay", *map(str, common), "--jobs", jobs],
            env={**ENVIRONMENT, "PYTHONHASHSEED": seed},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        for jobs, seed in (("1", "1"), ("2", "2"), ("3", "3"))
    ]
    assert [one.returncode for one in runs] == [0, 0, 0]
    assert len({(one.stdout, one.stderr) for one in runs}) == 1
    sizes = [one["requests"] for one in json.loads(runs[0].stdout)["sessions"]]
    assert sizes == [62, 6, 31]
    assert "broken.jsonl" in runs[0].stderr


def test_a_file_that_is_given_twice_counts_once(tmp_path: Path) -> None:
    path = recording(tmp_path / "one.jsonl")
    assert len(printed(path, path, tmp_path)["sessions"]) == 1


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--policy", "thrifty"), "there is no policy 'thrifty'; there are economic, "),
        (("--window", "15999"), "give 16000 to 10000000"),
        (("--window", "-1"), "give 16000 to 10000000"),
        (("--window", "10000001"), "give 16000 to 10000000"),
        (("--prices", "dear"), "no price card 'dear'"),
        (("--jobs", "-1"), "give 0 for one a core"),
        (("--html", "no/such/folder/page.html"), "give a file in a folder that exists"),
        (("--html", "."), "give a file in a folder that exists"),
        (("no/such/file.jsonl",), "there is no no/such/file.jsonl"),
    ],
)
def test_bad_arguments_are_refused_in_one_line(
    tmp_path: Path, arguments: tuple[str, ...], word: str
) -> None:
    assert word in refused(2, recording(tmp_path / "one.jsonl"), *arguments)


def test_arguments_of_the_wrong_kind_are_refused_with_the_way_to_help(tmp_path: Path) -> None:
    for arguments in ((tmp_path, "--window", "wide"), (tmp_path, "--colour")):
        done = run(*arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert "replay --help" in done.stderr


def test_a_folder_without_recordings_says_what_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("{}")
    why = refused(1, tmp_path)
    assert f"there is no recording in {tmp_path}" in why
    assert ".jsonl" in why


@pytest.mark.parametrize("content", [b"", b"{", b"\xff\x00\x01", b"[1, 2]\n" * 9, b"\x1f\x8b\x08"])
def test_a_file_that_is_no_recording_is_skipped_with_its_name(
    tmp_path: Path, content: bytes
) -> None:
    path = tmp_path / "one.jsonl"
    path.write_bytes(content)
    done = run(path)
    assert (done.returncode, done.stdout) == (1, "")
    first, second = done.stderr.splitlines()
    assert first.startswith("skipped: ")
    assert str(path) in first
    assert second == "sidecar replay: nothing there could be replayed"


def test_a_question_without_an_answer_cannot_be_replayed(tmp_path: Path) -> None:
    path = write(tmp_path / "one.jsonl", [line("user", 1, text("hello"))])
    done = run(path)
    assert done.returncode == 1
    assert "holds no answer of a model" in done.stderr


def test_damaged_lines_are_told_and_what_is_left_is_played(tmp_path: Path) -> None:
    path = recording(tmp_path / "one.jsonl", answers=15)
    whole = path.read_bytes().splitlines(keepends=True)
    # Every result is gone; the calls stay.
    whole[2::2] = [b'{"role":\n'] * 15
    path.write_bytes(b"".join(whole))
    done = run(path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Skipped 15 damaged lines:" in done.stdout
    assert "one, line 3: not JSON" in done.stdout
    assert "one, line 21: not JSON" in done.stdout
    assert "one, line 23: not JSON" not in done.stdout
    assert "and 5 more; --json lists them all" in done.stdout
    damaged = printed(path)["sessions"][0]["damaged"]
    assert [one["line"] for one in damaged] == list(range(3, 33, 2))


def test_what_is_readable_is_replayed_and_the_rest_is_named(tmp_path: Path) -> None:
    recording(tmp_path / "good.jsonl")
    (tmp_path / "bad.jsonl").write_text("{")
    done = run(tmp_path)
    assert done.returncode == 0
    assert done.stderr.startswith(f"skipped: {tmp_path}/bad.jsonl is no recording")
    assert "good" in done.stdout


@pytest.mark.parametrize("width", [80, 120, 168])
def test_tables_fit_the_terminal_and_nothing_in_them_is_cut(tmp_path: Path, width: int) -> None:
    path = long_recording(tmp_path / "one.jsonl")
    one = run(path, "--window", "20000", COLUMNS=str(width)).stdout
    all_of_them = run(path, "--window", "20000", "--compare", COLUMNS=str(width)).stdout
    assert max(map(len, (one + all_of_them).splitlines())) <= width
    assert "…" not in one + all_of_them
    for name in policies():
        assert f"\n {name} " in all_of_them
    assert (" why " in one, "near  re-reads" in all_of_them) == (width > 118, width > 118)
    assert ("runway  smaller" in all_of_them) == (width > 167)


def test_where_there_is_no_terminal_lines_are_long_enough_for_every_column(tmp_path: Path) -> None:
    done = run(recording(tmp_path / "one.jsonl"))
    assert " why " in done.stdout
    assert "runway  smaller" in done.stdout


def test_what_the_last_request_would_send_is_shown_as_text(tmp_path: Path) -> None:
    path = long_recording(tmp_path / "one.jsonl")
    carried_on = run(path, "--sent", "--policy", "manual")
    assert (carried_on.returncode, carried_on.stderr) == (0, "")
    assert "── assistant calls bash ─" in carried_on.stdout
    assert "value_0_59 = 59" in carried_on.stdout
    rewritten = run(path, "--sent", "--window", "20000").stdout
    assert "── user, ledger ─" in rewritten
    assert "value_0_59 = 59" not in rewritten
    assert "Make src/main.py read settings_file_0 again." in rewritten


def test_only_one_recording_can_be_shown_so(tmp_path: Path) -> None:
    recording(tmp_path / "one.jsonl")
    recording(tmp_path / "two.jsonl")
    assert "--sent shows one recording, and there are 2" in refused(2, tmp_path, "--sent")


def test_an_error_steers_no_terminal(tmp_path: Path) -> None:
    (tmp_path / "\x1b[31mred\n.jsonl").write_text("{")
    done = run(tmp_path)
    assert (done.returncode, done.stderr.count("\n")) == (1, 2)
    assert "\x1b" not in done.stderr


def test_names_that_are_markup_escapes_or_no_text_are_shown_as_they_are(tmp_path: Path) -> None:
    for name in (b"[bold", b"[red]x[red]", b"caf\xe9", b"\x1b[31mred", b"<script>"):
        os.rename(
            recording(tmp_path / "new.jsonl"), os.fsencode(tmp_path) + b"/" + name + b".jsonl"
        )
    with (tmp_path / "[red]x[red].jsonl").open("a") as file:
        file.write("{")
    page = tmp_path / "page.html"
    done = run(tmp_path, "--html", page)
    assert (done.returncode, done.stderr) == (0, f"written: {page}\n")
    assert "[red]x[red], line 8: not JSON" in done.stdout
    for shown in ("[bold", "[red]x[red]", "caf\\xe9", "␛[31mred", "<script>"):
        assert f" {shown} " in done.stdout
    assert "\x1b" not in done.stdout
    html = page.read_text()
    assert "<script" not in html
    assert "&lt;script&gt;" in html


def test_whoever_reads_may_stop_reading(tmp_path: Path) -> None:
    path = long_recording(tmp_path / "one.jsonl")
    command = [sys.executable, "-m", "sidecar", "replay", str(path), "--json"]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout
        assert process.stderr
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(60) == 0


def in_a_group(*files: Path) -> "subprocess.Popen[bytes]":
    """Replay with two processes, in a group of their own."""
    command = [sys.executable, "-m", "sidecar", "replay", "--jobs", "2", *map(str, files)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, start_new_session=True)


def test_an_interrupt_ends_it_with_all_its_processes(tmp_path: Path) -> None:
    pipe, short = tmp_path / "endless.jsonl", recording(tmp_path / "short.jsonl")
    os.mkfifo(pipe)
    with in_a_group(pipe, short) as process:
        try:
            # One process has begun a file that never ends; the other has nothing left to do.
            held = opened_by_a_reader(pipe)
            os.killpg(process.pid, signal.SIGINT)
            out, errors = process.communicate(timeout=20)
        finally:
            process.kill()
    with pytest.raises(BrokenPipeError):
        os.write(held, b"{")
    os.close(held)
    assert (process.returncode, out, errors) == (130, b"", b"")


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc tells of children")
def test_an_interrupt_while_its_processes_begin_ends_them_silently(tmp_path: Path) -> None:
    files = [recording(tmp_path / f"{number}.jsonl") for number in range(2)]
    with in_a_group(*files) as process:
        try:
            # Two that work, and the one that looks after their semaphores.
            until = monotonic() + 30
            while len(children(process.pid)) < 3:
                assert monotonic() < until, "they did not begin"
                sleep(0.01)
            sleep(0.2)
            os.killpg(process.pid, signal.SIGINT)
            out, errors = process.communicate(timeout=20)
        finally:
            process.kill()
    assert (process.returncode, out, errors) == (130, b"", b"")


def children(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


def opened_by_a_reader(pipe: Path) -> int:
    until = monotonic() + 30
    while monotonic() < until:
        try:
            return os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
        sleep(0.02)
    pytest.fail(f"nobody opened {pipe}")


async def test_sessions_of_our_own_store_are_replayed(tmp_path: Path) -> None:
    store = Store.open(tmp_path, now=lambda: 1_000)
    for number in range(2):
        session = SessionRow(SessionId(f"ses_{number}"), "/d", "", 1, 1, 1, 0, 1, None, {})
        changes: list[StoreChange] = [PutSession(session)]
        for order, role in enumerate(("user", "assistant")):
            part = TextPart(PartId(f"p{number}{order}"), "hello", "typed")
            message = Message(MessageId(f"m{number}{order}"), TurnId("t"), "user", (), order)
            message = replace(message, role=role)  # type: ignore[arg-type]
            changes += [
                PutMessage(session.id, message),
                PutPart(session.id, message.id, 0, part),
            ]
        await store.write(*changes)
    await store.close()
    found = printed(tmp_path / "store.db")
    assert [one["session"] for one in found["sessions"]] == ["ses_0", "ses_1"]
    assert len(printed(tmp_path / "store.db" / "ses_1")["sessions"]) == 1
    done = run(tmp_path / "store.db" / "ses_9")
    assert done.returncode == 1
    assert "no single session 'ses_9'" in done.stderr


@pytest.mark.skipif(not RECORDED.is_dir(), reason="there are no recorded sessions beside this")
def test_recorded_sessions_are_replayed_and_agree_with_what_was_reported(tmp_path: Path) -> None:
    smallest = sorted(RECORDED.glob("*.gz"), key=lambda path: path.stat().st_size)[:15]
    page = tmp_path / "page.html"
    done = run(*smallest, "--compare", "--json", "--html", page)
    assert (done.returncode, done.stderr) == (0, f"written: {page}\n")
    found = json.loads(done.stdout)
    assert len(found["sessions"]) == 15
    for one in found["policies"]:
        assert one["cost"] > 0
        assert one["recall"]["reachable"] >= one["recall"]["withLedger"]
    assert found["validation"]["neutral"]["medianPromptDeviation"] < 0.1
    assert page.read_text().count("<svg") == 2 + min(15, MOST_CHARTS)
