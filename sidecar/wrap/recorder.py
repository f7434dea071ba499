"""Records what passes between an editor and an agent."""

import sys
from collections.abc import Sequence


def record(_: Sequence[str]) -> None:
    sys.stdin.buffer.read()
