"""A real browser, spoken to over a pipe: it shows a page and says what it logged and asked for."""

import fcntl
import json
import os
import queue
import subprocess
import threading
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

LIMIT = 60.0
"""Seconds to wait for anything before the test fails."""
QUIET = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-sync"),
    *("--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage"),
    *("--hide-scrollbars", "--remote-debugging-pipe"),
)


class Browser:
    """One tab. `logged` are its console's lines and errors, `asked` the addresses it asked for."""

    def __init__(self, writes: int, reads: int) -> None:
        self._writes, self._reads = writes, reads
        self._next = 0
        self._session = ""
        self._answers: queue.Queue[dict[str, Any]] = queue.Queue()
        self._loaded: queue.Queue[None] = queue.Queue()
        self.logged: list[str] = []
        self.asked: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()

    def attach(self) -> None:
        """Open the tab."""
        target = self("Target.createTarget", url="about:blank")["targetId"]
        attached = self("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Network", "Log", "Runtime"):
            self(f"{domain}.enable")

    def __call__(self, method: str, **params: Any) -> Any:
        """Make a request and give its result."""
        self._next += 1
        message = {"id": self._next, "method": method, "params": params}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._writes, json.dumps(message).encode() + b"\0")
        answer = self._answers.get(timeout=LIMIT)
        assert answer["id"] == self._next
        assert "error" not in answer, answer
        return answer["result"]

    def show(self, path: Path, *, width: int, dark: bool = False) -> None:
        """Load a page and wait until it is there."""
        self("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
             mobile=False)  # fmt: skip
        scheme = "dark" if dark else "light"
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self("Emulation.setEmulatedMedia", features=features)
        self("Page.navigate", url=path.as_uri())
        self._loaded.get(timeout=LIMIT)

    def value(self, expression: str) -> Any:
        """Give what an expression is in the page."""
        found = self("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def shoot(self, box: dict[str, float]) -> bytes:
        """Take a picture of a part of the page, as PNG: `x`, `y`, `width` and `height`."""
        clip = {**box, "scale": 1}
        picture = self("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)
        return b64decode(picture["data"])

    def _read(self) -> None:
        data = b""
        while chunk := os.read(self._reads, 65_536):
            data += chunk
            *whole, data = data.split(b"\0")
            for message in map(json.loads, whole):
                self._take(message)

    def _take(self, message: dict[str, Any]) -> None:
        if "id" in message:
            self._answers.put(message)
            return
        params = message["params"]
        match message["method"]:
            case "Page.loadEventFired":
                self._loaded.put(None)
            case "Network.requestWillBeSent":
                self.asked.append(params["request"]["url"])
            case "Log.entryAdded":
                self.logged.append(params["entry"]["text"])
            case "Runtime.consoleAPICalled" | "Runtime.exceptionThrown":
                self.logged.append(json.dumps(params))
            case "Page.javascriptDialogOpening":
                self.logged.append(f"dialog: {params['message']}")


@contextmanager
def running(chromium: str, folder: Path) -> Iterator[Browser]:
    """Run a browser with a profile of its own in the block."""
    # The browser wants its two pipes as 3 and 4, so ours must be neither.
    ends = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for _ in range(2) for end in _pipe()]
    theirs_in, ours_out, ours_in, theirs_out = ends

    def place() -> None:
        os.dup2(theirs_in, 3)
        os.dup2(theirs_out, 4)

    process = subprocess.Popen(
        [chromium, *QUIET, f"--user-data-dir={folder}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(3, 4),
        preexec_fn=place,  # noqa: PLW1509 - nothing else can say which numbers the pipes have
    )
    os.close(theirs_in)
    os.close(theirs_out)
    try:
        browser = Browser(ours_out, ours_in)
        browser.attach()
        yield browser
    finally:
        process.kill()
        process.wait(timeout=LIMIT)
        os.close(ours_out)


def _pipe() -> tuple[int, int]:
    return os.pipe()
