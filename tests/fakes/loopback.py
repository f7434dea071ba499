"""A server on a free port of loopback, in a thread of its own, whose connections can be held."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TypeVar

T = TypeVar("T", bound="Loopback")


class Loopback:
    """What the fake APIs have in common; a test's end lets go of what they hold."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]) -> None:
        self.closed_early = threading.Event()
        self._released = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.02,), daemon=True
        )

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self: T) -> T:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(5)

    def stalled(self, seconds: float = 30) -> bool:
        """Hold a connection open, without a byte, until the test ends; gives whether it has."""
        return self._released.wait(seconds)
