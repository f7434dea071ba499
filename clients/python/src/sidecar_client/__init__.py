"""A typed, asynchronous client for the Sidecar daemon; `connect` starts a daemon."""

from sidecar_client.callbacks import Tool
from sidecar_client.client import Client
from sidecar_client.errors import Disconnected, SidecarError
from sidecar_client.messages import SessionPromptResult, SessionUpdateParams, ToolDefinition
from sidecar_client.process import connect

__all__ = [
    "Client",
    "Disconnected",
    "SessionPromptResult",
    "SessionUpdateParams",
    "SidecarError",
    "Tool",
    "ToolDefinition",
    "connect",
]
