"""Copies bytes between an editor and an agent. Imports the standard library alone.

Whatever becomes of the recorder, the two hear each other.
"""

import errno
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from types import FrameType

from sidecar.wrap import stream_words as words
from sidecar.wrap.line_gate import LineGate, LookedLine, PassingBytes
from sidecar.wrap.link_frames import DOWN, UP
from sidecar.wrap.recorder_link import RecorderLink

CHUNK = 64 * 1024
LONGEST_PROMPT = 8 * 1024 * 1024
LONGEST_LIST = 1024 * 1024
"""Bytes of a line that is looked at; a longer one passes as it is."""
QUIET = 0.5
"""Seconds after which half a line goes on, as the rest may never come."""
LAST_BYTES = 2.0
"""Seconds for what an ended agent wrote to reach the editor; its children may hold the pipe."""
SWITCHES = 0.0005
PR_SET_PDEATHSIG = 1
"""Of Linux's `<sys/prctl.h>`."""
_PASSED_ON = ("SIGTERM", "SIGINT", "SIGHUP")
NOT_FOUND, NOT_RUN = 127, 126
GONE = "Sidecar's recorder has ended, so this is not known. The agent goes on as without it."


def wrap(command: Sequence[str], *, alone: bool) -> int:
    """Runs an agent between stdin and stdout until it ends; gives its exit code, as of a shell.

    `alone`: its recorder is a process of its own.
    """
    sys.setswitchinterval(SWITCHES)
    try:
        agent = subprocess.Popen(
            # By its path: some look for themselves by their name, in all of PATH.
            (_found(command[0]), *command[1:]),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            preexec_fn=_ending_with_us(),  # noqa: PLW1509 - no thread has begun
        )
    except OSError as error:
        sys.stderr.write(f"sidecar wrap: {command[0]} cannot be started: {error.strerror}\n")
        return NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_RUN
    for name in _PASSED_ON:
        if (number := getattr(signal, name, None)) is not None:
            signal.signal(number, _passing_on(agent))
    tap = _Tap(agent, os.path.basename(command[0]), alone=alone)
    telling = threading.Thread(target=tap.down, name="from agent", daemon=True)
    telling.start()
    threading.Thread(target=tap.up, name="to agent", daemon=True).start()
    code = agent.wait()
    telling.join(LAST_BYTES)
    tap.link.close()
    if code < 0:
        # The editor sees the signal that the agent died of.
        with suppress(OSError, ValueError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
        return 128 - code
    return code


def _found(program: str) -> str:
    """Skips PATH's relative folders, perhaps a workspace's."""
    if os.path.dirname(program):
        return program
    for folder in filter(os.path.isabs, os.get_exec_path()):
        at = os.path.join(folder, program)
        if os.access(at, os.X_OK) and not os.path.isdir(at):
            return at
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))


def _passing_on(agent: "subprocess.Popen[bytes]") -> Callable[[int, FrameType | None], None]:
    def pass_on(number: int, _: FrameType | None) -> None:
        with suppress(OSError):
            agent.send_signal(number)

    return pass_on


def _ending_with_us() -> Callable[[], None] | None:
    """Has a kill of this process reach an agent that hangs, as the editor's kill would have."""
    if sys.platform != "linux":
        return None
    import ctypes  # noqa: PLC0415 - only there

    libc, parent = ctypes.CDLL(None), os.getpid()

    def prepare() -> None:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)

    return prepare


