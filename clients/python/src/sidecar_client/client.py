"""A daemon's methods, typed, by the names of the protocol."""

from sidecar_client.calling import Caller
from sidecar_client.checkpoint_calls import CheckpointCalls
from sidecar_client.connection import Connection
from sidecar_client.context_calls import ContextCalls, DaemonCalls, FactCalls
from sidecar_client.document_calls import DocumentCalls
from sidecar_client.messages import ServerCapabilities
from sidecar_client.session_calls import SessionCalls


class Client(Caller):
    """A running, initialized daemon. All methods raise `SidecarError`.

    The protocol's `session/new` is `session.new`, and so on; `document` has the unsaved buffers.
    `version` is the daemon's; `capabilities.features` names its methods. Cancelling a call cancels
    its request.
    """

    def __init__(
        self, connection: Connection, version: str, capabilities: ServerCapabilities
    ) -> None:
        super().__init__(connection, version, capabilities)
        self.session = SessionCalls(self)
        self.context = ContextCalls(self)
        self.checkpoint = CheckpointCalls(self)
        self.facts = FactCalls(self)
        self.daemon = DaemonCalls(self)
        self.document = DocumentCalls(self)
