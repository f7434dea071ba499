"""The interface of all watches."""

from dataclasses import field
from typing import Literal, Protocol, TypeAlias

from sidecar.core.dataclass import dataclass
from sidecar.workspace.snapshots.known_paths import ancestors

Mode: TypeAlias = Literal["inotify", "watchfiles", "rescan"]

MOST_DIRTY = 100_000
"""Waiting paths; beyond, everything counts as changed."""
FEW = 16
"""Paths looked at on the event loop, where a thread takes longer."""


@dataclass(slots=True)
class Noticed:
    """Changed paths; `folders`: with everything below. `all`: events were lost."""

    paths: set[bytes] = field(default_factory=set)
    folders: set[bytes] = field(default_factory=set)
    all: bool = False

    def __bool__(self) -> bool:
        return self.all or bool(self.paths) or bool(self.folders)

    @property
    def few(self) -> bool:
        return len(self.paths) <= FEW and not (self.folders or self.all)

    def add(self, path: bytes) -> None:
        self.paths.add(path)
        if len(self.paths) > MOST_DIRTY:
            self.lose()

    def lose(self) -> None:
        self.paths.clear()
        self.folders.clear()
        self.all = True

    def covers(self, path: bytes) -> bool:
        return (
            self.all
            or path in self.paths
            or path in self.folders
            or any(folder in self.folders for folder in ancestors(path))
        )

    def merge(self, other: "Noticed") -> None:
        self.paths |= other.paths
        self.folders |= other.folders
        self.all = self.all or other.all


class WatchFailed(Exception):
    """No more events will come; the message is for people."""


class Watch(Protocol):
    """Notices changes below a folder; paths are relative bytes."""

    mode: Mode

    def add(self, folder: bytes) -> None:
        """Watches a folder's names, before they are listed; from any thread.

        Raises WatchFailed, or OSError for a missing folder.
        """

    def drop(self, folder: bytes) -> None:
        """Forgets a removed folder; from any thread."""

    def idle(self) -> bool:
        """Whether nothing happened; quick, `False` where unknown."""

    def drain(self, into: Noticed) -> bool:
        """Adds changes noticed so far, without waiting; returns whether complete."""

    def settle(self, into: Noticed) -> bool:
        """Adds all changes before this call; returns whether complete. Blocks."""

    def close(self) -> None: ...
