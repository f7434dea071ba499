"""A daemon of one window, on stdin and stdout."""

import asyncio
import logging
import os
import sys

from sidecar import __version__
from sidecar.daemon.windows import Daemon, EditorWindow
from sidecar.wire.server import serve
from sidecar.wire.stderr_log import log_to_stderr
from sidecar.wire.streams import reader, take_stdio, writer

logger = logging.getLogger("sidecar.daemon")


def serve_stdio(why: str = "", said: bytes = b"") -> None:
    """`why` none is shared goes to the log; `said`: what the editor has said already."""
    read, write = take_stdio()
    log_to_stderr(os.environ.get("SIDECAR_LOG", "info"))
    if why:
        logger.info("%s; this window has its own daemon", why)

    asyncio.run(_serve(read, write, said))


async def _serve(read: int, write: int, said: bytes) -> None:
    daemon = Daemon()
    async with asyncio.TaskGroup() as group:
        group.create_task(daemon.sessions.run())
        window = EditorWindow(daemon, os.environ)
        try:
            code = await serve(
                window.sessions,
                reader(read, said),
                writer(write),
                version=__version__,
                on_initialized=window.warm_up,
                on_gone=daemon.shutdown,
                outboxes=daemon.outboxes,
            )
        finally:
            await daemon.close()
        sys.stderr.flush()
        # Leaving the loop would wait for threads that read stdin, load a library or wait for a
        # tool, and for what has not ended in time.
        os._exit(code)
