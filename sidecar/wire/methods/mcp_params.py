"""MCP servers named in `session/new`."""

from collections.abc import Sequence

from sidecar.config.mcp_settings import McpServer
from sidecar.core.errors import BadRequest
from sidecar.core.parts import Json, JsonObject


def servers_of(given: Sequence[JsonObject]) -> tuple[McpServer, ...]:
    """Raises BadRequest for an unsupported server."""
    return tuple(_server(one, f"params.mcpServers[{at}]") for at, one in enumerate(given))


def _server(given: JsonObject, path: str) -> McpServer:
    match given:
        case {"type": "http", "name": str(name), "url": str(url)}:
            return McpServer(name, url=url, headers=_pairs(given.get("headers"), path))
        case {"type": str(kind)} if kind not in ("stdio", "http"):
            raise BadRequest(
                f"MCP servers of type {kind!r} are not taken: give one of stdio or http", path
            )
        case {"name": str(name), "command": str(command)} if command:
            return McpServer(
                name, (command, *_texts(given.get("args"), path)), _pairs(given.get("env"), path)
            )
        case _:
            raise BadRequest(
                "an MCP server needs a name and a command, or a name, a url and type http", path
            )


def _texts(given: Json, path: str) -> tuple[str, ...]:
    listed = given or []
    if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
        raise BadRequest("args must be a list of texts", f"{path}.args")
    return tuple(str(one) for one in listed)


def _pairs(given: Json, path: str) -> dict[str, str]:
    """Reads `[{name, value}]`."""
    found: dict[str, str] = {}
    for one in given if isinstance(given, list) else [given] if given else []:
        match one:
            case {"name": str(name), "value": str(value)}:
                found[name] = value
            case _:
                raise BadRequest("env and headers are lists of {name, value}, both texts", path)
    return found
