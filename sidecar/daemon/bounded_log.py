"""The end of a log file that a process writes for days."""

import os
import stat

LARGEST = 1024 * 1024
"""Bytes of a log; of a larger one the newest half of so many is kept."""


def cut_back(descriptor: int) -> None:
    """Keeps a large log's end; `descriptor` must read and append. Blocks for milliseconds."""
    about = os.fstat(descriptor)
    if not stat.S_ISREG(about.st_mode) or about.st_size <= LARGEST:
        return
    kept = os.pread(descriptor, LARGEST // 2, about.st_size - LARGEST // 2)
    os.ftruncate(descriptor, 0)
    os.write(descriptor, kept[kept.find(b"\n") + 1 :])