class _Tap:
    def __init__(self, agent: "subprocess.Popen[bytes]", program: str, *, alone: bool) -> None:
        assert agent.stdin is not None
        assert agent.stdout is not None
        self._to, self._from = agent.stdin, agent.stdout
        self._writing = threading.Lock()
        self._own_lines: list[bytes] = []
        self._from_agent = LineGate(words.DOWN, LONGEST_LIST)
        self._agents: dict[str, list[str]] = {}
        """The agent's own commands, by session."""
        self.link = RecorderLink(program, self._say, self._say_gone, alone=alone)

    # --- from the agent ----------------------------------------------------------------------

    def down(self) -> None:
        gate, source = self._from_agent, self._from.fileno()
        try:
            for data in _pieces(source, gate):
                with self._writing:
                    for piece in gate.take(data) if data else gate.flush():
                        self._pass_down(piece)
                    self._say_waiting()
            with self._writing:
                for piece in gate.flush():
                    self._pass_down(piece)
        except OSError:
            pass  # The editor reads no more; the agent hears of it as it writes.
        with suppress(OSError):
            self._from.close()
        _let_go(1)

    def _pass_down(self, piece: PassingBytes | LookedLine) -> None:
        if isinstance(piece, PassingBytes):
            # First: the editor's answer to it must not reach the recorder before it does.
            self.link.copy(DOWN, piece.data)
            _write(1, piece.data)
            return
        self.link.copy(DOWN, piece.line)
        _write(1, self._listed(piece.line))

    def _listed(self, line: bytes) -> bytes:
        message = words.read(line)
        own = None if message is None else words.listed(message)
        if message is None or own is None or not self.link.going:
            return line
        self._agents[words.session_of(message)] = own
        return words.with_ours(message)

    def _say(self, line: bytes) -> None:
        """Writes a line of ours between the agent's."""
        with self._writing:
            self._own_lines.append(line)
            with suppress(OSError):
                self._say_waiting()

    def _say_waiting(self) -> None:
        while self._own_lines and not self._from_agent.inside:
            _write(1, self._own_lines.pop(0))

    def _say_gone(self, line: bytes) -> None:
        message = words.read(line) or {}
        if message.get("method") == "session/prompt":
            self._say(words.said(words.session_of(message), GONE))
            self._say(words.answered(message.get("id"), {"stopReason": "end_turn"}))
        else:
            self._say(words.refused(message.get("id"), GONE))

    # --- from the editor ---------------------------------------------------------------------

    def up(self) -> None:
        gate, target = LineGate(words.UP, LONGEST_PROMPT), self._to.fileno()
        try:
            for data in _pieces(0, gate):
                for piece in gate.take(data) if data else gate.flush():
                    if isinstance(piece, LookedLine):
                        self._pass_looked(piece.line)
                    else:
                        self.link.copy(UP, piece.data)
                        _write(target, piece.data)
            for piece in gate.flush():
                _write(target, piece.data)
        except OSError:
            # The agent reads no more: the editor is to hear of it as it would without us.
            _let_go(0)
        with suppress(OSError):
            self._to.close()

    def _pass_looked(self, line: bytes) -> None:
        target, message = self._to.fileno(), words.read(line)
        method = "" if message is None else message.get("method")
        if message is not None and method == "session/prompt":
            self._prompt(line, message)
        elif self._is_ours(method):
            self.link.ask(line)
        else:
            self.link.copy(UP, line)
            _write(target, line)

    def _is_ours(self, method: object) -> bool:
        known = isinstance(method, str) and method.startswith(words.OWN)
        return known and not self.link.agent_knows_us

    def _prompt(self, line: bytes, message: "dict[str, object]") -> None:
        session, prompt = words.session_of(message), words.params_of(message).get("prompt")
        if words.command_in(prompt, self._agents.get(session, ())) is not None:
            self.link.ask(line)
            return
        fits = isinstance(prompt, list) and words.takes_words(prompt)
        told = self.link.words_for(session, take=fits)
        self.link.hold(line, words_before=bool(told))
        _write(self._to.fileno(), words.with_words(message, told) if told else line)


def _pieces(source: int, gate: LineGate) -> Iterator[bytes]:
    """Bytes as they come; empty ones when half a line has waited long enough."""
    while True:
        # Pipes cannot be waited for on Windows.
        if sys.platform != "win32" and gate.holds and not gate.is_of_interest:
            ready, _, _ = select.select([source], [], [], QUIET)
            if not ready:
                yield b""
                continue
        data = os.read(source, CHUNK)
        if not data:
            return
        yield data


def _write(target: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(target, left) :]


def _let_go(own: int) -> None:
    """Closes stdin or stdout for whoever has the other end; the number stays taken."""
    with suppress(OSError):
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, own)
        os.close(nothing)
