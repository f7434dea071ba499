"""Runs git in a bare repository of our own: no hooks, prompts, filters, or work tree."""

import asyncio
import os
import re
import signal
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from sidecar.core.dataclass import dataclass
from sidecar.core.errors import BadRequest, RemoteFailed, StorageFailed, innermost
from sidecar.core.parts import Millis
from sidecar.core.text.redaction import Redaction
from sidecar.store.connection.store_faults import FULL
from sidecar.workspace.variables import ended, for_git, program
from sidecar.workspace.volatile_facts import git_environment

LOCAL = 60.0
NETWORK = 300.0
"""Seconds for a command that only works here, and for one that asks a remote."""
MOST_SAID = 64 * 1024 * 1024
"""Bytes of an answer, but of sessions' pieces."""
LOOK = 0.5
"""Seconds between looks at what a fetch has brought."""
STALE = 60.0
"""Seconds until a lock that a killed git left is removed; ours hold one for milliseconds."""
_SETTINGS = (
    ("core.hooksPath", os.devnull),
    ("core.askPass", ""),
    ("core.fsync", "committed,loose-object,pack,reference"),
    ("fetch.fsckObjects", "true"),
    ("gc.auto", "2000"),
    ("http.followRedirects", "false"),
    ("gc.autoDetach", "false"),
    ("maintenance.auto", "false"),
    ("protocol.ext.allow", "never"),
    ("push.gpgSign", "false"),
    ("push.recurseSubmodules", "no"),
    ("transfer.bundleURI", "false"),
    ("advice.pushNonFFCurrent", "false"),
)
_OF_THE_USER = ("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT")
"""How the user's ssh is run; git's other variables are dropped."""
_NOBODY = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "Sidecar"), ("EMAIL", "sidecar@localhost"))
}
_NOISE = re.compile(r"^(hint|To|warning|remote:\s*$|Please make sure|and the repository|$)")


@dataclass(frozen=True, slots=True)
class Ran:
    """How git ended, and what it said."""

    code: int
    out: bytes
    said: str


