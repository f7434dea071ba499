"""A real daemon that is sent anything, and the books of what it owes: an answer a request."""

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, BinaryIO, NoReturn

from sidecar.wire.framing import Arrived, FrameDecoder, Framing, encode, parse
from tests.faults.forked import Forked, Nursery
from tests.fuzz import Unanswered
from tests.fuzz.mutations import Value, text_of

ROOT = Path(__file__).parents[2]
LIMIT = 20.0
"""Seconds in which everything must be answered."""
NEVER = (
    "Traceback (most recent call last)",
    str(ROOT),
    sys.prefix,
    sys.base_prefix,
    "site-packages",
)
"""What no message may hold: the insides of the daemon, and where it is installed."""


class Daemon:
    """One process and one folder for everything that it may touch.

    `given` is added to its environment. A `nursery` begins it sooner than the system does.
    """

    def __init__(
        self,
        framing: Framing,
        given: Mapping[str, str] | None = None,
        nursery: Nursery | None = None,
    ) -> None:
        self.framing: Framing = framing
        self._folder = tempfile.TemporaryDirectory(prefix="sidecar-fuzz-")
        # So deep that a few steps up lead nowhere else.
        self.sandbox = Path(self._folder.name)
        self.workspace = self.sandbox / "a" / "b" / "c" / "workspace"
        self.workspace.mkdir(parents=True)
        (self.workspace / "main.py").write_text('print("Hello")\n')
        self._log = (self.sandbox / "stderr").open("wb")
        self._told: BinaryIO = (self.sandbox / "stderr").open("rb")
        self.process = self._started(given or {}, nursery)
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        os.set_blocking(self.process.stdin.fileno(), False)
        self._decoder = FrameDecoder()
        self._fence = 0
        self.notified: list[Value] = []

    def _started(
        self, given: Mapping[str, str], nursery: Nursery | None
    ) -> "subprocess.Popen[bytes] | Forked":
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("ANTHROPIC_", "SIDECAR_"))}
        environment = {
            **kept,
            **given,
            "SIDECAR_DATA_DIR": str(self.sandbox / "data"),
            "HOME": str(self.sandbox),
            "XDG_CONFIG_HOME": str(self.sandbox / "config"),
            "PYTHONPATH": str(ROOT),
            "PWD": str(self.workspace),
        }
        if nursery is not None:
            return nursery.fork(environment, self._log.fileno())
        return subprocess.Popen(
            [sys.executable, "-m", "sidecar", "serve", "--stdio", "--alone"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            cwd=self.workspace,
            env=environment,
        )

    def ask(self, method: str, params: Value) -> Value:
        """Make one honest request and give its result."""
        self._fence += 1
        message = {"jsonrpc": "2.0", "id": f"ask-{self._fence}", "method": method, "params": params}
        (answer,) = self.exchange([encode(message, self.framing)], [message["id"]], ())
        assert "result" in answer, f"an honest request was refused: {answer}"
        return answer["result"]

    def answer(self, method: str, params: Value) -> Value:
        """Make any request and give its answer, which may be an error, but none of the daemon's."""
        message = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
        body = text_of(message).encode("utf-8", "surrogatepass")
        (answer,) = self.exchange([framed(body, self.framing)], owed_for(body), ())
        code = answer.get("error", {}).get("code")
        assert code != -32603, f"{self.errors()[-2000:]} {str(params)[:2000]}"
        return answer

    def ours(self, method: str) -> str:
        """Name a method that is only ours as this face has it."""
        return method if self.framing == "headers" else f"_sidecar/{method}"

    def exchange(
        self, raw: Iterable[bytes], owed: Iterable[Value], replies: Iterable[Value]
    ) -> list[Value]:
        """Send bytes and give the answers, exactly one to each id that is `owed`.

        `replies` are what the daemon's own requests are answered with, in turn; an error when
        there are no more.

        Raises:
            Unanswered: one did not come in time.
            AssertionError: one came that was not owed, or holds what none may.
        """
        waiting, answers = Counter(map(_key, owed)), list[Value]()
        pending, replies = bytearray(b"".join(raw)), iter(replies)
        until = time.monotonic() + LIMIT
        while pending or waiting.total():
            for message in self._moved(pending, until - time.monotonic()):
                if "method" in message:
                    pending += self._taken(message, replies)
                    continue
                key = _key(message.get("id"))
                assert waiting[key] > 0, f"nobody asked for this answer: {str(message)[:500]}"
                waiting[key] -= 1
                answers.append(message)
                _check(message)
            if waiting.total() and time.monotonic() > until:
                raise Unanswered(f"no answer to {+waiting} in {LIMIT:.0f} seconds")
        return answers

    def errors(self) -> str:
        """Give what the daemon wrote to its log since the last time, where it is an error."""
        lines = self._told.read().decode("utf-8", "replace").splitlines()
        bad = ('"level": "error"', '"level": "critical"', "Traceback")
        return "\n".join(line for line in lines if any(word in line for word in bad))

    def close(self) -> None:
        """End the process and remove its folder."""
        self.process.kill()
        self.process.wait(LIMIT)
        pipes = (self.process.stdin, self.process.stdout, self.process.stderr)
        for stream in (*pipes, self._log, self._told):
            if stream is not None:
                try:
                    stream.close()
                except BrokenPipeError:
                    continue
        self._folder.cleanup()

    def _taken(self, message: Value, replies: Any) -> bytes:
        """Take a notification, or answer a request of the daemon's."""
        if "id" not in message:
            self.notified.append(message)
            return b""
        refused = {"error": {"code": -32601, "message": "not here"}}
        answer = next(replies, refused)
        return encode({"jsonrpc": "2.0", "id": message["id"], **answer}, self.framing)

    def _moved(self, pending: bytearray, seconds: float) -> list[Value]:
        """Write what can be written, and give the messages that have come."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin is not None
        assert stdout is not None
        writing = [stdin] if pending else []
        readable, writable, _ = select.select([stdout], writing, [], max(0.0, min(seconds, 1.0)))
        try:
            if writable:
                del pending[: os.write(stdin.fileno(), pending[:65536])]
            data = os.read(stdout.fileno(), 1 << 20) if readable else None
        except BrokenPipeError:
            data = b""
        if data == b"":
            self._died()
        found: list[Value] = []
        for frame in self._decoder.feed(data or b""):
            assert isinstance(frame, Arrived), f"what came is no JSON: {frame}"
            assert isinstance(frame.value, dict)
            found.append(frame.value)
        if data is not None:
            text = data.decode("utf-8", "replace")
            assert not any(word in text for word in NEVER), f"its insides are shown: {text[:2000]}"
        return found

    def _died(self) -> NoReturn:
        code = self.process.wait(LIMIT)
        name = signal.Signals(-code).name if code < 0 else str(code)
        said = self._told.read().decode("utf-8", "replace")
        raise AssertionError(f"the daemon ended ({name}): {said[-2000:]}")


def framed(body: bytes, framing: Framing) -> bytes:
    """Frame what may be no JSON, and no text."""
    if framing == "lines":
        # A line's end within a message would make two of it.
        return body.replace(b"\n", b" ").replace(b"\r", b" ") + b"\n"
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def owed_for(body: bytes) -> list[Value]:
    """Say to which id one message is owed an answer, by JSON-RPC's rules; to none, or to one."""
    frame = parse(body)
    message = frame.value if isinstance(frame, Arrived) else None
    if not isinstance(message, dict):
        return [None]
    given = message.get("id")
    readable = isinstance(given, str | int) and not isinstance(given, bool)
    method = message.get("method")
    if isinstance(method, str) and "id" not in message:
        return []
    if method is None and ("result" in message or "error" in message):
        return []
    return [given if readable else None]


def _check(answer: Value) -> None:
    assert answer.get("jsonrpc") == "2.0"
    assert ("result" in answer) != ("error" in answer)
    error = answer.get("error")
    if error is not None:
        assert isinstance(error["code"], int)
        assert isinstance(error["message"], str)
        assert error["message"]
        assert isinstance(error["data"]["kind"], str)


def _key(request_id: Value) -> str:
    # 1 and true and "1" are different ids.
    return json.dumps(request_id)
