"""A daemon's state and alerts, in the protocol's words."""

import os
from typing import TYPE_CHECKING

from sidecar import __version__
from sidecar.config import default_model
from sidecar.core.dataclass import dataclass
from sidecar.core.parts import JsonObject
from sidecar.session.desk.open_sessions import OpenSessions
from sidecar.session.environment import Environment
from sidecar.session.log.events import AlertChanged
from sidecar.store.journal import Store
from sidecar.wire.outbox import Outbox
from sidecar.workspace.shared_snapshots import SharedSnapshots

if TYPE_CHECKING:
    from sidecar.observe.alerts.alerts import Changed
    from sidecar.observe.observer import Observer


@dataclass(frozen=True, slots=True)
class SharedStore:
    """Shared by windows with sessions in one folder."""

    store: Store
    snapshots: SharedSnapshots
    observer: "Observer"
    swept: JsonObject


def describe(environment: Environment | None, shared: SharedStore | None) -> JsonObject:
    about: JsonObject = {
        "version": __version__,
        "pid": os.getpid(),
        "store": None,
        "watcher": None,
        "mcp": [],
        "model": None,
        "metrics": {},
        "alerts": [],
        "settings": {},
    }
    if environment is None or shared is None:
        return about
    config, store = environment.settings.config, environment.store
    about["settings"] = environment.settings.described
    about["store"] = {
        "path": str(store.folder),
        "bytes": store.size(),
        "readOnly": store.read_only,
        "retention": {**shared.swept},
    }
    about["watcher"] = environment.workspaces.status()
    about["mcp"] = [*environment.mcp.status()]
    told, observer = environment.counts.as_json(), shared.observer
    about["metrics"] = {**told, **observer.metrics(), "queues": {**observer.queues()}}
    about["alerts"] = observer.alerts()
    about["model"] = {
        "id": config.model,
        "provider": config.provider.name,
        "hasKey": bool(config.provider.api_key),
        "lacksKey": config.model != default_model(has_key=False)
        and not (config.provider.api_key or config.provider.base_url),
    }
    return about


def queues_of(sessions: OpenSessions, outboxes: list[Outbox], store: Store) -> dict[str, int]:
    return {
        "prompts": sum(session.prompts.waiting() for session in sessions),
        "client": sum(outbox.depth() for outbox in outboxes),
        "store": store.waiting(),
    }


def alert_event(change: "Changed") -> AlertChanged:
    alert = change.alert
    return AlertChanged(
        change.state,
        alert.name,
        alert.level,
        alert.session_id,
        alert.message,
        alert.action,
        round(alert.value, 4),
        alert.threshold,
        change.at,
    )
