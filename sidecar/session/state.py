"""An open session's state."""

from sidecar.config import Config
from sidecar.core.dataclass import dataclass
from sidecar.session.changes.permissions import Permissions
from sidecar.session.changes.session_trust import Trust
from sidecar.session.changes.tracker import Tracking
from sidecar.session.environment import Environment
from sidecar.session.log.channel import Channel
from sidecar.session.ownership import Ownership
from sidecar.session.read_state import ReadState
from sidecar.store.journal import Store
from sidecar.workspace.buffers import Buffers


@dataclass(frozen=True, slots=True)
class State(ReadState):
    """A session's read state, and services to write."""

    environment: Environment
    store: Store
    buffers: Buffers
    channel: Channel
    trust: Trust
    permissions: Permissions
    tracking: Tracking
    ownership: Ownership

    @property
    def config(self) -> Config:
        return self.configured.config
