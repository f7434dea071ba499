"""Searches with ripgrep, by the same rules as `walk`."""

import asyncio
import codecs
import os
import re
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from pathlib import Path

from sidecar.core.dataclass import dataclass
from sidecar.tools.files.grep import MAX_SHOWN, Match, shown
from sidecar.workspace.files import MAX_FILE, legible
from sidecar.workspace.unlinked_path import folder_of, open_in, standing_in
from sidecar.workspace.variables import ended, without_secrets
from sidecar.workspace.walk import SKIPPED, Unignored

_OPTIONS = (
    "--no-config", "--no-heading", "--with-filename", "--line-number", "--null", "--color=never",
    "--hidden", "--no-require-git", "--no-ignore-dot", "--no-ignore-global", "--no-messages",
    "--sort=path", "--crlf", f"--max-filesize={MAX_FILE}",
    f"--max-columns={MAX_SHOWN * 4}", "--max-columns-preview",
)  # fmt: skip
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NONBLOCK", 0)
"""Never wait: a file may have become a pipe."""
_SURE = MAX_SHOWN
"""Bytes that identify a line: ripgrep shows more of a long one."""
_LINE = re.compile(rb"(?:\./)?([^\0]*)\0(\d+):(.*)", re.DOTALL)


@dataclass(slots=True)
class RipgrepRun:
    """What ripgrep found; `failed`: the pattern was unreadable, so no match proves nothing."""

    matches: list[Match] = field(default_factory=list)
    failed: bool = False
    late: bool = False


async def run_ripgrep(
    program: str,
    unignored: Unignored,
    pattern: str,
    glob: str | None,
    wanted: Callable[[str], bool],
    limit: int,
    seconds: float,
    environment: Mapping[str, str],
) -> RipgrepRun:
    real, ran = unignored.real, RipgrepRun()
    is_folder = await asyncio.to_thread(real.is_dir)
    rules = [f"--glob={glob}"] if glob else []
    rules += [f"--glob=!{name}" for name in sorted(SKIPPED)]
    try:
        if not await asyncio.to_thread(lambda: unignored.inherited):
            rules.append("--no-ignore-parent")
    except TimeoutError:
        return replace(ran, late=True)
    base = real if is_folder else real.parent
    with standing_in(base) as here:
        process = await asyncio.create_subprocess_exec(
            program,
            *_OPTIONS,
            *(rules if is_folder else ()),
            f"--regexp={pattern}",
            "--",
            "./" if is_folder else f"./{real.name}",
            cwd=here,
            env=without_secrets(environment),
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=DEVNULL,
            limit=1024 * 1024,
        )

    def lines(path: str) -> list[bytes]:
        return _lines(base / path) if wanted(path) else []

    try:
        async with asyncio.timeout(seconds):
            await _collect(process.stdout, lines, limit, ran.matches)
            if len(ran.matches) < limit:
                # 2 with nothing found: most likely a pattern in another dialect than ripgrep's.
                ran.failed = await process.wait() == 2 and not ran.matches
    except TimeoutError:
        ran.late = True
    finally:
        await ended(process)
    return ran


async def _collect(
    stream: asyncio.StreamReader | None,
    lines: Callable[[str], list[bytes]],
    limit: int,
    matches: list[Match],
) -> None:
    """Takes lines also found in a file reached without links, as ripgrep follows paths."""
    assert stream is not None
    # Sorted by path: one file's lines at a time, as large ones take hundreds of megabytes.
    asked, standing = "", list[bytes]()
    while len(matches) < limit and (line := await stream.readline()):
        found = _LINE.fullmatch(line.rstrip(b"\r\n"))
        if found is None:
            continue
        path = found[1].decode("utf-8", "surrogateescape")
        if path != asked:
            asked, standing = path, []
            standing = await asyncio.to_thread(lines, path)
        number = int(found[2])
        stands = standing[number - 1 : number]
        # A long line is cut, with a note of further matches after the cut.
        if stands and stands[0][:_SURE].rstrip(b"\r") == found[3][:_SURE].rstrip(b"\r"):
            text = legible(found[3].decode("utf-8", "surrogateescape"))
            matches.append(Match(path, number, shown(text)))


def _lines(real: Path) -> list[bytes]:
    """Reads lines like ripgrep, but through no link; empty if unreadable."""
    try:
        with folder_of(real) as folder, open(open_in(folder, real, _FLAGS), "rb") as file:
            data = file.read(MAX_FILE + 1)
    except OSError:
        return []
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        data = data.decode("utf-16", "replace").encode()
    return data.removeprefix(codecs.BOM_UTF8).split(b"\n")
