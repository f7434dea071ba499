"""A client that knows nothing of Sidecar: plain JSON over a pipe, one thread reading."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

LIMIT = 30.0
"""Seconds to wait for anything before the test fails."""


T = TypeVar("T", bound="PlainClient")
Spawn: TypeAlias = Callable[[dict[str, str]], Any]
"""Starts a daemon with an environment; gives what a `Popen` is."""
SERVE = ("serve", "--stdio", "--alone")
"""Whatever the settings say of who runs the tests."""
UNSAID = SERVE[:2]


@contextmanager
def each_ending_well(make: Callable[..., T]) -> Iterator[Callable[..., T]]:
    """Start clients in the block; those that still run at its end must end cleanly."""
    started: list[T] = []

    def begin(**given: Any) -> T:
        started.append(make(**given))
        return started[-1]

    yield begin
    for client in started:
        if client.process.poll() is None:
            assert client.stop() == 0, client.stderr
        client.close()
        assert not client.unexpected


def popen(environment: dict[str, str], arguments: tuple[str, ...]) -> "subprocess.Popen[bytes]":
    """Start a daemon of its own."""
    pipe = subprocess.PIPE
    command = [sys.executable, "-m", "sidecar", *arguments]
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environment)


def popen_of(*program: str) -> Spawn:
    """Start a Python program that is a daemon."""
    pipe = subprocess.PIPE
    command = [sys.executable, *program]
    return lambda env: subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=env)


class PlainClient:
    """Starts the daemon and speaks to it; server requests are answered by `answers`."""

    def __init__(
        self,
        data: Path,
        answers: dict[str, Callable[[Any], Any]] | None = None,
        env: dict[str, str] | None = None,
        arguments: tuple[str, ...] = SERVE,
        spawn: Spawn | None = None,
    ) -> None:
        clean = {k: v for k, v in os.environ.items() if not k.startswith("ANTHROPIC_")}
        if os.geteuid() != 0:
            # Tests look into its /proc, which only root may otherwise.
            clean["SIDECAR_DEBUGGABLE"] = "1"
        environment = {**clean, "SIDECAR_DATA_DIR": str(data), **(env or {})}
        own = spawn is None or arguments != SERVE
        self.process = popen(environment, arguments) if own else spawn(environment)
        self.answers = answers or {}
        self.notifications: list[dict[str, Any]] = []
        self.requests: list[dict[str, Any]] = []
        self.unexpected: list[dict[str, Any]] = []
        self.stderr = ""
        self._next = 0
        self._results: dict[int, queue.Queue[dict[str, Any]]] = {}
        self._arrived = threading.Condition()
        self._write = threading.Lock()
        self._readers = [
            threading.Thread(target=self._read, daemon=True),
            threading.Thread(target=self._read_stderr, daemon=True),
        ]
        for reader in self._readers:
            reader.start()

    @property
    def pid(self) -> int:
        """The daemon's process, which a shared one's window is not."""
        return int(getattr(self.process, "daemon_pid", self.process.pid))

    def request(self, method: str, params: Any = None, limit: float = LIMIT) -> Any:
        """Send a request and wait for its result; an error is raised as `Refused`."""
        return self.result(self.send(method, params), limit)

    def send(self, method: str, params: Any = None) -> int:
        """Send a request and give its id."""
        message = self._asking(method, params)
        self.write(message)
        return int(message["id"])

    def send_at_once(self, method: str, each: Sequence[Any]) -> list[int]:
        """Send requests in one piece and give their ids."""
        messages = [self._asking(method, params) for params in each]
        self._send(b"".join(_framed(json.dumps(message).encode()) for message in messages))
        return [message["id"] for message in messages]

    def _asking(self, method: str, params: Any) -> dict[str, Any]:
        self._next += 1
        self._results[self._next] = queue.Queue()
        message = {"jsonrpc": "2.0", "id": self._next, "method": method}
        return message if params is None else {**message, "params": params}

    def result(self, request_id: int, limit: float = LIMIT) -> Any:
        """Wait for the answer to a request."""
        answer = self._results[request_id].get(timeout=limit)
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["result"]

    def answered(self, request_id: int) -> bool:
        """Whether a request whose result nobody took was answered."""
        return not self._results[request_id].empty()

    def capabilities(self, **more: Any) -> dict[str, Any]:
        """Give what to announce: what `answers` has of ours, and `more`."""
        ours = {"requestPermission": "session/request_permission", "toolCall": "tool/call"}
        announced = {name: True for name, method in ours.items() if method in self.answers}
        return {**({"experimental": {"sidecar": announced}} if announced else {}), **more}

    def notify(self, method: str, params: Any = None) -> None:
        """Send a notification."""
        self.write({"jsonrpc": "2.0", "method": method, "params": params or {}})

    def write(self, message: Any) -> None:
        """Write one framed message."""
        self.write_bytes(json.dumps(message).encode())

    def write_bytes(self, body: bytes) -> None:
        """Write one frame."""
        self._send(_framed(body))

    def _send(self, data: bytes) -> None:
        assert self.process.stdin is not None
        with self._write:
            self.process.stdin.write(data)
            self.process.stdin.flush()

    def start(self, **options: Any) -> Any:
        """Go through `initialize` and `initialized`."""
        params = {
            "processId": os.getpid(),
            "capabilities": self.capabilities(),
            "initializationOptions": {"workspaceTrusted": True, **options},
        }
        result = self.request("initialize", params)
        self.notify("initialized")
        return result

    def wait_for(self, found: Callable[[dict[str, Any]], bool], limit: float = LIMIT) -> Any:
        """Wait until a notification arrives for which `found` is true, and give it."""
        with self._arrived:
            came = self._arrived.wait_for(lambda: any(map(found, self.notifications)), limit)
            assert came, f"nothing such came in {limit:.0f} s; the daemon's log: {self.stderr}"
            return next(n for n in self.notifications if found(n))

    def updates(self, kind: str | None = None) -> list[dict[str, Any]]:
        """Give the updates that came, of one kind if named."""
        updates = [
            n["params"]["update"] for n in self.notifications if n["method"] == "session/update"
        ]
        return [u for u in updates if kind is None or u["sessionUpdate"] == kind]

    def kill(self) -> None:
        """`kill -9`."""
        self.process.send_signal(signal.SIGKILL)
        self.close()

    def stop(self) -> int:
        """Shut the daemon down as LSP says; gives its exit code."""
        self.request("shutdown")
        self.notify("exit")
        return self.close()

    def close(self) -> int:
        """Wait for the end of the process and close the pipes; gives the exit code."""
        code = self.process.wait(timeout=LIMIT)
        for reader in self._readers:
            reader.join(timeout=LIMIT)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert stream is not None
            with suppress(BrokenPipeError):
                stream.close()
        return code

    def _read(self) -> None:
        stream = self.process.stdout
        assert stream is not None
        while line := stream.readline():
            length = 0
            while line.strip():
                name, _, value = line.partition(b":")
                if name.lower() == b"content-length":
                    length = int(value)
                line = stream.readline()
            body = stream.read(length)
            if len(body) < length:
                return
            self._take(json.loads(body))

    def _take(self, message: dict[str, Any]) -> None:
        if "method" in message and "id" in message:
            with self._arrived:
                self.requests.append(message)
                self._arrived.notify_all()
            answer = self.answers.get(message["method"])
            if answer is None:
                error = {"code": -32601, "message": "not here"}
                self.write({"jsonrpc": "2.0", "id": message["id"], "error": error})
            else:
                threading.Thread(target=self._answer, args=(message, answer), daemon=True).start()
        elif "method" in message:
            with self._arrived:
                self.notifications.append(message)
                self._arrived.notify_all()
        elif message.get("id") in self._results:
            self._results[message["id"]].put(message)
        else:
            self.unexpected.append(message)

    def _answer(self, message: dict[str, Any], answer: Callable[[Any], Any]) -> None:
        result = answer(message["params"])
        # The daemon may have been killed while the answer was made.
        with suppress(OSError, ValueError):
            self.write({"jsonrpc": "2.0", "id": message["id"], "result": result})

    def _read_stderr(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.stderr += line.decode(errors="replace")


def _framed(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


class UnreadClient(PlainClient):
    """A client that reads only while `reading` is set; then the daemon's pipe fills."""

    def __init__(self, *given: Any, **named: Any) -> None:
        self.reading = threading.Event()
        self.reading.set()
        super().__init__(*given, **named)

    def _take(self, message: dict[str, Any]) -> None:
        self.reading.wait()
        super()._take(message)


class Refused(Exception):
    """The daemon answered with an error."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.code = error["code"]
        self.data = error.get("data") or {}


def say(client: PlainClient, session: str, words: str, limit: float = LIMIT) -> Any:
    """Give a prompt and wait for the end of its turn."""
    prompt = [{"type": "text", "text": words}]
    return client.request("session/prompt", {"sessionId": session, "prompt": prompt}, limit)
