"""When an owner counts as alive, and who gets a lease."""

import errno
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sidecar.core.parts import SessionId
from sidecar.session.desk.open_sessions import HEARTBEAT
from sidecar.store.connection.lease import HEARTBEAT_LIMIT, alive, this_process
from sidecar.store.format.values import Owner
from sidecar.store.journal import Store
from tests.store.samples import NOW, base, open_store

SES = SessionId("ses_1")
US = this_process("us")
LONG_AGO = NOW - HEARTBEAT_LIMIT - 1

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only /proc says who a pid is")


@pytest.mark.parametrize(
    ("owner", "silent", "busy"),
    [
        # Another host: only the heartbeat tells.
        (replace(US, host="elsewhere"), False, True),
        (replace(US, host="elsewhere", pid=1), False, True),
        # A container beside us under our host's name, or an earlier boot: pids mean other things.
        pytest.param(replace(US, started="boot/pid:[1]:5"), False, True, marks=on_linux),
        # This host: the process itself tells, however long it was silent.
        pytest.param(US, True, True, marks=on_linux),
        # The pid was used again.
        pytest.param(replace(US, started=f"{US.started}0"), False, False, marks=on_linux),
        # No /proc: the pid must be alive, and the heartbeat too.
        (replace(US, started=""), False, True),
        (replace(US, started="", pid=1), False, True),
        (replace(US, started="", pid=2**22 + 7), False, False),
    ],
)
def test_an_owner_is_alive_by_its_process_or_its_heartbeat(
    owner: Owner, silent: bool, busy: bool
) -> None:
    """`silent`: alive without a recent heartbeat; `busy`: alive with one."""
    assert alive(owner, LONG_AGO, NOW) is silent
    assert alive(owner, NOW - 5_000, NOW) is busy


@pytest.mark.parametrize(
    "changes",
    [{"pid": "x"}, {"pid": 2**62}, {"host": b"x"}, {"started": 5}, {"started": b"x", "pid": None}],
)
def test_a_damaged_owner_is_nobody(changes: dict[str, object]) -> None:
    damaged = replace(replace(US, started=""), **changes)  # type: ignore[arg-type]
    assert not alive(damaged, NOW, NOW)
    assert not alive(US, "now", NOW)  # type: ignore[arg-type]


@on_linux
def test_a_name_with_brackets_does_not_confuse(tmp_path: Path) -> None:
    program = tmp_path / "a) Z 1 ("
    program.symlink_to(sys.executable)
    script = (
        "from sidecar.store.connection.lease import this_process; print(this_process('').started)"
    )
    said = subprocess.run(
        [program, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    world, _, ticks = said.stdout.strip().rpartition(":")
    assert world == US.started.rpartition(":")[0]
    assert int(ticks) >= int(US.started.rpartition(":")[2])


async def test_heartbeats_keep_a_lease_and_silence_loses_it(tmp_path: Path) -> None:
    time = NOW
    store = Store.open(tmp_path, now=lambda: time)
    far = Owner(1, "elsewhere", "", "far")
    assert await store.leases.acquire(SES, far) is None
    assert await store.leases.acquire(SES, far) is None
    time += HEARTBEAT_LIMIT - 1
    assert await store.leases.acquire(SES, US) == far
    await store.leases.beat("far")
    time += HEARTBEAT_LIMIT - 1
    assert await store.leases.acquire(SES, US) == far
    await store.leases.beat("somebody else")
    time += 1
    assert await store.leases.acquire(SES, US) is None
    assert await store.leases.acquire(SES, far) == US
    await store.leases.release(SES, "far")
    assert await store.leases.acquire(SES, far) == US
    await store.leases.release(SES, "us")
    assert await store.leases.acquire(SES, far) is None
    await store.close()


async def test_a_deleted_session_has_no_lease(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    await store.write(*base())
    assert await store.leases.acquire(SES, US) is None
    await store.delete(SES)
    assert await store.leases.acquire(SES, replace(US, token="other")) is None
    await store.close()


@on_linux
@pytest.mark.parametrize("unread", ["boot_id", "stat"])
def test_what_could_not_be_read_of_this_process_is_read_again(
    monkeypatch: pytest.MonkeyPatch, unread: str
) -> None:
    really = Path.read_text

    def read(path: Path, *given: str) -> str:
        if path.name == unread:
            raise OSError(errno.EMFILE, "too many open files")
        return really(path, *given)

    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        # Of ourselves, all was read before.
        monkeypatch.setattr(os, "getpid", lambda: child.pid)
        with monkeypatch.context() as patch:
            patch.setattr(Path, "read_text", read)
            without = this_process("one")
        assert this_process("one") != without
        child.communicate(b"\n")


def test_a_session_is_not_lost_for_five_heartbeats_that_did_not_come() -> None:
    assert 5 < HEARTBEAT_LIMIT / (HEARTBEAT * 1_000) < 7
