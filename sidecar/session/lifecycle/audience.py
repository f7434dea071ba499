"""Connections to a session; the client to ask."""

from pathlib import Path

from sidecar.core.errors import Cancelled
from sidecar.session.changes.tracker import Tracking
from sidecar.session.log.channel import Channel
from sidecar.session.log.events import Watcher
from sidecar.session.ownership import Ownership
from sidecar.tools.tool_contract import Client


class Audience:
    """A session's connections, newest last."""

    def __init__(self, channel: Channel, tracking: Tracking, ownership: Ownership) -> None:
        self._channel = channel
        self._tracking = tracking
        self._ownership = ownership
        self._clients: list[tuple[Watcher, Client]] = []

    def attach(self, watcher: Watcher, client: Client) -> None:
        """Send all events from now on; `client` answers questions."""
        self._clients = [(w, c) for w, c in self._clients if w != watcher]
        self._clients.append((watcher, client))
        self._channel.attach(watcher)
        self._tracking.opened(writes=not self._ownership.read_only)

    def follow(self, watcher: Watcher) -> None:
        """As `attach`, where nobody can be asked."""
        self._channel.attach(watcher)

    def detach(self, watcher: Watcher) -> None:
        self._clients = [(w, c) for w, c in self._clients if w != watcher]
        self._channel.detach(watcher)

    def saved(self, path: Path) -> None:
        """An editor saved a file: the change is the user's."""
        self._tracking.saved(path)

    def watchers(self) -> tuple[Watcher, ...]:
        return tuple(watcher for watcher, _ in self._clients)

    def client(self) -> Client:
        """The newest; raises `Cancelled` without any."""
        if not self._clients:
            raise Cancelled("no editor is connected to this session any more")
        return self._clients[-1][1]
