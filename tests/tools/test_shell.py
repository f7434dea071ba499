"""The shell, with real processes: bounded in time and memory, and nothing is left running."""

import asyncio
import os
import resource
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from sidecar.core.parts import Json
from sidecar.tools.output_ends import MAX_KEPT, OutputEnds
from sidecar.tools.runner import run_builtin
from sidecar.tools.shell import scrubbed
from sidecar.tools.tool_contract import ToolAnswer, ToolContext
from tests.polling import LIMIT, until
from tests.workspace.partial_clone import NOWHERE, partial_clone


async def run(context: ToolContext, command: str, **more: Json) -> ToolAnswer:
    async with asyncio.timeout(30):
        return await run_builtin("shell", {"command": command, **more}, context)


async def gone(pid: int) -> None:
    await until(lambda: not alive(pid))


def alive(pid: int) -> bool:
    """Whether a process runs; a zombie that nobody reaps does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


async def pid_in(path: Path) -> int:
    await until(lambda: said(path))
    return int(said(path))


def held_up_until(path: Path) -> int:
    """Give the pid in a file that is still to come, and let the event loop do nothing till then."""
    end = time.monotonic() + LIMIT
    while not said(path):
        assert time.monotonic() < end
        time.sleep(0.005)
    return int(said(path))


def said(path: Path) -> str:
    text = path.read_text() if path.exists() else ""
    return text if text.endswith("\n") else ""


def children() -> str:
    """Give the pids of the processes that this thread has begun."""
    return Path(f"/proc/self/task/{threading.get_native_id()}/children").read_text()


async def test_a_command_gives_its_output_and_its_exit_code(
    root: Path, context: ToolContext
) -> None:
    answer = await run(context, "echo out; echo err >&2; pwd")
    assert answer.text == f"out\nerr\n{root}\n"
    assert not answer.is_error
    assert answer.metadata["exitCode"] == 0
    assert isinstance(answer.metadata["durationMs"], int)
    answer = await run(context, "printf no-newline; exit 3")
    assert answer.text == "no-newline\n[exit code 3]"
    assert not answer.is_error
    assert answer.metadata["exitCode"] == 3
    assert (await run(context, "true")).text == "[no output]"
    assert (await run(context, "kill -9 $$")).metadata["exitCode"] == 137
    assert (await run(context, "printf 'a\\xffb'")).text == "a\ufffdb"
    assert (await run(context, "no-such-command-here")).metadata["exitCode"] == 127


async def test_there_is_no_input_and_no_terminal(context: ToolContext) -> None:
    answer = await run(context, "cat; test -t 0 || echo none")
    assert answer.text == "none\n"


async def test_a_command_runs_within_the_workspace_or_where_it_was_granted(
    root: Path, context: ToolContext
) -> None:
    (root / "sub").mkdir()
    assert (await run(context, "pwd", cwd="sub")).text == f"{root}/sub\n"
    assert "outside" in (await run(context, "pwd", cwd="..")).text
    assert (await run(context, "pwd", cwd="missing")).is_error
    granted = replace(context, granted=(str(root.parent),))
    assert (await run(granted, "pwd", cwd="..")).text == f"{root.parent}\n"


async def test_an_untrusted_workspace_runs_nothing(root: Path, context: ToolContext) -> None:
    answer = await run(replace(context, trusted=False), "touch made")
    assert answer.is_error
    assert "not trusted" in answer.text
    assert not (root / "made").exists()


async def test_keys_are_kept_from_commands(context: ToolContext) -> None:
    secret = {
        "ANTHROPIC_API_KEY": "k", "ANTHROPIC_BASE_URL": "k", "OPENAI_API_KEY": "k",
        "GITHUB_TOKEN": "k", "AWS_SECRET_ACCESS_KEY": "k", "my_secret": "k", "DB_PASSWORD": "k",
        "SIGNING_KEY": "k", "GPG_PASSPHRASE": "k", "MYSQL_PWD": "k", "GITLAB_PAT": "k",
    }  # fmt: skip
    kept = {"PATH": os.environ["PATH"], "KEYBOARD": "yes", "TOKENIZERS": "yes"}
    assert {n for n in scrubbed({**secret, **kept}) if n in {**secret, **kept}} == set(kept)
    answer = await run(replace(context, environment={**secret, **kept}), "env")
    assert "=k" not in answer.text
    assert "KEYBOARD=yes" in answer.text


@pytest.mark.parametrize(
    "value", ["env.sh", "./env.sh", "$PWD/env.sh", "`pwd`/env.sh", "${PWD}/env.sh"]
)
async def test_bash_reads_no_file_first_that_its_folder_decides(
    value: str, root: Path, context: ToolContext
) -> None:
    for folder in (root, root / "sub"):
        folder.mkdir(exist_ok=True)
        (folder / "env.sh").write_text("echo read")
    given = {**context.environment, "BASH_ENV": value}
    for folder in (".", "sub"):
        answer = await run(replace(context, environment=given), "echo ran", cwd=folder)
        assert answer.text == "ran\n"
    outside = root.parent / "env.sh"
    outside.write_text("echo read")
    given["BASH_ENV"] = str(outside)
    answer = await run(replace(context, environment=given), "echo ran")
    assert answer.text == "read\nran\n"


@pytest.mark.parametrize(
    ("variable", "file"), [("GIT_CONFIG_GLOBAL", "own"), ("XDG_CONFIG_HOME", "own/git/config")]
)
async def test_git_obeys_no_settings_that_its_folder_decides(
    variable: str, file: str, root: Path, context: ToolContext
) -> None:
    for folder in (root, root / "sub", root.parent):
        (folder / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / file).write_text("[user]\n\tname = Theirs\n")
    for value, told in (("own", ""), ("./own", ""), (str(root.parent / "own"), "Theirs\n")):
        kept = {**context.environment, "HOME": str(root), variable: value}
        given = replace(context, environment=kept)
        for folder in (".", "sub"):
            answer = await run(given, "git config user.name || true", cwd=folder)
            assert answer.text == (told or "[no output]")


@pytest.mark.parametrize(
    "command",
    [
        f"git log {NOWHERE}",
        f"git -P diff {NOWHERE}",
        f"git -C . show {NOWHERE}",
        f"git log --textconv {NOWHERE}",
        f"git branch x {NOWHERE}",
        f"git stash show {NOWHERE}",
        "git log -p",
        "git status",
        "git show HEAD:a",
        "git blame HEAD -- a",
        "git grep line HEAD",
    ],
)
async def test_a_reading_git_asks_no_remote_for_what_a_partial_clone_lacks(
    command: str, root: Path, context: ToolContext
) -> None:
    asked = partial_clone(root.parent, root)
    await run(context, command)
    assert not asked.exists()
    # The remote would have been asked; an empty assignment is no plain word.
    await run(context, f"X= {command}")
    assert asked.exists()


@pytest.mark.parametrize("command", ["git checkout HEAD -- a", "git fetch", "git remote update"])
async def test_a_git_that_needs_its_remote_has_it(
    command: str, root: Path, context: ToolContext
) -> None:
    asked = partial_clone(root.parent, root)
    answer = await run(context, command)
    assert answer.metadata["exitCode"] == 0, answer.text
    assert asked.exists()


@pytest.mark.parametrize("entry", ["", "bin", "./bin"])
async def test_no_shell_is_taken_from_a_folder_that_is_relative(
    entry: str, root: Path, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "bin").mkdir()
    for fake in (root / "bash", root / "bin" / "bash"):
        fake.write_text("#!/bin/sh\necho another\n")
        fake.chmod(0o755)
    monkeypatch.chdir(root)
    path = os.pathsep.join((entry, os.environ["PATH"]))
    monkeypatch.setenv("PATH", path)
    given = {**context.environment, "PATH": path}
    answer = await run(replace(context, environment=given), "echo ran")
    assert answer.text == "ran\n"


async def test_output_is_shown_while_it_runs(root: Path, context: ToolContext) -> None:
    seen: list[str] = []
    came = asyncio.Event()

    def progress(text: str) -> None:
        seen.append(text)
        came.set()

    async with asyncio.TaskGroup() as group:
        command = "printf 'caf\\xc3'; printf '\\xa9\\n'; until test -e go; do sleep 0.01; done"
        running = group.create_task(run(replace(context, progress=progress), command))
        async with asyncio.timeout(10):
            while "\n" not in "".join(seen):
                came.clear()
                await came.wait()
        assert not running.done()
        (root / "go").touch()
    assert "".join(seen) == "café\n" == running.result().text


async def test_a_timeout_ends_the_whole_group(root: Path, context: ToolContext) -> None:
    command = "echo start; sleep 600 & echo $! > pid; wait"
    answer = await run(context, command, timeoutMs=300)
    assert answer.is_error
    assert answer.text.startswith("start\n[killed: it did not end within 300 ms")
    assert (answer.metadata["exitCode"], answer.metadata["timedOut"]) == (124, True)
    await gone(int((root / "pid").read_text()))


async def test_what_ignores_sigterm_is_killed(root: Path, context: ToolContext) -> None:
    command = "trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done"
    began = time.monotonic()
    answer = await run(context, command, timeoutMs=200)
    assert answer.is_error
    assert 2 <= time.monotonic() - began < 10
    await gone(int((root / "pid").read_text()))


async def test_a_polite_command_may_clean_up(root: Path, context: ToolContext) -> None:
    command = "trap 'echo bye > left; exit 0' TERM; echo $$ > pid; while :; do sleep 0.01; done"
    async with asyncio.TaskGroup() as group:
        running = group.create_task(run(context, command))
        await pid_in(root / "pid")
        began = time.monotonic()
        running.cancel()
    assert (root / "left").read_text() == "bye\n"
    assert time.monotonic() - began < 2


async def test_cancelling_ends_the_whole_group(root: Path, context: ToolContext) -> None:
    command = (
        "(trap '' TERM; echo $BASHPID > inner; while :; do sleep 0.05; done) & echo $$ > pid; wait"
    )
    async with asyncio.TaskGroup() as group:
        running = group.create_task(run(context, command))
        pids = [await pid_in(root / name) for name in ("pid", "inner")]
        running.cancel()
    assert running.cancelled()
    for pid in pids:
        await gone(pid)


async def test_cancelled_as_it_starts_it_leaves_nothing_running(
    root: Path, context: ToolContext
) -> None:
    """The shell and what it has begun are there before the loop has heard of them."""
    others = children()
    command = "while :; do sleep 0.05; done & echo $! > inner; echo $$ > pid; wait"
    async with asyncio.TaskGroup() as group:
        running = group.create_task(run(context, command))
        for _ in range(1_000):
            if children() != others:
                break
            await asyncio.sleep(0)
        pids = [held_up_until(root / name) for name in ("pid", "inner")]
        running.cancel()
    left = [pid for pid in pids if alive(pid)]
    for pid in left:
        os.kill(pid, signal.SIGKILL)
    assert left == []


async def test_cancelling_twice_kills_at_once(root: Path, context: ToolContext) -> None:
    began = time.monotonic()
    async with asyncio.TaskGroup() as group:
        command = "trap '' TERM; echo $$ > pid; while :; do sleep 0.05; done"
        running = group.create_task(run(context, command))
        pid = await pid_in(root / "pid")
        running.cancel()
        await asyncio.wait([running], timeout=0.2)
        running.cancel()
    await gone(pid)
    assert time.monotonic() - began < 2


async def test_a_background_process_does_not_hold_the_call(
    root: Path, context: ToolContext
) -> None:
    began = time.monotonic()
    answer = await run(context, "sleep 600 & echo $! > pid; echo done")
    pid = int((root / "pid").read_text())
    try:
        assert time.monotonic() - began < 5
        assert answer.text.startswith("done\n[a process still runs in the background")
        assert answer.metadata["exitCode"] == 0
        assert alive(pid)
    finally:
        os.kill(pid, 9)


async def test_much_output_stays_within_memory(root: Path, context: ToolContext) -> None:
    shown: list[int] = []
    looks = 0

    async def watch() -> None:
        nonlocal looks
        while True:
            await asyncio.sleep(0.001)
            looks += 1

    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    limited = replace(context, progress=lambda text: shown.append(len(text)))
    async with asyncio.TaskGroup() as group:
        watching = group.create_task(watch())
        answer = await run(
            limited, "echo first; head -c 200000000 /dev/zero | tr '\\0' x; echo; echo last"
        )
        watching.cancel()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert answer.text.startswith("first\nxxx")
    assert answer.text.endswith("x\nlast\n")
    assert "bytes were not kept" in answer.text
    assert MAX_KEPT - 1 < len(answer.text) < MAX_KEPT + 200_000
    assert grown < 6 * MAX_KEPT
    assert sum(shown) < 600_000
    assert looks > 20


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_both_ends_are_kept_however_the_output_comes(size: int) -> None:
    data = bytes(range(32, 127)) * 4000
    collected = OutputEnds(limit=100_000)
    for start in range(0, len(data), size):
        collected.add(data[start : start + size])
    head, note, tail = collected.text().split("\n")
    text = data.decode()
    assert head == text[:50_000]
    assert text.endswith(tail)
    assert len(tail) >= 50_000
    assert note == f"[… {len(data) - len(head) - len(tail):,} bytes were not kept …]"


def test_what_fits_is_whole_even_where_the_halves_meet_in_a_character() -> None:
    collected = OutputEnds(limit=10)
    for byte in "aaaaéé".encode():
        collected.add(bytes([byte]))
    assert collected.text() == "aaaaéé"


async def test_a_command_that_cannot_be_run_is_refused(context: ToolContext) -> None:
    for command in ("", "  "):
        assert (await run(context, command)).is_error
    assert "NUL" in (await run(context, "echo \0")).text
    answer = await run(context, "true", timeoutMs=0)
    assert "at least 1" in answer.text


@pytest.fixture
def descriptors() -> Callable[[], int]:
    return lambda: len(os.listdir("/proc/self/fd"))


async def test_nothing_stays_open(context: ToolContext, descriptors: Callable[[], int]) -> None:
    await run(context, "true")
    before = descriptors()
    for _ in range(5):
        await run(context, "echo x")
        await run(context, "sleep 9", timeoutMs=20)
    await asyncio.sleep(0)
    assert descriptors() <= before
