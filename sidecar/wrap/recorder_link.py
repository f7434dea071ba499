"""The tap's end of its line to the recorder: never waited for, but for a prompt's moment.

Imports the standard library alone.
"""

import json
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from time import monotonic
from typing import IO

from sidecar.core.dataclass import dataclass
from sidecar.daemon.attach import SOON, taken
from sidecar.daemon.choice import is_unwanted
from sidecar.daemon.rendezvous import WRAPPED
from sidecar.wrap.link_frames import (
    ASKED,
    DOWN,
    GO,
    HEAD,
    HELD,
    KNOWN,
    LINE,
    LOST_DOWN,
    LOST_UP,
    NAME,
    NUMBER,
    PROMPT,
    READY,
    UP,
    WORDS,
    frame,
)

MOST_WAITING = 4 * 1024 * 1024
"""Bytes that wait for the recorder; what comes then is not recorded."""
HOLD = 1.0
"""Seconds that a prompt waits at most for its snapshot; a text overwritten before is lost."""
STARTING = 3.0
"""Seconds after the start that a prompt waits for the recorder, which has not started yet."""
DRAIN = 1.0
"""Seconds at the end for what waits to reach the recorder."""
_LOST = {UP: LOST_UP, DOWN: LOST_DOWN}


@dataclass(frozen=True, slots=True)
class _Recorder:
    """Descriptors that it reads and logs to, and what it says; `kept` as long as these."""

    reads: int
    said: IO[bytes]
    log: int
    kept: object


class RecorderLink:
    """Finds a recorder for the agent `program`, or starts one.

    `write_line` gets lines for the editor, `unanswered` what it left. `alone`: not in the daemon
    that windows share. `going` turns false when the recorder has ended, whatever the reason.
    """

    def __init__(
        self,
        program: str,
        write_line: Callable[[bytes], None],
        unanswered: Callable[[bytes], None],
        *,
        alone: bool,
    ) -> None:
        self._write_line, self._unanswered = write_line, unanswered
        self._asked: dict[str, bytes] = {}
        self._changed = threading.Condition()
        self._frames: deque[bytes] = deque()
        self._waiting = 0
        self._lost: set[bytes] = set()
        self._gone_on: set[int] = set()
        self._number = 0
        self._words: dict[str, str] = {}
        self.agent_knows_us = False
        self._begun = monotonic()
        self.going, self._ready, self._ending = True, False, False
        with self._changed:
            self._put(frame(NAME, os.fsencode(program)))
        work, name = self._begin, "to recorder"
        threading.Thread(target=work, args=(alone,), name=name, daemon=True).start()

    # --- what the tap tells ------------------------------------------------------------------

    def copy(self, kind: bytes, data: bytes) -> None:
        with self._changed:
            if not self.going:
                return
            if self._waiting + len(data) > MOST_WAITING:
                self._lost.add(kind)
                return
            self._tell_gaps()
            self._put(frame(kind, data))

    def ask(self, line: bytes) -> None:
        """Hands a request over, which comes back if nobody answers."""
        with self._changed:
            going = self.going
            if going:
                self._asked[_number(line)] = line
                self._tell_gaps()
                self._put(frame(ASKED, line))
        if not going:
            self._unanswered(line)

    def hold(self, line: bytes, *, words_before: bool) -> None:
        """Waits until a prompt may go on."""
        with self._changed:
            if not self.going:
                return
            self._number = number = self._number + 1
            until = max(monotonic() + HOLD, 0 if self._ready else self._begun + STARTING)
            self._tell_gaps()
            self._put(frame(PROMPT, HELD.pack(number, words_before, until) + line))
            self._changed.wait_for(
                lambda: number in self._gone_on or not self.going, until - monotonic()
            )
            self._gone_on.clear()

    def words_for(self, session: str, *, take: bool) -> str:
        with self._changed:
            return self._words.pop(session, "") if take else ""

    def close(self) -> None:
        """Ends the recorder's input once it has what waits, or soon."""
        with self._changed:
            self._ending = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._frames or not self.going, DRAIN)

    # --- threads -----------------------------------------------------------------------------

    def _tell_gaps(self) -> None:
        """Before whatever is told next, so that an answer knows of them."""
        for kind in sorted(self._lost):
            self._put(frame(_LOST[kind]))
        self._lost.clear()

    def _put(self, made: bytes) -> None:
        self._frames.append(made)
        self._waiting += len(made)
        self._changed.notify_all()

    def _begin(self, alone: bool) -> None:
        try:
            recorder = (None if alone else _shared()) or _own()
        except OSError as error:
            self._end(f"sidecar: nothing is recorded: {error}\n")
            return
        hear, tell = self._hear, _tell
        threading.Thread(target=hear, args=(recorder,), name="from recorder", daemon=True).start()
        threading.Thread(target=tell, args=(recorder.log,), name="its log", daemon=True).start()
        self._send(recorder.reads)

    def _send(self, pipe: int) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._frames) or self._ending)
                if not self._frames:
                    break
                made = self._frames[0]
            try:
                left = memoryview(made)
                while left:
                    left = left[os.write(pipe, left) :]
            except OSError:
                # Whoever hears it to its end tells.
                return
            with self._changed:
                if not self.going:
                    return
                self._frames.popleft()
                self._waiting -= len(made)
                self._changed.notify_all()

    def _hear(self, recorder: _Recorder) -> None:
        heard = recorder.said
        # A killed daemon's socket fails where a pipe ends.
        with suppress(OSError):
            while len(head := heard.read(HEAD.size)) == HEAD.size:
                kind, size = HEAD.unpack(head)
                self._take(kind, _whole(heard, size))
        self._end("sidecar: the recorder has ended; nothing more is recorded\n")

    def _take(self, kind: bytes, content: bytes) -> None:
        if kind == LINE:
            with self._changed:
                self._asked.pop(_number(content), None)
            self._write_line(content)
            return
        with self._changed:
            if kind == READY:
                self._ready = True
            elif kind == GO:
                self._gone_on.add(NUMBER.unpack(content)[0])
            elif kind == KNOWN:
                self.agent_knows_us = True
            elif kind == WORDS:
                session, words = json.loads(content)
                self._words[session] = words
            self._changed.notify_all()

    def _end(self, why: str) -> None:
        with self._changed:
            told, self.going = self.going and not self._ending, False
            self._frames.clear()
            self._waiting = 0
            left, self._asked = [*self._asked.values()], {}
            self._changed.notify_all()
        if told:
            sys.stderr.write(why)
        for line in left:
            self._unanswered(line)


def _shared() -> _Recorder | None:
    """In the daemon that windows share, started if need be; `None` where none is shared."""
    if is_unwanted(os.environ):
        return None
    try:
        found = taken(WRAPPED, SOON)
    except OSError:
        return None
    if found is None:
        return None
    connection, outcome, log = found
    os.close(outcome)
    return _Recorder(connection.fileno(), connection.makefile("rb"), log, connection)


def _own() -> _Recorder:
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "sidecar", "wrap-recorder"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # Who reads our stderr to its end must not wait for the recorder's.
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    return _Recorder(process.stdin.fileno(), process.stdout, process.stderr.fileno(), process)


def _tell(log: int) -> None:
    with suppress(OSError):
        while data := os.read(log, 4096):
            os.write(2, data)


def _whole(heard: IO[bytes], size: int) -> bytes:
    return heard.read(size) if size else b""


def _number(line: bytes) -> str:
    return repr(json.loads(line).get("id"))
