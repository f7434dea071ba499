"""MCP servers in settings: `name = {command, args, env, cwd}` or `{url, headers}`."""

from collections.abc import Mapping
from dataclasses import field

from sidecar.core.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class McpServer:
    """A `command` to start, or a streamable HTTP `url`.

    `cwd` may be relative to the workspace or `~`. `repr` omits `environment` and `headers`, which
    may hold keys.
    """

    name: str
    command: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    url: str = ""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str = ""


def read_servers(value: object) -> tuple[McpServer, ...]:
    if not isinstance(value, Mapping):
        raise ValueError('must be a table, such as {docs = {command = "docs-mcp"}}.')  # noqa: TRY004 - as readers do
    return tuple(_server(str(name), table) for name, table in value.items())


def _server(name: str, table: object) -> McpServer:
    if not isinstance(table, Mapping):
        raise ValueError(f"{name} must be a table with `command` or `url`.")  # noqa: TRY004 - as readers do
    unknown = sorted(set(table) - {"command", "args", "env", "cwd", "url", "headers"})
    if unknown:
        has = "command, args, env and cwd, or url and headers"
        raise ValueError(f"{name} has {has}, not {', '.join(unknown)}.")
    command, url, args = table.get("command"), table.get("url"), table.get("args", [])
    if not isinstance(args, list) or not all(isinstance(one, str) for one in args):
        raise ValueError(f"{name}.args must be a list of texts.")
    cwd = table.get("cwd", "")
    if not isinstance(cwd, str) or "\0" in cwd or (cwd and command is None):
        raise ValueError(f"{name}.cwd must be a text, the folder in which `command` starts.")
    if isinstance(command, str) and command and url is None:
        environment = _texts(f"{name}.env", table.get("env", {}))
        return McpServer(name, (command, *args), environment, cwd=cwd)
    if isinstance(url, str) and url.startswith(("http://", "https://")) and command is None:
        headers = _texts(f"{name}.headers", table.get("headers", {}))
        return McpServer(name, url=url, headers=headers)
    raise ValueError(f"{name} needs either `command`, a text, or `url`, which begins with http.")


def _texts(where: str, value: object) -> dict[str, str]:
    if not isinstance(value, Mapping) or not all(isinstance(v, str) for v in value.values()):
        raise ValueError(f"{where} must be a table of texts.")
    return {str(key): str(each) for key, each in value.items()}
