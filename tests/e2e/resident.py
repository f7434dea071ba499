"""The daemon that windows share, as tests find, ask and wait for it."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tests.e2e.plain import LIMIT, UNSAID, PlainClient

SHARED = (*UNSAID, "--shared")
Open = Callable[..., PlainClient]


def command(variables: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-P", "-m", "sidecar", *arguments],
        env={**os.environ, **variables}, capture_output=True, text=True, timeout=90, check=True,
    )  # fmt: skip
    return done.stdout


def started_command(variables: dict[str, str], *arguments: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "sidecar", *arguments], env={**os.environ, **variables}
    )


def until(reached: Callable[[], object]) -> None:
    end = time.monotonic() + LIMIT
    while not reached():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.02)


def is_gone(pid: int) -> bool:
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return False
    return True


def allow(params: Any) -> Any:
    """Answer a question as a user would who means this call alone."""
    options = [option["optionId"] for option in params["options"]]
    return {"outcome": {"outcome": "selected", "optionId": "allow_once"}} if options else None


def about(variables: dict[str, str]) -> Any:
    """What `status` tells of the one that windows find, or else of one that stops."""
    return found(variables)[0]


def found(variables: dict[str, str]) -> Any:
    return json.loads(command(variables, "status", "--json"))


def seqs(client: PlainClient) -> list[int]:
    """The numbers of a session's updates, in the order of their arrival."""
    return [u["_meta"]["sidecar"]["seq"] for u in client.updates()]


def prompt(client: PlainClient, session: str, text: str) -> int:
    given = {"sessionId": session, "prompt": [{"type": "text", "text": text}]}
    return client.send("session/prompt", given)


def told(client: PlainClient) -> str:
    updates = client.updates("agent_message_chunk")
    return "".join(u["content"]["text"] for u in updates)


def busy(variables: dict[str, str]) -> bool:
    return any(session["busy"] for session in about(variables)["sessions"])
