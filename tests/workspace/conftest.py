"""Rights to files, for tests of what is closed: whoever runs them, root too, is refused."""

import ctypes
import os
import sys
from collections.abc import Iterator

import pytest

from tests.memory import path_on_disk

__all__ = ["path_on_disk"]

VERSION = 0x20080522
OVERRIDE = 1 << 1 | 1 << 2
"""`CAP_DAC_OVERRIDE` and `CAP_DAC_READ_SEARCH`: the bits by which modes do not hold for root."""


@pytest.fixture
def modes_hold() -> Iterator[None]:
    """Do without what root may besides; threads that begin meanwhile do without it, too."""
    if os.geteuid() != 0:
        yield
        return
    if sys.platform != "linux":
        pytest.skip("only Linux lets root do without")
    before = _exchange_effective(0, OVERRIDE)
    yield
    _exchange_effective(before & OVERRIDE, 0)


def _exchange_effective(on: int, off: int) -> int:
    """Set and clear bits of this thread's effective capabilities; gives those it had, up to 31."""
    libc = ctypes.CDLL(None, use_errno=True)
    head, sets = (ctypes.c_uint32 * 2)(VERSION, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(head, sets) == 0, os.strerror(ctypes.get_errno())
    before = sets[0]
    sets[0] = (before | on) & ~off
    assert libc.capset(head, sets) == 0, os.strerror(ctypes.get_errno())
    return before
