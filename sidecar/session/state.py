"""A session's state."""

from dataclasses import dataclass

from sidecar.config import Config
from sidecar.session.changes.permissions import Permissions
from sidecar.session.changes.session_trust import Trust
from sidecar.session.changes.tracker import Tracking
from sidecar.session.environment import Environment
from sidecar.session.log.channel import Channel
from sidecar.session.log.session_log import SessionLog
from sidecar.session.ownership import Ownership
from sidecar.session.session_settings import SessionSettings
from sidecar.session.turn.clock import Clock
from sidecar.session.view.cache_state import CacheWatch
from sidecar.session.view.model_view import ModelView
from sidecar.session.view.view_history import Views
from sidecar.store.journal import Store
from sidecar.workspace.buffers import Buffers


@dataclass(frozen=True, slots=True)
class State:
    """What a session is made of."""

    environment: Environment
    store: Store
    clock: Clock
    buffers: Buffers
    log: SessionLog
    view: ModelView
    views: Views
    cached: CacheWatch
    channel: Channel
    trust: Trust
    permissions: Permissions
    tracking: Tracking
    settings: SessionSettings
    ownership: Ownership

    @property
    def config(self) -> Config:
        """As of now."""
        return self.environment.settings.config
