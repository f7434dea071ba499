"""Both homes of a recorder: a process of its own, and the daemon that windows share."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

from tests.e2e.resident import about, is_gone, until
from tests.wrap.desk import Editor

LINGER = "60"
EDIT = "!t.edit('a.txt', 'agent')"


def shared_variables(folder: Path) -> dict[str, str]:
    """For taps whose daemon nobody else finds."""
    run = folder / "run"
    run.mkdir(mode=0o700, exist_ok=True)
    return {
        "CI": "", "XDG_RUNTIME_DIR": str(run), "XDG_CONFIG_HOME": str(folder / "config"),
        "SIDECAR_LINGER": LINGER,
    }  # fmt: skip


def recorders(of: int) -> list[int]:
    """Processes that record for a tap: its own, else the daemon that it shares."""
    tasks = Path(f"/proc/{of}/task").glob("*/children")
    pids = {int(pid) for path in tasks for pid in path.read_text().split()}
    own = [p for p in pids if b"wrap-recorder" in Path(f"/proc/{p}/cmdline").read_bytes()]
    return own or list(residents(variables_of(of)))


def variables_of(pid: int) -> dict[str, str]:
    pairs = Path(f"/proc/{pid}/environ").read_text().split("\0")
    return dict(pair.split("=", 1) for pair in pairs if pair)


def residents(variables: dict[str, str]) -> Iterator[int]:
    """Shared daemons of a test's own folder for sockets; of one data folder, if it is given."""
    run, data = variables.get("XDG_RUNTIME_DIR", ""), variables.get("SIDECAR_DATA_DIR")
    for path in Path("/proc").glob("[0-9]*/cmdline") if run else ():
        with suppress(OSError):
            words, pid = path.read_text().split("\0"), int(path.parent.name)
            ours = "resident" in words and any(word.startswith(f"{run}/") for word in words)
            if ours and data in (None, variables_of(pid).get("SIDECAR_DATA_DIR")):
                yield pid


def end_all(variables: dict[str, str]) -> None:
    run = {"XDG_RUNTIME_DIR": variables["XDG_RUNTIME_DIR"]}
    for pid in residents(run):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        until(partial(is_gone, pid))


def ready(editor: Editor, folder: Path) -> str:
    session = editor.begin(folder)
    assert editor.command(session, "/meter").startswith("Context")
    return session


def listed(variables: dict[str, str]) -> list[str]:
    """Our ids of the sessions that are recorded."""
    return [one["sessionId"] for one in about(variables)["sessions"] if one["wrapped"]]
