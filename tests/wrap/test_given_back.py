"""Sessions of an agent whose recorder, in a daemon that lives on, could not open them."""

import asyncio
import errno
import json
from pathlib import Path
from typing import Any

import pytest

from sidecar.daemon.windows import Daemon, EditorWindow, TapLine
from sidecar.session.lifecycle.session import Session
from sidecar.wrap.link_frames import DOWN, NAME, UP, frame
from sidecar.wrap.recorder import record
from sidecar.wrap.wrapped_session import WrappedSession

ANSWERS: tuple[tuple[str, dict[str, Any], dict[str, Any]], ...] = (
    ("initialize", {"protocolVersion": 1}, {"agentCapabilities": {"loadSession": True}}),
    ("session/load", {"sessionId": "theirs", "mcpServers": []}, {}),
)


def loading(folder: Path) -> list[bytes]:
    """What a tap tells of an agent that loads a session."""
    made = [frame(NAME, b"agent")]
    for number, (method, params, result) in enumerate(ANSWERS):
        asked = {"id": number, "method": method, "params": {**params, "cwd": str(folder)}}
        for kind, message in ((UP, asked), (DOWN, {"id": number, "result": result})):
            made.append(frame(kind, json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"))
    return made


@pytest.mark.parametrize(
    ("where", "known"), [((WrappedSession, "history"), False), ((Session, "recover"), True)]
)
async def test_a_session_that_cannot_be_opened_is_free_for_others(
    tmp_path: Path,
    folder: Path,
    variables: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    where: tuple[type, str],
    known: bool,
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    daemon = Daemon(resident=True)

    async def tapped() -> None:
        waiting = loading(folder)

        async def read() -> bytes:
            return waiting.pop(0) if waiting else b""

        async def write(_: bytes) -> None:
            pass

        line = TapLine(variables, str(folder), lambda _: None, read, write, is_left=lambda: True)
        await record(daemon, line)

    async def fails(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    async with asyncio.TaskGroup() as group:
        running = group.create_task(daemon.sessions.run())
        await asyncio.sleep(0)
        if known:
            await tapped()
        with monkeypatch.context() as patched:
            patched.setattr(*where, fails)
            await tapped()
        window = EditorWindow(daemon, variables, str(folder))
        environment = await window.sessions.shared.ready()
        page = await environment.store.sessions.page(cwd=str(folder), before=None, limit=10)
        for row in page.rows:
            await (await window.sessions.get(row.id)).writable(None)
        assert page.rows
        await daemon.shutdown()
        await daemon.close()
        running.cancel()
