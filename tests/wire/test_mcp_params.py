"""MCP servers in the configuration, and as clients name them."""

from pathlib import Path

import pytest

from sidecar.config import Layer, load, merge
from sidecar.config.mcp_settings import McpServer, read_servers
from sidecar.core.errors import BadRequest
from sidecar.wire.methods.mcp_params import servers_of


def test_servers_are_read_from_every_layer_but_the_workspaces() -> None:
    table = {"docs": {"command": "docs-mcp", "args": ["-v"], "env": {"KEY": "secret"}}}
    for key in ("mcp_servers", "mcpServers"):
        config, problems = merge([Layer("user", {key: table})])
        assert problems == ()
        assert config.mcp_servers == (McpServer("docs", ("docs-mcp", "-v"), {"KEY": "secret"}),)
        assert "secret" not in repr(config)
    config, (problem,) = merge([Layer("workspace", {"mcp_servers": table}, restricted=True)])
    assert config.mcp_servers == ()
    assert "may not set" in str(problem)


def test_a_server_may_name_its_folder() -> None:
    (server,) = read_servers({"a": {"command": "npx", "args": ["x"], "cwd": "."}})
    assert server == McpServer("a", ("npx", "x"), cwd=".")


def test_a_file_names_servers(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('[mcp_servers.web]\nurl = "https://x.test/mcp"\nheaders = { A = "b" }\n')
    config, _ = load(workspace=None, environment={}, options={}, user=file)
    assert config.mcp_servers == (McpServer("web", url="https://x.test/mcp", headers={"A": "b"}),)


@pytest.mark.parametrize(
    ("table", "wrong"),
    [
        ([], "must be a table"),
        ({"a": 1}, "a must be a table"),
        ({"a": {}}, "a needs either"),
        ({"a": {"command": "x", "url": "https://x"}}, "a needs either"),
        ({"a": {"url": "ftp://x"}}, "begins with http"),
        ({"a": {"command": "x", "args": "y"}}, "a.args"),
        ({"a": {"command": "x", "env": {"K": 1}}}, "a.env"),
        ({"a": {"command": "x", "cmd": 1}}, "not cmd"),
        ({"a": {"command": "x", "cwd": 1}}, "a.cwd"),
        ({"a": {"command": "x", "cwd": "\0"}}, "a.cwd"),
        ({"a": {"url": "https://x", "cwd": "/"}}, "a.cwd"),
    ],
)
def test_what_is_wrong_is_named(table: object, wrong: str) -> None:
    with pytest.raises(ValueError, match=wrong):
        read_servers(table)


def test_clients_name_servers_in_acps_shape() -> None:
    stdio = {"name": "a", "command": "x", "args": ["-y"], "env": [{"name": "K", "value": "v"}]}
    http = {"type": "http", "name": "b", "url": "https://x", "headers": []}
    assert servers_of([stdio, http]) == (  # type: ignore[list-item]
        McpServer("a", ("x", "-y"), {"K": "v"}),
        McpServer("b", url="https://x"),
    )


@pytest.mark.parametrize(
    "given",
    [
        {"type": "sse", "name": "a", "url": "https://x"},
        {"name": "a"},
        {"name": "a", "command": "x", "args": [1]},
        {"name": "a", "command": "x", "env": {"K": "v"}},
        {"name": "a", "command": "x", "env": ["K=v"]},
    ],
)
def test_a_server_that_cannot_be_reached_is_refused_by_name(given: dict[str, object]) -> None:
    with pytest.raises(BadRequest) as refused:
        servers_of([given])  # type: ignore[list-item]
    assert "params.mcpServers[0]" in str(refused.value.data["path"])