class SyncGit:
    """Git over one bare repository; `variables`: the daemon's."""

    def __init__(
        self, folder: Path, variables: Mapping[str, str], now: Callable[[], Millis]
    ) -> None:
        self.folder = folder
        self._now = now
        self._variables = variables
        self._program = program("git", variables)
        given = git_environment(variables)
        kept = {name: value for name, value in given.items() if name != "SSH_ASKPASS"}
        own = {name: variables[name] for name in _OF_THE_USER if name in variables}
        self._environment = {
            **for_git(kept, _SETTINGS),
            **own,
            **_NOBODY,
            "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
            "GIT_ASKPASS": "",
            "TZ": "UTC0",
        }

    async def prepare(self) -> None:
        """Makes the repository in its folder, or takes it over from a process that was killed.

        Raises BadRequest without git, StorageFailed.
        """
        if self._program is None:
            raise BadRequest("git is not installed, or not in PATH: install it to sync", "params")
        if not (self.folder / "HEAD").is_file() or not (self.folder / "refs").is_dir():
            await self.done("init", "--quiet", "--bare", "--template=")
        await asyncio.to_thread(self._remove_leftovers)
        # A damaged copy is to be known before a remote is blamed.
        await self.done("rev-list", "--max-count=1", "--all")

    async def _watch(self, most: int | None) -> None:
        while most is not None:
            await asyncio.sleep(LOOK)
            if await asyncio.to_thread(self._coming) > most:
                raise RemoteFailed(f"what comes has more than {most >> 20} MiB, so it was ended")

    def _coming(self) -> int:
        found = 0
        for path in (self.folder / "objects/pack").glob("tmp_*"):
            with suppress(OSError):
                found += path.stat().st_size
        return found

    async def done(
        self, *arguments: str, given: bytes | None = None, most: int = MOST_SAID
    ) -> bytes:
        """Runs a local command.

        Raises StorageFailed where it fails, BadRequest where it says more than `most`.
        """
        try:
            ran = await self._run(arguments, given, LOCAL, most)
        except TimeoutError:
            text = f"git did not {arguments[0]} within {LOCAL:.0f} seconds: try again"
            raise StorageFailed(text, kind="io") from None
        if ran.code:
            full = "No space left" in ran.said or "quota" in ran.said
            text = FULL if full else f"git could not {arguments[0]}: {ran.said}"
            raise StorageFailed(text, kind="full" if full else "io")
        return ran.out

    async def asked(self, shown: str, *arguments: str, coming: int | None = None) -> Ran:
        """Runs a command that asks a remote, and brings packs of `coming` bytes at most.

        Raises RemoteFailed if it cannot be run in time or brings more.
        """
        try:
            return await self._run(arguments, None, NETWORK, MOST_SAID, coming)
        except TimeoutError:
            raise RemoteFailed(f"{shown} did not answer within {NETWORK:.0f} seconds") from None

    async def _run(
        self,
        arguments: Sequence[str],
        given: bytes | None,
        within: float,
        most: int,
        coming: int | None = None,
    ) -> Ran:
        """Raises TimeoutError, StorageFailed if git cannot be started, BadRequest as `done`."""
        assert self._program is not None
        try:
            process = await asyncio.create_subprocess_exec(
                self._program,
                f"--git-dir={self.folder}",
                *arguments,
                cwd=self.folder,
                env=self._environment,
                stdin=asyncio.subprocess.DEVNULL if given is None else asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                # Without a terminal nothing can prompt; and a kill takes ssh along.
                start_new_session=True,
            )
        except OSError as error:
            raise StorageFailed(f"git could not be started: {error}", kind="io") from error
        try:
            async with asyncio.timeout(within):
                async with asyncio.TaskGroup() as group:
                    watching = group.create_task(self._watch(coming))
                    out, err = await _spoken(process, given, most)
                    code = await process.wait()
                    watching.cancel()
        except ExceptionGroup as failed:
            raise innermost(failed) from None
        finally:
            if process.returncode is None:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
                await ended(process)
        return Ran(code, out, why(err))

    def _remove_leftovers(self) -> None:
        """Of a git that was killed; the caller sees to it that no other runs here."""
        now = self._now() / 1000
        for path in (self.folder / "objects/pack").glob("tmp_*"):
            with suppress(OSError):
                path.unlink()
        for path in (*self.folder.glob("*.lock"), *(self.folder / "refs").rglob("*.lock")):
            with suppress(OSError):
                if abs(now - path.stat().st_mtime) > STALE:
                    path.unlink()


def why(said: bytes) -> str:
    """Gives git's own sentence, without keys and advice."""
    lines = [line.strip() for line in said.decode("utf-8", "replace").splitlines()]
    told = [re.sub(r"^(fatal|error|remote): ", "", one) for one in lines if not _NOISE.match(one)]
    return Redaction().text("; ".join(told[:4]))[:500] or "it gave no reason"


async def _spoken(
    process: asyncio.subprocess.Process, given: bytes | None, most: int
) -> tuple[bytes, bytes]:
    async def feed() -> None:
        if given is not None and process.stdin is not None:
            with suppress(BrokenPipeError, ConnectionResetError):
                process.stdin.write(given)
                await process.stdin.drain()
            process.stdin.close()

    async with asyncio.TaskGroup() as group:
        group.create_task(feed())
        out = group.create_task(_bounded(process.stdout, most))
        err = group.create_task(_bounded(process.stderr, 1024 * 1024))
    return out.result(), err.result()


async def _bounded(stream: asyncio.StreamReader | None, most: int) -> bytes:
    assert stream is not None
    pieces, total = [], 0
    while piece := await stream.read(256 * 1024):
        total += len(piece)
        if total > most:
            raise BadRequest("git says more of it than is taken from a remote", "params.remote")
        pieces.append(piece)
    return b"".join(pieces)
