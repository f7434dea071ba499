"""Start a daemon, greet the daemon, and make sure of its end."""

import asyncio
import errno
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import IO, Any

import msgspec

from sidecar_client.callbacks import Callbacks, Tool, answers, capabilities, notified
from sidecar_client.client import Client
from sidecar_client.connection import Connection
from sidecar_client.errors import SidecarError
from sidecar_client.messages import (
    FsReadTextFileParams,
    FsWriteTextFileParams,
    InitializationOptions,
    Meter,
    ServerCapabilities,
    SessionRequestPermissionParams,
    SessionUpdateParams,
)

COMMAND = ("sidecar", "serve", "--stdio")
PATIENCE = 5.0
"""Seconds for the daemon to answer `shutdown`, and again to end, before being killed."""


@asynccontextmanager
async def connect(  # noqa: PLR0913 - every one is optional, and all but the command are keywords
    command: Sequence[str] = COMMAND,
    *,
    options: InitializationOptions | Mapping[str, Any] | None = None,
    env: Mapping[str, str] | None = None,
    stderr: int | IO[bytes] | None = None,
    tools: Mapping[str, Tool] | None = None,
    on_permission: Callable[[SessionRequestPermissionParams], Awaitable[str | None]] | None = None,
    on_update: Callable[[SessionUpdateParams], None] | None = None,
    on_meter: Callable[[Meter], None] | None = None,
    on_notification: Callable[[str, object], None] | None = None,
    read_text_file: Callable[[FsReadTextFileParams], Awaitable[str]] | None = None,
    write_text_file: Callable[[FsWriteTextFileParams], Awaitable[None]] | None = None,
    apply_edit: Callable[[dict[str, Any]], Awaitable[bool]] | None = None,
) -> AsyncIterator[Client]:
    """Start a daemon, shut down at the end of the block.

    `env` is added to this process's environment; `stderr` receives the daemon's log, as in
    `subprocess` (`None`: our stderr). `tools` runs the tools defined in `session.new`, by name.
    Missing callbacks are not announced. `on_permission` returns an option's id, or `None` to
    dismiss the question; `apply_edit` takes LSP's params and returns success. Callbacks other than
    coroutines are called in order and must not block.

    Raises:
        FileNotFoundError: the command does not exist.
        SidecarError: the daemon refused to start.
    """
    callbacks = Callbacks(
        tools=tools or {},
        on_permission=on_permission,
        on_update=on_update,
        on_meter=on_meter,
        on_notification=on_notification,
        read_text_file=read_text_file,
        write_text_file=write_text_file,
        apply_edit=apply_edit,
    )
    variables = {**os.environ, **(env or {})}
    process = await asyncio.create_subprocess_exec(
        _program(command[0], variables),
        *command[1:],
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=stderr,
        env=variables,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    failure: Exception | None = None
    # A task group would wrap errors of the caller's block, so they are carried around the group.
    async with asyncio.TaskGroup() as group:
        connection = Connection(
            process.stdout, process.stdin, group, answers(callbacks), partial(notified, callbacks)
        )
        group.create_task(connection.run())
        try:
            yield await _greet(connection, callbacks, options)
        except Exception as error:  # noqa: BLE001 - raised again below, as it came
            failure = error
        finally:
            await _stop(process, connection)
    if failure is not None:
        raise failure


def _program(name: str, variables: Mapping[str, str]) -> str:
    """From absolute folders of PATH: a relative one would be a workspace's."""
    if os.path.dirname(name):
        return name
    folders = variables.get("PATH", os.defpath).split(os.pathsep)
    found = shutil.which(name, path=os.pathsep.join(filter(os.path.isabs, folders)))
    if found is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    return found


async def _greet(
    connection: Connection,
    callbacks: Callbacks,
    options: InitializationOptions | Mapping[str, Any] | None,
) -> Client:
    params = {
        "processId": os.getpid(),
        "clientInfo": {"name": "sidecard-client", "version": _version()},
        "rootUri": None,
        "capabilities": capabilities(callbacks),
        "initializationOptions": {} if options is None else options,
    }
    result = msgspec.json.decode(await connection.request("initialize", params))
    await connection.notify("initialized", {})
    experimental = result.get("capabilities", {}).get("experimental", {})
    ours = msgspec.convert(experimental.get("sidecar"), ServerCapabilities)
    return Client(connection, str(result.get("serverInfo", {}).get("version", "")), ours)


async def _stop(process: asyncio.subprocess.Process, connection: Connection) -> None:
    """Shut the daemon down by LSP's rules; kill the daemon after `PATIENCE` seconds."""
    try:
        with suppress(SidecarError, TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await connection.request("shutdown", None)
                await connection.notify("exit", None)
        connection.lose("the connection was closed")
        if process.stdin is not None:
            process.stdin.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                await process.wait()
    finally:
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _version() -> str:
    # Reads mail's headers: a command that starts no daemon does without.
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - see above

    try:
        return version("sidecard-client")
    except PackageNotFoundError:
        return "0"
