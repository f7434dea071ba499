"""Hides this process's memory from the same user's other processes."""

import os
import sys
from importlib import import_module

PR_SET_DUMPABLE = 4
"""Of `<linux/prctl.h>`: 0 leaves `/proc` files to root, and dumps no core."""


def keep_memory_private() -> None:
    """Keeps keys from a model's commands, and out of dumps.

    Commands could read `/proc/PID/environ`. Linux only; off with `SIDECAR_DEBUGGABLE=1`.
    """
    if sys.platform == "linux" and os.environ.get("SIDECAR_DEBUGGABLE") != "1":
        libc = import_module("ctypes").CDLL(None)
        libc.prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
