"""Several processes on one store, some of which are killed."""

import asyncio
import os
import random
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Timer

import pytest

from sidecar.core.parts import SessionId
from tests.faults.forked import program
from tests.store import children
from tests.store.holders import hold
from tests.store.samples import open_store

pytestmark = pytest.mark.long

SES = SessionId("ses_1")
ROUNDS = 30
LIMIT = 60.0


@contextmanager
def child(*arguments: object) -> "Iterator[subprocess.Popen[str]]":
    command = [sys.executable, children.__file__, *map(str, arguments)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        limit = Timer(LIMIT, process.kill)
        limit.start()
        try:
            yield process
        finally:
            limit.cancel()
            process.kill()


def line(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    assert process.stderr is not None
    said = process.stdout.readline().strip()
    assert said, process.stderr.read()
    return said


async def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    dice = random.Random(7)
    acknowledged: set[int] = set()
    for _ in range(ROUNDS):
        first = max(acknowledged, default=0) + 100
        with program(children.__file__, "write", tmp_path, SES, first) as process:
            acknowledged.add(int(process.stdout.readline()))
            # Units follow one another within milliseconds, so the kill falls anywhere in one.
            for _ in range(dice.randrange(12)):
                acknowledged.add(int(process.stdout.readline()))
            process.send_signal(signal.SIGKILL)
            acknowledged.update(int(said) for said in process.stdout.read().split())

        store = open_store(tmp_path)
        stored = await store.logs.load(SES)
        report = await store.verify()
        await store.close()
        assert stored.problems == ()
        assert report.problems == ()
        by_number = {message.created: message for message in stored.messages}
        assert acknowledged <= set(by_number)
        assert all(len(m.parts) == children.UNIT_PARTS for m in stored.messages)
        assert [r.revision for r in stored.records] == sorted(by_number)
        assert stored.session.revision == max(by_number)


async def test_eight_processes_never_see_a_lock(tmp_path: Path) -> None:
    # They also create, migrate, open and close the file at the same time.
    with ExitStack() as stack:
        running = [stack.enter_context(child("hammer", tmp_path, f"ses_{n}", 20)) for n in range(8)]
        for process in running:
            said, complaint = await asyncio.to_thread(process.communicate)
            assert (said, complaint, process.returncode) == ("done\n", "", 0)
    store = open_store(tmp_path)
    report = await store.verify()
    assert (report.sessions, report.messages, report.problems) == (8, 160, ())
    await store.close()


async def test_a_lease_ends_with_its_process(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    with child("lease", tmp_path, SES, "first") as first:
        assert line(first) == "ours"
        with child("lease", tmp_path, SES, "second") as second:
            assert line(second) == f"{first.pid} first"
        owner = await hold(store, SES, "ours")
        assert owner is not None
        assert (owner.pid, owner.token) == (first.pid, "first")
        await store.leases.release(SES, "ours")
        assert await hold(store, SES, "ours") is not None
        os.kill(first.pid, signal.SIGKILL)
        await asyncio.to_thread(os.waitid, os.P_PID, first.pid, os.WEXITED | os.WNOWAIT)
        # Nobody has waited for it yet, as an editor may not have: it still has its pid.
        assert await hold(store, SES, "ours") is None
    with child("lease", tmp_path, SES, "third") as third:
        assert line(third) == f"{os.getpid()} ours"
    await store.leases.release(SES, "ours")
    with child("lease", tmp_path, SES, "fourth") as fourth:
        assert line(fourth) == "ours"
    await store.close()
