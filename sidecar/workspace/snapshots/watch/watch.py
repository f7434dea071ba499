"""How changes in a workspace are noticed: what every watch offers."""

from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from sidecar.workspace.snapshots.known_paths import ancestors

Mode: TypeAlias = Literal["inotify", "watchfiles", "rescan"]

MOST_DIRTY = 100_000
"""Paths that wait to be looked at; beyond, everything is."""
FEW = 16
"""Paths that are looked at on the event loop: a thread would take longer than that does."""


@dataclass(slots=True)
class Noticed:
    """What may have changed. `folders`: with everything below them. `all`: events were lost."""

    paths: set[bytes] = field(default_factory=set)
    folders: set[bytes] = field(default_factory=set)
    all: bool = False

    def __bool__(self) -> bool:
        return self.all or bool(self.paths) or bool(self.folders)

    @property
    def few(self) -> bool:
        """Whether it is little that is to be looked at."""
        return len(self.paths) <= FEW and not (self.folders or self.all)

    def add(self, path: bytes) -> None:
        """Notice a path."""
        self.paths.add(path)
        if len(self.paths) > MOST_DIRTY:
            self.lose()

    def lose(self) -> None:
        """Notice that anything may have changed."""
        self.paths.clear()
        self.folders.clear()
        self.all = True

    def covers(self, path: bytes) -> bool:
        """Tell whether a path was noticed, or a folder above it."""
        return (
            self.all
            or path in self.paths
            or path in self.folders
            or any(folder in self.folders for folder in ancestors(path))
        )

    def merge(self, other: "Noticed") -> None:
        """Add what another noticed."""
        self.paths |= other.paths
        self.folders |= other.folders
        self.all = self.all or other.all


class WatchFailed(Exception):
    """No events can be had from now on; the message says why, for people."""


class Watch(Protocol):
    """Notices changes below a folder. Paths are relative to it, as bytes."""

    mode: Mode

    def add(self, folder: bytes) -> None:
        """Watch a folder's names, before they are listed; may be called from a thread.

        Raises:
            WatchFailed: when that is impossible.
            OSError: when the folder is gone.
        """

    def drop(self, folder: bytes) -> None:
        """Watch a folder no longer that is gone; may be called from a thread."""

    def idle(self) -> bool:
        """Tell at once that nothing happened before this call; `False` where that is not known."""

    def drain(self, into: Noticed) -> bool:
        """Add what was noticed, without waiting. Says whether that is all there is."""

    def settle(self, into: Noticed) -> bool:
        """Add all that happened before this call; blocks. Says whether it is complete."""

    def close(self) -> None:
        """Let go of it."""
