"""The tool `shell`: one command in its own process group, with limits of time and memory.

Output comes through Sidecar's own pipe: asyncio's would wait for every grandchild.
"""

import asyncio
import codecs
import os
import re
import signal
import time
from asyncio.subprocess import DEVNULL, Process
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager, closing, suppress
from io import FileIO
from pathlib import Path

from sidecar.core.dataclass import dataclass
from sidecar.core.files.authorship import Intent
from sidecar.core.parts import JsonObject
from sidecar.tools import inputs
from sidecar.tools.command_watch import ended_with_daemon
from sidecar.tools.files.reach import folder, reach
from sidecar.tools.output_ends import OutputEnds
from sidecar.tools.rules.coverage import reads_by_git
from sidecar.tools.rules.shell_words import plain_words
from sidecar.tools.tool_contract import Progress, Terminals, ToolAnswer, ToolContext
from sidecar.workspace.unlinked_path import standing_in
from sidecar.workspace.variables import (
    EXTERNAL_DIFF,
    FETCHING_NOTHING,
    for_git,
    program,
    without_secrets,
)

DEFAULT_TIMEOUT_MS = 120_000
MAX_TIMEOUT_MS = 600_000
GRACE = 2.0
"""Seconds between SIGTERM and SIGKILL."""
DRAIN = 0.5
"""Seconds for output after the shell's end, while a background process holds the pipe."""
MAX_SHOWN = 256 * 1024
"""Characters of output shown while running; the rest follows."""
_PLAIN = {"PAGER": "cat", "BAT_PAGER": "cat", "LESSOPEN": "", "LESSCLOSE": ""}
"""No pager, even in a terminal, nor a shell that is told the name of a file to show."""
_OBEYED = (
    "BASH_ENV", "BAT_CONFIG_PATH", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "RIPGREP_CONFIG_PATH",
    "XDG_CONFIG_HOME",
)  # fmt: skip
"""Variables that name files obeyed by bash or by programs that `*` covers."""


@dataclass(frozen=True, slots=True)
class _Ran:
    """How a command ended; `code`: `None` if killed; `notes`: for the model."""

    text: str
    code: int | None
    timed_out: bool
    notes: tuple[str, ...] = ()


async def shell(given: JsonObject, context: ToolContext) -> ToolAnswer:
    """A failure is an answer with `exitCode`, a timeout an error."""
    command = inputs.text(given, "command")
    asked = inputs.whole(given, "timeoutMs", least=1) or DEFAULT_TIMEOUT_MS
    timeout = min(asked, MAX_TIMEOUT_MS)
    place = await asyncio.to_thread(reach, inputs.optional_text(given, "cwd") or ".", context)
    where = await asyncio.to_thread(folder, place, context)
    terminals = None if context.client is None else context.client.terminals
    started = time.monotonic()
    async with context.changes.running(Intent(command, str(where))):
        started = time.monotonic()
        if terminals is None:
            ran = await _here(command, where, timeout / 1000, context)
        else:
            ran = await _in_terminal(terminals, command, where, timeout / 1000, context)
    code = 124 if ran.code is None else ran.code
    metadata: JsonObject = {
        "exitCode": code,
        "durationMs": round((time.monotonic() - started) * 1000),
    }
    notes = [f"[exit code {code}]"] if code and not ran.timed_out else []
    if ran.timed_out:
        metadata["timedOut"] = True
        notes.append(f"[killed: it did not end within {timeout} ms; timeoutMs allows more]")
    notes += ran.notes
    text = ran.text
    if notes and text and not text.endswith("\n"):
        text += "\n"
    title = command.strip().split("\n")[0][:200]
    return ToolAnswer(text + "\n".join(notes) or "[no output]", ran.timed_out, title, metadata)


async def _here(command: str, where: Path, seconds: float, context: ToolContext) -> _Ran:
    collected = OutputEnds()
    try:
        async with asyncio.timeout(seconds):
            environment = {**scrubbed(context.environment), **_fetching(command)}
            async with _running(command, where, environment) as (process, reader):
                held = await _follow(process, reader, collected, context.progress)
                code = _exit_code(process)
    except TimeoutError:
        return _Ran(collected.text(), None, timed_out=True)
    notes = (
        ("[a process still runs in the background; its further output is not seen]",)
        if held
        else ()
    )
    return _Ran(collected.text(), code, timed_out=False, notes=notes)


