"""Recordings that would keep an import busy: each line counts, and a cancelled import ends."""

import gzip
import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.plain import PlainClient, Refused

pytestmark = pytest.mark.long

LINES = 20_000_000


def packed(path: Path, piece: bytes, times: int) -> str:
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(times):
            file.write(piece)
    return str(path)


def test_lines_that_say_nothing_count(
    start: Callable[..., PlainClient], workspace: Path, tmp_path: Path
) -> None:
    bomb = packed(tmp_path / "bomb.gz", b"{}\n" * 100_000, LINES // 100_000)
    assert os.path.getsize(bomb) < 1024 * 1024
    client = start()
    client.start(model="offline")
    params = {"path": bomb, "format": "claude-code", "cwd": str(workspace)}
    began = time.monotonic()
    with pytest.raises(Refused, match="more than 500000 lines") as refused:
        client.request("session/import", params, limit=60)
    assert refused.value.code == -32602
    assert time.monotonic() - began < 60
    blank = packed(tmp_path / "blank.gz", b"\n" * 1_000_000, 40)
    with pytest.raises(Refused, match="more than 500000 lines"):
        client.request("session/import", {**params, "path": blank}, limit=60)


@pytest.mark.skipif(not Path("/proc").exists(), reason="looks into /proc")
def test_a_cancelled_import_stops(
    start: Callable[..., PlainClient], workspace: Path, tmp_path: Path
) -> None:
    line = json.dumps({"type": "progress", "data": [[number] for number in range(70)]}) + "\n"
    path = packed(tmp_path / "large.gz", line.encode() * 1_000, 480)
    client = start()
    client.start(model="offline")
    params = {"path": path, "format": "claude-code", "cwd": str(workspace)}
    asked = client.send("session/import", params)
    pid = client.process.pid
    before = used(pid)
    while used(pid) - before < 1.5:
        assert not client.answered(asked), "it was to take long"
        time.sleep(0.05)
    client.notify("$/cancelRequest", {"id": asked})
    with pytest.raises(Refused) as refused:
        client.result(asked)
    assert refused.value.code == -32800
    time.sleep(1)
    stopped = used(pid)
    time.sleep(1)
    assert used(pid) - stopped < 0.3, "it is still read"
    assert client.request("session/list", {})["sessions"] == []


def used(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
