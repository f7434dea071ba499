"""Reads capabilities, and answers `initialize`."""

from sidecar.core.dataclass import dataclass
from sidecar.core.parts import Json, JsonObject
from sidecar.wire.acp.acp_names import PREFIX
from sidecar.wire.messages import METHODS

VERSION = 1
KEY_METHOD = "api-key"
KEY_HELP = (
    "Set ANTHROPIC_API_KEY in the environment of `sidecar serve --stdio`. Without a key and "
    "without a server of your own, the offline model answers."
)


@dataclass(frozen=True, slots=True)
class Abilities:
    """A client's abilities beyond ACP's core.

    `ours`: takes Sidecar's notifications; `compaction`, `notices`: shows such updates; `terminal`:
    runs commands.
    """

    ours: bool = False
    compaction: bool = False
    notices: bool = False
    terminal: bool = False


def announced(capabilities: JsonObject) -> Abilities:
    """Reads `clientCapabilities`; any object, even an empty one, announces the ability."""
    session = _object(capabilities.get("session"))
    return Abilities(
        ours="sidecar" in _object(capabilities.get("_meta")),
        compaction=session.get("compaction") is not None,
        notices=session.get("notices") is not None,
        terminal=capabilities.get("terminal") is True,
    )


def welcome(version: str) -> JsonObject:
    extensions: list[Json] = [
        PREFIX + method.name
        for method in sorted(METHODS.values(), key=lambda method: method.name)
        if method.available and method.direction == "clientToDaemon"
    ]
    sidecar: JsonObject = {"protocolVersion": 1, "methods": extensions}
    return {
        "protocolVersion": VERSION,
        "agentInfo": {"name": "sidecar", "title": "Sidecar", "version": version},
        "agentCapabilities": {
            "loadSession": True,
            "promptCapabilities": {"image": True, "audio": False, "embeddedContext": True},
            "mcpCapabilities": {"http": True, "sse": False},
            "sessionCapabilities": {
                "list": {},
                "resume": {},
                "fork": {},
                "close": {},
                "delete": {},
            },
            "_meta": {"sidecar": sidecar},
        },
        "authMethods": [{"id": KEY_METHOD, "name": "Anthropic API key", "description": KEY_HELP}],
    }


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}