async def _in_terminal(
    terminals: Terminals, command: str, where: Path, seconds: float, context: ToolContext
) -> _Ran:
    kept = without_secrets(context.environment)
    secrets = sorted(name for name in context.environment if not kept.get(name))
    # Git takes an empty one for a program, too.
    without = ("/usr/bin/env", "-u", EXTERNAL_DIFF) if EXTERNAL_DIFF in context.environment else ()
    end = await terminals.run(
        context.session_id,
        context.call_id,
        (*without, _shell(context.environment), "-c", command),
        str(where),
        seconds,
        # Otherwise an editor's terminal has the editor's variables, with keys.
        {
            **dict.fromkeys(secrets, ""),
            **for_git({}),
            **_named_anew(context.environment),
            **_PLAIN,
            **_fetching(command),
        },
    )
    notes = ("[the beginning of the output was too long for the terminal]",) if end.cut else ()
    return _Ran(end.text, end.code, end.timed_out, notes)


def _shell(environment: Mapping[str, str]) -> str:
    return program("bash", environment) or "/bin/sh"


def scrubbed(environment: Mapping[str, str]) -> dict[str, str]:
    kept = {**for_git(without_secrets(environment)), **_named_anew(environment)}
    return {**kept, "TERM": "dumb", **_PLAIN}


def _fetching(command: str) -> Mapping[str, str]:
    """Stops git that only reads from fetching a partial clone's named objects."""
    return FETCHING_NOTHING if reads_by_git(plain_words(command)) else {}


def _named_anew(environment: Mapping[str, str]) -> dict[str, str]:
    """Empties variables naming a file to obey, except absolute paths without expansions."""
    plain = re.compile(r"(?:/[^$`\\\"]*)?")
    return {name: "" for name in _OBEYED if not plain.fullmatch(environment.get(name, ""))}


@asynccontextmanager
async def _running(
    command: str, cwd: Path, environment: Mapping[str, str]
) -> AsyncIterator[tuple[Process, asyncio.StreamReader]]:
    readable, writable = os.pipe()
    reader = asyncio.StreamReader(limit=64 * 1024)
    with FileIO(readable) as ours, FileIO(writable, "w") as theirs:
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), ours
        )
        with closing(transport):
            with standing_in(cwd) as here:
                process = await _started(
                    asyncio.create_subprocess_exec(
                        _shell(environment),
                        "-c",
                        command,
                        cwd=here,
                        env=environment,
                        stdin=DEVNULL,
                        stdout=theirs,
                        stderr=theirs,
                        start_new_session=True,
                    )
                )
            theirs.close()
            with ended_with_daemon(process.pid):
                try:
                    yield process, reader
                except BaseException:
                    # Before our end is closed: a last word written to a closed pipe would kill the
                    # command before it has cleaned up.
                    await _end(process)
                    raise


async def _started(start: Awaitable[Process]) -> Process:
    starting = asyncio.gather(start, return_exceptions=True)
    cancelled: asyncio.CancelledError | None = None
    while not starting.done():
        try:
            await asyncio.wait({starting})
        except asyncio.CancelledError as error:
            cancelled = error
    (ended,) = starting.result()
    if cancelled is not None:
        if isinstance(ended, Process):
            await _end(ended)
        raise cancelled
    if isinstance(ended, BaseException):
        raise ended
    return ended


async def _follow(
    process: Process, reader: asyncio.StreamReader, collected: OutputEnds, progress: Progress
) -> bool:
    async with asyncio.TaskGroup() as group:
        reading = group.create_task(_collect(reader, collected, progress))
        await process.wait()
        done, _ = await asyncio.wait([reading], timeout=DRAIN)
        reading.cancel()
    return not done


async def _collect(reader: asyncio.StreamReader, collected: OutputEnds, progress: Progress) -> None:
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    shown = 0
    while piece := await reader.read(64 * 1024):
        collected.add(piece)
        if shown > MAX_SHOWN:
            continue
        text = decoder.decode(piece)
        shown += len(text)
        progress(text if shown <= MAX_SHOWN else f"{text}\n[… the rest is shown at its end]\n")


async def _end(process: Process) -> None:
    _signal(process, signal.SIGTERM)
    try:
        with suppress(TimeoutError):
            async with asyncio.timeout(GRACE):
                while _signal(process, 0):  # noqa: ASYNC110 - a group's end is no event
                    await asyncio.sleep(0.02)
    finally:
        _signal(process, signal.SIGKILL)
        await process.wait()


def _signal(process: Process, number: int) -> bool:
    try:
        os.killpg(process.pid, number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _exit_code(process: Process) -> int:
    code = process.returncode or 0
    return 128 - code if code < 0 else code
