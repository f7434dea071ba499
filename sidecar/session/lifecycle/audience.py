"""Who watches a session, and who of them answers what a turn asks."""

from sidecar.core.errors import Cancelled
from sidecar.session.changes.tracker import Tracking
from sidecar.session.log.channel import Channel
from sidecar.session.log.events import Watcher
from sidecar.tools.tool_contract import Client


class Audience:
    """The connections that watch one session, the one that came last at the end."""

    def __init__(self, channel: Channel, tracking: Tracking) -> None:
        self._channel = channel
        self._tracking = tracking
        self._clients: list[tuple[Watcher, Client]] = []

    def attach(self, watcher: Watcher, client: Client) -> None:
        """Let a connection see what happens from now on, and answer what a turn asks."""
        self._clients = [(w, c) for w, c in self._clients if w != watcher]
        self._clients.append((watcher, client))
        self._channel.attach(watcher)
        self._tracking.tell_news()

    def detach(self, watcher: Watcher) -> None:
        """Forget a connection."""
        self._clients = [(w, c) for w, c in self._clients if w != watcher]
        self._channel.detach(watcher)

    def watchers(self) -> tuple[Watcher, ...]:
        """Give who watches, through whichever connection."""
        return tuple(watcher for watcher, _ in self._clients)

    def client(self) -> Client:
        """Give who answers what a turn asks; raises `Cancelled` when nobody is there."""
        if not self._clients:
            raise Cancelled("no editor is connected to this session any more")
        return self._clients[-1][1]
